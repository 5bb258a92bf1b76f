#include "ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_client.h"
#include "serve/store/store.h"

enum { FAULTS_SHOWN = 20 };

static const char *const outcome_names[] = {"none", "joined", "repeated", "late", "unknown", "claimed"};

const char *ledger_outcome_name(event_outcome outcome)
{
    return outcome <= REWARD_CLAIMED ? outcome_names[outcome] : "settled";
}

event_outcome ledger_outcome(const char *name)
{
    for (int i = REWARD_JOINED; i <= REWARD_CLAIMED; i++) {
        if (strcmp(name, outcome_names[i]) == 0) return (event_outcome)i;
    }
    return OUTCOME_NONE;
}

static void *grown(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return array;
    *capacity = *capacity ? 2 * *capacity : 256;
    array = realloc(array, *capacity * size);
    if (!array) abort();
    return array;
}

told_decision *ledger_add_decision(ledger *self)
{
    self->decisions = grown(self->decisions, self->decision_count, &self->decision_capacity, sizeof *self->decisions);
    told_decision *out = &self->decisions[self->decision_count++];
    *out = (told_decision){0};
    return out;
}

told_reward *ledger_add_reward(ledger *self)
{
    self->rewards = grown(self->rewards, self->reward_count, &self->reward_capacity, sizeof *self->rewards);
    told_reward *out = &self->rewards[self->reward_count++];
    *out = (told_reward){0};
    return out;
}

void ledger_end(ledger *self)
{
    for (size_t i = 0; i < self->decision_count; i++) free(self->decisions[i].answer);
    free(self->decisions);
    free(self->rewards);
    *self = (ledger){0};
}

/* ---- the log, in memory ---- */

typedef struct decision_row {
    char id[LEDGER_ID];
    uint64_t number, version;
    size_t action;
    double probability, worth;
    uint64_t joined, settled; /* rewards that count, by our own sum; SETTLED events */
    double settled_value;
    event_outcome settled_outcome;
    bool deferred, active; /* active: by an activation in time, or not deferred */
    uint64_t activations;  /* events */
} decision_row;

typedef struct reward_row {
    char id[LEDGER_ID];
    double value;
    event_outcome outcome;
} reward_row;

typedef struct log_copy {
    const ledger_bandit *bandit;
    uint32_t number;
    decision_row *decisions;
    reward_row *rewards;
    uint64_t *places; /* of decisions, by event number */
    size_t decision_count, decision_capacity, reward_count, reward_capacity, event_count, event_capacity;
    event_room room;
    ledger_sums *sums;
} log_copy;

