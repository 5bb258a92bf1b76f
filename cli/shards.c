#define _POSIX_C_SOURCE 200809L
#include "shards.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "hint.h"
#include "lab/sharing/shard_claim.h"
#include "lab/sharing/shard_program.h"
#include "ranks/ranks.h"

/* ---- its folder ---- */

enum { NAME_TEXT = 48 };

static void write_name(run_shard shard, char name[NAME_TEXT])
{
    snprintf(name, NAME_TEXT, "%zu-of-%zu", shard.index, shard.count);
}

static bool read_name(const char *name, run_shard *out)
{
    char again[NAME_TEXT];
    if (sscanf(name, "%zu-of-%zu", &out->index, &out->count) != 2 || out->index >= out->count) return false;
    write_name(*out, again);
    return strcmp(name, again) == 0;
}

ee_status shards_add(shard_folders *into, const char *folder, run_shard shard, bool always, ee_error *error)
{
    shard_folder one = {.shard = shard};
    struct stat about = {0};
    char *lines = NULL;
    ee_status status = file_join(folder, "results.jsonl", &lines, error);
    bool found = !status && stat(lines, &about) == 0;
    memory_free(lines);
    if (status || (!found && !always)) return status;
    status = memory_grow(NULL, &into->list, &into->capacity, into->count + 1, sizeof *into->list, error);
    if (!status) status = memory_create(NULL, &one.path, strlen(folder) + 1, 1, error);
    if (status) return status;
    strcpy(one.path, folder);
    if (about.st_size) one.added = about.st_mtim;
    into->list[into->count++] = one;
    return EE_OK;
}

