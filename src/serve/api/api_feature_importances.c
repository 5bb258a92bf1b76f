/* Personalizer's featureImportances: importance.h for a time range, stored under the client's id. A resource is a blob
 * with its response. */
#include <math.h>
#include <stdio.h>

#include "call.h"
#include "data/values/json_members.h"
#include "data/values/log_time.h"
#include "handlers.h"
#include "serve/model/importance.h"
#include "serve/personalizer/personalizer_evaluations.h"

enum { MOST_EACH = 100, MOST_FEATURES = 1000 };

static blob_name name_of(const call *self)
{
    char id[JOB_ID_SIZE];
    evaluation_id_read(self->match.parts[0], id);
    return blob_named(served_bandit_number(self->bandit), BLOB_IMPORTANCE, id);
}

static ee_status refuse_missing(call *self)
{
    return call_refuse(self, 404, "there is no feature importance with this id");
}

/* ---- measuring ---- */

typedef struct wanted {
    char name[JOB_NAME_SIZE];
    double from, until; /* seconds since 1970 */
} wanted;

static ee_status read_wanted(json_reader reader, wanted *out, ee_error *error)
{
    static const char *const names[] = {"name", "startTime", "endTime"};
    member_reader at = {.reader = &reader, .names = names, .count = 3, .lenient = true};
    member_begin_body(&at, error);
    while (member_next(&at, error)) {
        json_text given = at.token.text;
        bool good = at.token.kind == JSON_KIND_TEXT;
        if (good && at.which == 0 && (good = given.length < sizeof out->name))
            snprintf(out->name, sizeof out->name, "%.*s", (int)given.length, given.bytes);
        if (good && at.which > 0) good = log_time_parse(given, at.which == 1 ? &out->from : &out->until);
        if (!good) return status_fail(error, EE_BAD_INPUT, "invalid %s", names[at.which]);
    }
    ee_status status = member_end_body(&at, error);
    if (!status && at.seen != 7) status = status_fail(error, EE_BAD_INPUT, "name, startTime and endTime are required");
    if (!status && !(out->from < out->until))
        status = status_fail(error, EE_BAD_INPUT, "startTime must be before endTime");
    return status;
}

/* "FromUrl.user" and "j" are how the log says whose they are: "user", "". */
static const char *space_of(const char *space)
{
    static const char *const homes[] = {"FromUrl", "j", "sj"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        size_t length = strlen(homes[i]);
        if (strncmp(space, homes[i], length) != 0) continue;
        if (space[length] == '.') return space + length + 1;
        if (!space[length]) return "";
    }
    return space;
}

static void write_resource(const call *self, const wanted *asked, const importance *found, text *into)
{
    text_add(into, "{");
    text_member(into, "id", self->match.parts[0]);
    text_member(into, "name", asked->name);
    text_member_time(into, "startTime", asked->from);
    text_member_time(into, "endTime", asked->until);
    text_member(into, "status", "Succeeded");
    text_add(into, ",\"featureScores\":[");
    for (size_t i = 0; i < found->count && i < MOST_FEATURES; i++) {
        const feature_importance *one = &found->features[i];
        text_add(into, i ? ",{" : "{");
        text_member(into, "namespace", space_of(one->space));
        text_member(into, "featureName", one->feature);
        text_member_number(into, "score", one->importance);
        text_add(into, "}");
    }
    text_add(into, "]}");
}

static ee_status measure(call *self, text *into, ee_error *error)
{
    wanted asked = {.name = ""};
    importance found;
    ee_status status = read_wanted(decide_request_start(&self->request, self->exchange->body), &asked, error);
    if (status) return status;
    importance_request request = {
        .from = llround(asked.from * 1e6), .until = llround(asked.until * 1e6), .cancel = &self->owner->draining};
    status = importance_measure(self->owner->store, self->bandit, &request, &found, error);
    if (status) return status;
    write_resource(self, &asked, &found, into);
    importance_free(&found);
    return into->status;
}

/* ---- the resource ---- */

static ee_status keep(call *self, const text *made, ee_error *error)
{
    blobs *into = store_blobs(self->owner->store);
    blob_name name = name_of(self);
    blob_key *keys = NULL;
    size_t count;
    ee_status status = blob_list(into, name.bandit, BLOB_IMPORTANCE, &keys, &count, error);
    memory_free(keys);
    if (!status && count >= MOST_EACH && !blob_exists(into, name))
        status = status_fail(error, EE_BAD_INPUT,
                             "the bandit has %d feature importances, the maximum; delete one first", MOST_EACH);
    return status ? status : blob_put(into, name, made->bytes, made->length, error);
}

/* In the analyst's thread. */
static ee_status measure_now(call *self)
{
    text *answer = &self->exchange->answer;
    worker_go_last();
    ee_status status = measure(self, answer, &self->error);
    if (!status) status = keep(self, answer, &self->error);
    return status ? status : call_answer(self, 200);
}

ee_status api_put_importance(call *self)
{
    return call_work(self, self->owner->analyst, measure_now);
}

ee_status api_get_importance(call *self)
{
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = blob_get(store_blobs(self->owner->store), name_of(self), &bytes, &size, &self->error);
    if (status) return status == EE_NO_FILE ? refuse_missing(self) : status;
    text_bytes(&self->exchange->answer, (const char *)bytes, size);
    memory_free(bytes);
    return call_answer(self, 200);
}

/* Those that are deleted meanwhile are left out. */
static ee_status add_all(text *into, const blobs *from, uint32_t bandit, ee_error *error)
{
    blob_key *keys = NULL;
    size_t count, added = 0;
    ee_status status = blob_list(from, bandit, BLOB_IMPORTANCE, &keys, &count, error);
    for (size_t i = 0; i < count && !status; i++) {
        uint8_t *bytes = NULL;
        size_t size;
        status = blob_get(from, blob_named(bandit, BLOB_IMPORTANCE, keys[i]), &bytes, &size, error);
        if (!status && added++) text_add(into, ",");
        if (!status) text_bytes(into, (const char *)bytes, size);
        if (status == EE_NO_FILE) status = EE_OK;
        memory_free(bytes);
    }
    memory_free(keys);
    return status;
}

ee_status api_list_importances(call *self)
{
    text_add(&self->exchange->answer, "{\"value\":[");
    ee_status status = add_all(&self->exchange->answer, store_blobs(self->owner->store),
                               served_bandit_number(self->bandit), &self->error);
    if (status) return status;
    text_add(&self->exchange->answer, "]}");
    return call_answer(self, 200);
}

ee_status api_delete_importance(call *self)
{
    blobs *from = store_blobs(self->owner->store);
    if (!blob_exists(from, name_of(self))) return refuse_missing(self);
    ee_status status = blob_remove(from, name_of(self), &self->error);
    return status ? status : call_answer(self, 204);
}
