#define _POSIX_C_SOURCE 200809L
#include "evaluate_request.h"
#include "evaluate/evaluations/evaluation_warm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/system.h"
#include "evaluate/candidates/candidate.h"
#include "features/features_options.h"
#include "run_request.h"

/* clang-format off */
const flag evaluate_flags[EVALUATE_FLAGS] = {
    LOG_FLAG_LIST,
    [EVALUATE_POLICIES] = {'p', "policies", "CANDIDATE[,...]", "what to evaluate: policies and the candidates listed below"},
    [EVALUATE_ESTIMATOR] = {'e', "estimator", "ESTIMATOR[,...]", "estimators (default: dr,snips; ips,snips if the log has no features)"},
    [EVALUATE_INTERVAL] = {'i', "interval", "INTERVAL", "confidence interval (default: cs, anytime-valid)"},
    [EVALUATE_CONFIDENCE] = {'\0', "confidence", "SHARE", "confidence level of the intervals (default: 0.95)"},
    [EVALUATE_MODE] = {'m', "mode", "MODE", "progressive (default), split[=SHARE|EVENTS] or cross[=FOLDS]"},
    [EVALUATE_JUDGE_FROM] = {'\0', "judge-from", "TIME", "learn from earlier events, evaluate on the rest"},
    [EVALUATE_MODEL] = {'\0', "model", "f1|ridge", "reward model of dm, dr and similar estimators (default: f1)"},
    [EVALUATE_TUNING] = {'\0', "tuning", "slope|mse", "how estimators choose their parameter lambda (default: slope)"},
    [EVALUATE_SLOTS] = {'\0', "slots", "cascade|whole|own|first", "weights of events with several slots (default: cascade)"},
    [EVALUATE_REWARDS] = {'\0', "rewards", "LOW:HIGH", "possible rewards (default: 0:1, or the range in the log if others occur)"},
    [EVALUATE_METRICS] = {'\0', "metrics", "METRIC[,...]", "metrics to estimate, - before those to minimise (default: all)"},
    [EVALUATE_LEAST] = {'\0', "least-probability", "P", "smallest propensity possible (default: the smallest in the log)"},
    [EVALUATE_FEATURES] = {'\0', "features", "OPTIONS", "options of named features, such as 'products=none'"},
    [EVALUATE_SET] = {'\0', "set", "POLICY.OPTION=VALUE", "an option of a policy; repeatable"},
    [EVALUATE_SEEDS] = {'s', "seeds", "SEEDS", "seeds of policies, such as 0-4; one candidate per seed (default: 0)"},
    [EVALUATE_JOBS] = {'j', "jobs", "JOBS", "threads (default: one per core)"},
    [EVALUATE_OUTPUT] = {'o', "output", "DIR", "store the evaluations there, and skip those already stored"},
    [EVALUATE_WARM] = {'\0', "warm", "[CANDIDATE=]FILE", "train the best policy (or this candidate) on the whole log, and save it"},
    [EVALUATE_JSON] = {'\0', "json", NULL, "print one line of JSON per candidate instead of a table"},
};
/* clang-format on */

static bool take_set(const command *self, int got, const char *value, void *context, int *code)
{
    evaluate_request *request = context;
    ee_error error;
    if (got != EVALUATE_SET) return false;
    if (memory_grow(NULL, &request->sets, &request->set_capacity, request->set_count + 1, sizeof *request->sets,
                    &error))
        *code = command_refused(self, &error);
    else
        request->sets[request->set_count++] = value;
    return true;
}

/* ---- candidates ---- */

static int add_candidate(const command *self, const char *text, size_t length, evaluate_request *request)
{
    ee_error error;
    const candidate_class *class;
    evaluate_candidate *one;
    if (memory_grow(NULL, &request->listed, &request->listed_capacity, request->listed_count + 1,
                    sizeof *request->listed, &error))
        return command_refused(self, &error);
    one = &request->listed[request->listed_count++];
    if (memory_create(NULL, &one->text, length + 1, 1, &error)) return command_refused(self, &error);
    memcpy(one->text, text, length);
    for (size_t i = 0; i + 1 < request->listed_count; i++)
        if (strcmp(request->listed[i].text, one->text) == 0)
            return command_misused(self, "'%s' is given twice", one->text);
    return candidate_find(one->text, &class, &error) ? command_refused(self, &error) : EXIT_DONE;
}

