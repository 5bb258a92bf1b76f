#define _POSIX_C_SOURCE 200809L
#include "evaluation_job_run.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "evaluate/candidates/candidate.h"
#include "evaluate/evaluations/evaluation.h"
#include "serve/log/settled_reader.h"

/* ---- what is asked ---- */

/* Whether it has no options. Candidates that read files of this machine are not offered to clients. */
static bool is_fixed(const char *policy)
{
    static const char *const fixed[] = {"logged", "first", "uniform"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(policy, fixed[i]) == 0) return true;
    return strncmp(policy, "arm:", 4) == 0;
}

/* The settings of a bandit that has the candidate's policy. */
static bandit_settings settings_of(const job_candidate *one, const bandit_settings *of)
{
    challenger_settings challenger = {0};
    bool chooses = policy_has_option(one->policy, "propensity"), same = policy_has_option(of->policy, "propensity");
    const char *rule = one->propensity[0] ? one->propensity : !chooses ? "own" : same ? of->propensity : "floor:0.05";
    snprintf(challenger.policy, sizeof challenger.policy, "%s", one->policy);
    snprintf(challenger.options, sizeof challenger.options, "%s", one->options);
    snprintf(challenger.propensity, sizeof challenger.propensity, "%s", rule);
    return challenger_settings_in_place(of, &challenger);
}

static ee_status check_candidate(const job_candidate *one, const bandit_settings *of, ee_error *error)
{
    ee_bandit *made = NULL;
    ee_error reason;
    ee_status status = EE_OK;
    if (!one->name[0]) return status_fail(error, EE_BAD_INPUT, "candidates: each needs a \"name\"");
    if (is_fixed(one->policy)) {
        const candidate_class *class;
        bool plain = !one->options[0] && !one->propensity[0];
        if (!plain) status = status_fail(&reason, EE_BAD_INPUT, "%s takes no options", one->policy);
        if (plain) status = candidate_find(one->policy, &class, &reason);
    } else {
        bandit_settings settings = settings_of(one, of);
        status = bandit_settings_create(&settings, &made, &reason);
        ee_bandit_free(made);
    }
    return status ? status_fail(error, status, "candidate '%s': %.300s", one->name, reason.message) : EE_OK;
}

ee_status job_request_check(const job_request *request, const bandit_settings *of, ee_error *error)
{
    estimator_request unused;
    if (!request->candidate_count) return status_fail(error, EE_BAD_INPUT, "candidates: expected at least one");
    if (!request->estimator_count) return status_fail(error, EE_BAD_INPUT, "estimators: expected at least one");
    if (!(request->confidence >= 0.5 && request->confidence < 1))
        return status_fail(error, EE_BAD_INPUT, "confidence must be at least 0.5 and below 1");
    if (request->from >= request->until) return status_fail(error, EE_BAD_INPUT, "until must be after from");
    for (size_t i = 0; i < request->estimator_count; i++)
        if (!estimator_request_parse(request->estimators[i], &unused))
            return status_fail(error, EE_BAD_INPUT, "estimators: unknown estimator '%.60s'", request->estimators[i]);
    for (size_t i = 0; i < request->candidate_count; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(request->candidates[i].name, request->candidates[k].name) == 0)
                return status_fail(error, EE_BAD_INPUT, "candidates: duplicate name '%.60s'",
                                   request->candidates[i].name);
        ee_status status = check_candidate(&request->candidates[i], of, error);
        if (status) return status;
    }
    return EE_OK;
}

void job_request_usual(job_request *out)
{
    static const job_candidate usual[] = {{.name = "online", .policy = "logged"},
                                          {.name = "baseline", .policy = "first"},
                                          {.name = "uniform", .policy = "uniform"}};
    *out = (job_request){.from = INT64_MIN, .until = INT64_MAX, .confidence = 0.95};
    memcpy(out->candidates, usual, sizeof usual);
    out->candidate_count = sizeof usual / sizeof *usual;
    snprintf(out->estimators[0], sizeof out->estimators[0], "ips");
    out->estimator_count = 1;
}

/* ---- the part of the log ---- */

static ee_status copy_events(settled_reader *from, log_writer *to, const job_watch *watch, size_t *events,
                             ee_error *error)
{
    for (*events = 0;; ++*events) {
        log_event one;
        settled_decision facts;
        bool found;
        if (!watch->wanted(watch->context)) return EE_OK;
        ee_status status = settled_next(from, &one, &facts, &found, error);
        if (status || !found) return status;
        status = log_write(to, &one, error);
        if (status) return status;
    }
}

