#define _POSIX_C_SOURCE 200809L
#include "run_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "hint.h"
#include "lab/report/repeats.h"
#include "lab/results/results.h"
#include "ranks/ranks.h"

static const char usual_seeds[] = "0-9";           /* the paper's ten runs */
static const uint64_t most_rounds = 1000000000000; /* a slip is an error and not a run without end */
static const uint64_t most_jobs = 1024;

/* ---- as they are given ---- */

static int add_word(const command *self, const char *word, word_list *list)
{
    ee_error error;
    if (memory_grow(NULL, &list->words, &list->capacity, list->count + 1, sizeof *list->words, &error))
        return command_refused(self, &error);
    list->words[list->count++] = word;
    return EXIT_DONE;
}

int run_request_take(const command *self, int got, const char *value, run_request *request)
{
    if (got == REQUEST_SET) return add_word(self, value, &request->sets);
    if (got == REQUEST_QUIET || got == REQUEST_PLAN) {
        *(got == REQUEST_QUIET ? &request->quiet : &request->plan) = true;
        return EXIT_DONE;
    }
    if (got == REQUEST_DATASET) {
        for (size_t i = 0; i < request->dataset_texts.count; i++)
            if (strcmp(request->dataset_texts.words[i], value) == 0)
                return command_misused(self, "'%s' is given twice", value);
        return add_word(self, value, &request->dataset_texts);
    }
    if (request->given[got]) return command_misused(self, "--%s is given twice", self->flags[got].name);
    request->given[got] = value;
    return EXIT_DONE;
}

/* ---- policies and threads ---- */

/* Cores that this program may use: not every Slurm keeps a task to those that it was given. */
static uint64_t count_cores(void)
{
    const char *slurm = getenv("SLURM_CPUS_PER_TASK");
    unsigned long given = slurm ? strtoul(slurm, NULL, 10) : 0;
    uint64_t count = system_cores();
    return given && given < count ? given : count;
}

static int add_policy(const command *self, const char *name, run_request *request)
{
    ee_policy policy;
    ee_error error;
    if (!command_find_policy(self, name, &policy)) return EXIT_USAGE;
    for (size_t i = 0; i < request->policy_count; i++)
        if (strcmp(request->policies[i].name, name) == 0) return command_misused(self, "'%s' is given twice", name);
    if (memory_grow(NULL, &request->policies, &request->policy_capacity, request->policy_count + 1,
                    sizeof *request->policies, &error))
        return command_refused(self, &error);
    request->policies[request->policy_count++].name = policy.name;
    return EXIT_DONE;
}

/* Every policy except presets, whose names have a colon. */
static int add_all_policies(const command *self, run_request *request)
{
    const char *name;
    int code = EXIT_DONE;
    for (size_t i = 0; !code && (name = command_policy_name(i)); i++)
        if (!strchr(name, ':')) code = add_policy(self, name, request);
    return code;
}

static int read_policies(const command *self, const char *text, run_request *request)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        char name[64] = "";
        memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
        bool all = strcmp(name, "all") == 0;
        int code = all ? add_all_policies(self, request) : add_policy(self, name, request);
        if (code) return code;
        if (!text[length]) return EXIT_DONE;
        text += length + 1;
    }
}

/* ---- --set ---- */

/* Options have dots too, so the first dot is not the one that counts. */
size_t run_request_target(const char *text)
{
    size_t longest = 0;
    const char *name;
    for (size_t i = 0; (name = command_policy_name(i)); i++) {
        size_t lengths[2] = {strlen(name), strcspn(name, ":")};
        for (size_t k = 0; k < 2; k++)
            if (lengths[k] > longest && strncmp(text, name, lengths[k]) == 0 && text[lengths[k]] == '.')
                longest = lengths[k];
    }
    return longest;
}

bool run_request_means(const char *target, size_t length, const char *policy)
{
    if (strncmp(target, policy, length) != 0) return false;
    return policy[length] == '\0' || (policy[length] == ':' && !memchr(target, ':', length));
}