static int read_candidates(const command *self, evaluate_request *request)
{
    const char *text = request->given[EVALUATE_POLICIES];
    if (!text) return command_misused(self, "expected candidates: -p CANDIDATE[,CANDIDATE...]");
    for (;;) {
        size_t length = strcspn(text, ",");
        int code = add_candidate(self, text, length, request);
        if (code) return code;
        if (!text[length]) return EXIT_DONE;
        text += length + 1;
    }
}

static int add_option(const command *self, const char *assignment, evaluate_candidate *one)
{
    ee_error error;
    size_t used = one->options ? strlen(one->options) : 0, needed = used + strlen(assignment) + 2;
    if (memory_grow(NULL, &one->options, &one->capacity, needed, 1, &error)) return command_refused(self, &error);
    snprintf(one->options + used, needed - used, "%s%s", used ? " " : "", assignment);
    return EXIT_DONE;
}

static int apply_set(const command *self, const char *text, evaluate_request *request)
{
    size_t length = run_request_target(text);
    const char *assignment = text + length + 1;
    if (!length || !strchr(assignment, '=') || strpbrk(assignment, ", \t\r\n"))
        return command_misused(self, "--set: expected POLICY.OPTION=VALUE, got '%s'", text);
    bool used = false;
    for (size_t i = 0; i < request->listed_count; i++) {
        evaluate_candidate *one = &request->listed[i];
        if (!run_request_means(text, length, one->text)) continue;
        used = true;
        int code = add_option(self, assignment, one);
        if (code) return code;
    }
    if (used) return EXIT_DONE;
    return command_misused(self, "--set %s: '%.*s' is not among the candidates of -p", text, (int)length, text);
}

/* A policy once per seed; candidates without randomness, once. */
static int make_candidates(const command *self, evaluate_request *request)
{
    ee_error error;
    size_t seeds = request->seeds.count, most = request->listed_count * seeds;
    if (memory_create(NULL, &request->candidates, most, sizeof *request->candidates, &error))
        return command_refused(self, &error);
    for (size_t i = 0; i < request->listed_count; i++) {
        const candidate_class *class;
        const evaluate_candidate *one = &request->listed[i];
        if (candidate_find(one->text, &class, &error)) return command_refused(self, &error);
        size_t copies = class == &candidate_policy ? seeds : 1;
        for (size_t k = 0; k < copies; k++)
            request->candidates[request->whole.candidate_count++] =
                (candidate_request){one->text, one->options, class == &candidate_policy ? request->seeds.values[k] : 0};
    }
    request->whole.candidates = request->candidates;
    request->whole.seed = request->seeds.values[0];
    return EXIT_DONE;
}

/* ---- numbers and words ---- */

static int read_estimators(const command *self, evaluate_request *request)
{
    evaluation_request *whole = &request->whole;
    const char *text = request->given[EVALUATE_ESTIMATOR];
    ee_error error;
    if (!text) return evaluation_usual_estimators(whole, &error) ? command_refused(self, &error) : EXIT_DONE;
    whole->estimator_count = 0;
    for (;; text++) {
        size_t length = strcspn(text, ",");
        char name[32] = "";
        memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
        if (whole->estimator_count == EVALUATION_ESTIMATORS)
            return command_misused(self, "--estimator: expected at most %d estimators", EVALUATION_ESTIMATORS);
        estimator_request *one = &whole->estimators[whole->estimator_count++];
        if (!estimator_request_parse(name, one))
            return command_misused(self, "unknown estimator '%s'; 'eenet help evaluate' lists them", name);
        for (const estimator_request *before = whole->estimators; before < one; before++)
            if (strcmp(estimator_request_name(*before), name) == 0)
                return command_misused(self, "--estimator: '%s' is given twice", name);
        text += length;
        if (!*text) return EXIT_DONE;
    }
}