static ee_status write_log(const evaluation_job *job, store *kept, const bandit_settings *of, const char *path,
                           const job_watch *watch, ee_error *error)
{
    const job_request *asked = &job->about.request;
    log_range range = {.from = asked->from, .until = asked->until, .mode = of->mode, .rules = of->joining};
    store_reader *reader = NULL;
    settled_reader *decisions = NULL;
    log_writer *log = NULL;
    size_t events = 0;
    ee_status status = store_reader_create(kept, &reader, error);
    if (!status) status = settled_reader_create(reader, job->about.bandit, &range, &decisions, error);
    if (!status) status = log_create(path, (size_t)of->dim, &log, error);
    if (!status) status = copy_events(decisions, log, watch, &events, error);
    ee_status ended = log ? log_end(log, !status, status ? NULL : error) : EE_OK;
    settled_reader_free(decisions);
    if (!status) status = ended;
    if (!status && !events && watch->wanted(watch->context))
        return status_fail(error, EE_BAD_INPUT, "no settled decisions in this time range");
    return status;
}

/* ---- playing ---- */

typedef struct candidate_texts {
    candidate_request asked[JOB_CANDIDATES];
    text options[JOB_CANDIDATES];
} candidate_texts;

static ee_status name_candidates(const job_request *request, const bandit_settings *of, candidate_texts *out,
                                 ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < request->candidate_count && !status; i++) {
        const job_candidate *one = &request->candidates[i];
        out->options[i] = text_start(error);
        if (!is_fixed(one->policy)) {
            bandit_settings settings = settings_of(one, of);
            status = bandit_settings_options(&settings, &out->options[i], error);
            if (!status) status = out->options[i].status;
        }
        out->asked[i] = (candidate_request){one->policy, out->options[i].bytes, of->seed};
    }
    return status;
}

static void report_progress(void *context, const evaluation_standing *now)
{
    const job_watch *watch = context;
    if (now->total_bytes) watch->progress(watch->context, (double)now->bytes / (double)now->total_bytes);
}

static bool is_wanted(void *context)
{
    const job_watch *watch = context;
    return watch->wanted(watch->context);
}

/* Hands the results to the job if all candidates have ended, and keeps only the reason of those that failed. */
static ee_status keep_results(evaluation_job *into, evaluation_result **from, bool *finished, ee_error *error)
{
    evaluation_result *results = *from;
    const evaluation_result *played = NULL;
    *finished = true;
    for (size_t i = 0; i < into->about.request.candidate_count; i++) {
        *finished = *finished && (results[i].finished || results[i].failure.status);
        if (results[i].finished) played = &results[i];
    }
    if (!*finished) return EE_OK;
    if (!played)
        return status_fail(error, EE_BAD_INPUT, "no candidate could be evaluated: %.300s", results[0].failure.message);
    into->log = played->log;
    for (size_t i = 0; i < into->about.request.candidate_count; i++) {
        if (!results[i].failure.status) continue;
        evaluation_release(&results[i], 1);
        results[i] = (evaluation_result){.failure = results[i].failure};
    }
    into->results = results;
    *from = NULL;
    return EE_OK;
}

static ee_status play(evaluation_job *into, const bandit_settings *of, const char *log, const job_watch *watch,
                      bool *finished, ee_error *error)
{
    const job_request *asked = &into->about.request;
    candidate_texts *texts = NULL;
    evaluation_result *results = NULL;
    evaluation_request request = evaluation_usual();
    evaluation_watch seen = {.wanted = is_wanted, .standing = report_progress, .context = (void *)watch};
    request.log = log;
    request.alpha = 1 - asked->confidence;
    request.features = of->dim ? NULL : of->features;
    request.seed = of->seed;
    request.candidate_count = asked->candidate_count;
    request.estimator_count = asked->estimator_count;
    for (size_t i = 0; i < asked->estimator_count; i++)
        estimator_request_parse(asked->estimators[i], &request.estimators[i]);
    ee_status status = memory_create(NULL, &texts, 1, sizeof *texts, error);
    if (!status) status = memory_create(NULL, &results, asked->candidate_count, sizeof *results, error);
    if (!status) status = name_candidates(asked, of, texts, error);
    if (!status) {
        request.candidates = texts->asked;
        status = evaluation_run(&request, &seen, results, error);
    }
    if (!status) status = keep_results(into, &results, finished, error);
    if (results) evaluation_release(results, asked->candidate_count);
    for (size_t i = 0; texts && i < asked->candidate_count; i++) memory_free(texts->options[i].bytes);
    memory_free(texts);
    memory_free(results);
    return status;
}

ee_status job_run(evaluation_job *into, store *kept, const bandit_settings *of, const char *log, const job_watch *watch,
                  bool *finished, ee_error *error)
{
    *finished = false;
    ee_status status = write_log(into, kept, of, log, watch, error);
    if (!status && watch->wanted(watch->context)) status = play(into, of, log, watch, finished, error);
    unlink(log);
    return status;
}
