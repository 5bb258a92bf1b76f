#include "rounds_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/options.h"
#include "data/values/json_tree.h"

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
static ee_status remark_members(const json_value *members, const char *const *names, size_t count, survey *seen,
                                ee_error *error)
{
    ee_status status = EE_OK;
    for (const json_value *one = members ? members->first : NULL; one && !status; one = one->next) {
        const char *meant = rounds_file_meant(one->key, names, count);
        if (meant)
            status = survey_remark(seen, error, "rounds.json: the unknown key '%.40s' is ignored; did you mean '%s'?",
                                   one->key, meant);
    }
    return status;
}

static ee_status remark_misspelled(const json_value *root, survey *seen, ee_error *error)
{
    static const char *const names[] = {"format", "dataset", "fingerprint", "seed", "rounds", "arms",
                                        "dim",    "blocks",  "exclusive",   "form", "files",  "version"};
    ee_status status = remark_members(root, names, sizeof names / sizeof *names, seen, error);
    if (!status) status = remark_members(json_member(root, "files"), rounds_array_names, ROUNDS_ARRAYS, seen, error);
    return status;
}

static ee_status fail_member(const char *name, const char *member, const char *expected, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "rounds: %s: %.40s must be %s", file_tail(name), member, expected);
}

static ee_status read_whole(const json_value *root, const char *member, const char *name, uint64_t *into,
                            ee_error *error)
{
    const json_value *value = json_member(root, member);
    if (!value || json_whole(value, into)) return EE_OK;
    return fail_member(name, member, "a whole number, 0 or more", error);
}

static ee_status read_flag(const json_value *root, const char *member, const char *name, bool *into, ee_error *error)
{
    const json_value *value = json_member(root, member);
    if (value && !json_is_flag(value)) return fail_member(name, member, "true or false", error);
    *into = json_has_kind(value, JSON_KIND_TRUE);
    return EE_OK;
}

static ee_status read_checksum(const json_value *value, const char *member, const char *name, uint64_t *into,
                               ee_error *error)
{
    const char *digits = json_text_of(value);
    if (!digits || strlen(digits) != CHECKSUM_DIGITS || strspn(digits, "0123456789abcdef") != CHECKSUM_DIGITS)
        return fail_member(name, member, "16 hexadecimal digits in lower case", error);
    sscanf(digits, "%" SCNx64, into);
    return EE_OK;
}

static ee_status read_form(const json_value *root, const char *name, rounds_form *into, ee_error *error)
{
    const json_value *value = json_member(root, "form");
    if (!value) return EE_OK;
    for (rounds_form form = ROUNDS_UNSAID; json_has_kind(value, JSON_KIND_TEXT) && form <= ROUNDS_SPARSE; form++) {
        *into = form;
        if (strcmp(json_text_of(value), form_names[form]) == 0) return EE_OK;
    }
    return fail_member(name, "form", "\"dense\" or \"sparse\"", error);
}

static ee_status read_files(const json_value *root, const char *name, rounds_file *into, ee_error *error)
{
    const json_value *files = json_member(root, "files");
    if (files && !json_has_kind(files, JSON_KIND_OBJECT))
        return fail_member(name, "files", "an object of file names and checksums", error);
    for (const json_value *file = files ? files->first : NULL; file; file = file->next) {
        size_t which = 0;
        while (which < ROUNDS_ARRAYS && strcmp(file->key, rounds_array_names[which]) != 0) which++;
        if (which == ROUNDS_ARRAYS) continue;
        ee_status status = read_checksum(file, file->key, name, &into->checksums[which], error);
        if (status) return status;
        into->listed[which] = true;
    }
    return EE_OK;
}

static ee_status read_members(const json_value *root, const char *name, rounds_file *into, ee_error *error)
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
    const json_value *fingerprint = json_member(root, "fingerprint"), *dataset = json_member(root, "dataset");
    if (!status && fingerprint) status = read_checksum(fingerprint, "fingerprint", name, &into->fingerprint, error);
    if (!status && dataset &&
        (!json_has_kind(dataset, JSON_KIND_TEXT) || strlen(dataset->text) >= sizeof into->dataset))
        status = fail_member(name, "dataset", "a name shorter than 1024 bytes", error);
    if (!status && dataset) strcpy(into->dataset, json_text_of(dataset));
    into->arms = (size_t)arms;
    into->dim = (size_t)dim;
    into->blocks = (size_t)blocks;
    return status;
}

ee_status rounds_file_parse(const uint8_t *bytes, size_t size, const char *name, survey *seen, rounds_file *out,
                            ee_error *error)
{
    ee_error reason;
    json_tree tree;
    memset(out, 0, sizeof *out);
    ee_status status = json_tree_read(&tree, (const char *)bytes, size, &reason);
    if (status)
        status_fail(error, status, "rounds: %s: %.160s", file_tail(name), reason.message);
    else if (!json_has_kind(tree.root, JSON_KIND_OBJECT))
        status = status_fail(error, EE_BAD_INPUT, "rounds: %s: expected a JSON object", file_tail(name));
    if (!status) status = read_members(tree.root, name, out, error);
    if (!status && seen) status = remark_misspelled(tree.root, seen, error);
    json_tree_release(&tree);
    return status;
}

/* ---- writing ---- */

static void add_checksum(text *into, uint64_t checksum)
{
    text_add(into, "\"%016" PRIx64 "\"", checksum);
}

ee_status rounds_file_check(const rounds_file *from, ee_error *error)
{
    if (!json_is_utf8((json_text){from->dataset, strlen(from->dataset)}))
        return status_fail(error, EE_BAD_INPUT, "rounds: the data set's name is not UTF-8");
    if (from->seed > INT64_MAX) return status_fail(error, EE_BAD_INPUT, "rounds: the seed must be below 2^63");
    return EE_OK;
}

void rounds_file_format(const rounds_file *from, text *into)
{
    text_add(into, "{\n  \"format\": %d,\n  \"dataset\": ", FORMAT);
    text_json(into, (json_text){from->dataset, strlen(from->dataset)});
    text_add(into, ",\n  \"fingerprint\": ");
    add_checksum(into, from->fingerprint);
    text_add(into,
             ",\n  \"seed\": %" PRIu64 ",\n  \"rounds\": %" PRIu64 ",\n  \"arms\": %zu,\n  \"dim\": %zu,\n"
             "  \"blocks\": %zu,\n  \"exclusive\": %s,\n  \"form\": \"%s\",\n  \"files\": {",
             from->seed, from->rounds, from->arms, from->dim, from->blocks, from->exclusive ? "true" : "false",
             form_names[from->form]);
    for (size_t i = 0, written = 0; i < ROUNDS_ARRAYS; i++) {
        if (!from->listed[i]) continue;
        text_add(into, "%s\n    \"%s\": ", written++ ? "," : "", rounds_array_names[i]);
        add_checksum(into, from->checksums[i]);
    }
    text_add(into, "\n  },\n  \"version\": \"%s\"\n}", ee_version());
}