static int add_option(const command *self, const char *assignment, requested_policy *policy)
{
    ee_error error;
    size_t used = policy->options ? strlen(policy->options) : 0;
    size_t needed = used + strlen(assignment) + 2;
    if (memory_grow(NULL, &policy->options, &policy->capacity, needed, 1, &error)) return command_refused(self, &error);
    snprintf(policy->options + used, needed - used, "%s%s", used ? " " : "", assignment);
    return EXIT_DONE;
}

/* Whether the policy has the option that an assignment, as "f1.width=50", starts with. */
static bool has_option(const char *policy, const char *assignment)
{
    ee_option entry;
    size_t length = strcspn(assignment, "=");
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++)
        if (strlen(entry.name) == length && strncmp(entry.name, assignment, length) == 0) return true;
    return false;
}

/* Says what is wrong with a --set that starts with no policy: mostly that it starts with the option. */
static int refuse_set(const command *self, const char *text, const run_request *request)
{
    for (size_t i = 0; i < request->policy_count; i++)
        if (has_option(request->policies[i].name, text))
            return command_misused(self, "--set %s: the policy is missing; expected --set %s.%s", text,
                                   request->policies[i].name, text);
    char word[64] = "";
    size_t first = strcspn(text, ".=");
    memcpy(word, text, first < sizeof word ? first : sizeof word - 1);
    ee_policy policy;
    if (text[first] == '.' && !command_find_policy(self, word, &policy)) return EXIT_USAGE;
    return command_misused(self, "--set: expected POLICY.OPTION=VALUE, got '%s'", text);
}

static int apply_set(const command *self, const char *text, run_request *request)
{
    size_t length = run_request_target(text);
    if (!length) return refuse_set(self, text, request);
    const char *assignment = text + length + 1;
    if (!request->lists && strchr(assignment, ','))
        return command_misused(self, "--set %s: expected one value; to try several, use 'eenet grid'", text);
    if (!strchr(assignment, '=') || strpbrk(assignment, " \t\r\n"))
        return command_misused(self, "--set: expected POLICY.OPTION=VALUE, got '%s'", text);
    bool used = false;
    for (size_t i = 0; i < request->policy_count; i++) {
        if (!run_request_means(text, length, request->policies[i].name)) continue;
        used = true;
        int code = add_option(self, assignment, &request->policies[i]);
        if (code) return code;
    }
    if (used) return EXIT_DONE;
    return command_misused(self, "--set %s: '%.*s' is not one of the policies in -p", text, (int)length, text);
}

/* ---- opening ---- */

static int open_datasets(const command *self, run_request *request)
{
    ee_error error;
    ee_status status = EE_OK;
    if (request->output) status = file_join(request->output, "cache", &request->cache, &error);
    size_t count = request->dataset_texts.count;
    if (!status) status = memory_create(NULL, &request->datasets, count, sizeof *request->datasets, &error);
    for (size_t i = 0; i < count && !status; i++)
        status = dataset_open(request->dataset_texts.words[i], request->cache, &request->datasets[i], &error);
    return status ? command_refused(self, &error) : EXIT_DONE;
}

