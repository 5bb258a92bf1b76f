/* Saving and loading a bandit. docs/model-file.md gives the bytes.
 *
 *   8 bytes   "eenet" 0x1a 0x0d 0x0a: transfer as text damages it visibly
 *   u64       version of the format
 *   text      policy, as "eenet:paper": a u64 length, then the bytes
 *   text      every option that has an effect, with its value
 *   u64, u64  dimension, seed
 *   text      every option of the named features that acts; empty where the bandit takes vectors alone
 *   u64       of named features: columns that the policy stores, 0 where it stores all places; then
 *   u32 ...   the place of each
 *   ...       the state, as bandit_archive visits it
 *   u64       CRC-64 of all bytes before
 */
#include <stdio.h>
#include <string.h>

#include "bandit.h"
#include "base/file.h"
#include "base/memory.h"

static const uint8_t magic[8] = "eenet\x1a\r\n";
enum { CHECKSUM_SIZE = 8 };

typedef struct model_head {
    char policy[POLICY_NAME_SIZE];
    char options[OPTIONS_SIZE];
    size_t dim;
    uint64_t seed;
    char features[FEATURES_SIZE];
    size_t columns;   /* for named features: places that the policy stores; 0: all */
    uint32_t *places; /* (columns); free it with memory_free */
} model_head;

static void archive_head(model_head *head, archive *a)
{
    uint8_t mark[sizeof magic];
    memcpy(mark, magic, sizeof mark);
    archive_bytes(a, mark, sizeof mark);
    if (!a->status && memcmp(mark, magic, sizeof mark) != 0) archive_fail(a, EE_BAD_MODEL, "model: not an eenet model");
    archive_u64(a, &a->version);
    if (!a->status && (a->version < ARCHIVE_OLDEST_VERSION || a->version > ARCHIVE_VERSION))
        a->status = status_fail(a->error, EE_BAD_MODEL,
                                "model: version %llu is not supported; this library reads versions %d to %d",
                                (unsigned long long)a->version, ARCHIVE_OLDEST_VERSION, ARCHIVE_VERSION);
    archive_text(a, head->policy, sizeof head->policy, "length of the policy's name");
    archive_text(a, head->options, sizeof head->options, "length of the options");
    archive_size(a, &head->dim, 1, UINT32_MAX, "dimension");
    archive_u64(a, &head->seed);
    archive_text(a, head->features, sizeof head->features, "length of the features' options");
    if (a->status || !head->features[0] || a->version < 11) return;
    size_t most = a->reading ? archive_remaining(a) / sizeof *head->places : head->dim;
    archive_size(a, &head->columns, 0, most < head->dim ? most : head->dim, "columns");
    if (a->reading && !a->status)
        a->status = memory_create(NULL, &head->places, head->columns, sizeof *head->places, a->error);
    if (!a->status) archive_u32s(a, head->places, head->columns);
}

ee_status ee_bandit_save_bytes(const ee_bandit *bandit, void **bytes, size_t *size, ee_error *error)
{
    if (!bandit || !bytes || !size)
        return status_fail(error, EE_BAD_INPUT, "save: bandit, bytes and size must not be NULL");
    *bytes = NULL;
    archive a = archive_writer(error);
    model_head *head;
    ee_status status = memory_create(NULL, &head, 1, sizeof *head, error);
    if (status) return status;
    memcpy(head->policy, bandit->name, sizeof head->policy);
    memcpy(head->options, bandit->options, sizeof head->options);
    head->dim = bandit->dim;
    head->seed = bandit->seed;
    memcpy(head->features, bandit->feature_options, sizeof head->features);
    head->columns = bandit->policy->parameters.columns.count;
    head->places = bandit->policy->parameters.columns.order;
    archive_head(head, &a);
    bandit_archive((ee_bandit *)(uintptr_t)bandit, &a); /* writing does not change it */
    uint64_t checksum = archive_checksum(a.bytes, a.size);
    archive_u64(&a, &checksum);
    memory_free(head);
    if (a.status) {
        memory_free(a.bytes);
        return a.status;
    }
    *bytes = a.bytes;
    *size = a.size;
    return EE_OK;
}

void ee_bytes_free(void *bytes)
{
    memory_free(bytes);
}

/* "eenet" accepts "eenet" and "eenet:paper"; "eenet:paper" accepts only itself. */
static bool accepts(const char *expected, const char *name)
{
    size_t length = strlen(expected);
    return strncmp(expected, name, length) == 0 && (!name[length] || name[length] == ':');
}

static ee_status check_frame(const uint8_t *bytes, size_t size, ee_error *error)
{
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return status_fail(error, EE_BAD_MODEL, "model: not an eenet model");
    uint64_t checksum;
    if (size < sizeof magic + CHECKSUM_SIZE)
        return status_fail(error, EE_BAD_MODEL, "model: truncated: %zu bytes", size);
    memcpy(&checksum, bytes + size - CHECKSUM_SIZE, sizeof checksum);
    if (archive_checksum(bytes, size - CHECKSUM_SIZE) != checksum)
        return status_fail(error, EE_BAD_MODEL, "model: damaged or truncated: the checksum of its %zu bytes is wrong",
                           size);
    return EE_OK;
}

