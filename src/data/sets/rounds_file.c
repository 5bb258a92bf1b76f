#include "rounds_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/options.h"

const char *const rounds_array_names[ROUNDS_ARRAYS] = {
    [ROUNDS_CONTEXTS] = "contexts.npy", [ROUNDS_VALUES] = "values.npy",     [ROUNDS_INDICES] = "indices.npy",
    [ROUNDS_STARTS] = "starts.npy",     [ROUNDS_EXPECTED] = "expected.npy", [ROUNDS_REWARDS] = "rewards.npy",
};

static const char *const form_names[] = {[ROUNDS_UNSAID] = "", [ROUNDS_DENSE] = "dense", [ROUNDS_SPARSE] = "sparse"};

enum { FORMAT = 1, CHECKSUM_DIGITS = 16 };

/* ---- reading ---- */

/* "Blocks", "bloks", "blocks_of_features" and "n_blocks" are "blocks"; "author" is nothing of ours. */
const char *rounds_file_meant(const char *name, const char *const *names, size_t count)
{
    size_t length = strlen(name);
    const char *nearest = options_nearest(name, names, count);
    const char *meant = nearest && tolower((unsigned char)*name) == *nearest ? nearest : NULL;
    for (size_t i = 0; i < count; i++) {
        size_t own = strlen(names[i]);
        if (strcmp(name, names[i]) == 0) return NULL;
        bool begins = strncasecmp(name, names[i], own) == 0;
        bool ends = length > own && name[length - own - 1] == '_' && strcasecmp(name + length - own, names[i]) == 0;
        if (begins || ends) meant = names[i];
    }
    return meant;
}

/* Additional keys are allowed, but one that is almost a known key is probably a mistake. */
static ee_status remark_members(json_t *members, const char *const *names, size_t count, survey *seen, ee_error *error)
{
    const char *member;
    json_t *value;
    ee_status status = EE_OK;
    json_object_foreach(members, member, value)
    {
        const char *meant = status ? NULL : rounds_file_meant(member, names, count);
        if (meant)
            status = survey_remark(seen, error, "rounds.json: the unknown key '%.40s' is ignored; did you mean '%s'?",
                                   member, meant);
    }
    return status;
}

static ee_status remark_misspelled(json_t *root, survey *seen, ee_error *error)
{
    static const char *const names[] = {"format", "dataset", "fingerprint", "seed", "rounds", "arms",
                                        "dim",    "blocks",  "exclusive",   "form", "files",  "version"};
    ee_status status = remark_members(root, names, sizeof names / sizeof *names, seen, error);
    if (!status)
        status = remark_members(json_object_get(root, "files"), rounds_array_names, ROUNDS_ARRAYS, seen, error);
    return status;
}

static ee_status fail_member(const char *name, const char *member, const char *expected, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "rounds: %s: %.40s must be %s", file_tail(name), member, expected);
}

static ee_status read_whole(const json_t *root, const char *member, const char *name, uint64_t *into, ee_error *error)
{
    const json_t *value = json_object_get(root, member);
    if (!value) return EE_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return fail_member(name, member, "a whole number, 0 or more", error);
    *into = (uint64_t)json_integer_value(value);
    return EE_OK;
}

static ee_status read_flag(const json_t *root, const char *member, const char *name, bool *into, ee_error *error)
{
    const json_t *value = json_object_get(root, member);
    if (value && !json_is_boolean(value)) return fail_member(name, member, "true or false", error);
    *into = json_is_true(value);
    return EE_OK;
}

static ee_status read_checksum(const json_t *value, const char *member, const char *name, uint64_t *into,
                               ee_error *error)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) != CHECKSUM_DIGITS || strspn(text, "0123456789abcdef") != CHECKSUM_DIGITS)
        return fail_member(name, member, "16 hexadecimal digits in lower case", error);
    sscanf(text, "%" SCNx64, into);
    return EE_OK;
}

static ee_status read_form(const json_t *root, const char *name, rounds_form *into, ee_error *error)
{
    const json_t *value = json_object_get(root, "form");
    if (!value) return EE_OK;
    for (rounds_form form = ROUNDS_UNSAID; json_is_string(value) && form <= ROUNDS_SPARSE; form++) {
        *into = form;
        if (strcmp(json_string_value(value), form_names[form]) == 0) return EE_OK;
    }
    return fail_member(name, "form", "\"dense\" or \"sparse\"", error);
}

