/* Arrays are written under names that end in ".unfinished", synced, and renamed when all are whole: rewards.npy last of
 * them, without which nothing opens the others, and then rounds.json. */
#define _POSIX_C_SOURCE 200809L
#include "rounds_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/files/npy.h"
#include "rounds_file.h"

/* ---- an array that grows at many places at once ---- */

/* One arm's part of an array. Planes follow each other in the file, and each round appends to every plane. */
typedef struct plane {
    uint64_t place; /* in the file, of the first byte that is held */
    size_t held;    /* bytes not written yet */
} plane;

typedef struct array_file {
    npy_type type;
    bool opened;
    int descriptor;
    size_t plane_count;
    plane *planes;    /* (plane_count) */
    uint8_t *buffers; /* (plane_count, room) */
    size_t room;      /* a multiple of every size of an entry */
} array_file;

typedef struct unfinished_name {
    char text[32];
} unfinished_name;

static unfinished_name name_unfinished(rounds_array which)
{
    unfinished_name name;
    snprintf(name.text, sizeof name.text, "%s.unfinished", rounds_array_names[which]);
    return name;
}

static ee_status fail_file(ee_error *error, const char *verb, rounds_array which)
{
    return status_fail(error, EE_FILE_ERROR, "rounds: could not %s %s: %s", verb, rounds_array_names[which],
                       strerror(errno));
}

/* plane_entries: entries of a plane in the complete array; unused with a single plane. */
static ee_status array_open(array_file *file, int folder, rounds_array which, npy_type type, size_t plane_count,
                            uint64_t plane_entries, ee_error *error)
{
    enum { BUFFERS = 1 << 22, LEAST_ROOM = 1 << 10 }; /* few writes, and less memory than a policy takes */
    size_t share = BUFFERS / plane_count / 8 * 8;
    *file = (array_file){.type = type, .plane_count = plane_count, .room = share > LEAST_ROOM ? share : LEAST_ROOM};
    ee_status status = memory_create(NULL, &file->planes, plane_count, sizeof *file->planes, error);
    if (!status) status = memory_create(NULL, &file->buffers, plane_count, file->room, error);
    if (status) return status;
    for (size_t i = 0; i < plane_count; i++)
        file->planes[i].place = NPY_HEADER_SIZE + i * plane_entries * npy_size(type);
    file->descriptor = openat(folder, name_unfinished(which).text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    file->opened = file->descriptor >= 0;
    return file->opened ? EE_OK : fail_file(error, "create", which);
}

static void array_close(array_file *file)
{
    if (file->opened) close(file->descriptor);
    memory_free(file->planes);
    memory_free(file->buffers);
    *file = (array_file){0};
}

static bool write_at(int descriptor, const uint8_t *bytes, size_t size, uint64_t place)
{
    while (size) {
        ssize_t written = pwrite(descriptor, bytes, size, (off_t)place);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        size -= (size_t)written;
        place += (uint64_t)written;
    }
    return true;
}

static bool flush(array_file *file, size_t which_plane)
{
    plane *at = &file->planes[which_plane];
    if (!write_at(file->descriptor, file->buffers + which_plane * file->room, at->held, at->place)) return false;
    at->place += at->held;
    at->held = 0;
    return true;
}

/* Appends entries to a plane; data is (count) of the array's type. False, with errno, if writing fails. */
static bool array_add(array_file *file, size_t which_plane, const void *data, size_t count)
{
    size_t size = npy_size(file->type);
    plane *at = &file->planes[which_plane];
    for (size_t done = 0; done < count;) {
        size_t fits = (file->room - at->held) / size, part = count - done < fits ? count - done : fits;
        uint8_t *into = file->buffers + which_plane * file->room + at->held;
        npy_encode(file->type, (const uint8_t *)data + done * size, part, into);
        at->held += part * size;
        done += part;
        if (at->held == file->room && !flush(file, which_plane)) return false;
    }
    return true;
}

/* The checksum of the bytes that are in the file now. */
static bool sum_file(int descriptor, uint64_t *checksum)
{
    struct stat about;
    if (fstat(descriptor, &about)) return false;
    void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) return false;
    *checksum = archive_checksum(bytes, (size_t)about.st_size);
    munmap(bytes, (size_t)about.st_size);
    return true;
}

