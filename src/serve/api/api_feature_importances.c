/* Personalizer's featureImportances: importance.h for a time range, stored under the client's id. A resource is a file
 * with its response, FOLDER/importances/BANDIT-ID.json. */
#define _DEFAULT_SOURCE /* setpriority of a thread */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "call.h"
#include "data/log_time.h"
#include "handlers.h"
#include "serve/model/importance.h"
#include "serve/personalizer/personalizer_evaluations.h"

enum { MOST_EACH = 100, MOST_FEATURES = 1000, PATH_SIZE = 512 };

static const char *folder_of(const call *self)
{
    return service_config_now(self->owner)->settings.folder;
}

static ee_status path_of(const call *self, char out[PATH_SIZE], ee_error *error)
{
    char id[JOB_ID_SIZE];
    evaluation_id_read(self->match.parts[0], id);
    int length =
        snprintf(out, PATH_SIZE, "%s/importances/%u-%s.json", folder_of(self), served_bandit_number(self->bandit), id);
    return length < PATH_SIZE ? EE_OK
                              : status_fail(error, EE_FILE_ERROR, "the path of the server's folder is too long");
}

static void refuse_missing(call *self)
{
    http_refuse(self->exchange, 404, call_code(404), "there is no feature importance with this id");
}

/* ---- measuring ---- */

typedef struct wanted {
    char name[JOB_NAME_SIZE];
    double from, until; /* seconds since 1970 */
} wanted;

