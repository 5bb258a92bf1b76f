/* eenet coverage: whether intervals cover the true value, and how much a log helps a new bandit. */
#define _GNU_SOURCE /* CPU_COUNT */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "command.h"
#include "data/values/plain_number.h"
#include "evaluate/estimators/statistics.h"
#include "interrupt.h"
#include "lab/studies/coverage_report.h"
#include "lab/studies/warm_study.h"

enum {
    FLAG_DATASET,
    FLAG_BEHAVIOUR,
    FLAG_CANDIDATES,
    FLAG_ROUNDS,
    FLAG_REPLICATIONS,
    FLAG_POOL,
    FLAG_TRAINING,
    FLAG_WARM,
    FLAG_SEED,
    FLAG_JOBS,
    FLAG_OUTPUT,
    FLAG_JSON,
    FLAG_QUIET,
    FLAGS
};

static const flag flags[FLAGS] = {
    [FLAG_DATASET] = {'d', "dataset", "DATASET", "a data set listed by 'eenet datasets'; repeatable"},
    [FLAG_BEHAVIOUR] = {'b', "behaviour", "KNOWN[,...]", "logging policies (default: uniform,floor,softmax,igw)"},
    [FLAG_CANDIDATES] = {'p', "candidates", "KNOWN[,...]", "policies to evaluate (default: see below)"},
    [FLAG_ROUNDS] = {'T', "rounds", "ROUNDS", "length of a log (default: 10000); with --warm, rounds after it (2000)"},
    [FLAG_REPLICATIONS] = {'\0', "replications", "LOGS",
                           "logs per logging policy (default: 400); with --warm, seeds (default: 5)"},
    [FLAG_POOL] = {'\0', "pool", "ROUNDS", "rounds that logs are drawn from (default: 4000)"},
    [FLAG_TRAINING] = {'\0', "training", "ROUNDS", "rounds that models learn from first (default: 4000)"},
    [FLAG_WARM] = {'\0', "warm", "EVENTS", "instead, measure how much a log of EVENTS helps a new bandit"},
    [FLAG_SEED] = {'s', "seed", "SEED", "random seed (default: 0)"},
    [FLAG_JOBS] = {'j', "jobs", "JOBS", "threads (default: one per core)"},
    [FLAG_OUTPUT] = {'o', "output", "DIR", "store each finished study there, and draw figures"},
    [FLAG_JSON] = {'\0', "json", NULL, "print one line of JSON per logging policy instead of a table"},
    [FLAG_QUIET] = {'q', "quiet", NULL, "no progress line"},
};

enum { MOST_DATASETS = 32, MOST_KNOWN = 16 };

typedef struct known_list {
    known_policy entries[MOST_KNOWN];
    size_t count;
} known_list;

typedef struct request {
    const char *given[FLAGS];
    const char *texts[MOST_DATASETS];
    dataset *datasets[MOST_DATASETS];
    size_t dataset_count;
    known_list behaviours, candidates;
    uint64_t rounds, replications, pool, training, warm, seed, threads;
    kept_studies kept;
    coverage_entry *entries; /* (datasets, behaviours) */
} request;

/* ---- arguments ---- */

static int take(const command *self, int got, const char *value, void *context)
{
    request *into = context;
    if (got == FLAG_DATASET) {
        if (into->dataset_count == MOST_DATASETS)
            return command_misused(self, "expected at most %d data sets", MOST_DATASETS);
        into->texts[into->dataset_count++] = value;
        return EXIT_DONE;
    }
    if (into->given[got]) return command_misused(self, "--%s is given twice", flags[got].name);
    into->given[got] = value ? value : "";
    return EXIT_DONE;
}

static int read_known(const command *self, int got, const char *list, known_list *into)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        ee_error error;
        if (into->count == MOST_KNOWN)
            return command_misused(self, "--%s: expected at most %d", flags[got].name, MOST_KNOWN);
        known_policy *entry = &into->entries[into->count++];
        if (known_policy_parse(word, length, entry, &error))
            return command_misused(self, "--%s: %s", flags[got].name, error.message);
        if (got == FLAG_BEHAVIOUR && !known_policy_explores(*entry))
            return command_misused(self,
                                   "--behaviour: '%.*s' never plays some arms, so its log cannot show what they earn",
                                   (int)length, word);
        word += length;
        if (!*word) return EXIT_DONE;
    }
}