int shards_compare(const void *left, const void *right)
{
    const run_shard *a = &((const shard_folder *)left)->shard, *b = &((const shard_folder *)right)->shard;
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

ee_status shards_list(shard_folders *into, const char *folder, ee_error *error)
{
    char *all = NULL;
    size_t first = into->count;
    ee_status status = file_join(folder, SHARDS_FOLDER, &all, error);
    DIR *open = status ? NULL : opendir(all);
    if (!status && !open && errno != ENOENT && errno != ENOTDIR)
        status = status_fail(error, EE_FILE_ERROR, "could not read %s: %s", file_tail(all), strerror(errno));
    for (struct dirent *entry; open && !status && (entry = readdir(open));) {
        run_shard shard;
        char *path = NULL;
        if (!read_name(entry->d_name, &shard)) continue;
        status = file_join(all, entry->d_name, &path, error);
        if (!status) status = shards_add(into, path, shard, false, error);
        memory_free(path);
    }
    if (open) closedir(open);
    memory_free(all);
    if (into->count > first) qsort(into->list + first, into->count - first, sizeof *into->list, shards_compare);
    return status;
}

void shards_release(shard_folders *all)
{
    for (size_t i = 0; i < all->count; i++) memory_free(all->list[i].path);
    memory_free(all->list);
}

static ee_status name_folder(run_request *request, ee_error *error)
{
    char name[NAME_TEXT], *all = NULL;
    write_name(request->shard, name);
    ee_status status = file_join(request->given[REQUEST_OUTPUT], SHARDS_FOLDER, &all, error);
    if (!status) status = file_join(all, name, &request->shard_folder, error);
    memory_free(all);
    return status;
}

/* ---- which one ---- */

/* Ranks of MPI share the runs among themselves. The tasks of a step that mpirun started are its own, one a machine. */
static ee_status ask_slurm(run_shard *out, ee_error *error)
{
    *out = (run_shard){0, 1};
    if (ranks_count() > 1) return EE_OK;
    bool by_mpirun = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    slurm_words words = {
        .array_id = getenv("SLURM_ARRAY_TASK_ID"),
        .array_count = getenv("SLURM_ARRAY_TASK_COUNT"),
        .array_min = getenv("SLURM_ARRAY_TASK_MIN"),
        .array_max = getenv("SLURM_ARRAY_TASK_MAX"),
        .array_step = getenv("SLURM_ARRAY_TASK_STEP"),
        .step_id = by_mpirun ? NULL : getenv("SLURM_STEP_ID"),
        .step_tasks = getenv("SLURM_STEP_NUM_TASKS"),
        .process = getenv("SLURM_PROCID"),
    };
    return shard_of_slurm(&words, out, error);
}

int shards_read(const command *self, run_request *request)
{
    const char *given = request->given[REQUEST_SHARD], *folder = request->given[REQUEST_OUTPUT];
    ee_error error;
    if (request->shard.count) return EXIT_DONE;
    ee_status status = given ? shard_parse(given, &request->shard, &error) : ask_slurm(&request->shard, &error);
    if (status) return command_refused(self, &error);
    if (!shard_is_part(request->shard)) return EXIT_DONE;
    run_shard shard = request->shard;
    if (!folder && given)
        return command_misused(self, "--shard %s: expected the folder that all shards share: -o DIR", given);
    if (!folder)
        return command_misused(
            self,
            "Slurm started %zu tasks, so each is a shard: expected the folder that they share, -o DIR; "
            "or --shard 0/1 to run everything in each task",
            shard.count);
    if (name_folder(request, &error)) return command_refused(self, &error);
    if (!given && !request->quiet)
        fprintf(stderr, "eenet %s: Slurm task: runs only shard %zu/%zu, into %s; --shard 0/1 runs everything\n",
                self->name, shard.index, shard.count, request->shard_folder);
    return EXIT_DONE;
}

int shards_refuse_save(const command *self, const run_request *request, const char *save)
{
    if (!save || !shard_is_part(request->shard)) return EXIT_DONE;
    return command_misused(self,
                           "--save needs the runs of all shards, and this is shard %zu/%zu: use it after 'eenet "
                           "merge', without --shard",
                           request->shard.index, request->shard.count);
}

int shards_refuse_halving(const command *self, const run_request *request, bool halving)
{
    if (!halving || !shard_is_part(request->shard)) return EXIT_DONE;
    return command_misused(
        self,
        "--halving needs the earlier runs of all shards, and this is shard %zu/%zu: leave it out, or "
        "use MPI instead of shards: mpirun -n %zu eenet %s --halving",
        request->shard.index, request->shard.count, request->shard.count, self->name);
}

/* Whether a shard has lines that came after the last of the folder. */
static bool has_unmerged(const char *folder)
{
    shard_folders all = {0};
    bool found = false;
    if (!shards_add(&all, folder, (run_shard){0}, true, NULL)) (void)shards_list(&all, folder, NULL);
    for (size_t i = 1; i < all.count && !found; i++) {
        struct timespec merged = all.list[0].added, added = all.list[i].added;
        found = added.tv_sec != merged.tv_sec ? added.tv_sec > merged.tv_sec : added.tv_nsec > merged.tv_nsec;
    }
    shards_release(&all);
    return found;
}

void shards_remark_unmerged(const command *self, const char *folder, const char *so)
{
    if (!has_unmerged(folder)) return;
    fprintf(stderr, "eenet %s: some runs of shards are not merged yet, and %s; merge them first: eenet merge",
            self->name, so);
    hint_path(stderr, folder);
    fprintf(stderr, "\n");
}

int shards_join(const command *self, const run_request *request)
{
    char *all = NULL;
    ee_error error;
    if (!shard_is_part(request->shard)) {
        if (!request->quiet && request->output)
            shards_remark_unmerged(self, request->output, "this command may repeat them");
        return EXIT_DONE;
    }
    ee_status status = file_join(request->output, SHARDS_FOLDER, &all, &error);
    if (!status) status = file_make_folder(all, &error);
    if (!status) status = shard_program_agree(request->output, all, &error);
    memory_free(all);
    return status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

experiment_site shards_site(const run_request *request)
{
    experiment_site site = {.folder = request->output, .pool = run_pool_of_threads(request->threads)};
    if (ranks_count() > 1) site.pool = run_pool_of_ranks(request->threads, request->cache);
    if (!shard_is_part(request->shard)) return site;
    site.folder = request->shard_folder;
    site.known = request->output;
    site.shard = request->shard;
    return site;
}

/* ---- what comes next ---- */

void shards_print_end(const run_request *request, const shard_end *end)
{
    printf("shard %zu/%zu: %zu run%s finished, in %s\n", request->shard.index, request->shard.count, end->played,
           end->played == 1 ? "" : "s", request->shard_folder);
    if (request->quiet) return;
    if (end->complete && !has_unmerged(request->output)) {
        printf("All shards are complete: the same command without --shard prints the results.\n");
        return;
    }
    printf("%s: eenet merge", end->complete ? "All shards are complete" : "When all shards are done");
    hint_path(stdout, request->output);
    printf(end->tuning ? "; then run the same shards again: these were the tuning runs, the final runs follow.\n"
                       : "; then the same command without --shard prints the results.\n");
}
