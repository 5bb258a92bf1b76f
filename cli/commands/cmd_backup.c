/* eenet backup: copies the folder of a server, or a database, and checks the copy. */
#include <stdio.h>

#include "cli/folder_check.h"
#include "cli/interrupt.h"
#include "serve/store/places/store_copy.h"

enum { KEEP_DAMAGED, FLAGS };

static const flag flags[FLAGS] = {
    [KEEP_DAMAGED] = {'\0', "keep-damaged", NULL, "keep the copy if it is damaged; the exit status is still 1"},
};

typedef struct copying {
    damage_report report;
    const char *from;
    bool keep_damaged, damaged;
} copying;

static bool still_wanted(void *context, double share)
{
    copying *self = context;
    status_line_draw(&self->report.line, NULL, share);
    return !interrupt_came();
}

static void found(void *context, const char *sentence)
{
    damage_report_found(&((copying *)context)->report, sentence);
}

static bool progress(void *context, const char *what, double share)
{
    return damage_report_progress(&((copying *)context)->report, what, share);
}

static ee_status verify(void *context, const char *copy, ee_error *error)
{
    copying *self = context;
    check_request request = {.folder = copy, .found = found, .progress = progress, .context = self};
    check_result result;
    ee_status status = store_check_folder(&request, &result, error);
    if (status || !check_damages(&result)) return status;
    self->damaged = true;
    if (self->keep_damaged) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "the copy is damaged, as the %s is, and was removed (--keep-damaged keeps it); %s",
                       place_is_database(self->from) ? "database" : "folder", damage_remedy(&result, self->from));
}

static ee_status copy_store(copying *work, const char *to, ee_error *error)
{
    copy_result copied;
    copy_request request = {.from = work->from, .to = to, .verify = verify, .progress = still_wanted, .context = work};
    if (!place_is_database(work->from)) return store_backup(work->from, to, verify, still_wanted, work, error);
    return store_copy(&request, &copied, error);
}

static int copy(const command *self, const char *from, const char *to, bool keep_damaged)
{
    copying work = {.report.into = stderr, .from = from, .keep_damaged = keep_damaged};
    char place[PLACE_NAME_SIZE];
    ee_error error;
    interrupt_catch(self->name);
    ee_status status = copy_store(&work, to, &error);
    status_line_clear(&work.report.line);
    if (status && interrupt_came()) {
        fprintf(stderr, "eenet %s: interrupted; no copy was made\n", self->name);
        return EXIT_INTERRUPTED;
    }
    if (status) return command_failed(self, "%s", error.message);
    place_name(from, place);
    printf("copied %s to %s\n", place, to);
    if (work.damaged)
        return command_failed(self, "the copy is damaged, as the %s is",
                              place_is_database(from) ? "database" : "folder");
    return EXIT_DONE;
}

static int run(const command *self, int argc, char **argv)
{
    arguments list = arguments_of(self, argc, argv);
    const char *folders[2], *value;
    bool keep_damaged = false;
    int given = 0;
    for (int got; (got = arguments_next(&list, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == KEEP_DAMAGED) {
            keep_damaged = true;
            continue;
        }
        if (given == 2) return command_misused(self, "expected two folders, got '%s' too", value);
        folders[given++] = value;
    }
    if (given < 2) return command_misused(self, "expected two folders: the server's, and a new one for the copy");
    if (place_is_database(folders[1]))
        return command_misused(self, "the copy must be a folder; 'eenet move' copies into a database");
    return copy(self, folders[0], folders[1], keep_damaged);
}

const command command_backup = {
    .name = "backup",
    .form = "DIR NEW_DIR [--keep-damaged]",
    .summary = "copy the folder or database of a running or stopped server",
    .details =
        "DIR is the folder of 'eenet serve', or a database (postgresql://...), of which the copy is a folder too.\n"
        "The copy is a consistent snapshot, synced to disk: it contains everything acknowledged before it started.\n"
        "It is checked as by 'eenet check'. NEW_DIR must not exist; it appears when the copy is complete and checked.\n"
        "To restore, start a server on the copy, or copy it into a new database with 'eenet move'.\n"
        "Exit status: 0 on success, 1 on failure or damage, 2 for wrong usage, 130 after Ctrl-C, which leaves nothing\n"
        "behind.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
