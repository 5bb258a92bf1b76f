#define _POSIX_C_SOURCE 200809L
#include "explain_request.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "serve/model/restoring.h"

/* More than any sane round. */
enum { MOST_CONTEXT = 64 << 20, MOST_ACTIONS = 1 << 20 };

/* ---- the parts that both ways share ---- */

static ee_status explain_body(explained *self, ee_bandit *bandit, ee_error *error)
{
    ee_arms arms;
    explanation *found = NULL;
    decision_body *body = &self->body;
    ee_status status = ee_snapshot_create(bandit, &self->snapshot, error);
    if (!status) status = ee_scratch_create(self->snapshot, 0, &self->scratch, error);
    if (!status) status = decision_arms_make(&self->arms, body, self->round, &arms, error);
    if (!status)
        status = snapshot_explain(self->snapshot, self->scratch, body->dim ? &arms : NULL, self->round, body->seed,
                                  EXPLAIN_ALL, &found, error);
    if (status) return status;
    explanation_rank(found);
    self->of = (explained_decision){body, body->dim ? NULL : self->round, found};
    return EE_OK;
}

/* ---- a saved model, and a round from a file ---- */

static ee_status read_stream(explained *self, FILE *stream, ee_error *error)
{
    size_t capacity = 0;
    for (;;) {
        ee_status status = memory_grow(NULL, &self->bytes, &capacity, self->size + 65536, 1, error);
        if (status) return status;
        size_t got = fread(self->bytes + self->size, 1, 65536, stream);
        self->size += got;
        if (self->size > MOST_CONTEXT) return status_fail(error, EE_BAD_INPUT, "the round has more than 64 MB");
        if (!got) return ferror(stream) ? status_fail(error, EE_FILE_ERROR, "could not read the round") : EE_OK;
    }
}

