#define _POSIX_C_SOURCE 200809L
#include "shard_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "lab/results/results.h"

enum { PROGRAM_TEXT = 100 };

static void describe(char words[PROGRAM_TEXT])
{
    snprintf(words, PROGRAM_TEXT, "%s %s\n", ee_version(), ee_kernels());
}

/* version and kernels are those of the others. */
static ee_status refuse(const char *folder, const char *version, const char *kernels, ee_error *error)
{
    bool same = strcmp(version, ee_version()) == 0;
    return status_fail(error, EE_BAD_INPUT,
                       "%s was run by eenet %s with kernels %s, but this is %s with %s, so they cannot be merged: %s%s",
                       file_tail(folder), version, kernels, ee_version(), ee_kernels(),
                       same ? "set EENET_KERNELS=" : "use that program, or another folder", same ? kernels : "");
}

/* The first program wins. A link is atomic; on file systems without links the last of simultaneous writers wins. */
static ee_status claim(const char *path, ee_error *error)
{
    char words[PROGRAM_TEXT];
    file_draft draft;
    if (!file_is_missing(path)) return EE_OK;
    describe(words);
    ee_status status = file_draft_open(path, &draft, error);
    if (status) return status;
    status = file_draft_write(&draft, words, strlen(words), error);
    bool taken = !status && (link(draft.temporary, path) == 0 || errno == EEXIST);
    ee_status ended = file_draft_end(&draft, !status && !taken, error);
    return status ? status : ended;
}

static ee_status compare_shards(const char *shards, const char *path, ee_error *error)
{
    char words[PROGRAM_TEXT], version[PROGRAM_TEXT] = "", kernels[PROGRAM_TEXT] = "";
    uint8_t *bytes;
    size_t size;
    describe(words);
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    if (strcmp((const char *)bytes, words) != 0) {
        sscanf((const char *)bytes, "%99s %99s", version, kernels);
        status = refuse(shards, version, kernels, error);
    }
    memory_free(bytes);
    return status;
}

/* As merge_check has it: one of the runs that are there is of this program, or there are none. */
static ee_status compare_runs(const char *folder, ee_error *error)
{
    stored_runs list = {0};
    bool same = false;
    ee_status status = results_read_any(folder, &list, error);
    for (size_t i = 0; i < list.count && !status && !same; i++)
        same = strcmp(list.runs[i].version, ee_version()) == 0 && strcmp(list.runs[i].kernels, ee_kernels()) == 0;
    if (!status && list.count && !same) status = refuse(folder, list.runs[0].version, list.runs[0].kernels, error);
    results_release(&list);
    return status;
}

ee_status shard_program_agree(const char *folder, const char *shards, ee_error *error)
{
    char *path = NULL;
    ee_status status = compare_runs(folder, error);
    if (!status) status = file_join(shards, "program", &path, error);
    if (!status) status = claim(path, error);
    if (!status) status = compare_shards(shards, path, error);
    memory_free(path);
    return status;
}
