#define _POSIX_C_SOURCE 200809L
#include "rounds_arrays.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/files/source.h"

void rounds_arrays_release(rounds_arrays *arrays)
{
    for (size_t i = 0; i < ROUNDS_ARRAYS; i++) npy_release(&arrays->files[i]);
}

/* Does nothing if there is no such file. */
static ee_status read_description(const char *folder, survey *seen, rounds_file *out, ee_error *error)
{
    char *path;
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = file_join(folder, "rounds.json", &path, error);
    if (status) return status;
    if (access(path, F_OK) != 0) goto done;
    status = file_read(path, &bytes, &size, error);
    if (!status) status = rounds_file_parse(bytes, size, path, seen, out, error);
    memory_free(bytes);
done:
    memory_free(path);
    return status;
}

static ee_status find_form(const char *folder, rounds_form *form, ee_error *error)
{
    bool dense = *form == ROUNDS_DENSE, sparse = *form == ROUNDS_SPARSE;
    if (dense || sparse) return EE_OK;
    ee_status status = source_find(folder, rounds_array_names[ROUNDS_CONTEXTS], &dense, error);
    if (!status && !dense) status = source_find(folder, rounds_array_names[ROUNDS_VALUES], &sparse, error);
    if (status) return status;
    if (!dense && !sparse)
        return status_fail(error, EE_FILE_ERROR, "rounds: %s: %s", file_tail(folder),
                           access(folder, F_OK) ? strerror(errno) : "found neither contexts.npy nor values.npy");
    *form = dense ? ROUNDS_DENSE : ROUNDS_SPARSE;
    return EE_OK;
}

/* Reads an array and sets *checksum to the checksum of its file. */
static ee_status read_array(const char *folder, rounds_array which, const rounds_file *said, npy_array *into,
                            uint64_t *checksum, ee_error *error)
{
    source file;
    uint64_t mixed = 0;
    ee_status status = source_load(folder, rounds_array_names[which], &mixed, &file, error);
    if (status) return status;
    *checksum = archive_checksum(file.bytes, file.size);
    if (said->listed[which] && *checksum != said->checksums[which])
        status =
            status_fail(error, EE_BAD_INPUT,
                        "rounds: %s does not match rounds.json: its checksum is %016" PRIx64 ", expected %016" PRIx64,
                        file_tail(file.path), *checksum, said->checksums[which]);
    if (!status) status = source_unpack(&file, error);
    if (!status) status = npy_parse(file.bytes, file.size, file.path, into, error);
    source_release(&file);
    return status;
}

static ee_status read_files(const char *folder, rounds_arrays *into, ee_error *error)
{
    rounds_file *said = &into->said;
    bool wanted[ROUNDS_ARRAYS] = {[ROUNDS_REWARDS] = true, [ROUNDS_EXPECTED] = said->listed[ROUNDS_EXPECTED]};
    uint64_t checksums[ROUNDS_ARRAYS] = {0};
    ee_status status = find_form(folder, &said->form, error);
    if (!status && !wanted[ROUNDS_EXPECTED])
        status = source_find(folder, rounds_array_names[ROUNDS_EXPECTED], &wanted[ROUNDS_EXPECTED], error);
    into->sparse = said->form == ROUNDS_SPARSE;
    wanted[ROUNDS_CONTEXTS] = !into->sparse;
    wanted[ROUNDS_VALUES] = wanted[ROUNDS_INDICES] = wanted[ROUNDS_STARTS] = into->sparse;
    for (rounds_array i = 0; i < ROUNDS_ARRAYS && !status; i++)
        if (wanted[i]) status = read_array(folder, i, said, &into->files[i], &checksums[i], error);
    into->fingerprint = archive_checksum((const uint8_t *)checksums, sizeof checksums);
    return status;
}

/* A file of a name that is almost one of ours is not read. */
static ee_status remark_names(const char *folder, survey *seen, ee_error *error)
{
    ee_status status = EE_OK;
    DIR *all = opendir(folder);
    for (struct dirent *entry; all && !status && (entry = readdir(all));) {
        const char *dot = strrchr(entry->d_name, '.');
        const char *meant = rounds_file_meant(entry->d_name, rounds_array_names, ROUNDS_ARRAYS);
        if (meant && strcmp(dot ? dot : "", ".npy") == 0)
            status = survey_remark(seen, error, "the file '%s' is ignored; did you mean '%s'?", entry->d_name, meant);
    }
    if (all) closedir(all);
    return status;
}

ee_status rounds_arrays_read(const char *folder, survey *seen, rounds_arrays *out, ee_error *error)
{
    ee_status status = read_description(folder, seen, &out->said, error);
    if (!status) status = remark_names(folder, seen, error);
    if (!status) status = read_files(folder, out, error);
    return status;
}