static ee_status read_files(const json_t *root, const char *name, rounds_file *into, ee_error *error)
{
    json_t *files = json_object_get(root, "files"), *value;
    const char *file;
    if (files && !json_is_object(files))
        return fail_member(name, "files", "an object of file names and checksums", error);
    json_object_foreach(files, file, value)
    {
        size_t which = 0;
        while (which < ROUNDS_ARRAYS && strcmp(file, rounds_array_names[which]) != 0) which++;
        if (which == ROUNDS_ARRAYS) continue;
        ee_status status = read_checksum(value, file, name, &into->checksums[which], error);
        if (status) return status;
        into->listed[which] = true;
    }
    return EE_OK;
}

static ee_status read_members(const json_t *root, const char *name, rounds_file *into, ee_error *error)
{
    uint64_t format = FORMAT, arms = 0, dim = 0, blocks = 0;
    ee_status status = read_whole(root, "format", name, &format, error);
    if (!status && format != FORMAT)
        status = fail_member(name, "format", "1, the only format that this version reads", error);
    if (!status) status = read_whole(root, "seed", name, &into->seed, error);
    if (!status) status = read_whole(root, "rounds", name, &into->rounds, error);
    if (!status) status = read_whole(root, "arms", name, &arms, error);
    if (!status) status = read_whole(root, "dim", name, &dim, error);
    if (!status) status = read_whole(root, "blocks", name, &blocks, error);
    if (!status) status = read_flag(root, "exclusive", name, &into->exclusive, error);
    if (!status && dim > UINT32_MAX) status = fail_member(name, "dim", "below 2^32", error);
    if (!status) status = read_form(root, name, &into->form, error);
    if (!status) status = read_files(root, name, into, error);
    const json_t *fingerprint = json_object_get(root, "fingerprint"), *dataset = json_object_get(root, "dataset");
    if (!status && fingerprint) status = read_checksum(fingerprint, "fingerprint", name, &into->fingerprint, error);
    if (!status && dataset && (!json_is_string(dataset) || json_string_length(dataset) >= sizeof into->dataset))
        status = fail_member(name, "dataset", "a name shorter than 1024 bytes", error);
    if (!status && dataset) strcpy(into->dataset, json_string_value(dataset));
    into->arms = (size_t)arms;
    into->dim = (size_t)dim;
    into->blocks = (size_t)blocks;
    return status;
}

ee_status rounds_file_parse(const uint8_t *bytes, size_t size, const char *name, survey *seen, rounds_file *out,
                            ee_error *error)
{
    memset(out, 0, sizeof *out);
    json_error_t reason;
    json_t *root = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &reason);
    if (!root)
        return status_fail(error, EE_BAD_INPUT, "rounds: %s, line %d: %.100s", file_tail(name), reason.line,
                           reason.text);
    ee_status status = EE_OK;
    if (!json_is_object(root))
        status = status_fail(error, EE_BAD_INPUT, "rounds: %s: expected a JSON object", file_tail(name));
    if (!status) status = read_members(root, name, out, error);
    if (!status && seen) status = remark_misspelled(root, seen, error);
    json_decref(root);
    return status;
}

/* ---- writing ---- */

static json_t *make_checksum(uint64_t checksum)
{
    char text[CHECKSUM_DIGITS + 1];
    snprintf(text, sizeof text, "%016" PRIx64, checksum);
    return json_string(text);
}

static json_t *make_files(const rounds_file *from)
{
    json_t *files = json_object();
    bool failed = !files;
    for (size_t i = 0; i < ROUNDS_ARRAYS; i++)
        if (from->listed[i])
            failed = json_object_set_new(files, rounds_array_names[i], make_checksum(from->checksums[i])) || failed;
    if (!failed) return files;
    json_decref(files);
    return NULL;
}

ee_status rounds_file_format(const rounds_file *from, char *text, size_t capacity, size_t *size, ee_error *error)
{
    *size = 0;
    json_t *dataset = json_string(from->dataset);
    if (!dataset || from->seed > INT64_MAX) {
        json_decref(dataset);
        return status_fail(error, EE_BAD_INPUT, "rounds: %s",
                           dataset ? "the seed must be below 2^63" : "the data set's name is not UTF-8");
    }
    json_t *root =
        json_pack("{s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:o, s:s}", "format", FORMAT, "dataset", dataset,
                  "fingerprint", make_checksum(from->fingerprint), "seed", (json_int_t)from->seed, "rounds",
                  (json_int_t)from->rounds, "arms", (json_int_t)from->arms, "dim", (json_int_t)from->dim, "blocks",
                  (json_int_t)from->blocks, "exclusive", from->exclusive, "form", form_names[from->form], "files",
                  make_files(from), "version", ee_version());
    if (!root) return status_no_memory(error, capacity);
    *size = json_dumpb(root, text, capacity, JSON_INDENT(2));
    json_decref(root);
    return *size ? EE_OK : status_no_memory(error, capacity);
}