static int read_numbers(const command *self, request *of)
{
    const struct {
        int flag;
        uint64_t low, high, *number;
    } numbers[] = {
        {FLAG_ROUNDS, 2, 100000000, &of->rounds}, {FLAG_REPLICATIONS, 1, 1000000, &of->replications},
        {FLAG_POOL, 1, 10000000, &of->pool},      {FLAG_TRAINING, 0, 100000000, &of->training},
        {FLAG_WARM, 1, 100000000, &of->warm},     {FLAG_SEED, 0, INT64_MAX, &of->seed},
        {FLAG_JOBS, 1, 1024, &of->threads},
    };
    int code = EXIT_DONE;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !code; i++)
        code = arguments_number(self, numbers[i].flag, of->given[numbers[i].flag], numbers[i].low, numbers[i].high,
                                numbers[i].number);
    return code;
}

static int read_request(const command *self, int count, char **words, request *out)
{
    cpu_set_t cores;
    out->threads = sched_getaffinity(0, sizeof cores, &cores) ? 1 : (uint64_t)CPU_COUNT(&cores);
    int code = arguments_each(self, count, words, take, out);
    if (code) return code;
    bool warm = out->given[FLAG_WARM] != NULL;
    out->rounds = warm ? 2000 : 10000;
    out->replications = warm ? 5 : 400;
    out->pool = out->training = 4000;
    if (!out->dataset_count) return command_misused(self, "expected a data set: -d DATASET");
    const char *behaviours = out->given[FLAG_BEHAVIOUR], *candidates = out->given[FLAG_CANDIDATES];
    if (!behaviours) behaviours = warm ? "uniform,floor:0.2" : "uniform,floor,softmax,igw";
    if (!candidates) candidates = "uniform,softmax:0.3,softmax:0.1,little,greedy";
    code = read_numbers(self, out);
    if (!code) code = read_known(self, FLAG_BEHAVIOUR, behaviours, &out->behaviours);
    if (!code) code = read_known(self, FLAG_CANDIDATES, candidates, &out->candidates);
    return code;
}

static const char *label_of(const request *of, const dataset *data)
{
    return command_dataset_label(of->datasets, of->dataset_count, data);
}

/* ---- progress ---- */

typedef struct audience {
    const char *what; /* is counted */
    bool shown, drawn;
} audience;

static audience audience_of(const request *of, const char *what)
{
    return (audience){.what = what, .shown = !of->given[FLAG_QUIET] && isatty(STDERR_FILENO) == 1};
}

static bool still_wanted(void *context, size_t done, size_t count)
{
    audience *who = context;
    if (who->shown && (done % (count / 100 + 1) == 0 || done == count)) {
        fprintf(stderr, "\r\033[K%s: %zu/%zu", who->what, done, count);
        fflush(stderr);
        who->drawn = true;
    }
    return !interrupt_came();
}

static void clear_line(audience *who)
{
    if (who->drawn) fprintf(stderr, "\r\033[K");
    who->drawn = false;
}

static int end_of(const command *self, const request *of, ee_status status, bool finished, const ee_error *error)
{
    if (status) return command_failed(self, "%s", error->message);
    if (finished) return EXIT_DONE;
    fprintf(stderr, "eenet %s: interrupted%s\n", self->name,
            of->given[FLAG_OUTPUT] ? "; the same command resumes it" : "");
    return EXIT_INTERRUPTED;
}

/* ---- intervals ---- */

static const char *promise_words(const coverage_interval *which)
{
    static const char *const words[] = {
        [PROMISE_ASYMPTOTIC] = "asymptotic", [PROMISE_FINITE] = "any length", [PROMISE_ALWAYS] = "anytime"};
    return words[which->promise];
}

static void print_share(double share)
{
    if (isnan(share))
        printf("  %6s", "");
    else
        printf("  %5.1f%%", 100 * share);
}

