/* eenet merge: combines the runs of several folders in one. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/shards.h"
#include "lab/sharing/merge.h"

typedef struct sources {
    const char *into;
    shard_folders folders;
} sources;

/* A folder that was given: its own runs, and those of its shards. One that has neither is refused when it is read. */
static ee_status add_folder(shard_folders *into, const char *folder, ee_error *error)
{
    size_t before = into->count;
    ee_status status = shards_list(into, folder, error);
    return status ? status : shards_add(into, folder, (run_shard){0}, into->count == before, error);
}

/* ---- the arguments ---- */

static bool is_same_folder(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int read_arguments(const command *self, int argc, char **argv, sources *out)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    ee_error error;
    for (int got; (got = arguments_next(&from, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (!value[0]) return command_misused(self, "expected a folder, got ''");
        if (!out->into) {
            out->into = value;
            continue;
        }
        if (is_same_folder(out->into, value))
            return command_misused(self, "%s is the target folder itself; expected other folders after it", value);
        if (add_folder(&out->folders, value, &error)) return command_failed(self, "%s", error.message);
    }
    if (!out->into) return command_misused(self, "expected the DIR of 'eenet run --shard I/N -o DIR'");
    if (shards_list(&out->folders, out->into, &error)) return command_failed(self, "%s", error.message);
    if (!out->folders.count)
        return command_failed(self,
                              "no finished runs in %s/" SHARDS_FOLDER "; run the shards first: eenet run --shard I/N "
                              "-o %s ...",
                              out->into, out->into);
    return EXIT_DONE;
}

/* ---- what came out ---- */

static void print_sentence(void *context, const char *sentence)
{
    const command *self = context;
    fprintf(stderr, "eenet %s: %s\n", self->name, sentence);
}

/* "Shards without finished runs (of 16): 3, 7 and 5 more". */
static void print_absent_of(size_t count, const shard_folder *first, const shard_folder *end)
{
    enum { NAMED = 8 };
    size_t absent = 0;
    for (size_t k = 0; k < count; k++) {
        bool there = first < end && first->shard.index == k;
        while (first < end && first->shard.index == k) first++; /* it may be in several folders */
        if (there) continue;
        if (!absent) printf("Shards without finished runs (of %zu): ", count);
        if (absent < NAMED) printf("%s%zu", absent ? ", " : "", k);
        absent++;
    }
    if (absent > NAMED) printf(" and %zu more", absent - NAMED);
    if (absent) printf("\n");
}

static void print_absent(shard_folders *all)
{
    qsort(all->list, all->count, sizeof *all->list, shards_compare);
    for (size_t i = 0, end; i < all->count; i = end) {
        size_t count = all->list[i].shard.count;
        for (end = i; end < all->count && all->list[end].shard.count == count;) end++;
        print_absent_of(count, &all->list[i], all->list + end);
    }
}

static void print_counts(sources *all, const merge_counts *counts)
{
    printf("%s: %zu run%s added from %zu folder%s", all->into, counts->added, counts->added == 1 ? "" : "s",
           all->folders.count, all->folders.count == 1 ? "" : "s");
    if (counts->there) printf(", %zu already there", counts->there);
    if (counts->lost) printf(", %zu skipped", counts->lost);
    printf("\n");
    print_absent(&all->folders);
    if (counts->failed)
        printf("%zu of the requested runs failed: %s/failed has the reasons.\n", counts->failed, all->into);
    if (!counts->asked) return;
    if (counts->missing)
        printf(
            "%zu of %zu requested runs are missing: run the same shards again, or the same command without --shard.\n",
            counts->missing, counts->asked);
    else if (counts->only_tuning)
        printf("All %zu tuning runs are complete: run the same shards again for the final runs.\n",
               counts->asked - counts->failed);
    else
        printf("All %zu requested runs are complete: the same command without --shard prints the results.\n",
               counts->asked - counts->failed);
}

static int run(const command *self, int argc, char **argv)
{
    sources all = {0};
    const char **paths = NULL;
    merge_counts counts;
    ee_error error;
    int code = read_arguments(self, argc, argv, &all);
    size_t folders = all.folders.count;
    if (!code && memory_create(NULL, &paths, folders, sizeof *paths, &error)) code = command_refused(self, &error);
    for (size_t i = 0; !code && i < folders; i++) paths[i] = all.folders.list[i].path;
    merge_watch watch = {print_sentence, (void *)self};
    if (!code && merge_folders(all.into, paths, folders, &watch, &counts, &error))
        code = command_failed(self, "%s", error.message);
    if (!code) print_counts(&all, &counts);
    memory_free(paths);
    shards_release(&all.folders);
    return code;
}

const command command_merge = {
    .name = "merge",
    .form = "DIR [FOLDER...]",
    .summary = "combine the runs of shards or other folders",
    .details =
        "Copies the finished runs of DIR/shards, written by 'eenet run --shard I/N -o DIR', into DIR. Also copies the\n"
        "runs and shards of each FOLDER, such as one brought from another machine. Safe at any time, even while "
        "shards\n"
        "run, and repeatable: no run is added twice. Runs keep the order of the original command.\n"
        "Example: eenet merge results\n"
        "\n"
        "Merges nothing if folders contradict each other: the same run with a different result (seconds, bytes and\n"
        "machine aside), different eenet versions or kernels, or one data set name with different data. It names each\n"
        "contradiction and its folders. Runs with a damaged curve are skipped, with a warning.\n"
        "Exit status: 0; 1 if it failed; 2 for wrong usage.\n",
    .run = run,
};