/* Flushes the buffers, writes the header and syncs. */
static bool array_finish(array_file *file, const size_t *shape, size_t rank, uint64_t *checksum)
{
    uint8_t header[NPY_HEADER_SIZE];
    for (size_t i = 0; i < file->plane_count; i++)
        if (!flush(file, i)) return false;
    npy_header(file->type, shape, rank, header);
    return write_at(file->descriptor, header, sizeof header, 0) && fsync(file->descriptor) == 0 &&
           sum_file(file->descriptor, checksum);
}

/* ---- the folder ---- */

typedef struct export_state {
    const char *folder;
    int descriptor; /* of the folder; -1: none */
    bool made;      /* it was not there before */
    rounds_file said;
    array_file files[ROUNDS_ARRAYS];
    int64_t values; /* sparse: written so far */
} export_state;

static ee_status open_folder(export_state *state, ee_error *error)
{
    state->made = mkdir(state->folder, 0777) == 0;
    if (!state->made && errno != EEXIST)
        return status_fail(error, EE_FILE_ERROR, "rounds: could not create the folder %s: %s", file_tail(state->folder),
                           strerror(errno));
    state->descriptor = open(state->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state->descriptor < 0)
        return status_fail(error, EE_FILE_ERROR, "rounds: could not open the folder %s: %s", file_tail(state->folder),
                           strerror(errno));
    return EE_OK;
}

/* The folder may hold these rounds already, and no others. */
static ee_status check_description(const export_state *state, const char *path, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    rounds_file there;
    const rounds_file *said = &state->said;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    status = rounds_file_parse(bytes, size, path, NULL, &there, error);
    memory_free(bytes);
    if (status) return status;
    if (strcmp(there.dataset, said->dataset) == 0 && there.fingerprint == said->fingerprint &&
        there.seed == said->seed && there.rounds == said->rounds)
        return EE_OK;
    return status_fail(
        error, EE_BAD_INPUT,
        "rounds: %s already holds other rounds (%.60s, seed %" PRIu64 ", %" PRIu64 " rounds); choose another folder",
        file_tail(state->folder), there.dataset[0] ? there.dataset : "by another program", there.seed, there.rounds);
}

static ee_status check_folder(const export_state *state, ee_error *error)
{
    char *path;
    ee_status status = file_join(state->folder, "rounds.json", &path, error);
    if (status) return status;
    bool described = access(path, F_OK) == 0;
    if (described) status = check_description(state, path, error);
    memory_free(path);
    for (size_t i = 0; i < ROUNDS_ARRAYS && !described && !status; i++)
        if (faccessat(state->descriptor, rounds_array_names[i], F_OK, 0) == 0)
            status = status_fail(error, EE_BAD_INPUT,
                                 "rounds: %s already holds a %s but no rounds.json; remove it or choose another folder",
                                 file_tail(state->folder), rounds_array_names[i]);
    return status;
}

static ee_status write_description(const export_state *state, ee_error *error)
{
    char *path = NULL;
    text page = text_start(error);
    ee_status status = file_join(state->folder, "rounds.json", &path, error);
    if (status) return status;
    rounds_file_format(&state->said, &page);
    text_add(&page, "\n");
    status = text_save(&page, path);
    memory_free(path);
    return status;
}

/* ---- the rounds ---- */