static void print_intervals(const coverage_entry *entry)
{
    printf("\n  %-16s %-6s %-12s %6s  %6s  %6s  %6s  %9s\n", "interval", "of", "valid", "covers", "least", "most",
           "always", "width");
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        const coverage_interval *which = &coverage_intervals[k];
        coverage_spread covers = coverage_over_candidates(entry, coverage_covers, k);
        printf("  %-16s %-6s %-11s", interval_name(which->interval), coverage_interval_of(which), promise_words(which));
        print_share(covers.mean);
        print_share(covers.least);
        print_share(covers.most);
        print_share(coverage_over_candidates(entry, coverage_always, k).mean);
        printf("  %9s\n", plain_number_of(coverage_over_candidates(entry, coverage_width, k).mean, 4).text);
    }
}

static void print_estimators(const coverage_entry *entry)
{
    printf("\n  %-16s %10s  %10s  %10s  %7s  %6s\n", "estimator", "largest |bias|", "rmse", "rmse, most", "ordered",
           "pairs");
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        coverage_spread bias = coverage_over_candidates(entry, coverage_bias, k);
        coverage_spread error = coverage_over_candidates(entry, coverage_error, k);
        printf("  %-16s %14s  %10s  %10s ", estimator_describe(coverage_estimators[k])->name,
               plain_number_of(fmax(fabs(bias.least), fabs(bias.most)), 2).text, plain_number_of(error.mean, 4).text,
               plain_number_of(error.most, 4).text);
        print_share(entry->result.ordered[k]);
        print_share(entry->result.pairs[k]);
        printf("\n");
    }
}

static void print_entry(const request *of, const coverage_entry *entry)
{
    const coverage_plan *plan = &entry->plan;
    char name[KNOWN_TEXT];
    known_policy_format(plan->behaviour, name);
    printf("%s, logs of %s (value %.4f, least probability %s): %zu logs of %zu rounds\n", label_of(of, entry->data),
           name, entry->result.behaviour, plain_number_of(entry->result.least_probability, 2).text, plan->replications,
           plan->rounds);
    printf("  true values:");
    for (size_t c = 0; c < plan->candidate_count; c++) {
        known_policy_format(plan->candidates[c], name);
        printf("%s %s %.4f", c ? "," : "", name, entry->result.candidates[c].truth);
    }
    printf("\n");
    print_intervals(entry);
    print_estimators(entry);
    printf("\n");
}

static ee_status print_line(const coverage_entry *entry, ee_error *error)
{
    text line = coverage_line(entry, error);
    if (!line.status) fputs(line.bytes, stdout);
    memory_free(line.bytes);
    return line.status;
}

/* The pool is made when it is first needed. */
static ee_status play_entry(request *of, const known_plan *rounds, const parallel_watch *watch, known_pool *pool,
                            coverage_entry *entry, bool *finished, ee_error *error)
{
    ee_status status = EE_OK;
    *finished = true;
    if (!pool->count) status = known_pool_create(rounds, watch, pool, finished, error);
    if (!status && *finished)
        status = coverage_run(&entry->plan, (size_t)of->threads, watch, &entry->result, finished, error);
    if (!status && *finished) status = coverage_keep(&of->kept, entry, error);
    return status;
}

static int run_pool(const command *self, request *of, size_t place, coverage_entry *entries)
{
    audience who = audience_of(of, label_of(of, of->datasets[place]));
    parallel_watch watch = {still_wanted, &who};
    known_pool pool = {0};
    known_plan plan = {of->datasets[place], of->seed, (size_t)of->training, (size_t)of->pool};
    int code = EXIT_DONE;
    for (size_t b = 0; b < of->behaviours.count && !code; b++) {
        enum { RESAMPLES = 200 };
        coverage_entry *entry = &entries[b];
        bool finished;
        ee_error error;
        *entry =
            (coverage_entry){.data = plan.data,
                             .training = plan.training,
                             .pool = plan.count,
                             .plan = {&pool, of->behaviours.entries[b], of->candidates.entries, of->candidates.count,
                                      (size_t)of->rounds, (size_t)of->replications, RESAMPLES, of->seed}};
        ee_status status = coverage_find(&of->kept, entry, &finished, &error);
        if (!status && !finished) status = play_entry(of, &plan, &watch, &pool, entry, &finished, &error);
        clear_line(&who);
        if (!status && finished && of->given[FLAG_JSON])
            status = print_line(entry, &error);
        else if (!status && finished)
            print_entry(of, entry);
        fflush(stdout);
        code = end_of(self, of, status, finished, &error);
    }
    known_pool_release(&pool);
    return code;
}

