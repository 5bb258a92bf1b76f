/* eenet check: looks for damage in the folder of a server, and rebuilds what can be computed from its log. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/folder_check.h"
#include "cli/interrupt.h"
#include "serve/store/place_name.h"
#include "serve/store/places/database_check.h"
#include "serve/store/places/store_repair.h"

enum { REPAIR, FLAGS };

static const flag flags[FLAGS] = {
    [REPAIR] = {'\0', "repair", NULL, "rebuild eenet.db from an intact log; stop the server first"},
};

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_checked(const check_result *found, const char *where)
{
    char place[PLACE_NAME_SIZE];
    place_name(where, place);
    if (place_is_database(where))
        printf("checked %s: %" PRIu64 " bandit%s, %" PRIu64 " event%s and %" PRIu64 " blob%s\n", place, found->bandits,
               ending(found->bandits), found->events, ending(found->events), found->files, ending(found->files));
    else if (found->partial)
        printf("checked the structure only: eenet.db is of an older version, without checksums; start the server on it "
               "once to upgrade it\n");
    else
        printf("checked %" PRIu64 " bandit%s, %" PRIu64 " event%s and %" PRIu64 " file%s\n", found->bandits,
               ending(found->bandits), found->events, ending(found->events), found->files, ending(found->files));
}

static int print_result(const check_result *found, const char *where)
{
    uint64_t damages = check_damages(found);
    print_checked(found, where);
    if (!damages) {
        printf("no damage found\n");
        return EXIT_DONE;
    }
    printf("%" PRIu64 " damage%s found; %s\n", damages, ending(damages), damage_remedy(found, where));
    return EXIT_FAILED;
}

/* Damaged files stay damaged: they are not computed from the log here. */
static int print_repaired(const repair_result *done, const char *folder)
{
    check_result left = done->before;
    left.structure = left.tables = 0;
    if (!done->rebuilt) return print_result(&left, folder);
    print_checked(&left, folder);
    printf("rebuilt eenet.db from the log; the damaged file is kept as %s\n", done->kept);
    if (done->ids_lost)
        printf(
            "ids of rewards whose events retention has removed could not be kept: such a reward counts again if it is "
            "sent again\n");
    if (!left.blobs) return EXIT_DONE;
    printf("%" PRIu64 " damaged file%s left; %s\n", left.blobs, ending(left.blobs), damage_remedy(&left, folder));
    return EXIT_FAILED;
}

static int look(const command *self, const char *folder, bool repair)
{
    damage_report report = {.into = stdout};
    check_request request = {
        .folder = folder, .found = damage_report_found, .progress = damage_report_progress, .context = &report};
    check_result found;
    repair_result done;
    ee_error error;
    interrupt_catch(self->name);
    interrupt_catch_termination(); /* a copy of a database has to be removed */
    ee_status status = repair                      ? store_repair(&request, &done, &error)
                       : place_is_database(folder) ? database_check(&request, &found, &error)
                                                   : store_check_folder(&request, &found, &error);
    status_line_clear(&report.line);
    if (status && interrupt_came()) {
        fprintf(stderr, "eenet %s: interrupted; nothing was changed\n", self->name);
        return EXIT_INTERRUPTED;
    }
    if (status) return command_failed(self, "%s", error.message);
    return repair ? print_repaired(&done, folder) : print_result(&found, folder);
}

static int run(const command *self, int argc, char **argv)
{
    arguments list = arguments_of(self, argc, argv);
    const char *folder = NULL, *value;
    bool repair = false;
    for (int got; (got = arguments_next(&list, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == REPAIR)
            repair = true;
        else if (folder)
            return command_misused(self, "expected one folder, got '%s' too", value);
        else
            folder = value;
    }
    if (!folder) return command_misused(self, "expected the server's folder");
    if (repair && place_is_database(folder))
        return command_misused(self, "--repair works on a folder: copy the database with 'eenet backup' first");
    return look(self, folder, repair);
}

const command command_check = {
    .name = "check",
    .form = "DIR [--repair]",
    .summary = "look for damage in a server's folder or database, and repair it from the log",
    .details =
        "DIR is the folder of 'eenet serve'; the server may be running. The check reads everything: the database's\n"
        "structure, the checksum of every event, gaps in the log, all tables that follow from the log, and every\n"
        "model. --repair builds a new database from an intact log and keeps the damaged one beside it.\n"
        "If DIR is a database (postgresql://...), a snapshot of it is copied into a temporary folder ($TMPDIR) and\n"
        "checked there. It cannot be repaired in place.\n"
        "Exit status: 0 without damage or after a complete repair, 1 if there is damage or on failure, 2 for wrong\n"
        "usage, 130 after Ctrl-C.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
