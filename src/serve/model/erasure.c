#include "erasure.h"

#include <stdlib.h>

#include "restoring.h"
#include "stored_models.h"

enum { TOGETHER = 256, MOST_MODELS = 16 };

ee_status erasure_create(erasure *self, store *kept, uint32_t bandit, const erasure_request *request, ee_error *error)
{
    *self = (erasure){.request = request, .kept = kept, .bandit = bandit};
    return store_reader_create(kept, &self->log, error);
}

void erasure_free(erasure *self)
{
    store_reader_free(self->log);
    memory_release(&self->memory);
}

static ee_status go_on(const erasure *self, ee_error *error)
{
    return self->request->cancel(self->request->context) ? status_fail(error, EE_FILE_ERROR, "the server is stopping")
                                                         : EE_OK;
}

/* ---- decisions ---- */

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int by_text(const void *left, const void *right)
{
    return json_compare(*(const json_text *)left, *(const json_text *)right);
}

static ee_status copy_text(erasure *self, json_text from, json_text *out, ee_error *error)
{
    char *bytes;
    ee_status status = memory_create(&self->memory, &bytes, from.length + 1, 1, error);
    if (status) return status;
    if (from.length) memcpy(bytes, from.bytes, from.length);
    *out = (json_text){bytes, from.length};
    return EE_OK;
}

static ee_status add_id(erasure *self, json_text id, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->ids, &self->id_capacity, self->id_count + 1, sizeof *self->ids, error);
    if (!status) status = copy_text(self, id, &self->ids[self->id_count], error);
    if (!status) self->id_count++;
    return status;
}

static ee_status add_draw(erasure *self, const event *made, const decision_body *body, ee_error *error)
{
    const decision_guard *guard = &body->guard;
    if (!guard->key.length || guard->repeats.length || decision_follows_baseline(body)) return EE_OK;
    ee_status status = memory_grow(&self->memory, &self->draws, &self->draw_capacity, self->draw_count + 1,
                                   sizeof *self->draws, error);
    if (status) return status;
    guardrails_draw *draw = &self->draws[self->draw_count];
    status = copy_text(self, guard->key, &draw->key, error);
    if (!status) status = copy_text(self, body->slot, &draw->slot, error);
    if (!status) status = copy_text(self, made->id, &draw->id, error);
    if (!status) self->draw_count++;
    return status;
}

static ee_status add_decision(erasure *self, const event *made, const decision_body *body, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->decisions, &self->decision_capacity, self->decision_count + 1,
                                   sizeof *self->decisions, error);
    if (status) return status;
    self->decisions[self->decision_count++] = made->number;
    json_text round = slot_round_id(made->id, NULL);
    status = add_id(self, made->id, error);
    if (!status) status = add_draw(self, made, body, error);
    return status || round.length == made->id.length ? status : add_id(self, round, error);
}

/* The decision of an id, or all slots of the round. */
static ee_status find_by_id(erasure *self, json_text id, ee_error *error)
{
    uint64_t number = 0;
    size_t slots = 1;
    event_room room = {.owner = &self->memory};
    ee_status status = add_id(self, id, error);
    if (!status) status = store_find_id(self->log, self->bandit, id, &number, error);
    for (size_t i = 0; i < slots && number && !status; i++) {
        const event *made;
        decision_body body;
        status = store_read_one(self->log, self->bandit, number + i, &made, error);
        if (status == EE_BAD_INPUT) return EE_OK; /* retention has removed it */
        if (!status) status = decision_body_read(made->body, made->size, &room, &body, error);
        if (status) return status;
        bool is_round = id.length == slot_round_id(id, NULL).length;
        if (!i && body.slot_count && is_round) slots = body.slot_count;
        status = add_decision(self, made, &body, error);
    }
    return status;
}

/* Whether the value of a token is the one that is asked for. */
static bool is_value(const json_token *token, json_text value)
{
    char digits[64], *end;
    if (token->kind == JSON_KIND_TEXT)
        return token->text.length == value.length && memcmp(token->text.bytes, value.bytes, value.length) == 0;
    if (token->kind != JSON_KIND_NUMBER || !value.length || value.length >= sizeof digits) return false;
    memcpy(digits, value.bytes, value.length);
    digits[value.length] = '\0';
    double number = strtod(digits, &end);
    return !*end && number == token->number;
}