static ee_status read_wanted(json_text body, wanted *out, ee_error *error)
{
    static const char *const names[] = {"name", "startTime", "endTime"};
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader = json_start(body.bytes, body.length, &room);
    json_token token;
    unsigned seen = 0;
    size_t which;
    ee_status status = json_next(&reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        status = status_fail(error, EE_BAD_INPUT, "the body must be a JSON object");
    while (!status && !(status = json_next(&reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        bool known = personalizer_member(token.key, names, 3, &which);
        bool good = known && token.kind == JSON_KIND_TEXT;
        if (good && which == 0 && (good = token.text.length < sizeof out->name))
            snprintf(out->name, sizeof out->name, "%.*s", (int)token.text.length, token.text.bytes);
        if (good && which > 0) good = log_time_parse(token.text, which == 1 ? &out->from : &out->until);
        if (known && !good) status = status_fail(error, EE_BAD_INPUT, "invalid %s", names[which]);
        if (!status) status = json_skip(&reader, &token, NULL, error);
        if (good) seen |= 1u << which;
    }
    if (!status) status = json_next(&reader, &token, error);
    memory_release(&owner);
    if (!status && seen != 7) status = status_fail(error, EE_BAD_INPUT, "name, startTime and endTime are required");
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
    char from[LOG_TIME_SIZE], until[LOG_TIME_SIZE];
    const char *id = self->match.parts[0];
    log_time_format(asked->from, from);
    log_time_format(asked->until, until);
    text_add(into, "{\"id\":");
    text_json(into, (json_text){id, strlen(id)});
    text_add(into, ",\"name\":");
    text_json(into, (json_text){asked->name, strlen(asked->name)});
    text_add(into, ",\"startTime\":\"%s\",\"endTime\":\"%s\",\"status\":\"Succeeded\",\"featureScores\":[", from,
             until);
    for (size_t i = 0; i < found->count && i < MOST_FEATURES; i++) {
        const feature_importance *one = &found->features[i];
        const char *space = space_of(one->space);
        text_add(into, i ? ",{\"namespace\":" : "{\"namespace\":");
        text_json(into, (json_text){space, strlen(space)});
        text_add(into, ",\"featureName\":");
        text_json(into, (json_text){one->feature, strlen(one->feature)});
        text_add(into, ",\"score\":");
        text_double(into, one->importance);
        text_add(into, "}");
    }
    text_add(into, "]}");
}

static ee_status measure(call *self, text *into, ee_error *error)
{
    wanted asked = {.name = ""};
    importance found;
    ee_status status = read_wanted(self->exchange->body, &asked, error);
    if (status) return status;
    importance_request request = {
        .from = llround(asked.from * 1e6), .until = llround(asked.until * 1e6), .cancel = &self->owner->draining};
    status = importance_measure(self->owner->store, self->bandit, &request, &found, error);
    if (status) return status;
    write_resource(self, &asked, &found, into);
    importance_free(&found);
    return into->status;
}

/* ---- all of a bandit ---- */

/* Calls visit with the path of each; stops where it fails. */
typedef ee_status visit_file(void *context, const char *path, ee_error *error);
static ee_status each_file(const call *self, visit_file *visit, void *context, ee_error *error)
{
    char folder[PATH_SIZE], prefix[32], path[2 * PATH_SIZE];
    snprintf(folder, sizeof folder, "%.480s/importances", folder_of(self));
    int length = snprintf(prefix, sizeof prefix, "%u-", served_bandit_number(self->bandit));
    DIR *opened = opendir(folder);
    ee_status status = EE_OK;
    if (!opened && errno != ENOENT) return status_fail(error, EE_FILE_ERROR, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; opened && !status && (entry = readdir(opened));) {
        size_t size = strlen(entry->d_name);
        bool ours = strncmp(entry->d_name, prefix, (size_t)length) == 0 && size > 5 &&
                    strcmp(entry->d_name + size - 5, ".json") == 0;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (ours) status = visit(context, path, error);
    }
    if (opened) closedir(opened);
    return status;
}

static ee_status count_file(void *context, const char *path, ee_error *error)
{
    (void)path, (void)error;
    ++*(size_t *)context;
    return EE_OK;
}

static ee_status add_file(void *context, const char *path, ee_error *error)
{
    text *into = context;
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    if (into->length > strlen("{\"value\":[")) text_add(into, ",");
    text_bytes(into, (const char *)bytes, size);
    memory_free(bytes);
    return EE_OK;
}

/* ---- the resource ---- */

static ee_status keep(call *self, const text *made, ee_error *error)
{
    char path[PATH_SIZE], folder[PATH_SIZE];
    size_t count = 0;
    ee_status status = path_of(self, path, error);
    if (!status) status = each_file(self, count_file, &count, error);
    if (!status && count >= MOST_EACH && file_is_missing(path))
        status = status_fail(error, EE_BAD_INPUT,
                             "the bandit has %d feature importances, the maximum; delete one first", MOST_EACH);
    snprintf(folder, sizeof folder, "%.480s/importances", folder_of(self));
    if (!status) status = file_make_folder(folder, error);
    return status ? status : file_write(path, made->bytes, made->length, error);
}

/* In the analyst's thread. */
static void measure_now(void *context)
{
    call *self = context;
    text *answer = &self->exchange->answer;
    ee_error error;
    setpriority(PRIO_PROCESS, 0, 15); /* of this thread alone: answers and training go first */
    ee_status status = measure(self, answer, &error);
    if (!status) status = keep(self, answer, &error);
    if (status)
        call_refuse(self, &error);
    else
        call_answer(self, 200);
}

void api_put_importance(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *of = owner;
    call *self = exchange->context;
    self->task = (worker_task){.run = measure_now, .context = self};
    if (!worker_submit(of->analyst, &self->task))
        call_refuse_for(exchange, 503, 1, "too many importance requests are waiting; try again");
}

void api_get_importance(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    char path[PATH_SIZE];
    uint8_t *bytes = NULL;
    size_t size;
    ee_error error;
    ee_status status = path_of(self, path, &error);
    if (!status && access(path, F_OK) && errno == ENOENT) { /* the folder may be missing, too */
        refuse_missing(self);
        return;
    }
    if (!status) status = file_read(path, &bytes, &size, &error);
    if (status) {
        call_refuse(self, &error);
        return;
    }
    text_bytes(&exchange->answer, (const char *)bytes, size);
    memory_free(bytes);
    call_answer(self, 200);
}

void api_list_importances(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    ee_error error;
    text_add(&exchange->answer, "{\"value\":[");
    if (each_file(self, add_file, &exchange->answer, &error)) {
        call_refuse(self, &error);
        return;
    }
    text_add(&exchange->answer, "]}");
    call_answer(self, 200);
}

void api_delete_importance(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    char path[PATH_SIZE];
    ee_error error;
    if (path_of(self, path, &error))
        call_refuse(self, &error);
    else if (unlink(path))
        refuse_missing(self);
    else
        call_answer(self, 204);
}