int run_request_open(const command *self, run_request *request)
{
    ee_error error;
    const char *seeds = request->given[REQUEST_SEEDS], *policies = request->given[REQUEST_POLICIES];
    request->output = request->given[REQUEST_OUTPUT];
    if (!request->dataset_texts.count)
        return command_misused(self, "expected a data set: -d DATASET; 'eenet datasets' lists the kinds");
    if (!policies)
        return command_misused(self, "expected policies: -p POLICY[,POLICY...]; 'eenet policies' lists them");
    if (request->output && !request->output[0]) return command_misused(self, "--output: expected a folder, got ''");
    uint64_t threads = ranks_count() > 1 ? 1 : count_cores();
    const char *const *given = request->given;
    int code = arguments_number(self, REQUEST_ROUNDS, given[REQUEST_ROUNDS], 1, most_rounds, &request->rounds);
    if (!code) code = arguments_number(self, REQUEST_JOBS, given[REQUEST_JOBS], 1, most_jobs, &threads);
    request->threads = (size_t)threads;
    if (!code && seeds_parse(seeds ? seeds : usual_seeds, &request->seeds, &error))
        code = command_refused(self, &error);
    if (!code && given[REQUEST_DELAY] && delay_parse(given[REQUEST_DELAY], &request->late, &error))
        code = command_misused(self, "--delay: %s", error.message);
    uint64_t slots = 1;
    if (!code) code = arguments_number(self, REQUEST_SLOTS, given[REQUEST_SLOTS], 1, RUN_SLOTS, &slots);
    request->slots = slots > 1 ? (size_t)slots : 0;
    if (!code) code = read_policies(self, policies, request);
    for (size_t i = 0; i < request->sets.count && !code; i++) code = apply_set(self, request->sets.words[i], request);
    return code ? code : open_datasets(self, request);
}

uint64_t run_request_rounds(const run_request *request, const dataset *data)
{
    return request->given[REQUEST_ROUNDS] ? request->rounds : command_usual_rounds(data);
}

const char *run_request_label(const run_request *request, const dataset *data)
{
    return command_dataset_label(request->datasets, request->dataset_texts.count, data);
}

/* By default mpirun binds each of one or two ranks to a core. */
static void print_bound(const command *self, const run_request *request)
{
    uint64_t cores = count_cores();
    if (ranks_count() == 1 || request->threads <= cores) return;
    fprintf(stderr,
            "eenet %s: each rank runs %zu in parallel, but rank 0 may use only %" PRIu64
            " core%s, so they share it: 'mpirun --bind-to none' lets a rank use its whole machine\n",
            self->name, request->threads, cores, cores == 1 ? "" : "s");
}

void run_request_print_remarks(const command *self, const run_request *request)
{
    if (request->quiet) return;
    print_bound(self, request);
    for (size_t i = 0; i < request->dataset_texts.count; i++) {
        const dataset *data = request->datasets[i];
        char line[160];
        command_print_remarks(self, run_request_label(request, data), data);
        if (repeats_format(dataset_rows(data), run_request_rounds(request, data), line, sizeof line))
            fprintf(stderr, "eenet %s: %s: %s\n", self->name, run_request_label(request, data), line);
    }
}

int run_request_make_jobs(const command *self, run_request *request)
{
    ee_error error;
    size_t seeds = request->seeds.count, policies = request->policy_count;
    request->job_count = request->dataset_texts.count * policies * seeds;
    if (memory_create(NULL, &request->jobs, request->job_count, sizeof *request->jobs, &error))
        return command_refused(self, &error);
    for (size_t i = 0; i < request->job_count; i++) {
        const dataset *data = request->datasets[i / seeds / policies];
        const requested_policy *policy = &request->policies[i / seeds % policies];
        uint64_t seed = request->seeds.values[i % seeds], rounds = run_request_rounds(request, data);
        request->jobs[i] = (run_job){.data = data,
                                     .policy = policy->name,
                                     .options = policy->options,
                                     .seed = seed,
                                     .rounds = rounds,
                                     .late = request->late,
                                     .slots = request->slots};
        if (i % seeds == 0 && runner_check(&request->jobs[i], NULL, &error)) return command_refused(self, &error);
    }
    return EXIT_DONE;
}

void run_request_print_output(const run_request *request)
{
    if (request->output && !request->quiet) hint_report("results", request->output);
}

void run_request_release(run_request *request)
{
    for (size_t i = 0; i < request->policy_count; i++) memory_free(request->policies[i].options);
    for (size_t i = 0; request->datasets && i < request->dataset_texts.count; i++) dataset_free(request->datasets[i]);
    memory_free(request->policies);
    memory_free(request->seeds.values);
    memory_free(request->jobs);
    memory_free(request->shard_folder);
    memory_free(request->datasets);
    memory_free(request->cache);
    memory_free(request->dataset_texts.words);
    memory_free(request->sets.words);
}
