/* Writes evaluations in Personalizer's form. */
#include <math.h>
#include <stdio.h>

#include "data/logs/log_time.h"
#include "iso_duration.h"
#include "personalizer_evaluations.h"

static void add_text(text *into, const char *name, const char *words)
{
    text_add(into, ",\"%s\":", name);
    text_json(into, (json_text){words, strlen(words)});
}

static void add_time(text *into, const char *name, double seconds)
{
    char words[LOG_TIME_SIZE];
    log_time_format(seconds, words);
    text_add(into, ",\"%s\":\"%s\"", name, words);
}

static void add_number(text *into, const char *name, double number)
{
    text_add(into, ",\"%s\":", name);
    text_double(into, isfinite(number) ? number : 0);
}

/* ---- a policy ---- */

void evaluation_arguments(const job_candidate *of, text *into)
{
    text_add(into, "eenet:%s", of->policy);
    if (of->options[0]) text_add(into, " %s", of->options);
    if (of->propensity[0]) text_add(into, " propensity=%s", of->propensity);
}

static const char *source_of(const job_candidate *of)
{
    if (strcmp(of->policy, "logged") == 0) return "Online";
    if (strcmp(of->policy, "first") == 0) return "Baseline";
    if (strcmp(of->policy, "uniform") == 0) return "Random";
    return strncmp(of->name, EXPERIMENT_PREFIX, strlen(EXPERIMENT_PREFIX)) == 0 ? "OfflineExperimentation" : "Custom";
}

/* The sums up to a mark, or from one to another. */
static void add_summary(text *into, double time, double window, const job_sums *sums)
{
    double mean = sums->rewards / sums->rounds, variance = sums->squares / sums->rounds - mean * mean;
    char words[LOG_TIME_SIZE], length[ISO_DURATION_SIZE];
    log_time_format(time, words);
    iso_duration_format(fmax(window, 0), length); /* times go back if a wrong clock was corrected */
    text_add(into, "{\"timeStamp\":\"%s\"", words);
    add_number(into, "ipsEstimatorNumerator", sums->rewards);
    add_number(into, "ipsEstimatorDenominator", sums->rounds);
    add_number(into, "snipsEstimatorDenominator", sums->weights);
    text_add(into, ",\"aggregateTimeWindow\":\"%s\"", length);
    add_number(into, "nonZeroProbability", sums->same);
    add_number(into, "sumOfSquares", sums->squares);
    add_number(into, "confidenceInterval", 1.96 * sqrt(fmax(variance, 0) / sums->rounds));
    add_number(into, "averageReward", mean);
    text_add(into, "}");
}

static job_sums less(const job_sums *a, const job_sums *b)
{
    return (job_sums){.rounds = a->rounds - b->rounds,
                      .weights = a->weights - b->weights,
                      .rewards = a->rewards - b->rewards,
                      .squares = a->squares - b->squares,
                      .same = a->same - b->same};
}

/* The last mark of each interval; without an interval each of them. */
static void add_summaries(text *into, const job_result *from, double start, const evaluation_view *view)
{
    const job_mark *before = NULL;
    double begun = start;
    bool any = false;
    for (size_t i = 0; i < from->mark_count; i++) {
        const job_mark *mark = &from->marks[i];
        bool last = i + 1 == from->mark_count;
        double interval = view->interval;
        if (mark->time < view->from) { /* what a window that rolls begins after */
            before = mark;
            begun = mark->time;
        }
        if (mark->time < view->from || mark->time > view->until) continue;
        if (interval > 0 && !last && floor(mark->time / interval) == floor(from->marks[i + 1].time / interval))
            continue;
        bool alone = view->rolling && before;
        job_sums sums = alone ? less(&mark->sums, &before->sums) : mark->sums;
        if (any) text_add(into, ",");
        add_summary(into, mark->time, interval > 0 ? interval : mark->time - (alone ? begun : start), &sums);
        before = mark;
        begun = mark->time;
        any = true;
    }
}

