#define _POSIX_C_SOURCE 200809L
#include "blobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "text_seal.h"

struct blobs {
    memory memory;
    char *folder;
    atomic_uint scratches; /* made so far */
};

/* How a kind is stored: FOLDER/folder/BANDIT, the separator, the key, the ending. */
static const struct blob_form {
    const char *folder, *ending;
    char separator; /* 0: without a key */
    bool is_text;   /* else the last eight bytes are a checksum of the others */
} forms[BLOB_KINDS] = {
    [BLOB_MODEL] = {"models", ".model", '/', false},
    [BLOB_LIVE_STATE] = {"live", ".state", 0, false},
    [BLOB_EVALUATION] = {"evaluations", ".json", '/', true},
    [BLOB_EVALUATION_RESULTS] = {"evaluations", ".results.json", '/', true},
    [BLOB_IMPORTANCE] = {"importances", ".json", '-', true},
};

enum { NAME_SIZE = 200 };

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

static bool is_key(const char *key, size_t length)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    return length > 0 && length < BLOB_KEY_SIZE && strspn(key, letters) >= length;
}

/* The folder of a bandit's blobs, and what their names begin with. */
static void split_name(uint32_t bandit, blob_kind kind, char folder[NAME_SIZE], char start[NAME_SIZE])
{
    const struct blob_form *form = &forms[kind];
    bool has_folder = form->separator == '/' && bandit;
    snprintf(folder, NAME_SIZE, has_folder ? "%s/%" PRIu32 : "%s", form->folder, bandit);
    start[0] = '\0';
    if (form->separator == '/') return;
    snprintf(start, NAME_SIZE, form->separator ? "%" PRIu32 "%c" : "%" PRIu32, bandit, form->separator);
}

/* "FOLDER/models/3/250.model", to be freed with memory_free. */
static ee_status path_of(const blobs *self, const blob_name *name, char **path, ee_error *error)
{
    const struct blob_form *form = &forms[name->kind];
    char folder[NAME_SIZE], start[NAME_SIZE], all[3 * NAME_SIZE];
    size_t length = strlen(name->key);
    *path = NULL;
    if (form->separator ? !is_key(name->key, length) : length > 0)
        return status_fail(error, EE_BAD_INPUT, "store: '%s' is not a key", name->key);
    split_name(name->bandit, name->kind, folder, start);
    snprintf(all, sizeof all, "%s/%s%s%s", folder, start, name->key, form->ending);
    return file_join(self->folder, all, path, error);
}

/* ---- checksums ---- */

/* Whether the bytes are those that were put. *size becomes that of the value. */
static bool is_whole(const struct blob_form *form, const uint8_t *bytes, size_t *size)
{
    enum { CHECKSUM = 8 };
    uint64_t stored = 0;
    if (form->is_text) return text_unseal(bytes, size);
    if (*size < CHECKSUM) return false;
    for (size_t i = 0; i < CHECKSUM; i++) stored |= (uint64_t)bytes[*size - CHECKSUM + i] << 8 * i;
    return stored == archive_checksum(bytes, *size - CHECKSUM);
}

/* ---- one ---- */

static ee_status write_text(const char *path, const void *bytes, size_t size, ee_error *error)
{
    text sealed = text_start(error);
    text_bytes(&sealed, bytes, size);
    text_seal(&sealed);
    ee_status status = sealed.status ? sealed.status : file_write_private(path, sealed.bytes, sealed.length, error);
    memory_free(sealed.bytes);
    return status;
}

ee_status blob_put(blobs *self, blob_name name, const void *bytes, size_t size, ee_error *error)
{
    char folder[NAME_SIZE], start[NAME_SIZE], *path, *parent = NULL;
    ee_status status = path_of(self, &name, &path, error);
    if (status) return status;
    split_name(name.bandit, name.kind, folder, start);
    status = file_join(self->folder, folder, &parent, error);
    if (!status) status = file_make_private_folder(parent, error);
    if (!status) status = (forms[name.kind].is_text ? write_text : file_write_private)(path, bytes, size, error);
    memory_free(parent);
    memory_free(path);
    return status;
}

