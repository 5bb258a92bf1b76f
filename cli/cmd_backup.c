/* eenet backup: copies the folder of a server. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "interrupt.h"
#include "serve/store/store.h"

typedef struct audience {
    bool shown; /* stderr is a terminal */
    int drawn;  /* the percents that stand there; -1: none */
} audience;

static bool still_wanted(void *context, double share)
{
    audience *who = context;
    int percents = (int)floor(100 * share);
    if (who->shown && percents != who->drawn) {
        fprintf(stderr, "\r\033[K%d%%", percents);
        fflush(stderr);
        who->drawn = percents;
    }
    return !interrupt_came();
}

static int copy(const command *self, const char *from, const char *to)
{
    audience who = {.shown = isatty(STDERR_FILENO) == 1, .drawn = -1};
    ee_error error;
    interrupt_catch(self->name);
    ee_status status = store_backup(from, to, still_wanted, &who, &error);
    if (who.drawn >= 0) fprintf(stderr, "\r\033[K");
    if (status && interrupt_came()) {
        fprintf(stderr, "eenet %s: interrupted; no copy was made\n", self->name);
        return EXIT_INTERRUPTED;
    }
    if (status) return command_failed(self, "%s", error.message);
    printf("copied %s to %s\n", from, to);
    return EXIT_DONE;
}

static int run(const command *self, int count, char **words)
{
    arguments list = arguments_of(self, count, words);
    const char *folders[2], *value;
    int given = 0;
    for (int got; (got = arguments_next(&list, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (given == 2) return command_misused(self, "expected two folders, got '%s' too", value);
        folders[given++] = value;
    }
    if (given < 2) return command_misused(self, "expected two folders: the server's, and a new one for the copy");
    return copy(self, folders[0], folders[1]);
}

const command command_backup = {
    .name = "backup",
    .form = "DIR NEW_DIR",
    .summary = "copy the folder of a running or stopped server",
    .details =
        "The copy is a consistent snapshot, synced to disk: it contains everything acknowledged before it started.\n"
        "NEW_DIR must not exist; it appears when the copy is complete. To restore, start a server on the copy.\n"
        "Exit status: 0 on success, 1 on failure, 2 for wrong usage, 130 after Ctrl-C, which leaves nothing behind.\n",
    .run = run,
};
