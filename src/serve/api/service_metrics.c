/* The server's metrics for Prometheus. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "forwarding.h"
#include "readiness.h"

static uint64_t read_counter(atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* ---- counting ---- */

bandit_counters *service_counters(service *self, uint32_t bandit)
{
    if (bandit / COUNTERS_EACH >= COUNTER_BLOCKS) return NULL;
    _Atomic(bandit_counters *) *place = &self->metrics.counters[bandit / COUNTERS_EACH];
    bandit_counters *block = atomic_load_explicit(place, memory_order_acquire);
    if (!block) {
        bandit_counters *made, *none = NULL;
        if (memory_create(NULL, &made, COUNTERS_EACH, sizeof *made, NULL)) return NULL;
        if (atomic_compare_exchange_strong(place, &none, made))
            block = made;
        else
            memory_free(made);
        if (!block) block = none;
    }
    return &block[bandit % COUNTERS_EACH];
}

void service_metrics_free(service *self)
{
    for (size_t i = 0; i < COUNTER_BLOCKS; i++) memory_free(atomic_load(&self->metrics.counters[i]));
}

void service_count(service *self, const http_exchange *exchange, const route *of, double seconds)
{
    size_t place = of ? service_route_index(self, of) : MOST_ROUTES;
    size_t code = exchange->status >= 100 && exchange->status < STATUS_CODES ? (size_t)exchange->status : 0;
    atomic_fetch_add_explicit(&self->metrics.requests[place][code], 1, memory_order_relaxed);
    if (of) metric_observe(&self->metrics.seconds[place], seconds);
}

/* ---- the page ---- */

static void route_label(const service *self, size_t place, char *out, size_t size)
{
    const route *of = service_route_at(self, place);
    if (of)
        snprintf(out, size, "route=\"%s %s\"", router_method_name(of->method), of->pattern);
    else
        snprintf(out, size, "route=\"none\"");
}

static void add_requests(service *self, text *into)
{
    char label[160], labels[200];
    metric_head(into, "eenet_requests_total", "counter",
                "Requests by route and status code; code 0: the client disconnected before the response.");
    for (size_t i = 0; i <= MOST_ROUTES; i++) {
        route_label(self, i, label, sizeof label);
        for (size_t code = 0; code < STATUS_CODES; code++) {
            uint64_t count = read_counter(&self->metrics.requests[i][code]);
            snprintf(labels, sizeof labels, "%s,code=\"%zu\"", label, code);
            if (count) metric_sample(into, "eenet_requests_total", labels, (double)count);
        }
    }
    metric_head(into, "eenet_request_seconds", "histogram", "Seconds from the headers of a request to its response.");
    for (size_t i = 0; service_route_at(self, i); i++) {
        uint64_t count = 0;
        for (size_t code = 0; code < STATUS_CODES; code++) count += read_counter(&self->metrics.requests[i][code]);
        route_label(self, i, label, sizeof label);
        if (count) metric_histogram_write(into, "eenet_request_seconds", label, &self->metrics.seconds[i]);
    }
}

static void add_spool(const journal_counts *counts, text *into)
{
    metric_one(into, "eenet_spooling", "gauge", "1 if events go to the spool because the database is away, else 0.",
               counts->spooling);
    metric_one(into, "eenet_spool_entries", "gauge", "Entries in the spool that are not delivered yet.",
               (double)counts->spooled);
    metric_one(into, "eenet_spool_seconds_left", "gauge",
               "Seconds for which the spool accepts entries if the database stays away.", counts->spool_seconds_left);
    metric_one(into, "eenet_spool_dropped_total", "counter",
               "Entries of the spool that were not delivered because their bandit was archived or removed.",
               (double)counts->spool_dropped);
}