ee_status blob_get(const blobs *self, blob_name name, uint8_t **bytes, size_t *size, ee_error *error)
{
    char *path;
    struct stat about;
    *bytes = NULL;
    *size = 0;
    ee_status status = path_of(self, &name, &path, error);
    if (status) return status;
    const char *tail = path + strlen(self->folder) + 1;
    status = file_read(path, bytes, size, error);
    if (status == EE_FILE_ERROR && stat(path, &about) && (errno == ENOENT || errno == ENOTDIR))
        status = status_fail(error, EE_NO_FILE, "store: there is no %s", tail);
    if (!status && !is_whole(&forms[name.kind], *bytes, size)) {
        memory_free(*bytes);
        *bytes = NULL;
        status = status_fail(error, EE_FILE_ERROR, "%s is damaged: its checksum does not match", tail);
    }
    if (!status) (*bytes)[*size] = 0;
    memory_free(path);
    return status;
}

bool blob_exists(const blobs *self, blob_name name)
{
    char *path;
    struct stat about;
    if (path_of(self, &name, &path, NULL)) return false;
    bool exists = stat(path, &about) == 0;
    memory_free(path);
    return exists;
}

ee_status blob_remove(blobs *self, blob_name name, ee_error *error)
{
    char *path;
    ee_status status = path_of(self, &name, &path, error);
    if (status) return status;
    bool missing = unlink(path) != 0;
    if (missing && errno != ENOENT && errno != ENOTDIR)
        status = status_fail(error, EE_FILE_ERROR, "store: could not remove %s: %s", file_tail(path), strerror(errno));
    if (!missing) {
        *strrchr(path, '/') = '\0';
        status = file_sync_folder(path, error);
    }
    memory_free(path);
    return status;
}

/* ---- all ---- */

/* Files and folders in a folder; what cannot be opened has none. */
typedef ee_status visit_file(void *context, const char *folder, const char *name, ee_error *error);

static ee_status each_file(const char *folder, visit_file *visit, void *context, ee_error *error)
{
    DIR *entries = opendir(folder);
    ee_status status = EE_OK;
    if (!entries && errno != ENOENT && errno != ENOTDIR)
        return status_fail(error, EE_FILE_ERROR, "store: could not read %s: %s", file_tail(folder), strerror(errno));
    for (struct dirent *entry; entries && !status && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') status = visit(context, folder, entry->d_name, error);
    if (entries) closedir(entries);
    return status;
}

typedef struct key_list {
    const char *start, *ending;
    blob_key *keys;
    size_t count, capacity;
} key_list;

static ee_status add_key(void *context, const char *folder, const char *name, ee_error *error)
{
    key_list *self = context;
    size_t start = strlen(self->start), ending = strlen(self->ending), length = strlen(name);
    (void)folder;
    if (length <= start + ending || strncmp(name, self->start, start) != 0 ||
        strcmp(name + length - ending, self->ending) != 0 || !is_key(name + start, length - start - ending))
        return EE_OK;
    ee_status status = memory_grow(NULL, &self->keys, &self->capacity, self->count + 1, sizeof *self->keys, error);
    if (status) return status;
    char *key = self->keys[self->count++];
    memset(key, 0, BLOB_KEY_SIZE);
    memcpy(key, name + start, length - start - ending);
    return EE_OK;
}

ee_status blob_list(const blobs *self, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count, ee_error *error)
{
    char folder[NAME_SIZE], start[NAME_SIZE], *path;
    key_list list = {start, forms[kind].ending, NULL, 0, 0};
    *keys = NULL;
    *count = 0;
    split_name(bandit, kind, folder, start);
    ee_status status = file_join(self->folder, folder, &path, error);
    if (status) return status;
    status = each_file(path, add_key, &list, error);
    memory_free(path);
    if (status) {
        memory_free(list.keys);
        return status;
    }
    *keys = list.keys;
    *count = list.count;
    return EE_OK;
}

/* ---- what a crash left, and sizes: in all folders, and in those of bandits ---- */

typedef struct walk {
    visit_file *visit;
    void *context;
} walk;

static ee_status visit_deep(void *context, const char *folder, const char *name, ee_error *error)
{
    const walk *self = context;
    char *path;
    bool is_folder = strspn(name, "0123456789") == strlen(name);
    if (!is_folder) return self->visit(self->context, folder, name, error);
    ee_status status = file_join(folder, name, &path, error);
    if (!status) status = each_file(path, self->visit, self->context, error);
    memory_free(path);
    return status;
}

static void walk_all(const blobs *self, visit_file *visit, void *context)
{
    static const char *const folders[] = {"models", "live", "evaluations", "importances", "temporary"};
    walk deep = {visit, context};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path;
        if (file_join(self->folder, folders[i], &path, NULL)) continue;
        each_file(path, visit_deep, &deep, NULL);
        memory_free(path);
    }
}