static ee_status check_expected(const model_head *head, const ee_settings *expected, ee_error *error)
{
    if (!expected) return EE_OK;
    if (expected->policy && !accepts(expected->policy, head->policy))
        return status_fail(error, EE_BAD_MODEL, "model: its policy is %s; expected %s", head->policy, expected->policy);
    if (expected->dim && expected->dim != head->dim)
        return status_fail(error, EE_BAD_MODEL, "model: its dimension is %zu; expected %zu", head->dim, expected->dim);
    return EE_OK;
}

/* Adds the options that are newer than the model with their former behaviour, if it is not the default, and removes the
 * one that no longer exists. */
static ee_status update_options(model_head *head, archive *a)
{
    const policy_class *class;
    const char *preset;
    char named[OPTIONS_SIZE];
    if (policy_find(head->policy, &class, &preset, NULL) || a->version >= class->earlier.version) return EE_OK;
    if (class->earlier.gone) a->gone = options_remove(head->options, class->earlier.gone);
    int length = snprintf(named, sizeof named, "%s %s", head->options, class->earlier.options);
    if (length < 0 || (size_t)length >= sizeof named) archive_fail(a, EE_BAD_MODEL, "model: its options are too long");
    memcpy(head->options, named, sizeof named);
    return a->status;
}

static ee_status load(archive *a, model_head *head, const ee_settings *expected, ee_bandit **out)
{
    archive_head(head, a);
    ee_status status = a->status;
    if (!status) status = check_expected(head, expected, a->error);
    if (!status) status = update_options(head, a);
    if (status) return status;
    ee_settings settings = {.policy = head->policy, .dim = head->dim, .seed = head->seed, .options = head->options};
    if (head->features[0] && a->version < 11) /* when ids were ignored */
        strncat(head->features, " ids=off", sizeof head->features - strlen(head->features) - 1);
    if (head->features[0]) settings.features = head->features;
    if (expected) settings.allocator = expected->allocator;
    ee_bandit *bandit;
    /* A block of parameters takes at least one byte. */
    size_t most = archive_remaining(a) > SIZE_MAX / ARCHIVE_BLOCK ? SIZE_MAX : archive_remaining(a) * ARCHIVE_BLOCK;
    bandit_origin origin = {most, !head->columns, head->places, head->columns};
    status = bandit_create(&settings, &origin, &bandit, a->error);
    /* An undamaged model that cannot be created is from another version of the library. */
    bool foreign = status == EE_BAD_OPTION || status == EE_BAD_INPUT;
    if (foreign && a->error) a->error->status = EE_BAD_MODEL;
    if (status) return foreign ? EE_BAD_MODEL : status;
    bandit_archive(bandit, a);
    if (!a->status && archive_remaining(a)) archive_fail(a, EE_BAD_MODEL, "model: unexpected bytes at its end");
    if (!a->status && !parameters_are_finite(&bandit->policy->parameters))
        archive_fail(a, EE_BAD_MODEL, "model: a parameter is not a finite number");
    if (a->status)
        ee_bandit_free(bandit);
    else
        *out = bandit;
    return a->status;
}

ee_status ee_bandit_load_bytes(const void *bytes, size_t size, const ee_settings *expected, ee_bandit **out,
                               ee_error *error)
{
    if (!bytes || !out) return status_fail(error, EE_BAD_INPUT, "load: bytes and out must not be NULL");
    *out = NULL;
    ee_status status = expected ? bandit_check_reserved(expected, "load", error) : EE_OK;
    if (!status) status = check_frame(bytes, size, error);
    if (status) return status;
    model_head *head;
    status = memory_create(NULL, &head, 1, sizeof *head, error);
    if (status) return status;
    archive a = archive_reader(bytes, size - CHECKSUM_SIZE, error);
    status = load(&a, head, expected, out);
    memory_free(head->places);
    memory_free(head);
    return status;
}

ee_status ee_bandit_save(const ee_bandit *bandit, const char *path, ee_error *error)
{
    if (!path) return status_fail(error, EE_BAD_INPUT, "save: path must not be NULL");
    void *bytes = NULL;
    size_t size = 0;
    ee_status status = ee_bandit_save_bytes(bandit, &bytes, &size, error);
    if (status) return status;
    status = file_write(path, bytes, size, error);
    ee_bytes_free(bytes);
    return status;
}

/* Names the file in the message: "shop.model: not an eenet model". */
static void name_file(const char *path, ee_error *error)
{
    static const char lead[] = "model: ";
    if (!error || error->status != EE_BAD_MODEL) return;
    ee_error given = *error;
    bool led = strncmp(given.message, lead, sizeof lead - 1) == 0;
    status_fail(error, EE_BAD_MODEL, "%s: %s", file_tail(path), given.message + (led ? sizeof lead - 1 : 0));
}

ee_status ee_bandit_load(const char *path, const ee_settings *expected, ee_bandit **out, ee_error *error)
{
    if (!path || !out) return status_fail(error, EE_BAD_INPUT, "load: path and out must not be NULL");
    *out = NULL;
    uint8_t *bytes;
    size_t size = 0;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status == EE_FILE_ERROR && file_is_missing(path))
        return status_fail(error, EE_NO_FILE, "load: there is no file %s", file_tail(path));
    if (status) return status;
    status = ee_bandit_load_bytes(bytes, size, expected, out, error);
    if (status) name_file(path, error);
    memory_free(bytes);
    return status;
}
