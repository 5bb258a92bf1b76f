#include "run_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"

enum { FLAG_DATASET, FLAG_POLICIES, FLAG_ROUNDS, FLAG_SEEDS, FLAG_SET, FLAG_JSON };

/* The paper's protocol: ten runs of 10000 rounds. */
static const uint64_t usual_rounds = 10000;
static const char usual_seeds[] = "0-9";
static const uint64_t most_rounds = 1000000000000; /* a slip is an error and not a run without end */

const flag run_request_flags[RUN_REQUEST_FLAGS] = {
    [FLAG_DATASET] = {'d', "dataset", "DATASET", "what to play on; 'eenet datasets' lists the kinds"},
    [FLAG_POLICIES] = {'p', "policies", "POLICY[,POLICY...]", "who plays; 'eenet policies' lists them"},
    [FLAG_ROUNDS] = {'T', "rounds", "ROUNDS", "rounds of a run, 10000 unless given"},
    [FLAG_SEEDS] = {'s', "seeds", "SEEDS", "one run for each, as 0-4 or 0,3,7-9; 0-9 unless given"},
    [FLAG_SET] = {'\0', "set", "POLICY.OPTION=VALUE", "an option of a policy; may be given again"},
    [FLAG_JSON] = {'\0', "json", NULL, "one line of JSON for each finished run, no table"},
};

/* The arguments before they are looked at. */
typedef struct given {
    const char *dataset, *policies, *rounds, *seeds;
    const char **sets; /* (set_count) */
    size_t set_count, set_capacity;
    bool json;
} given;

static int report(const command *self, const ee_error *error)
{
    /* A wrong name or value is the caller's slip; a file that cannot be read is a run that failed. */
    if (error->status == EE_BAD_OPTION) return command_misused(self, "%s", error->message);
    return command_failed(self, "%s", error->message);
}

static int collect(const command *self, int count, char **words, given *into)
{
    arguments from = arguments_of(self, count, words);
    const char **single[RUN_REQUEST_FLAGS] = {&into->dataset, &into->policies, &into->rounds, &into->seeds, NULL, NULL};
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == ARGUMENT_WORD) return command_misused(self, "'%s' belongs to no flag", value);
        if (got == FLAG_JSON) {
            into->json = true;
        } else if (got == FLAG_SET) {
            ee_error error;
            size_t needed = into->set_count + 1;
            if (memory_grow(&into->sets, &into->set_capacity, needed, sizeof *into->sets, &error))
                return report(self, &error);
            into->sets[into->set_count++] = value;
        } else if (*single[got]) {
            return command_misused(self, "--%s is given twice", run_request_flags[got].name);
        } else {
            *single[got] = value;
        }
    }
    if (!into->dataset) return command_misused(self, "expected a data set: -d DATASET");
    if (!into->policies) return command_misused(self, "expected policies: -p POLICY[,POLICY...]");
    return EXIT_DONE;
}

static int read_rounds(const command *self, const char *text, uint64_t *rounds)
{
    *rounds = usual_rounds;
    if (!text) return EXIT_DONE;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number < 1 || number > most_rounds)
        return command_misused(self, "--rounds must be 1 to %" PRIu64 ", got '%s'", most_rounds, text);
    *rounds = number;
    return EXIT_DONE;
}

static int add_policy(const command *self, const char *name, run_request *request)
{
    ee_policy policy;
    ee_error error;
    if (!command_find_policy(self, name, &policy)) return EXIT_USAGE;
    for (size_t i = 0; i < request->policy_count; i++)
        if (strcmp(request->policies[i].name, name) == 0) return command_misused(self, "'%s' is given twice", name);
    if (memory_grow(&request->policies, &request->policy_capacity, request->policy_count + 1, sizeof *request->policies,
                    &error))
        return report(self, &error);
    request->policies[request->policy_count++].name = policy.name;
    return EXIT_DONE;
}

static int read_policies(const command *self, const char *text, run_request *request)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        char name[64] = "";
        memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
        int code = add_policy(self, name, request);
        if (code) return code;
        if (!text[length]) return EXIT_DONE;
        text += length + 1;
    }
}