/* Whether a round is one of decide, not of Vowpal Wabbit: it has "actions". */
static ee_status has_actions(explained *self, bool *found, ee_error *error)
{
    json_room room = {.owner = &self->memory};
    json_reader reader = json_start((const char *)self->bytes, self->size, &room);
    json_token token;
    *found = false;
    ee_status status = json_next(&reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        status = status_fail(error, EE_BAD_INPUT, "the round must be a JSON object");
    while (!status) {
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        *found |= json_is(token.key, "actions");
        status = json_skip(&reader, &token, NULL, error);
    }
    return status;
}

static ee_status read_decide(explained *self, size_t dim, ee_error *error)
{
    decide_request *request = &self->request;
    decide_limits limits = {dim, MOST_ACTIONS, MOST_ACTIONS};
    json_token token;
    json_reader reader = decide_request_start(request, (json_text){(const char *)self->bytes, self->size});
    ee_status status = json_next(&reader, &token, error);
    if (!status) status = decide_request_read(request, &reader, &limits, error);
    if (!status && request->slot_count)
        status = status_fail(error, EE_BAD_INPUT,
                             "a round with slots cannot be explained here; leave out \"slots\", or use --data");
    if (status) return status;
    return request_body_make(&self->context, request, dim, &self->body, error);
}

static ee_status read_multi(explained *self, size_t dim, ee_error *error)
{
    if (dim) return status_fail(error, EE_BAD_INPUT, "the model takes vectors, so the round needs \"actions\"");
    ee_status status = ee_round_read(self->round, (const char *)self->bytes, self->size, error);
    self->body =
        (decision_body){.count = ee_round_count(self->round), .context = {(const char *)self->bytes, self->size}};
    return status;
}

static ee_status explain_files(explained *self, const explain_request *request, ee_error *error)
{
    bool actions = false, standard = strcmp(request->context, "-") == 0;
    ee_status status = ee_bandit_load(request->model, NULL, &self->bandit, error);
    if (status) return status;
    ee_info info = ee_bandit_info(self->bandit);
    size_t dim = info.features ? 0 : info.dim;
    status = standard ? read_stream(self, stdin, error) : file_read(request->context, &self->bytes, &self->size, error);
    if (!status) status = has_actions(self, &actions, error);
    if (!status) status = actions ? read_decide(self, dim, error) : read_multi(self, dim, error);
    return status ? status : explain_body(self, self->bandit, error);
}

/* ---- a decision of a server ---- */

typedef struct stored_place {
    const char *name;
    uint32_t number;
    bool found;
    bandit_settings settings;
} stored_place;

static ee_status find_bandit(store_reader *log, stored_place *place, ee_error *error)
{
    stored_bandits list;
    ee_status status = store_list_bandits(log, &list, error);
    for (size_t i = 0; !status && i < list.count; i++) {
        const stored_bandit *bandit = &list.bandits[i];
        if (!json_is(bandit->name, place->name) || !bandit->events) continue;
        place->found = true;
        place->number = bandit->number;
        status = bandit_settings_read(&place->settings, bandit->settings.bytes, bandit->settings.length,
                                      SETTINGS_STORED, error);
    }
    stored_bandits_free(&list);
    return status;
}

/* The event is valid until the next read, so its body is copied. */
static ee_status keep_decision(explained *self, const event *seen, ee_error *error)
{
    size_t capacity = 0;
    if (seen->kind != EVENT_DECISION) return status_fail(error, EE_BAD_INPUT, "the id does not belong to a decision");
    ee_status status = memory_grow(NULL, &self->bytes, &capacity, seen->size ? seen->size : 1, 1, error);
    if (status) return status;
    memcpy(self->bytes, seen->body, seen->size);
    self->size = seen->size;
    return decision_body_read(self->bytes, self->size, &self->room, &self->body, error);
}

/* Of a round of slots, the id of one of its decisions. */
static ee_status find_id(explained *self, store_reader *log, const explain_request *request, uint32_t bandit,
                         uint64_t *number, ee_error *error)
{
    json_text id = {request->id, strlen(request->id)};
    if (!request->slot) return store_find_id(log, bandit, id, number, error);
    json_text slot = {request->slot, strlen(request->slot)};
    char *room = NULL;
    ee_status status = memory_create(&self->memory, &room, slot_decision_id_size(id, slot), 1, error);
    return status ? status : store_find_id(log, bandit, slot_decision_id(id, slot, room), number, error);
}

static ee_status find_decision(explained *self, store_reader *log, const explain_request *request, stored_place *place,
                               ee_error *error)
{
    uint64_t number = 0;
    const event *seen;
    ee_status status = find_bandit(log, place, error);
    if (!status && !place->found)
        status = status_fail(error, EE_BAD_INPUT, "there is no bandit '%.64s' in this folder", request->bandit);
    if (!status) status = find_id(self, log, request, place->number, &number, error);
    if (!status && !number)
        status = status_fail(error, EE_BAD_INPUT, "no stored decision has the id '%.128s'", request->id);
    if (!status) status = store_read_one(log, place->number, number, &seen, error);
    return status ? status : keep_decision(self, seen, error);
}

static ee_status explain_stored(explained *self, const explain_request *request, ee_error *error)
{
    store_reader *log = NULL;
    stored_place place = {.name = request->bandit, .settings = bandit_settings_usual()};
    ee_status status = store_open_reader(request->folder, &log, error);
    if (status) return status;
    self->id = request->id;
    status = find_decision(self, log, request, &place, error);
    if (!status)
        status =
            restore_at(log, place.number, &place.settings, UINT64_MAX >> 1, &self->follower, &self->version, error);
    if (!status) status = restore_steps(self->follower, log, place.number, NULL, NULL, &self->version, error);
    store_reader_free(log);
    return status ? status : explain_body(self, follower_bandit(self->follower), error);
}

ee_status explain_run(const explain_request *request, explained *out, ee_error *error)
{
    *out = (explained){.id = ""};
    out->room.owner = out->request.owner = out->context.owner = &out->memory;
    ee_status status = ee_round_create(NULL, &out->round, error);
    if (status) return status;
    return request->folder ? explain_stored(out, request, error) : explain_files(out, request, error);
}

void explain_end(explained *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_round_free(self->round);
    follower_free(self->follower);
    ee_bandit_free(self->bandit);
    memory_free(self->bytes);
    memory_release(&self->arms.memory);
    memory_release(&self->memory);
}