static void add_journal(service *self, text *into)
{
    journal_counts counts = journal_read_counts(self->journal);
    const struct {
        const char *outcome;
        uint64_t count;
    } rewards[] = {{"joined", counts.joined},
                   {"repeated", counts.repeated},
                   {"late", counts.late},
                   {"unknown", counts.unknown},
                   {"claimed", counts.claimed}};
    char labels[64];
    metric_one(into, "eenet_decisions_total", "counter", "Decisions stored.", (double)counts.decisions);
    metric_one(into, "eenet_decisions_repeated_total", "counter", "Decide requests repeated with the same id and body.",
               (double)counts.repeated_decisions);
    metric_one(into, "eenet_conflicts_total", "counter",
               "Requests refused with 409: their id was used for another request.", (double)counts.conflicts);
    metric_head(into, "eenet_rewards_total", "counter", "Rewards by outcome.");
    for (size_t i = 0; i < sizeof rewards / sizeof *rewards; i++) {
        snprintf(labels, sizeof labels, "outcome=\"%s\"", rewards[i].outcome);
        metric_sample(into, "eenet_rewards_total", labels, (double)rewards[i].count);
    }
    metric_one(into, "eenet_decisions_defaulted_total", "counter", "Decisions settled with the default reward.",
               (double)counts.defaulted);
    metric_one(into, "eenet_decisions_abandoned_total", "counter",
               "Decisions that expired with neither a reward nor a default reward.", (double)counts.abandoned);
    metric_one(into, "eenet_decisions_activated_total", "counter", "Deferred decisions activated.",
               (double)counts.activated);
    metric_one(into, "eenet_decisions_inactive_total", "counter",
               "Deferred decisions that expired before they were activated.", (double)counts.inactive);
    metric_one(into, "eenet_decisions_waiting", "gauge",
               "Pending decisions: they wait for a reward, or for the end of their wait.", (double)counts.waiting);
    metric_one(into, "eenet_transactions_total", "counter", "Store transactions.", (double)counts.transactions);
    metric_one(into, "eenet_transactions_failed_total", "counter", "Store transactions that failed.",
               (double)counts.failures);
    metric_one(into, "eenet_journal_waiting_entries", "gauge", "Entries waiting to be written to the store.",
               (double)counts.waiting_entries);
    metric_one(into, "eenet_store_writable", "gauge", "1 if the last store transaction succeeded, else 0.",
               counts.writable);
    if (service_config_now(self)->settings.spool_seconds > 0 || counts.spooled) add_spool(&counts, into);
    server_clock clock = journal_clock(self->journal);
    metric_one(into, "eenet_clock_in_doubt", "gauge",
               "1 if the system's clock jumped and was not accepted yet: nothing is settled or removed. Else 0.",
               clock.in_doubt);
    metric_one(into, "eenet_clock_difference_seconds", "gauge",
               "Seconds by which the system's clock is later than the clock of the log.",
               (double)clock.difference * 1e-6);
    metric_one(into, "eenet_synced_entries_total", "counter", "Entries written to the store and synced.",
               (double)read_counter(&self->metrics.synced_entries));
    metric_head(into, "eenet_sync_seconds", "histogram", "Seconds per store transaction, including its sync.");
    metric_histogram_write(into, "eenet_sync_seconds", "", &self->metrics.syncs);
    metric_one(into, "eenet_store_bytes", "gauge", "Bytes on disk, including models.",
               (double)store_bytes(self->store));
}

static void add_disk(service *self, text *into)
{
    store_space space;
    if (store_disk_space(self->store, &space)) {
        metric_one(into, "eenet_disk_size_bytes", "gauge", "Size of the file system of the data folder.",
                   (double)space.size);
        metric_one(into, "eenet_disk_free_bytes", "gauge", "Bytes that the server can still write there.",
                   (double)space.free);
    }
}

static void add_training(service *self, text *into)
{
    const training_metrics *training = served_bandits_training(self->bandits);
    metric_head(into, "eenet_training_step_seconds", "histogram", "Seconds per training step of one model.");
    metric_histogram_write(into, "eenet_training_step_seconds", "", &training->step_seconds);
    metric_head(into, "eenet_training_step_events", "histogram", "Events per training step of one model.");
    metric_count_histogram_write(into, "eenet_training_step_events", "", &training->step_events);
    metric_head(into, "eenet_training_publish_seconds", "histogram",
                "Seconds to publish a model after a training step.");
    metric_histogram_write(into, "eenet_training_publish_seconds", "", &training->publish_seconds);
}

/* The numbers of a bandit. */
enum {
    BANDIT_DECISIONS,
    BANDIT_WAITING,
    BANDIT_DEFAULTED,
    BANDIT_PROBABILITY,
    BANDIT_VERSION,
    BANDIT_EVENTS,
    BANDIT_BEHIND,
    BANDIT_STRIDE,
    BANDIT_LAG,
    BANDIT_AGE,
    BANDIT_TRAIN,
    BANDIT_LEARNED,
    BANDIT_LIMITED,
    BANDIT_AWAKE,
    BANDIT_MEMORY,
    BANDIT_TROUBLE,
    BANDIT_METRICS
};