static void add_result(text *into, const job_candidate *of, const job_result *from, double start,
                       const evaluation_view *view)
{
    static const job_sums none = {.rounds = 0};
    const job_mark *last = from->mark_count ? &from->marks[from->mark_count - 1] : NULL;
    text arguments = text_start(NULL);
    evaluation_arguments(of, &arguments);
    text_add(into, "{\"name\":");
    text_json(into, (json_text){of->name, strlen(of->name)});
    add_text(into, "arguments", arguments.bytes ? arguments.bytes : "");
    add_text(into, "policySource", source_of(of));
    text_add(into, ",\"summary\":[");
    add_summaries(into, from, start, view);
    text_add(into, "],\"totalSummary\":");
    add_summary(into, last ? last->time : start, last ? last->time - start : 0, last ? &last->sums : &none);
    text_add(into, "}");
    memory_free(arguments.bytes);
}

static void add_results(text *into, const evaluation_job *from, const evaluation_view *view)
{
    const job_request *request = &from->about.request;
    double start = isnan(from->first_time) ? (double)request->from / 1e6 : from->first_time;
    for (size_t i = 0; from->results && i < request->candidate_count; i++) {
        if (i) text_add(into, ",");
        add_result(into, &request->candidates[i], &from->results[i], start, view);
    }
}

/* ---- the whole ---- */

/* The policy with the highest value by the headline's estimator; NULL: unknown. */
static const char *best_of(const evaluation_job *from)
{
    const char *best = NULL;
    double most = -INFINITY;
    for (size_t i = 0; from->results && i < from->about.request.candidate_count; i++) {
        const job_result *one = &from->results[i];
        if (one->trouble[0] || one->headline_estimator >= from->about.request.estimator_count) continue;
        double value = one->estimates[one->headline_estimator].value;
        if (!(value > most)) continue;
        most = value;
        best = from->about.request.candidates[i].name;
    }
    return best;
}

static const char *status_of(job_state state, bool newest)
{
    if (state == JOB_DONE) return newest ? "Succeeded" : "completed";
    if (state == JOB_FAILED) return newest ? "Failed" : "failed";
    return newest ? "Running" : "pending";
}

static void add_content(text *into, const evaluation_job *from, const evaluation_view *view)
{
    char start[LOG_TIME_SIZE], end[LOG_TIME_SIZE];
    log_time_format(fmax(view->from, (double)from->about.request.from / 1e6), start);
    log_time_format(fmin(view->until, (double)from->about.request.until / 1e6), end);
    text_add(into, ",\"content\":{\"startTime\":\"%s\",\"endTime\":\"%s\"", start, end);
    text_add(into, ",\"intervalInMinutes\":%.0f,\"value\":[", view->interval / 60);
    add_results(into, from, view);
    text_add(into, "]}");
}

void evaluation_write(const job_about *about, const evaluation_job *results, const evaluation_view *view, text *into)
{
    char id[UUID_SIZE];
    evaluation_id_write(about->id, id);
    const char *best = results ? best_of(results) : NULL;
    text_add(into, "{\"id\":");
    text_json(into, view->called ? (json_text){view->called, strlen(view->called)} : (json_text){id, strlen(id)});
    add_text(into, "name", about->request.name);
    add_time(into, "startTime", (double)about->request.from / 1e6);
    add_time(into, "endTime", (double)about->request.until / 1e6);
    add_time(into, "creationTime", (double)about->created / 1e6);
    add_text(into, "jobId", id);
    add_text(into, "status", status_of(about->state, view->newest));
    add_text(into, "evaluationType", "Manual");
    if (best) add_text(into, "optimalPolicy", best);
    if (about->trouble[0]) add_text(into, "errorMessage", about->trouble);
    if (view->newest && results && results->results) {
        add_content(into, results, view);
    } else if (!view->newest) {
        text_add(into, ",\"featureImportance\":[],\"policyResults\":[");
        if (results) add_results(into, results, view);
        text_add(into, "]");
    }
    text_add(into, "}");
}