static ee_status open_arrays(export_state *state, const ee_arms *arms, ee_error *error)
{
    rounds_file *said = &state->said;
    size_t count = said->arms;
    said->form = arms->starts ? ROUNDS_SPARSE : ROUNDS_DENSE;
    const struct {
        bool wanted;
        npy_type type;
        size_t planes;
        uint64_t plane_entries;
    } plan[ROUNDS_ARRAYS] = {
        [ROUNDS_CONTEXTS] = {!arms->starts, NPY_FLOAT32, count, said->rounds * said->dim},
        [ROUNDS_VALUES] = {arms->starts, NPY_FLOAT32, 1, 0},
        [ROUNDS_INDICES] = {arms->starts, said->dim > INT32_MAX ? NPY_INT64 : NPY_INT32, 1, 0},
        [ROUNDS_STARTS] = {arms->starts, NPY_INT64, 1, 0},
        [ROUNDS_EXPECTED] = {true, NPY_FLOAT64, count, said->rounds},
        [ROUNDS_REWARDS] = {true, NPY_FLOAT64, count, said->rounds},
    };
    for (rounds_array i = 0; i < ROUNDS_ARRAYS; i++) {
        said->listed[i] = plan[i].wanted;
        unlinkat(state->descriptor, name_unfinished(i).text, 0); /* what a killed program left, of either form */
        if (!plan[i].wanted) continue;
        ee_status status = array_open(&state->files[i], state->descriptor, i, plan[i].type, plan[i].planes,
                                      plan[i].plane_entries, error);
        if (status) return status;
    }
    return EE_OK;
}

static ee_status add_sparse(export_state *state, const ee_arms *arms, ee_error *error)
{
    array_file *indices = &state->files[ROUNDS_INDICES];
    size_t first = arms->starts[0];
    for (size_t arm = 0; arm < arms->count; arm++) {
        int64_t start = state->values + (int64_t)(arms->starts[arm] - first);
        if (!array_add(&state->files[ROUNDS_STARTS], 0, &start, 1)) return fail_file(error, "write", ROUNDS_STARTS);
    }
    for (size_t i = first; i < arms->starts[arms->count]; i++) {
        int64_t wide = arms->indices[i];
        int32_t narrow = (int32_t)arms->indices[i];
        const void *index = indices->type == NPY_INT64 ? (const void *)&wide : (const void *)&narrow;
        if (!array_add(indices, 0, index, 1)) return fail_file(error, "write", ROUNDS_INDICES);
    }
    size_t count = arms->starts[arms->count] - first;
    state->values += (int64_t)count;
    if (!array_add(&state->files[ROUNDS_VALUES], 0, arms->values + first, count))
        return fail_file(error, "write", ROUNDS_VALUES);
    return EE_OK;
}

static ee_status add_round(export_state *state, const environment_round *round, ee_error *error)
{
    const ee_arms *arms = &round->arms;
    bool sparse = state->said.form == ROUNDS_SPARSE;
    for (size_t arm = 0; arm < arms->count; arm++) {
        if (!array_add(&state->files[ROUNDS_REWARDS], arm, &round->rewards[arm], 1))
            return fail_file(error, "write", ROUNDS_REWARDS);
        if (!array_add(&state->files[ROUNDS_EXPECTED], arm, &round->expected[arm], 1))
            return fail_file(error, "write", ROUNDS_EXPECTED);
        if (!sparse && !array_add(&state->files[ROUNDS_CONTEXTS], arm, arms->values + arm * arms->dim, arms->dim))
            return fail_file(error, "write", ROUNDS_CONTEXTS);
    }
    return sparse ? add_sparse(state, arms, error) : EE_OK;
}

static ee_status write_rounds(export_state *state, const dataset *data, const rounds_watch *watch, bool *finished,
                              ee_error *error)
{
    environment *world;
    ee_status status = environment_create(data, state->said.seed, &world, error);
    if (status) return status;
    bool wanted = true;
    uint64_t written = 0;
    while (wanted && !status && written < state->said.rounds) {
        environment_round round;
        status = environment_next(world, &round, error);
        if (!status && written == 0) status = open_arrays(state, &round.arms, error);
        if (!status) status = add_round(state, &round, error);
        if (status) break;
        written++;
        if (watch) wanted = watch->wanted(watch->context, written);
    }
    *finished = !status && written == state->said.rounds;
    environment_free(world);
    return status;
}