static const struct {
    const char *name, *type, *help;
} bandit_metrics[BANDIT_METRICS] = {
    [BANDIT_DECISIONS] = {"eenet_bandit_decisions_total", "counter", "Decisions since the server started."},
    [BANDIT_WAITING] = {"eenet_bandit_decisions_waiting", "gauge", "Pending decisions."},
    [BANDIT_DEFAULTED] = {"eenet_bandit_decisions_defaulted_total", "counter",
                          "Decisions settled with the default reward since the server started."},
    [BANDIT_PROBABILITY] = {"eenet_bandit_probability_total", "counter",
                            "Sum of the probabilities of the chosen actions; divide by the decisions for their mean."},
    [BANDIT_VERSION] = {"eenet_bandit_version", "gauge", "Version of the model that decides."},
    [BANDIT_EVENTS] = {"eenet_bandit_events", "gauge", "Events in the log."},
    [BANDIT_BEHIND] = {"eenet_bandit_behind_events", "gauge", "Events that the model has not processed yet."},
    [BANDIT_LAG] = {"eenet_bandit_lag_seconds", "gauge",
                    "Age of the oldest event that the model has not processed yet; 0 if there is none."},
    [BANDIT_STRIDE] = {"eenet_bandit_stride", "gauge", "1, or N if the model is behind and trains on one reward in N."},
    [BANDIT_AGE] = {"eenet_bandit_model_age_seconds", "gauge", "Seconds since the model was published."},
    [BANDIT_TRAIN] = {"eenet_bandit_train_seconds_total", "counter", "Seconds spent on training."},
    [BANDIT_LEARNED] = {"eenet_bandit_rewards_learned_total", "counter", "Rewards learned."},
    [BANDIT_LIMITED] = {"eenet_bandit_rewards_limited_total", "counter", "Outlier rewards learned at a limited value."},
    [BANDIT_AWAKE] = {"eenet_bandit_awake", "gauge", "1 if the model is in memory, else 0."},
    [BANDIT_MEMORY] = {"eenet_bandit_memory_bytes", "gauge", "Memory of the bandit, in bytes."},
    [BANDIT_TROUBLE] = {"eenet_bandit_trouble", "gauge",
                        "1 if training has stopped; trouble in the bandit's description says why."},
};

static void read_bandit(const served_bandit *bandit, bandit_counters *counters, double values[BANDIT_METRICS])
{
    served_standing standing = served_bandit_standing(bandit);
    values[BANDIT_DECISIONS] = (double)read_counter(&counters->decisions);
    values[BANDIT_WAITING] = (double)read_counter(&counters->waiting);
    values[BANDIT_DEFAULTED] = (double)read_counter(&counters->defaulted);
    values[BANDIT_PROBABILITY] = (double)read_counter(&counters->probability) * 1e-6;
    values[BANDIT_VERSION] = (double)standing.version;
    values[BANDIT_EVENTS] = (double)standing.events;
    values[BANDIT_BEHIND] = (double)standing.behind;
    values[BANDIT_LAG] = standing.lag_seconds;
    values[BANDIT_STRIDE] = (double)standing.stride;
    values[BANDIT_AGE] = standing.age;
    values[BANDIT_TRAIN] = standing.train_seconds;
    values[BANDIT_LEARNED] = (double)standing.counts.learned;
    values[BANDIT_LIMITED] = (double)standing.limited;
    values[BANDIT_AWAKE] = standing.awake;
    values[BANDIT_MEMORY] = (double)standing.memory;
    values[BANDIT_TROUBLE] = standing.trouble[0] != '\0';
}

static void bandit_label(const served_bandit *bandit, const char *more, text *label)
{
    label->length = 0;
    text_add(label, "bandit=\"");
    metric_label(label, served_bandit_name(bandit));
    text_add(label, "\"%s", more);
}

static void add_bandit_rewards(service *self, served_bandit *const *bandits, size_t count, text *into, text *label)
{
    metric_head(into, "eenet_bandit_rewards_total", "counter", "Rewards by outcome since the server started.");
    for (size_t i = 0; i < count; i++) {
        bandit_counters *of = service_counters(self, served_bandit_number(bandits[i]));
        if (!of || served_bandit_is_archived(bandits[i])) continue;
        const struct {
            const char *label;
            atomic_uint_fast64_t *count;
        } rewards[] = {{",outcome=\"joined\"", &of->joined},     {",outcome=\"repeated\"", &of->repeated},
                       {",outcome=\"late\"", &of->late},         {",outcome=\"unknown\"", &of->unknown},
                       {",outcome=\"rejected\"", &of->rejected}, {",outcome=\"clipped\"", &of->clipped}};
        for (size_t k = 0; k < sizeof rewards / sizeof *rewards; k++) {
            bandit_label(bandits[i], rewards[k].label, label);
            if (!label->status)
                metric_sample(into, "eenet_bandit_rewards_total", label->bytes, (double)read_counter(rewards[k].count));
        }
    }
}