__attribute__((format(printf, 2, 3))) static void fault(ledger_sums *sums, const char *format, ...)
{
    if (sums->faults++ >= FAULTS_SHOWN) return;
    va_list arguments;
    va_start(arguments, format);
    printf("fault: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

static void copy_id(char out[LEDGER_ID], json_text id)
{
    size_t length = id.length < LEDGER_ID - 1 ? id.length : LEDGER_ID - 1;
    memcpy(out, id.bytes, length);
    out[length] = 0;
}

static void keep_decision(log_copy *self, const event *from)
{
    decision_body body;
    ee_error error;
    if (decision_body_read(from->body, from->size, &self->room, &body, &error)) {
        fault(self->sums, "%s: event %" PRIu64 ": %s", self->bandit->name, from->number, error.message);
        return;
    }
    self->decisions = grown(self->decisions, self->decision_count, &self->decision_capacity, sizeof *self->decisions);
    decision_row *row = &self->decisions[self->decision_count];
    *row = (decision_row){.number = from->number,
                          .version = body.version,
                          .action = body.action,
                          .probability = body.probabilities[body.action],
                          .deferred = body.deferred,
                          .active = !body.deferred};
    copy_id(row->id, from->id);
    self->places[from->number] = ++self->decision_count;
    self->sums->logged++;
}

/* NULL where the event is no decision of this log. */
static decision_row *row_of(log_copy *self, uint64_t number)
{
    uint64_t place = number < self->event_count ? self->places[number] : 0;
    return place ? &self->decisions[place - 1] : NULL;
}

static void keep_reward(log_copy *self, const event *from)
{
    self->rewards = grown(self->rewards, self->reward_count, &self->reward_capacity, sizeof *self->rewards);
    reward_row *row = &self->rewards[self->reward_count++];
    *row = (reward_row){.value = from->value, .outcome = from->outcome};
    copy_id(row->id, from->id);
    if (from->outcome != REWARD_JOINED && from->outcome != REWARD_CLAIMED) return;
    decision_row *decision = row_of(self, from->decision);
    if (!decision || strcmp(decision->id, row->id)) {
        fault(self->sums, "%s: event %" PRIu64 " is joined to another decision", self->bandit->name, from->number);
        return;
    }
    if (decision->settled) fault(self->sums, "%s: %s has a reward after it was settled", self->bandit->name, row->id);
    bool first = self->bandit->aggregation == LOG_REWARD_FIRST;
    if (first && decision->joined) fault(self->sums, "%s: %s was joined twice", self->bandit->name, row->id);
    decision->worth = decision->joined ? decision->worth + from->value : from->value;
    decision->joined++;
}

static void keep_activation(log_copy *self, const event *from)
{
    decision_row *decision = row_of(self, from->decision);
    if (!decision) return; /* it came before its decision, which may never have come */
    bool counts = from->outcome == REWARD_JOINED || from->outcome == REWARD_CLAIMED;
    decision->activations++;
    if (!counts) return;
    if (decision->active || decision->settled)
        fault(self->sums, "%s: %s was activated when it was active or settled", self->bandit->name, decision->id);
    decision->active = true;
}

static void keep_settled(log_copy *self, const event *from)
{
    self->sums->settled++;
    decision_row *decision = row_of(self, from->decision);
    if (!decision) {
        fault(self->sums, "%s: event %" PRIu64 " settles no decision", self->bandit->name, from->number);
        return;
    }
    decision->settled++;
    decision->settled_value = from->value;
    decision->settled_outcome = from->outcome;
}

static ee_status keep_event(void *context, const event *from, ee_error *error)
{
    (void)error;
    log_copy *self = context;
    if (from->number != self->event_count)
        fault(self->sums, "%s: event %" PRIu64 " comes in the place of %zu", self->bandit->name, from->number,
              self->event_count);
    self->places = grown(self->places, self->event_count, &self->event_capacity, sizeof *self->places);
    self->places[self->event_count++] = 0;
    self->sums->events++;
    if (from->kind == EVENT_DECISION)
        keep_decision(self, from);
    else if (from->kind == EVENT_REWARD)
        keep_reward(self, from);
    else if (from->kind == EVENT_ACTIVATED)
        keep_activation(self, from);
    else if (from->kind == EVENT_SETTLED)
        keep_settled(self, from);
    return EE_OK;
}

/* ---- the comparison ---- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const decision_row *)a)->id, ((const decision_row *)b)->id);
}

static int by_id_and_value(const void *a, const void *b)
{
    const reward_row *left = a, *right = b;
    int order = strcmp(left->id, right->id);
    return order ? order : (left->value > right->value) - (left->value < right->value);
}

static void check_rows(log_copy *self)
{
    const char *name = self->bandit->name;
    if (self->decision_count) qsort(self->decisions, self->decision_count, sizeof *self->decisions, by_id);
    if (self->reward_count) qsort(self->rewards, self->reward_count, sizeof *self->rewards, by_id_and_value);
    for (size_t i = 0; i < self->decision_count; i++) {
        const decision_row *row = &self->decisions[i];
        if (i && strcmp(row[-1].id, row->id) == 0) fault(self->sums, "%s: %s was decided twice", name, row->id);
        if (row->settled > 1) fault(self->sums, "%s: %s was settled %" PRIu64 " times", name, row->id, row->settled);
        if (self->bandit->aggregation == LOG_REWARD_FIRST && row->joined && row->active && !row->settled)
            fault(self->sums, "%s: %s has its reward and is not settled", name, row->id);
        if (!row->settled) continue;
        double worth = row->joined ? row->worth : self->bandit->default_reward;
        event_outcome outcome = !row->active   ? SETTLED_INACTIVE
                                : row->joined  ? SETTLED_REWARDED
                                : isnan(worth) ? SETTLED_NOTHING
                                               : SETTLED_DEFAULT;
        bool learned = outcome == SETTLED_REWARDED || outcome == SETTLED_DEFAULT;
        if (row->settled_outcome != outcome || (learned && row->settled_value != worth))
            fault(self->sums, "%s: %s was settled as %d with %.17g and not as %d with %.17g", name, row->id,
                  (int)row->settled_outcome, row->settled_value, (int)outcome, worth);
    }
}

static void check_decision(log_copy *self, const told_decision *told)
{
    self->sums->decisions++;
    decision_row wanted = {0};
    snprintf(wanted.id, sizeof wanted.id, "%s", told->id);
    const decision_row *row =
        !self->decision_count ? NULL : bsearch(&wanted, self->decisions, self->decision_count, sizeof wanted, by_id);
    if (!row) {
        fault(self->sums, "%s: decision %s was acknowledged and is lost", self->bandit->name, told->id);
        return;
    }
    if (told->activated && !row->activations)
        fault(self->sums, "%s: the activation of %s was acknowledged and is lost", self->bandit->name, told->id);
    http_client answer = http_client_start(0);
    answer.answer = told->answer;
    answer.size = strlen(told->answer);
    double index = -1, probability = -1, version = -1;
    bool read = http_client_number(&answer, "index", &index) &&
                http_client_number(&answer, "probability", &probability) &&
                http_client_number(&answer, "version", &version);
    if (!read || index != (double)row->action || probability != row->probability || version != (double)row->version)
        fault(self->sums, "%s: decision %s is not logged as it was answered: %s", self->bandit->name, told->id,
              told->answer);
}

static void check_reward(log_copy *self, const told_reward *told)
{
    size_t low = 0, high = self->reward_count, found = 0;
    reward_row wanted = {.value = told->value};
    snprintf(wanted.id, sizeof wanted.id, "%s", told->id);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_id_and_value(&self->rewards[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* One whose decision was not known is logged again when that comes. */
    size_t unknown = 0, claimed = 0;
    bool outcome_logged = false;
    for (; low < self->reward_count && by_id_and_value(&self->rewards[low], &wanted) == 0; low++) {
        event_outcome outcome = self->rewards[low].outcome;
        found++;
        unknown += outcome == REWARD_UNKNOWN;
        claimed += outcome == REWARD_CLAIMED;
        outcome_logged = outcome_logged || outcome == told->outcome;
    }
    const char *name = self->bandit->name;
    if (found > unknown + (told->named ? 1 : told->sent) || claimed > unknown)
        fault(self->sums, "%s: reward %.17g of %s is there %zu times", name, told->value, told->id, found);
    if (told->outcome == OUTCOME_NONE) return;
    self->sums->rewards++;
    if (!found)
        fault(self->sums, "%s: reward %.17g of %s was acknowledged and is lost", name, told->value, told->id);
    else if (!outcome_logged)
        fault(self->sums, "%s: reward %.17g of %s was answered as %s and is logged otherwise", name, told->value,
              told->id, ledger_outcome_name(told->outcome));
}

static void check_told(log_copy *self, size_t bandit, const ledger *told)
{
    for (size_t i = 0; i < told->decision_count; i++) {
        if (told->decisions[i].bandit == bandit && told->decisions[i].answer) check_decision(self, &told->decisions[i]);
    }
    for (size_t i = 0; i < told->reward_count; i++) {
        if (told->rewards[i].bandit == bandit) check_reward(self, &told->rewards[i]);
    }
}

static ee_status find_number(log_copy *self, store_reader *log, ee_error *error)
{
    stored_bandits list;
    ee_status status = store_list_bandits(log, &list, error);
    for (size_t i = 0; i < list.count; i++)
        if (json_is(list.bandits[i].name, self->bandit->name)) self->number = list.bandits[i].number;
    stored_bandits_free(&list);
    return status;
}

typedef ee_status visit_event(void *context, const event *event, ee_error *error);

static ee_status read_all(store_reader *log, uint32_t bandit, unsigned kinds, visit_event *visit, void *context,
                          ee_error *error)
{
    event_batch batch = {0};
    ee_status status;
    uint64_t after;
    do {
        after = batch.last;
        status = store_read(log, bandit, after, kinds, 1000, &batch, error);
        for (size_t i = 0; !status && i < batch.count; i++) status = visit(context, &batch.events[i], error);
    } while (!status && batch.last > after);
    event_batch_free(&batch);
    return status;
}

static ee_status read_log(log_copy *self, store_reader *log, ee_error *error)
{
    if (find_number(self, log, error)) return error->status;
    /* Event numbers begin with 1. */
    self->places = grown(self->places, 0, &self->event_capacity, sizeof *self->places);
    self->places[self->event_count++] = 0;
    return read_all(log, self->number, ~0u, keep_event, self, error);
}

static ee_status count_open(void *context, const event *from, ee_error *error)
{
    (void)error;
    *(uint64_t *)context += from->kind == EVENT_DECISION ? 1 : UINT64_MAX;
    return EE_OK;
}

uint64_t ledger_open_decisions(const char *folder, const char *name)
{
    ledger_bandit bandit = {.name = name};
    log_copy found = {.bandit = &bandit};
    store_reader *log = NULL;
    ee_error error;
    uint64_t open = 0;
    ee_status status = store_open_reader(folder, &log, &error);
    if (!status) status = find_number(&found, log, &error);
    if (!status)
        status = read_all(log, found.number, 1 << EVENT_DECISION | 1 << EVENT_SETTLED, count_open, &open, &error);
    store_reader_free(log);
    if (status) printf("%s: %s\n", folder, error.message);
    return status ? UINT64_MAX : open;
}

ledger_sums ledger_check(const char *folder, const ledger_bandit *bandits, size_t bandit_count, const ledger *ledgers,
                         size_t ledger_count)
{
    ledger_sums sums = {0};
    store_reader *log = NULL;
    ee_error error;
    if (store_open_reader(folder, &log, &error)) {
        fault(&sums, "%s: %s", folder, error.message);
        return sums;
    }
    for (size_t i = 0; i < bandit_count; i++) {
        memory owner = {0};
        log_copy copy = {.bandit = &bandits[i], .room = {.owner = &owner}, .sums = &sums};
        if (read_log(&copy, log, &error)) fault(&sums, "%s: %s", bandits[i].name, error.message);
        check_rows(&copy);
        for (size_t j = 0; j < ledger_count; j++) check_told(&copy, i, &ledgers[j]);
        free(copy.decisions);
        free(copy.rewards);
        free(copy.places);
        memory_release(&owner);
    }
    store_reader_free(log);
    return sums;
}