/* Ends the arrays, gives them their names, and says so in rounds.json. */
static ee_status publish(export_state *state, ee_error *error)
{
    rounds_file *said = &state->said;
    bool sparse = said->form == ROUNDS_SPARSE;
    size_t cube[3] = {said->arms, (size_t)said->rounds, said->dim};
    size_t values = (size_t)state->values, boundaries = said->arms * (size_t)said->rounds + 1;
    const struct {
        const size_t *shape;
        size_t rank;
    } plan[ROUNDS_ARRAYS] = {
        [ROUNDS_CONTEXTS] = {cube, 3},      [ROUNDS_VALUES] = {&values, 1}, [ROUNDS_INDICES] = {&values, 1},
        [ROUNDS_STARTS] = {&boundaries, 1}, [ROUNDS_EXPECTED] = {cube, 2},  [ROUNDS_REWARDS] = {cube, 2}};
    if (sparse && !array_add(&state->files[ROUNDS_STARTS], 0, &state->values, 1))
        return fail_file(error, "write", ROUNDS_STARTS);
    for (rounds_array i = 0; i < ROUNDS_ARRAYS; i++)
        if (said->listed[i] && !array_finish(&state->files[i], plan[i].shape, plan[i].rank, &said->checksums[i]))
            return fail_file(error, "write", i);
    for (rounds_array i = 0; i < ROUNDS_ARRAYS; i++)
        if (said->listed[i] &&
            renameat(state->descriptor, name_unfinished(i).text, state->descriptor, rounds_array_names[i]))
            return fail_file(error, "name", i);
    if (fsync(state->descriptor)) return fail_file(error, "sync the folder of", ROUNDS_REWARDS);
    return write_description(state, error);
}

/* Closes all files and removes unfinished ones. */
static void release(export_state *state, bool published)
{
    for (rounds_array i = 0; i < ROUNDS_ARRAYS; i++) {
        bool opened = state->files[i].opened;
        array_close(&state->files[i]);
        if (opened && !published) unlinkat(state->descriptor, name_unfinished(i).text, 0);
    }
    if (state->descriptor >= 0) close(state->descriptor);
    if (state->made && !published) rmdir(state->folder);
}

static ee_status describe(const dataset *data, uint64_t seed, uint64_t rounds, rounds_file *said, ee_error *error)
{
    uint64_t limit = dataset_rounds(data);
    const char *name = dataset_name(data);
    if (rounds == 0 || (limit && rounds > limit))
        return status_fail(error, EE_BAD_INPUT, "rounds: %.60s has %" PRIu64 " rounds, cannot write %" PRIu64, name,
                           limit, rounds);
    said->fingerprint = dataset_fingerprint(data);
    said->seed = seed;
    said->rounds = rounds;
    said->arms = dataset_arms(data);
    said->dim = dataset_dim(data);
    said->blocks = dataset_blocks(data);
    said->exclusive = dataset_exclusive(data);
    double bytes = 8.0 * (double)rounds * (double)said->arms * (double)said->dim;
    if (bytes > 0x1p60)
        return status_fail(error, EE_BAD_INPUT, "rounds: %" PRIu64 " rounds of %.60s are too large for a file", rounds,
                           name);
    if (strlen(name) >= sizeof said->dataset)
        return status_fail(error, EE_BAD_INPUT, "rounds: the name of the data set is longer than %zu bytes",
                           sizeof said->dataset - 1);
    strcpy(said->dataset, name);
    return rounds_file_check(said, error);
}

ee_status rounds_export(const dataset *data, uint64_t seed, uint64_t rounds, const char *folder,
                        const rounds_watch *watch, bool *finished, ee_error *error)
{
    *finished = false;
    export_state state = {.folder = folder, .descriptor = -1};
    ee_status status = describe(data, seed, rounds, &state.said, error);
    if (status) return status;
    status = open_folder(&state, error);
    if (!status) status = check_folder(&state, error);
    if (!status) status = write_rounds(&state, data, watch, finished, error);
    if (!status && *finished) status = publish(&state, error);
    *finished = *finished && !status;
    release(&state, *finished);
    return status;
}
