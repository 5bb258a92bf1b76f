/* eenet move: copies a store from a folder to a database, or back, and verifies the copy. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/folder_check.h"
#include "cli/interrupt.h"
#include "serve/store/places/store_copy.h"

static bool still_wanted(void *context, double share)
{
    status_line_draw(context, NULL, share);
    return !interrupt_came();
}

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_moved(const copy_result *moved, const char *from, const char *to)
{
    char old_place[PLACE_NAME_SIZE], new_place[PLACE_NAME_SIZE];
    place_name(from, old_place);
    place_name(to, new_place);
    printf("copied %s to %s: %" PRIu64 " bandit%s, %" PRIu64 " event%s and %" PRIu64 " blob%s, all verified\n",
           old_place, new_place, moved->bandits, ending(moved->bandits), moved->events, ending(moved->events),
           moved->blobs, ending(moved->blobs));
    if (moved->skipped)
        printf("%" PRIu64 " line%s of the audit log that a crash had cut off %s left out\n", moved->skipped,
               ending(moved->skipped), moved->skipped == 1 ? "was" : "were");
    printf("%s is unchanged. Start the server on %s, and do not write to %s any more.\n", old_place, new_place,
           old_place);
    printf("API keys are not part of the copy.\n");
}

static int move(const command *self, const char *from, const char *to)
{
    status_line line = {{0}};
    copy_request request = {
        .from = from, .to = to, .alone = true, .intact = true, .progress = still_wanted, .context = &line};
    copy_result moved;
    ee_error error;
    interrupt_catch(self->name);
    interrupt_catch_termination();
    ee_status status = store_copy(&request, &moved, &error);
    status_line_clear(&line);
    if (status && interrupt_came()) {
        fprintf(stderr, "eenet %s: interrupted; nothing was copied\n", self->name);
        return EXIT_INTERRUPTED;
    }
    if (status) return command_failed(self, "%s", error.message);
    print_moved(&moved, from, to);
    return EXIT_DONE;
}

static int run(const command *self, int argc, char **argv)
{
    arguments list = arguments_of(self, argc, argv);
    const char *places[2], *value;
    int given = 0;
    for (int got; (got = arguments_next(&list, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (given == 2) {
            char place[PLACE_NAME_SIZE];
            place_name(value, place);
            return command_misused(self, "expected two places, got '%s' too", place);
        }
        places[given++] = value;
    }
    if (given < 2) return command_misused(self, "expected two places: the server's folder or database, and a new one");
    return move(self, places[0], places[1]);
}

const command command_move = {
    .name = "move",
    .form = "FROM TO",
    .summary = "copy a server's folder into a database, or back",
    .details =
        "FROM is the folder of 'eenet serve', or a PostgreSQL database such as postgresql://user@host/name. TO is a\n"
        "new folder, or a database without bandits. Everything is copied: bandits, logs, ids, models, evaluations and\n"
        "the audit log. The copy is read again and compared with FROM, which is not changed. Stop the servers first:\n"
        "a store that a server uses, or that is damaged, is refused.\n"
        "Put the password into ~/.pgpass or PGPASSWORD: other users see the arguments of a command.\n"
        "Exit status: 0 on success, 1 on failure, 2 for wrong usage, 130 after Ctrl-C. Unless it succeeds, nothing is\n"
        "left behind.\n",
    .run = run,
};