/* ---- --set ---- */

/* The length of the longest policy, or part of one before its colon, that text starts with before a dot; 0 for none.
 * Options have dots too, so the first dot is not the one that counts. */
static size_t target_length(const char *text)
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

/* Whether a target, as "eenet" or "eenet:paper", means the policy: by its name, or by the part before its colon. */
static bool means(const char *target, size_t length, const char *policy)
{
    if (strncmp(target, policy, length) != 0) return false;
    return policy[length] == '\0' || (policy[length] == ':' && !memchr(target, ':', length));
}

static int add_option(const command *self, const char *assignment, requested_policy *policy)
{
    ee_error error;
    size_t used = policy->options ? strlen(policy->options) : 0;
    size_t needed = used + strlen(assignment) + 2;
    if (memory_grow(&policy->options, &policy->capacity, needed, 1, &error)) return report(self, &error);
    snprintf(policy->options + used, needed - used, "%s%s", used ? " " : "", assignment);
    return EXIT_DONE;
}

static int apply_set(const command *self, const char *text, run_request *request)
{
    size_t length = target_length(text);
    if (!length) {
        char word[64] = "";
        size_t first = strcspn(text, ".=");
        memcpy(word, text, first < sizeof word ? first : sizeof word - 1);
        ee_policy policy;
        if (text[first] == '.' && !command_find_policy(self, word, &policy)) return EXIT_USAGE;
        return command_misused(self, "--set: expected POLICY.OPTION=VALUE, got '%s'", text);
    }
    const char *assignment = text + length + 1;
    if (!strchr(assignment, '=') || strpbrk(assignment, ", \t\r\n"))
        return command_misused(self, "--set: expected POLICY.OPTION=VALUE, got '%s'", text);
    bool used = false;
    for (size_t i = 0; i < request->policy_count; i++) {
        if (!means(text, length, request->policies[i].name)) continue;
        used = true;
        int code = add_option(self, assignment, &request->policies[i]);
        if (code) return code;
    }
    if (used) return EXIT_DONE;
    return command_misused(self, "--set %s: '%.*s' is not among the policies of -p", text, (int)length, text);
}

/* ---- the jobs ---- */

static int make_jobs(const command *self, run_request *request)
{
    ee_error error;
    size_t seeds = request->seeds.count;
    request->job_count = request->policy_count * seeds;
    if (memory_create(&request->jobs, request->job_count, sizeof *request->jobs, &error)) return report(self, &error);
    for (size_t i = 0; i < request->job_count; i++) {
        const requested_policy *policy = &request->policies[i / seeds];
        uint64_t seed = request->seeds.values[i % seeds];
        request->jobs[i] = (run_job){request->data, policy->name, policy->options, seed, request->rounds};
    }
    for (size_t i = 0; i < request->job_count; i += seeds)
        if (runner_check(&request->jobs[i], &error)) return report(self, &error);
    return EXIT_DONE;
}

int run_request_read(const command *self, int count, char **words, run_request *request)
{
    given from = {0};
    ee_error error;
    int code = collect(self, count, words, &from);
    request->json = from.json;
    if (!code) code = read_rounds(self, from.rounds, &request->rounds);
    if (!code && seeds_parse(from.seeds ? from.seeds : usual_seeds, &request->seeds, &error))
        code = report(self, &error);
    if (!code) code = read_policies(self, from.policies, request);
    for (size_t i = 0; i < from.set_count && !code; i++) code = apply_set(self, from.sets[i], request);
    if (!code && dataset_open(from.dataset, &request->data, &error)) code = report(self, &error);
    if (!code) code = make_jobs(self, request);
    memory_free(from.sets);
    return code;
}

void run_request_release(run_request *request)
{
    for (size_t i = 0; i < request->policy_count; i++) memory_free(request->policies[i].options);
    memory_free(request->policies);
    memory_free(request->seeds.values);
    memory_free(request->jobs);
    dataset_free(request->data);
}