/* Whether the object that was just entered has the path with the value; reads to its end. */
static ee_status match(json_reader *reader, json_text path, json_text value, bool *matches, ee_error *error)
{
    const char *dot = memchr(path.bytes, '.', path.length);
    json_text part = {path.bytes, dot ? (size_t)(dot - path.bytes) : path.length};
    json_token token;
    ee_status status = EE_OK;
    while (!status && !(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        bool is_part = token.key.length == part.length && memcmp(token.key.bytes, part.bytes, part.length) == 0;
        if (is_part && dot && token.kind == JSON_KIND_OBJECT) {
            json_text rest = {dot + 1, path.length - part.length - 1};
            status = match(reader, rest, value, matches, error);
            continue;
        }
        if (is_part && !dot && is_value(&token, value)) *matches = true;
        status = json_skip(reader, &token, NULL, error);
    }
    return status;
}

/* Whether it was made with the person's key, or its context has the path with the value. */
static ee_status is_wanted(erasure *self, const decision_body *body, json_room *room, bool *matches, ee_error *error)
{
    json_reader reader = json_start(body->context.bytes, body->context.length, room);
    json_token token;
    *matches = self->request->person.length && json_compare(body->guard.key, self->request->person) == 0;
    if (*matches || !self->request->path.length) return EE_OK;
    if (body->dim)
        return status_fail(
            error, EE_BAD_INPUT,
            "the decisions of this bandit have vectors without names; erase them by \"ids\" or \"person\"");
    ee_status status = json_next(&reader, &token, error);
    if (status || token.kind != JSON_KIND_OBJECT) return status;
    return match(&reader, self->request->path, self->request->value, matches, error);
}

typedef ee_status decision_test(erasure *self, const decision_body *body, json_room *room, bool *matches,
                                ee_error *error);

/* Adds the decisions for which the test is true. */
static ee_status find_in_log(erasure *self, decision_test *test, ee_error *error)
{
    event_batch batch = {0};
    memory owner = {0};
    event_room room = {.owner = &owner};
    json_room escapes = {.owner = &owner};
    ee_status status = EE_OK;
    for (uint64_t after = 0, before = 1; !status && before != after;) {
        before = after;
        status = go_on(self, error);
        if (!status) status = store_read(self->log, self->bandit, after, 1U << EVENT_DECISION, TOGETHER, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++) {
            decision_body body;
            bool matches = false;
            if (event_is_erased(&batch.events[i])) continue;
            status = decision_body_read(batch.events[i].body, batch.events[i].size, &room, &body, error);
            if (!status) status = test(self, &body, &escapes, &matches, error);
            if (!status && matches) status = add_decision(self, &batch.events[i], &body, error);
        }
        after = batch.last;
    }
    event_batch_free(&batch);
    memory_release(&owner);
    return status;
}

static void sort_numbers(uint64_t *numbers, size_t *count)
{
    size_t kept = 0;
    if (*count) qsort(numbers, *count, sizeof *numbers, by_number);
    for (size_t i = 0; i < *count; i++)
        if (!kept || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
    *count = kept;
}

/* Sorts what was found. */
static ee_status end_search(erasure *self, ee_error *error)
{
    sort_numbers(self->decisions, &self->decision_count);
    if (self->id_count) qsort(self->ids, self->id_count, sizeof *self->ids, by_text);
    ee_status status = memory_grow(&self->memory, &self->settled, &self->settled_capacity, self->decision_count + 1,
                                   sizeof *self->settled, error);
    for (size_t i = 0; i < self->decision_count && !status; i++) self->settled[i] = 0;
    return status;
}

ee_status erasure_find_decisions(erasure *self, ee_error *error)
{
    const erasure_request *request = self->request;
    ee_status status = EE_OK;
    for (size_t i = 0; i < request->id_count && !status; i++) status = find_by_id(self, request->ids[i], error);
    if (!status && (request->path.length || request->person.length)) status = find_in_log(self, is_wanted, error);
    return status ? status : end_search(self, error);
}

static ee_status is_repeat(erasure *self, const decision_body *body, json_room *room, bool *matches, ee_error *error)
{
    json_text repeated = body->guard.repeats, round = slot_round_id(repeated, NULL);
    (void)room, (void)error;
    *matches = repeated.length && (bsearch(&repeated, self->ids, self->named, sizeof *self->ids, by_text) ||
                                   bsearch(&round, self->ids, self->named, sizeof *self->ids, by_text));
    return EE_OK;
}

/* Repeats have the key of what they repeat, so those of the person are found already. An id of the request that is in
 * no decision may be that of one that was erased before. */
ee_status erasure_find_repeats(erasure *self, ee_error *error)
{
    const erasure_request *request = self->request;
    bool any = request->id_count && !self->decision_count;
    for (size_t i = 0; i < self->draw_count && !any; i++)
        any = !request->person.length || json_compare(self->draws[i].key, request->person) != 0;
    self->named = self->id_count;
    if (!any) return EE_OK;
    ee_status status = find_in_log(self, is_repeat, error);
    return status ? status : end_search(self, error);
}

/* ---- their other events ---- */

static bool is_of(erasure *self, const event *what)
{
    const uint64_t *of = NULL;
    if (what->decision && self->decision_count)
        of = bsearch(&what->decision, self->decisions, self->decision_count, sizeof *self->decisions, by_number);
    if (of && what->kind == EVENT_SETTLED) self->settled[of - self->decisions] = what->number;
    if (of || !what->id.length || !self->id_count) return of;
    return bsearch(&what->id, self->ids, self->id_count, sizeof *self->ids, by_text);
}

ee_status erasure_find_others(erasure *self, ee_error *error)
{
    const unsigned kinds = 1U << EVENT_REWARD | 1U << EVENT_SETTLED | 1U << EVENT_ACTIVATED;
    event_batch batch = {0};
    ee_status status = EE_OK;
    self->other_count = 0;
    for (uint64_t before = self->scanned + 1; !status && before != self->scanned;) {
        before = self->scanned;
        status = go_on(self, error);
        if (!status) status = store_read(self->log, self->bandit, before, kinds, TOGETHER, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++) {
            if (!is_of(self, &batch.events[i])) continue;
            status = memory_grow(&self->memory, &self->others, &self->other_capacity, self->other_count + 1,
                                 sizeof *self->others, error);
            if (!status) self->others[self->other_count++] = batch.events[i].number;
        }
        if (!status) self->scanned = batch.last;
    }
    event_batch_free(&batch);
    return status;
}

uint64_t erasure_last_settled(const erasure *self)
{
    uint64_t last = 0;
    for (size_t i = 0; i < self->decision_count; i++)
        if (self->settled[i] > last) last = self->settled[i];
    return last;
}

/* ---- models to keep ---- */

/* The events from the first of these decisions to the settlement of the last: between, no model can be stored. */
typedef struct span {
    uint64_t first, last;
    uint64_t gap; /* events to the next span */
    bool stores;  /* a model after it */
} span;

static int by_gap(const void *left, const void *right)
{
    const span *a = *(span *const *)left, *b = *(span *const *)right;
    return (a->gap < b->gap) - (a->gap > b->gap);
}

static size_t make_spans(const erasure *self, span *spans)
{
    size_t count = 0;
    for (size_t i = 0; i < self->decision_count; i++) {
        uint64_t end = self->settled[i] ? self->settled[i] : self->decisions[i];
        if (!count || self->decisions[i] > spans[count - 1].last)
            spans[count++] = (span){.first = self->decisions[i], .last = end, .gap = UINT64_MAX};
        else if (end > spans[count - 1].last)
            spans[count - 1].last = end;
    }
    for (size_t i = 0; i + 1 < count; i++) spans[i].gap = spans[i + 1].first - spans[i].last;
    return count;
}

/* Those that are followed by the most events that can be proven. */
static ee_status choose_spans(erasure *self, span **out, size_t *count, ee_error *error)
{
    span **order;
    ee_status status = memory_create(&self->memory, out, self->decision_count + 1, sizeof **out, error);
    if (!status) status = memory_create(&self->memory, &order, self->decision_count + 1, sizeof *order, error);
    if (status) return status;
    *count = make_spans(self, *out);
    for (size_t i = 0; i < *count; i++) order[i] = &(*out)[i];
    if (*count) qsort(order, *count, sizeof *order, by_gap);
    for (size_t i = 0; i < *count && i < MOST_MODELS; i++) order[i]->stores = true;
    return EE_OK;
}

typedef struct walk {
    erasure *of;
    const bandit_settings *settings;
    stored_models before; /* of earlier erasures */
    follower *model;
    uint64_t version;
} walk;

static ee_status store_model(walk *self, ee_error *error)
{
    erasure *of = self->of;
    checkpoint_body made = {.version = self->version, .upto = follower_upto(self->model)};
    const void *state;
    void *bytes = NULL;
    uint8_t *copy;
    ee_status status =
        memory_grow(&of->memory, &of->models, &of->model_capacity, of->model_count + 1, sizeof *of->models, error);
    if (!status) status = follower_state(self->model, FOLLOWER_FORMAT, &state, &made.state_size, error);
    if (!status) status = memory_create(&of->memory, &copy, made.state_size + 1, 1, error);
    if (!status) status = ee_bandit_save_bytes(follower_bandit(self->model), &bytes, &made.size, error);
    if (status) return status;
    memcpy(copy, state, made.state_size);
    made.state = copy;
    made.checksum = checkpoint_checksum(bytes, made.size);
    status = blob_put(store_blobs(of->kept), blob_model(of->bandit, made.version), bytes, made.size, error);
    ee_bytes_free(bytes);
    if (!status) of->models[of->model_count++] = made;
    return status;
}

/* The model before an event: the last that is stored, or the start of the log. If earlier erasures are between, models
 * up to the next stored one are lost already. *there false: retention has removed what is needed. */
static ee_status start_before(walk *self, uint64_t first, bool *there, ee_error *error)
{
    store_reader *log = self->of->log;
    uint32_t bandit = self->of->bandit;
    ee_status status =
        stored_models_last(&self->before, log, bandit, self->settings, first - 1, &self->model, &self->version, error);
    bool is_clean = !stored_models_erased(&self->before, 0, first);
    if (!status && !self->model && is_clean) {
        status = restore_at(log, bandit, self->settings, 0, &self->model, &self->version, error);
        if (status == EE_BAD_MODEL) status = EE_OK;
    }
    if (!status && !self->model && !is_clean)
        status =
            stored_models_next(&self->before, log, bandit, self->settings, first, &self->model, &self->version, error);
    *there = self->model;
    return status;
}

/* Takes the next step; past an earlier erasure it continues with the next stored model. *there false: at the end. */
static ee_status walk_on(walk *self, bool *there, ee_error *error)
{
    store_reader *log = self->of->log;
    uint32_t bandit = self->of->bandit;
    const erasure_request *request = self->of->request;
    uint64_t number;
    step_body step;
    ee_status status = restore_next_step(log, bandit, self->version, &number, &step, error);
    *there = number;
    if (status || !number) return status;
    if (!stored_models_erased(&self->before, follower_upto(self->model) + 1, step.upto)) {
        self->version = number;
        return follower_step(self->model, log, bandit, &step, request->cancel, request->context, error);
    }
    follower_free(self->model);
    self->model = NULL;
    status =
        stored_models_next(&self->before, log, bandit, self->settings, number, &self->model, &self->version, error);
    *there = self->model;
    return status;
}

static ee_status pass_span(walk *self, const span *which, bool *there, ee_error *error)
{
    ee_status status = EE_OK;
    while (!status && *there && follower_upto(self->model) < which->last) status = walk_on(self, there, error);
    return status;
}

static ee_status follow(walk *self, ee_error *error)
{
    span *spans = NULL;
    size_t count = 0;
    bool there = false;
    ee_status status = choose_spans(self->of, &spans, &count, error);
    if (!status && count) status = start_before(self, spans[0].first, &there, error);
    self->of->is_proven = there;
    for (size_t i = 0; i < count && !status && there; i++) {
        status = pass_span(self, &spans[i], &there, error);
        bool is_clear = there && (i + 1 == count || follower_upto(self->model) < spans[i + 1].first);
        if (!status && is_clear && spans[i].stores) status = store_model(self, error);
    }
    return status;
}

/* The last checkpoint, which follows all of them. */
static ee_status keep_checkpoint(erasure *self, ee_error *error)
{
    const event *found;
    checkpoint_body body;
    uint64_t number = 0;
    uint8_t *state;
    ee_status status = store_last(self->log, self->bandit, EVENT_CHECKPOINT, UINT64_MAX, &number, error);
    if (status || !number) return status;
    status = store_read_one(self->log, self->bandit, number, &found, error);
    if (!status) status = checkpoint_body_read(found->body, found->size, &body, error);
    if (!status && self->model_count && self->models[self->model_count - 1].version >= body.version) return EE_OK;
    if (!status) status = memory_create(&self->memory, &state, body.state_size + 1, 1, error);
    if (!status)
        status = memory_grow(&self->memory, &self->models, &self->model_capacity, self->model_count + 1,
                             sizeof *self->models, error);
    if (status) return status;
    memcpy(state, body.state, body.state_size);
    body.state = state;
    self->models[self->model_count++] = body;
    return EE_OK;
}

ee_status erasure_store_models(erasure *self, const bandit_settings *settings, ee_error *error)
{
    walk way = {.of = self, .settings = settings};
    uint64_t last = erasure_last_settled(self);
    if (!self->decision_count) return EE_OK;
    ee_status status = stored_models_read(&way.before, self->log, self->bandit, error);
    if (!status) status = follow(&way, error);
    follower_free(way.model);
    stored_models_free(&way.before);
    bool has_last = self->model_count && self->models[self->model_count - 1].upto >= last;
    return status || has_last ? status : keep_checkpoint(self, error);
}

ee_status erasure_remove_checkpoints(store *kept, store_reader *log, uint32_t bandit, const erased_body *body,
                                     ee_error *error)
{
    event_batch batch = {0};
    ee_status status = EE_OK;
    uint64_t first = body->decision_count ? body->decisions[0] : UINT64_MAX;
    for (uint64_t after = 0, before = 1; !status && before != after;) {
        before = after;
        status = store_read(log, bandit, after, 1U << EVENT_CHECKPOINT, 16, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++) {
            checkpoint_body saved;
            bool keep = false;
            status = checkpoint_body_read(batch.events[i].body, batch.events[i].size, &saved, error);
            if (status || saved.upto < first || saved.upto >= body->settled_to) continue;
            status = stored_models_keep(log, bandit, saved.version, &keep, error);
            if (!status && !keep) status = blob_remove(store_blobs(kept), blob_model(bandit, saved.version), error);
        }
        after = batch.last;
    }
    event_batch_free(&batch);
    return status;
}

/* Decisions are erased last; without any, the last of the others is. */
ee_status erasure_find_unfinished(store_reader *log, uint32_t bandit, memory *owner, erased_body *out, bool *found,
                                  ee_error *error)
{
    const event *from;
    uint64_t number = 0;
    uint8_t *copy;
    *found = false;
    ee_status status = store_last(log, bandit, EVENT_ERASED, UINT64_MAX, &number, error);
    if (status || !number) return status;
    status = store_read_one(log, bandit, number, &from, error);
    if (!status) status = memory_create(owner, &copy, from->size + 1, 1, error);
    if (status) return status;
    memcpy(copy, from->body, from->size);
    status = erased_body_read(copy, from->size, owner, out, error);
    if (status) return status;
    uint64_t last = out->decision_count ? out->decisions[out->decision_count - 1]
                    : out->other_count  ? out->others[out->other_count - 1]
                                        : 0;
    status = last ? store_read_one(log, bandit, last, &from, error) : EE_BAD_INPUT;
    if (status == EE_BAD_INPUT) return EE_OK; /* retention has removed it */
    *found = !status && from->id.length;
    return status;
}