/* The bandits that are served now, each once: others may come and go meanwhile. Those that are removed stay readable.
 */
static size_t list_bandits(const service *self, served_bandit **out, size_t most)
{
    served_bandit *bandit;
    size_t count = 0;
    for (size_t i = 0; count < most && (bandit = served_bandits_at(self->bandits, i)); i++)
        if (!count || served_bandit_number(bandit) > served_bandit_number(out[count - 1])) out[count++] = bandit;
    return count;
}

/* All samples of a metric must be consecutive; each bandit is read once. */
static void add_bandits(service *self, text *into)
{
    text label = text_start(NULL);
    double(*values)[BANDIT_METRICS] = NULL;
    served_bandit **bandits = NULL;
    size_t count = 0;
    while (served_bandits_at(self->bandits, count)) count++;
    if (memory_create(NULL, &values, count, sizeof *values, NULL) ||
        memory_create(NULL, &bandits, count, sizeof(served_bandit *), NULL)) {
        memory_free(values);
        return;
    }
    count = list_bandits(self, bandits, count);
    for (size_t i = 0; i < count; i++) {
        bandit_counters *counters = service_counters(self, served_bandit_number(bandits[i]));
        if (counters) read_bandit(bandits[i], counters, values[i]);
    }
    for (size_t m = 0; m < BANDIT_METRICS; m++) {
        metric_head(into, bandit_metrics[m].name, bandit_metrics[m].type, bandit_metrics[m].help);
        for (size_t i = 0; i < count; i++) {
            if (served_bandit_is_archived(bandits[i])) continue;
            bandit_label(bandits[i], "", &label);
            if (!label.status) metric_sample(into, bandit_metrics[m].name, label.bytes, values[i][m]);
        }
    }
    add_bandit_rewards(self, bandits, count, into, &label);
    memory_free(values);
    memory_free(bandits);
    memory_free(label.bytes);
}

typedef struct value_lines {
    text *into;
    text label;
    size_t part; /* of the three below */
} value_lines;

static const char *const value_names[] = {"eenet_bandit_value", "eenet_bandit_value_low", "eenet_bandit_value_high"};

static void add_value(void *context, const served_bandit *bandit, const char *policy, live_point now)
{
    value_lines *self = context;
    const double parts[] = {now.value, now.low, now.high};
    if (isnan(parts[self->part])) return;
    self->label.length = 0;
    text_add(&self->label, "bandit=\"");
    metric_label(&self->label, served_bandit_name(bandit));
    text_add(&self->label, "\",policy=\"");
    metric_label(&self->label, policy);
    text_add(&self->label, "\"");
    if (!self->label.status) metric_sample(self->into, value_names[self->part], self->label.bytes, parts[self->part]);
}

static void add_evaluations(service *self, text *into)
{
    static const char *const helps[] = {
        "Estimated reward per decision of each policy, from live evaluation.",
        "Lower end of the confidence interval of eenet_bandit_value.",
        "Upper end of the confidence interval of eenet_bandit_value.",
    };
    value_lines lines = {.into = into, .label = text_start(NULL)};
    live *watching = atomic_load(&self->live);
    metric_one(into, "eenet_promotions_total", "counter", "Challengers promoted since the server started.",
               (double)read_counter(&self->metrics.promotions));
    for (; watching && lines.part < 3; lines.part++) {
        metric_head(into, value_names[lines.part], "gauge", helps[lines.part]);
        live_each_value(watching, add_value, &lines);
    }
    memory_free(lines.label.bytes);
}

/* ---- guardrails ---- */

enum { GUARD_LIFT, GUARD_EVIDENCE, GUARD_ALARMS, GUARD_HELD, GUARD_METRICS };

static const char *const guard_names[GUARD_METRICS] = {"eenet_guardrail_lift", "eenet_guardrail_evidence",
                                                       "eenet_guardrail_alarms_total", "eenet_guardrail_held"};