/* A number above 0 and below 1. */
static int read_share(const command *self, int got, const char *text, double *number)
{
    int code = arguments_real(self, got, text, 0.0, 1.0, number);
    if (code || !text || (*number > 0.0 && *number < 1.0)) return code;
    return command_misused(self, "--%s: expected a number above 0 and below 1, got '%s'", self->flags[got].name, text);
}

static int read_range(const command *self, evaluate_request *request)
{
    const char *text = request->given[EVALUATE_REWARDS];
    if (!text) return EXIT_DONE;
    evaluation_request *whole = &request->whole;
    char *colon, *end;
    whole->reward_low = strtod(text, &colon);
    whole->reward_high = colon != text && *colon == ':' ? strtod(colon + 1, &end) : (double)NAN;
    if (isfinite(whole->reward_low) && whole->reward_low < whole->reward_high && isfinite(whole->reward_high) &&
        end != colon + 1 && !*end)
        return EXIT_DONE;
    return command_misused(self, "--rewards: expected LOW:HIGH, such as 0:1, got '%s'", text);
}

/* "cross" or "cross=5": what follows the word, or ""; NULL if it is another word. */
static const char *after_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || (text[length] && text[length] != '=')) return NULL;
    return text[length] ? text + length + 1 : text + length;
}

static int read_mode(const command *self, evaluate_request *request)
{
    evaluation_request *whole = &request->whole;
    const char *text = request->given[EVALUATE_MODE] ? request->given[EVALUATE_MODE] : "progressive";
    const char *split = after_word(text, "split"), *cross = after_word(text, "cross");
    char *end = NULL;
    double number = split && *split ? strtod(split, &end) : cross && *cross ? strtod(cross, &end) : (double)NAN;
    bool whole_number = number == floor(number);
    if (strcmp(text, "progressive") == 0) return EXIT_DONE;
    whole->mode = split ? EVALUATION_SPLIT : EVALUATION_CROSS;
    if (split && !*split) return EXIT_DONE;
    if (cross && !*cross) return EXIT_DONE;
    if (split && !*end && number > 0.0 && (number < 1.0 || (number < 1e15 && whole_number))) {
        whole->split = number;
        return EXIT_DONE;
    }
    if (cross && !*end && number >= 2.0 && number <= 100.0 && whole_number) {
        whole->folds = (size_t)number;
        return EXIT_DONE;
    }
    return command_misused(
        self, "--mode: expected progressive, split[=SHARE or EVENTS] or cross[=FOLDS, 2 to 100], got '%s'", text);
}

/* One of two words. */
static int read_choice(const command *self, int got, const char *text, const char *first, const char *second, int *pick)
{
    if (!text) return EXIT_DONE;
    *pick = strcmp(text, second) == 0;
    if (*pick || strcmp(text, first) == 0) return EXIT_DONE;
    return command_misused(self, "--%s: expected %s or %s, got '%s'", self->flags[got].name, first, second, text);
}

static int read_slots(const command *self, evaluate_request *request)
{
    const char *text = request->given[EVALUATE_SLOTS];
    if (!text || slot_weighting_find(text, &request->whole.slots)) return EXIT_DONE;
    request->whole.first_slot = strcmp(text, "first") == 0;
    if (request->whole.first_slot) return EXIT_DONE;
    return command_misused(self, "--slots: expected cascade, whole, own or first, got '%s'", text);
}

static int read_words(const command *self, evaluate_request *request)
{
    const char *const *given = request->given;
    evaluation_request *whole = &request->whole;
    int ridge = 0, mse = 0;
    if (given[EVALUATE_INTERVAL]) whole->interval = interval_find(given[EVALUATE_INTERVAL]);
    if (whole->interval == INTERVAL_KINDS)
        return command_misused(self, "unknown interval '%s'; 'eenet help evaluate' lists them",
                               given[EVALUATE_INTERVAL]);
    int code = read_choice(self, EVALUATE_MODEL, given[EVALUATE_MODEL], "f1", "ridge", &ridge);
    if (!code) code = read_choice(self, EVALUATE_TUNING, given[EVALUATE_TUNING], "slope", "mse", &mse);
    if (!code) code = read_slots(self, request);
    whole->model = ridge ? REWARD_MODEL_RIDGE : REWARD_MODEL_F1;
    whole->tuning = mse ? TUNING_MSE : TUNING_SLOPE;
    features_options features;
    ee_error error;
    whole->features = given[EVALUATE_FEATURES];
    if (!code && whole->features && features_read_options(&features, whole->features, &error))
        code = command_refused(self, &error);
    whole->folder = given[EVALUATE_OUTPUT];
    if (whole->folder && !whole->folder[0]) return command_misused(self, "--output: expected a folder, got ''");
    return code;
}