static int draw(const command *self, const request *of, size_t count)
{
    const char *folder = of->given[FLAG_OUTPUT];
    ee_error error;
    if (coverage_figures(of->entries, count, folder, &error)) return command_failed(self, "%s", error.message);
    if (!of->given[FLAG_JSON]) printf("%s\n%s/figures\n", of->kept.file.path, folder);
    return EXIT_DONE;
}

static int run_coverage(const command *self, request *of)
{
    size_t behaviours = of->behaviours.count, count = of->dataset_count * behaviours;
    ee_error error;
    if (memory_create(NULL, &of->entries, count, sizeof *of->entries, &error))
        return command_failed(self, "%s", error.message);
    int code = EXIT_DONE;
    for (size_t i = 0; i < of->dataset_count && !code; i++) code = run_pool(self, of, i, of->entries + i * behaviours);
    if (!code && of->given[FLAG_OUTPUT]) code = draw(self, of, count);
    for (size_t i = 0; i < count; i++) coverage_release(&of->entries[i].result);
    memory_free(of->entries);
    return code;
}

/* ---- a warm start ---- */

static void print_warm_head(const request *of)
{
    printf("Regret of the %" PRIu64 " rounds after a log of %" PRIu64 " events: mean ± standard deviation over %" PRIu64
           " seeds.\n%-28s %-12s",
           of->rounds, of->warm, of->replications, "data set", "log of");
    for (size_t k = 0; k < WARM_PLAYERS; k++) printf("  %16s", warm_names[k]);
    printf("\n");
}

/* values is room for (replications). */
static void print_warm(const request *of, const dataset *data, const char *name, const warm_result *results,
                       double *values)
{
    size_t count = (size_t)of->replications;
    bool json = of->given[FLAG_JSON] != NULL;
    text quoted = text_start(NULL);
    text_json(&quoted, (json_text){dataset_name(data), strlen(dataset_name(data))});
    if (json)
        printf("{\"dataset\":%s,\"events\":%" PRIu64 ",\"rounds\":%" PRIu64 ",\"seeds\":%zu,\"log\":\"%s\"",
               quoted.bytes ? quoted.bytes : "null", of->warm, of->rounds, count, name);
    else
        printf("%-28s %-12s", label_of(of, data), name);
    for (size_t k = 0; k < WARM_PLAYERS; k++) {
        for (size_t i = 0; i < count; i++) values[i] = results[i].regret[k];
        double mean = statistics_mean(values, count), deviation = statistics_deviation(values, count);
        if (isnan(deviation)) deviation = 0;
        if (json)
            printf(",\"%s\":[%.6g,%.6g]", warm_names[k], mean, deviation);
        else
            printf("  %7.1f ± %6.1f", mean, deviation);
    }
    printf(json ? "}\n" : "\n");
    memory_free(quoted.bytes);
    fflush(stdout);
}

/* The logging policy: uniform, or eenet with this exploration. options is the buffer for its options. */
static void choose_logger(known_policy behaviour, warm_plan *plan, char *options, size_t capacity)
{
    static const char *const forms[KNOWN_KINDS] = {[KNOWN_FLOOR] = "propensity=floor propensity_epsilon=%g",
                                                   [KNOWN_SOFTMAX] = "propensity=softmax propensity_temperature=%g",
                                                   [KNOWN_IGW] = "propensity=igw propensity_gamma=%g"};
    plan->policies[WARM_LOGGER] = forms[behaviour.kind] ? "eenet" : "uniform";
    if (!forms[behaviour.kind]) return;
    snprintf(options, capacity, forms[behaviour.kind], behaviour.amount);
    plan->options[WARM_LOGGER] = options;
}

