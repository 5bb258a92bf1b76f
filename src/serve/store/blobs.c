#include "blobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "blob_methods.h"
#include "text_seal.h"

const struct blob_form blob_forms[BLOB_KINDS] = {
    [BLOB_MODEL] = {"models", ".model", '/', false},
    [BLOB_LIVE_STATE] = {"live", ".state", 0, false},
    [BLOB_EVALUATION] = {"evaluations", ".json", '/', true},
    [BLOB_EVALUATION_RESULTS] = {"evaluations", ".results.json", '/', true},
    [BLOB_IMPORTANCE] = {"importances", ".json", '-', true},
};

/* ---- names ---- */

blob_name blob_named(uint32_t bandit, blob_kind kind, const char *key)
{
    blob_name name = {.bandit = bandit, .kind = kind};
    snprintf(name.key, sizeof name.key, "%s", key);
    return name;
}

blob_name blob_model(uint32_t bandit, uint64_t version)
{
    blob_name name = {.bandit = bandit, .kind = BLOB_MODEL};
    snprintf(name.key, sizeof name.key, "%" PRIu64, version);
    return name;
}

bool blob_is_key(const char *key, size_t length)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    return length > 0 && length < BLOB_KEY_SIZE && strspn(key, letters) >= length;
}

void blob_split_name(uint32_t bandit, blob_kind kind, char folder[BLOB_PATH_SIZE], char start[BLOB_PATH_SIZE])
{
    const struct blob_form *form = &blob_forms[kind];
    bool has_folder = form->separator == '/' && bandit;
    snprintf(folder, BLOB_PATH_SIZE, has_folder ? "%s/%" PRIu32 : "%s", form->folder, bandit);
    start[0] = '\0';
    if (form->separator == '/') return;
    snprintf(start, BLOB_PATH_SIZE, form->separator ? "%" PRIu32 "%c" : "%" PRIu32, bandit, form->separator);
}

void blob_path(const blob_name *name, char path[3 * BLOB_PATH_SIZE])
{
    char folder[BLOB_PATH_SIZE], start[BLOB_PATH_SIZE];
    blob_split_name(name->bandit, name->kind, folder, start);
    snprintf(path, 3 * BLOB_PATH_SIZE, "%s/%s%s%s", folder, start, name->key, blob_forms[name->kind].ending);
}

static ee_status check_name(const blob_name *name, ee_error *error)
{
    size_t length = strlen(name->key);
    if (blob_forms[name->kind].separator ? blob_is_key(name->key, length) : !length) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "store: '%s' is not a key", name->key);
}

ee_status blob_file(const char *folder, blob_name name, char **path, ee_error *error)
{
    char all[3 * BLOB_PATH_SIZE];
    *path = NULL;
    ee_status status = check_name(&name, error);
    blob_path(&name, all);
    return status ? status : file_join(folder, all, path, error);
}

ee_status blob_fail_missing(const blob_name *name, ee_error *error)
{
    char path[3 * BLOB_PATH_SIZE];
    blob_path(name, path);
    return status_fail(error, EE_NO_FILE, "store: there is no %s", path);
}

ee_status blob_fail_damaged(const blob_name *name, ee_error *error)
{
    char path[3 * BLOB_PATH_SIZE];
    blob_path(name, path);
    return status_fail(error, EE_FILE_ERROR, "%s is damaged: its checksum does not match", path);
}

/* Whether the bytes are those that were put. *size becomes that of the value. */
static bool is_whole(blob_kind kind, const uint8_t *bytes, size_t *size)
{
    enum { CHECKSUM = 8 };
    uint64_t stored = 0;
    if (blob_forms[kind].is_text) return text_unseal(bytes, size);
    if (*size < CHECKSUM) return false;
    for (size_t i = 0; i < CHECKSUM; i++) stored |= (uint64_t)bytes[*size - CHECKSUM + i] << 8 * i;
    return stored == archive_checksum(bytes, *size - CHECKSUM);
}

static ee_status put_text(blobs *self, const blob_name *name, const void *bytes, size_t size, ee_error *error)
{
    text sealed = text_start(error);
    text_bytes(&sealed, bytes, size);
    text_seal(&sealed);
    ee_status status =
        sealed.status ? sealed.status : self->methods->put(self, name, sealed.bytes, sealed.length, error);
    memory_free(sealed.bytes);
    return status;
}

ee_status blob_put(blobs *self, blob_name name, const void *bytes, size_t size, ee_error *error)
{
    ee_status status = check_name(&name, error);
    if (status) return status;
    return (blob_forms[name.kind].is_text ? put_text : self->methods->put)(self, &name, bytes, size, error);
}

ee_status blob_get(const blobs *self, blob_name name, uint8_t **bytes, size_t *size, ee_error *error)
{
    *bytes = NULL;
    *size = 0;
    ee_status status = check_name(&name, error);
    if (!status) status = self->methods->get(self, &name, bytes, size, error);
    if (!status && !is_whole(name.kind, *bytes, size)) status = blob_fail_damaged(&name, error);
    if (status) {
        memory_free(*bytes);
        *bytes = NULL;
    } else
        (*bytes)[*size] = 0;
    return status;
}

bool blob_exists(const blobs *self, blob_name name)
{
    return !check_name(&name, NULL) && self->methods->exists(self, &name);
}

ee_status blob_remove(blobs *self, blob_name name, ee_error *error)
{
    ee_status status = check_name(&name, error);
    return status ? status : self->methods->remove(self, &name, error);
}

ee_status blob_list(const blobs *self, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count, ee_error *error)
{
    *keys = NULL;
    *count = 0;
    return self->methods->list(self, bandit, kind, keys, count, error);
}

void blobs_sweep(blobs *self)
{
    self->methods->sweep(self);
}

uint64_t blobs_bytes(const blobs *self)
{
    return self->methods->bytes(self);
}

ee_status blobs_scratch(blobs *self, const char *ending, char **path, ee_error *error)
{
    *path = NULL;
    return self->methods->scratch(self, ending, path, error);
}

void blobs_fence(blobs *self, uint64_t owner, uint64_t (*token)(void *context, uint32_t bandit), void *context)
{
    self->owner = owner;
    self->token = token;
    self->token_context = context;
}

void blobs_close(blobs *self)
{
    if (self) self->methods->close(self);
}