/* "7.model.4711.0": what file_write had begun. */
static bool is_draft(const char *name)
{
    for (size_t i = 0; i < BLOB_KINDS; i++) {
        const char *at = strstr(name, forms[i].ending);
        if (!at) continue;
        at += strlen(forms[i].ending);
        if (*at == '.' && strspn(at, ".0123456789") == strlen(at)) return true;
    }
    return false;
}

static ee_status sweep(void *context, const char *folder, const char *name, ee_error *error)
{
    (void)context, (void)error;
    char *path;
    size_t length = strlen(folder);
    bool temporary = length >= 9 && strcmp(folder + length - 9, "temporary") == 0;
    bool part_of_log = strstr(name, ".eelog.zst") != NULL; /* older versions wrote it beside the evaluation */
    if ((!temporary && !part_of_log && !is_draft(name)) || file_join(folder, name, &path, NULL)) return EE_OK;
    unlink(path);
    memory_free(path);
    return EE_OK;
}

void blobs_sweep(blobs *self)
{
    walk_all(self, sweep, NULL);
}

static ee_status add_bytes(void *context, const char *folder, const char *name, ee_error *error)
{
    char *path;
    struct stat about;
    (void)error;
    if (file_join(folder, name, &path, NULL)) return EE_OK;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) *(uint64_t *)context += (uint64_t)about.st_size;
    memory_free(path);
    return EE_OK;
}

uint64_t blobs_bytes(const blobs *self)
{
    uint64_t bytes = 0;
    walk_all(self, add_bytes, &bytes);
    return bytes;
}

ee_status blobs_scratch(blobs *self, const char *ending, char **path, ee_error *error)
{
    char name[NAME_SIZE], *folder;
    snprintf(name, sizeof name, "%ld-%u%s", (long)getpid(), atomic_fetch_add(&self->scratches, 1), ending);
    *path = NULL;
    ee_status status = file_join(self->folder, "temporary", &folder, error);
    if (!status) status = file_make_private_folder(folder, error);
    if (!status) status = file_join(folder, name, path, error);
    memory_free(folder);
    if (status) return status;
    int file = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        close(file);
        return EE_OK;
    }
    status = status_fail(error, EE_FILE_ERROR, "store: could not create %s: %s", file_tail(*path), strerror(errno));
    memory_free(*path);
    *path = NULL;
    return status;
}

/* ---- beginning and end ---- */

ee_status blobs_open(const char *folder, blobs **out, ee_error *error)
{
    blobs *self;
    size_t size = strlen(folder) + 1;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    status = memory_create(&self->memory, &self->folder, size, 1, error);
    if (status) {
        blobs_close(self);
        return status;
    }
    memcpy(self->folder, folder, size);
    *out = self;
    return EE_OK;
}

void blobs_close(blobs *self)
{
    if (self) memory_release(&self->memory);
}
