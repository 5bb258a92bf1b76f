/* Writes evaluations in Personalizer's form. */
#include <math.h>
#include <stdio.h>

#include "data/values/json_members.h"
#include "iso_duration.h"
#include "personalizer_evaluations.h"

static void add_number(text *into, const char *name, double number)
{
    text_member_number(into, name, isfinite(number) ? number : 0);
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
static void add_summary(text *into, double time, double window, const evaluation_sums *sums)
{
    double mean = sums->wr / sums->rounds, variance = sums->wwrr / sums->rounds - mean * mean;
    char length[ISO_DURATION_SIZE];
    iso_duration_format(fmax(window, 0), length); /* times go back if a wrong clock was corrected */
    text_add(into, "{");
    text_member_time(into, "timeStamp", time);
    add_number(into, "ipsEstimatorNumerator", sums->wr);
    add_number(into, "ipsEstimatorDenominator", sums->rounds);
    add_number(into, "snipsEstimatorDenominator", sums->w);
    text_member(into, "aggregateTimeWindow", length);
    add_number(into, "nonZeroProbability", sums->same);
    add_number(into, "sumOfSquares", sums->wwrr);
    add_number(into, "confidenceInterval", 1.96 * sqrt(fmax(variance, 0) / sums->rounds));
    add_number(into, "averageReward", mean);
    text_add(into, "}");
}

static evaluation_sums less(const evaluation_sums *a, const evaluation_sums *b)
{
    return (evaluation_sums){.rounds = a->rounds - b->rounds,
                             .w = a->w - b->w,
                             .wr = a->wr - b->wr,
                             .wwrr = a->wwrr - b->wwrr,
                             .same = a->same - b->same};
}

/* The last mark of each interval; without an interval each of them. */
static void add_summaries(text *into, const evaluation_result *from, double start, const evaluation_view *view)
{
    const evaluation_mark *before = NULL;
    double begun = start;
    for (size_t i = 0; i < from->mark_count; i++) {
        const evaluation_mark *mark = &from->marks[i];
        bool last = i + 1 == from->mark_count;
        double every = view->interval;
        if (mark->time < view->from) { /* what a window that rolls begins after */
            before = mark;
            begun = mark->time;
        }
        if (mark->time < view->from || mark->time > view->until) continue;
        if (every > 0 && !last && floor(mark->time / every) == floor(from->marks[i + 1].time / every)) continue;
        bool since_before = view->rolling && before;
        evaluation_sums sums = since_before ? less(&mark->sums, &before->sums) : mark->sums;
        text_comma(into);
        add_summary(into, mark->time, every > 0 ? every : mark->time - (since_before ? begun : start), &sums);
        before = mark;
        begun = mark->time;
    }
}

static void add_result(text *into, const job_candidate *of, const evaluation_result *from, double start,
                       const evaluation_view *view)
{
    static const evaluation_sums none = {.rounds = 0};
    const evaluation_mark *last = from->mark_count ? &from->marks[from->mark_count - 1] : NULL;
    text arguments = text_start(NULL);
    evaluation_arguments(of, &arguments);
    text_add(into, "{");
    text_member(into, "name", of->name);
    text_member(into, "arguments", arguments.bytes ? arguments.bytes : "");
    text_member(into, "policySource", source_of(of));
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
    double start = isnan(from->log.first_time) ? (double)request->from / 1e6 : from->log.first_time;
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
        const evaluation_result *one = &from->results[i];
        if (one->failure.status || one->headline_estimator >= from->about.request.estimator_count) continue;
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
    text_add(into, ",\"content\":{");
    text_member_time(into, "startTime", fmax(view->from, (double)from->about.request.from / 1e6));
    text_member_time(into, "endTime", fmin(view->until, (double)from->about.request.until / 1e6));
    text_add(into, ",\"intervalInMinutes\":%.0f,\"value\":[", view->interval / 60);
    add_results(into, from, view);
    text_add(into, "]}");
}

void evaluation_write(const job_about *about, const evaluation_job *results, const evaluation_view *view, text *into)
{
    char id[UUID_SIZE];
    evaluation_id_write(about->id, id);
    const char *best = results ? best_of(results) : NULL;
    text_add(into, "{");
    text_member(into, "id", view->called ? view->called : id);
    text_member(into, "name", about->request.name);
    text_member_time(into, "startTime", (double)about->request.from / 1e6);
    text_member_time(into, "endTime", (double)about->request.until / 1e6);
    text_member_time(into, "creationTime", (double)about->created / 1e6);
    text_member(into, "jobId", id);
    text_member(into, "status", status_of(about->state, view->newest));
    text_member(into, "evaluationType", "Manual");
    if (best) text_member(into, "optimalPolicy", best);
    if (about->trouble[0]) text_member(into, "errorMessage", about->trouble);
    if (view->newest && results && results->results) {
        add_content(into, results, view);
    } else if (!view->newest) {
        text_add(into, ",\"featureImportance\":[],\"policyResults\":[");
        if (results) add_results(into, results, view);
        text_add(into, "]");
    }
    text_add(into, "}");
}
