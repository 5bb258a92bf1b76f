#include "audit.h"

#include "data/values/json_members.h"
#include "serve/store/places/audit_log.h"
#include "serve/system/server_clock.h"

/* ---- what changed ---- */

/* The next member of an object; false past the last. key and value are spans of its text. */
static bool next_member(json_reader *reader, text *key, json_text *value)
{
    json_token token;
    if (json_next(reader, &token, NULL) || token.kind == JSON_KIND_OBJECT_END) return false;
    key->length = 0;
    text_bytes(key, token.key.bytes, token.key.length);
    return !key->status && !json_skip(reader, &token, value, NULL);
}

static bool start_object(json_reader *reader, const char *object, json_room *room)
{
    json_token token;
    *reader = json_start(object, strlen(object), room);
    return !json_next(reader, &token, NULL) && token.kind == JSON_KIND_OBJECT;
}

static bool has_member(const char *object, const text *wanted, json_text value)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader;
    text key = text_start(NULL);
    json_text there;
    bool found = false;
    if (object && start_object(&reader, object, &room))
        while (!found && next_member(&reader, &key, &there))
            found = key.length == wanted->length && memcmp(key.bytes, wanted->bytes, key.length) == 0 &&
                    there.length == value.length && memcmp(there.bytes, value.bytes, value.length) == 0;
    memory_free(key.bytes);
    memory_release(&owner);
    return found;
}

/* Adds ,"NAME":{...} with the members of one object that the other has not, or has with another value. */
static void add_difference(text *into, const char *name, const char *object, const char *other)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader;
    text key = text_start(NULL);
    json_text value;
    text_add(into, ",\"%s\":{", name);
    if (start_object(&reader, object, &room))
        while (next_member(&reader, &key, &value)) {
            if (has_member(other, &key, value)) continue;
            text_comma(into);
            text_json(into, (json_text){key.bytes, key.length});
            text_add(into, ":");
            text_bytes(into, value.bytes, value.length);
        }
    text_add(into, "}");
    memory_free(key.bytes);
    memory_release(&owner);
}

/* ---- entries ---- */

static void add_text(text *into, const char *name, const char *value)
{
    if (value && value[0]) text_member(into, name, value);
}

void audit_write(service *of, const call *by, const char *bandit, const char *what, const char *before,
                 const char *after)
{
    ee_error error;
    text entry = text_start(&error);
    text_add(&entry, "{");
    text_member_time(&entry, "time", (double)server_clock_wall() / 1e6);
    add_text(&entry, "what", what);
    add_text(&entry, "bandit", bandit);
    add_text(&entry, "key", by ? by->key_name : NULL);
    add_text(&entry, "peer", by ? by->exchange->peer : NULL);
    add_text(&entry, "request_id", by ? by->request_id : NULL);
    if (before) add_difference(&entry, "before", before, after);
    if (after) add_difference(&entry, "after", after, before);
    text_add(&entry, "}");
    ee_status status = entry.status;
    if (!status) status = audit_log_append(of->audit, (json_text){entry.bytes, entry.length}, &error);
    if (status)
        server_log_write(&of->log, LOG_LEVEL_ERROR, NULL, "the audit log cannot be written: %s; its entry: %s",
                         error.message, entry.bytes ? entry.bytes : what);
    memory_free(entry.bytes);
}

void audit_settings(service *of, const call *by, const char *bandit, const char *what, const bandit_settings *before,
                    const bandit_settings *after)
{
    text old = text_start(NULL), new = text_start(NULL);
    if (before) bandit_settings_write(before, &old);
    bandit_settings_write(after, &new);
    if (old.status || new.status)
        audit_write(of, by, bandit, what, NULL, NULL);
    else
        audit_write(of, by, bandit, what, old.bytes, new.bytes);
    memory_free(old.bytes);
    memory_free(new.bytes);
}

void audit_evaluation(const call *by, const char *what, const char *id)
{
    text after = text_start(NULL);
    text_add(&after, "{");
    text_member(&after, "evaluation", id);
    text_add(&after, "}");
    audit_write(by->owner, by, served_bandit_name(by->bandit), what, NULL, after.status ? NULL : after.bytes);
    memory_free(after.bytes);
}

/* ---- the server ---- */

/* Settings, and the names, roles and bandits of the keys; never the keys' checksums. */
static text config_text(const service_config *config)
{
    text out = text_start(NULL);
    ee_option entry;
    key_grant grant;
    text_add(&out, "{");
    for (size_t i = 0; !options_describe(&server_settings_schema, &config->settings, i, &entry, NULL); i++)
        text_member(&out, entry.name, entry.value);
    for (size_t i = 0; config->keys && key_ring_at(config->keys, i, &grant); i++) {
        text_add(&out, ",\"key ");
        text_bytes(&out, grant.name, strlen(grant.name));
        text_add(&out, "\":\"%s%s%s\"", key_role_name(grant.role), grant.bandit ? " " : "",
                 grant.bandit ? grant.bandit : "");
    }
    text_add(&out, "}");
    return out;
}

void audit_reload(service *of, const service_config *before, const service_config *after)
{
    text old = config_text(before), new = config_text(after);
    if (!old.status && !new.status)
        audit_write(of, NULL, NULL, "settings, keys and certificate reloaded", old.bytes, new.bytes);
    memory_free(old.bytes);
    memory_free(new.bytes);
}