static int read_numbers(const command *self, evaluate_request *request)
{
    const char *const *given = request->given;
    evaluation_request *whole = &request->whole;
    ee_error error;
    double confidence = 0.95;
    uint64_t threads = system_cores();
    int code = read_share(self, EVALUATE_CONFIDENCE, given[EVALUATE_CONFIDENCE], &confidence);
    if (!code) code = read_share(self, EVALUATE_LEAST, given[EVALUATE_LEAST], &whole->least_probability);
    if (!code) code = arguments_number(self, EVALUATE_JOBS, given[EVALUATE_JOBS], 1, 1024, &threads);
    whole->threads = (size_t)threads;
    whole->alpha = 1.0 - confidence;
    if (!code) code = log_flags_time(self, EVALUATE_JUDGE_FROM, given[EVALUATE_JUDGE_FROM], &whole->judged_from);
    if (!code) code = read_range(self, request);
    if (!code && evaluation_metrics_parse(given[EVALUATE_METRICS], whole, &error)) code = command_refused(self, &error);
    if (!code && seeds_parse(given[EVALUATE_SEEDS] ? given[EVALUATE_SEEDS] : "0", &request->seeds, &error))
        code = command_refused(self, &error);
    return code;
}

/* "model.ee" or "linucb=model.ee". The part before '=' names a candidate, unless it has a slash. */
static int read_warm(const command *self, evaluate_request *request)
{
    const char *text = request->given[EVALUATE_WARM];
    ee_error error;
    request->warm_path = text;
    if (!text) return EXIT_DONE;
    for (size_t i = 0; i < request->listed_count; i++) {
        const char *rest = after_word(text, request->listed[i].text);
        if (!rest || !*rest) continue;
        request->warm_name = request->listed[i].text;
        request->warm_path = rest;
    }
    int length = (int)strcspn(text, "=/");
    if (!request->warm_name && text[length] == '=')
        return command_misused(self, "--warm %s: '%.*s' is not among the candidates of -p", text, length, text);
    if (!request->warm_path[0]) return command_misused(self, "--warm: expected a file, got ''");
    if (!evaluation_check_warm(&request->whole, request->warm_path, &error)) return EXIT_DONE;
    return command_refused(self, &error);
}

int evaluate_request_read(const command *self, int argc, char **argv, evaluate_request *request)
{
    request->whole = evaluation_usual();
    int code = log_flags_collect(self, argc, argv, &request->whole.log, request->given, take_set, request);
    if (!code) code = log_flags_read(self, request->given, &request->whole.reading);
    if (!code) code = read_candidates(self, request);
    for (size_t i = 0; i < request->set_count && !code; i++) code = apply_set(self, request->sets[i], request);
    if (!code) code = read_words(self, request);
    if (!code) code = read_numbers(self, request);
    if (!code) code = read_mode(self, request);
    if (!code && request->given[EVALUATE_JUDGE_FROM] && request->whole.mode != EVALUATION_PROGRESSIVE)
        code = command_misused(self, "--judge-from needs --mode progressive");
    if (!code) code = read_warm(self, request);
    if (!code) code = make_candidates(self, request);
    return code ? code : read_estimators(self, request);
}

void evaluate_request_release(evaluate_request *request)
{
    for (size_t i = 0; i < request->listed_count; i++) {
        memory_free(request->listed[i].text);
        memory_free(request->listed[i].options);
    }
    memory_free(request->listed);
    memory_free(request->sets);
    memory_free(request->seeds.values);
    memory_free(request->candidates);
}