static void add_guard_value(value_lines *self, const served_bandit *bandit, const char *metric, double value)
{
    if (isnan(value)) return;
    self->label.length = 0;
    text_add(&self->label, "bandit=\"");
    metric_label(&self->label, served_bandit_name(bandit));
    if (metric) text_add(&self->label, "\",metric=\"");
    if (metric) metric_label(&self->label, metric);
    text_add(&self->label, "\"");
    if (!self->label.status) metric_sample(self->into, guard_names[self->part], self->label.bytes, value);
}

static void add_guard(void *context, const served_bandit *bandit, const guard_numbers *now)
{
    value_lines *self = context;
    if (self->part == GUARD_ALARMS) add_guard_value(self, bandit, NULL, (double)now->alarms);
    if (self->part == GUARD_HELD) add_guard_value(self, bandit, NULL, (double)now->held);
    for (size_t i = 0; i < now->count && self->part < GUARD_ALARMS; i++) {
        const guard_number *one = &now->values[i];
        add_guard_value(self, bandit, one->metric, self->part == GUARD_LIFT ? one->lift : one->evidence);
    }
}

static void add_guardrails(service *self, text *into)
{
    static const char *const helps[GUARD_METRICS] = {
        "Mean of a metric per decision of treated people minus that of the others.",
        "Progress of the test of a bound on a metric, 0 to 1; 1: violated. The largest, if it has several.",
        "Alarms of guardrails in the log.",
        "Whether a guardrail or an operator holds the bandit back: 0 no, 1 it learns nothing, 2 it follows the "
        "baseline.",
    };
    value_lines lines = {.into = into, .label = text_start(NULL)};
    live *watching = atomic_load(&self->live);
    for (; watching && lines.part < GUARD_METRICS; lines.part++) {
        metric_head(into, guard_names[lines.part], lines.part == GUARD_ALARMS ? "counter" : "gauge", helps[lines.part]);
        live_each_guard(watching, add_guard, &lines);
    }
    memory_free(lines.label.bytes);
}

static void add_fleet(service *self, text *into)
{
    if (!self->fleet) return;
    fleet_status of = fleet_read_status(self->fleet);
    forwarder_counts forwarded = forwarding_counts(self);
    metric_one(into, "eenet_fleet_servers", "gauge", "Servers of the fleet that are alive.", (double)of.alive);
    metric_one(into, "eenet_fleet_bandits", "gauge", "Bandits of the fleet.", (double)of.bandits);
    metric_one(into, "eenet_fleet_owned_bandits", "gauge", "Bandits that this server owns.", (double)of.mine);
    metric_one(into, "eenet_fleet_leader", "gauge", "1 if this server creates bandits, else 0.", of.leads);
    metric_one(into, "eenet_fleet_lease_age_seconds", "gauge", "Seconds since the leases were renewed.", of.silent);
    metric_one(into, "eenet_fleet_taken_total", "counter", "Bandits taken over.", (double)of.taken);
    metric_one(into, "eenet_fleet_given_total", "counter", "Bandits handed over to other servers.", (double)of.given);
    metric_one(into, "eenet_fleet_lost_total", "counter", "Bandits lost to other servers.", (double)of.lost);
    metric_one(into, "eenet_forwarded_requests_total", "counter", "Requests forwarded to other servers.",
               (double)forwarded.requests);
    metric_one(into, "eenet_forwarded_failures_total", "counter", "Forwarded requests without a response.",
               (double)forwarded.failures);
}

void service_metrics_write(service *self, text *into)
{
    char labels[64];
    const http_server *http = atomic_load(&self->http);
    snprintf(labels, sizeof labels, "version=\"%s\",kernels=\"%s\"", ee_version(), ee_kernels());
    metric_head(into, "eenet_build_info", "gauge", "Version of the server; always 1.");
    metric_sample(into, "eenet_build_info", labels, 1);
    metric_one(into, "eenet_ready", "gauge", "1 if /readyz returns 200, else 0.", service_is_ready(self));
    metric_one(into, "eenet_connections", "gauge", "Open connections.", http ? (double)http_connections(http) : 0);
    metric_one(into, "eenet_open_requests", "gauge", "Requests in progress.",
               http ? (double)http_open_requests(http) : 0);
    add_requests(self, into);
    add_journal(self, into);
    add_disk(self, into);
    add_training(self, into);
    add_bandits(self, into);
    add_evaluations(self, into);
    add_guardrails(self, into);
    add_fleet(self, into);
    metric_process(into);
}