static int run_warm(const command *self, request *of)
{
    size_t count = (size_t)of->replications;
    audience who = audience_of(of, "seeds");
    parallel_watch watch = {still_wanted, &who};
    warm_result *results = NULL;
    double *values = NULL;
    ee_error error;
    ee_status status = memory_create(NULL, &results, count, sizeof *results, &error);
    if (!status) status = memory_create(NULL, &values, count, sizeof *values, &error);
    int code = status ? command_failed(self, "%s", error.message) : EXIT_DONE;
    if (!code && !of->given[FLAG_JSON]) print_warm_head(of);
    for (size_t i = 0; i < of->dataset_count * of->behaviours.count && !code; i++) {
        known_policy behaviour = of->behaviours.entries[i % of->behaviours.count];
        warm_plan plan = {.data = of->datasets[i / of->behaviours.count],
                          .policies = {"eenet", "eenet", "eenet"},
                          .first_seed = of->seed,
                          .seed_count = count,
                          .events = of->warm,
                          .rounds = of->rounds};
        char options[80], name[KNOWN_TEXT];
        bool finished;
        choose_logger(behaviour, &plan, options, sizeof options);
        status = warm_run(&plan, (size_t)of->threads, &watch, &of->kept, results, &finished, &error);
        clear_line(&who);
        code = end_of(self, of, status, finished, &error);
        known_policy_format(behaviour, name);
        if (!code) print_warm(of, plan.data, name, results, values);
    }
    if (!code && of->given[FLAG_OUTPUT] && !of->given[FLAG_JSON]) printf("%s\n", of->kept.file.path);
    memory_free(results);
    memory_free(values);
    return code;
}

/* ---- the command ---- */

static int run(const command *self, int count, char **words)
{
    request of = {.kept = {.file = {NULL, -1, -1}}};
    ee_error error;
    int code = read_request(self, count, words, &of);
    for (size_t i = 0; i < of.dataset_count && !code; i++)
        if (dataset_open(of.texts[i], NULL, &of.datasets[i], &error)) code = command_refused(self, &error);
    if (!code && kept_studies_open(of.given[FLAG_OUTPUT], &of.kept, &error))
        code = command_failed(self, "%s", error.message);
    if (!code) interrupt_catch(self->name);
    if (!code) code = of.given[FLAG_WARM] ? run_warm(self, &of) : run_coverage(self, &of);
    kept_studies_close(&of.kept);
    for (size_t i = 0; i < of.dataset_count; i++) dataset_free(of.datasets[i]);
    return code;
}

const command command_coverage = {
    .name = "coverage",
    .form = "-d DATASET [-d DATASET]... [-b KNOWN[,...]] [-p KNOWN[,...]] [-T ROUNDS] [--replications LOGS] "
            "[--warm EVENTS] [-s SEED] [-j JOBS] [-o DIR] [--json] [-q]",
    .summary = "check that the intervals of off-policy evaluation cover the true value",
    .details =
        "Takes a pool of rounds from the data set, in which the mean reward of every arm and the probability of every\n"
        "choice are known, so the true value of each policy is exact. Draws logs from the pool and evaluates them. "
        "The\n"
        "table shows how often each 95% interval covered the true value at the end of the log ('covers'; 'least' and\n"
        "'most' over the candidates), how often it covered at every look while the log grew ('always'), and the "
        "errors\n"
        "of the estimators.\n"
        "KNOWN: uniform; first (the first arm); little or greedy (the best arm by a model trained briefly or fully);\n"
        "floor:EPSILON, softmax:TEMPERATURE or igw:GAMMA of the fully trained model's scores. Default candidates:\n"
        "uniform,softmax:0.3,softmax:0.1,little,greedy.\n"
        "--warm: eenet continues after learning from a log, compared with an untrained eenet and one that played the\n"
        "logged rounds itself. The log is of uniform, or of eenet with that exploration.\n"
        "With -o, DIR/coverage.jsonl stores a line per finished logging policy (with --warm, per seed). The same\n"
        "command computes only what is missing.\n"
        "The same seed gives the same result, whatever -j. Exit status: 0 success, 1 failure, 2 wrong usage, 130 "
        "after\n"
        "Ctrl-C.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
