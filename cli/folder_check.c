#define _POSIX_C_SOURCE 200809L
#include "folder_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "serve/store/place_name.h"

void status_line_draw(status_line *self, const char *what, double share)
{
    char words[sizeof self->drawn];
    if (isatty(STDERR_FILENO) != 1) return;
    if (share < 0)
        snprintf(words, sizeof words, "%s", what ? what : "");
    else
        snprintf(words, sizeof words, "%s%s%.0f%%", what ? what : "", what ? " " : "", floor(100 * share));
    if (strcmp(words, self->drawn) == 0) return;
    fprintf(stderr, "\r\033[K%s", words);
    fflush(stderr);
    memcpy(self->drawn, words, sizeof words);
}

void status_line_clear(status_line *self)
{
    if (self->drawn[0]) fprintf(stderr, "\r\033[K");
    self->drawn[0] = '\0';
}

void damage_report_found(void *context, const char *sentence)
{
    damage_report *self = context;
    status_line_clear(&self->line);
    fprintf(self->into, "damage: %s\n", sentence);
}

bool damage_report_progress(void *context, const char *what, double share)
{
    damage_report *self = context;
    char words[64];
    snprintf(words, sizeof words, "checking: %s", what);
    status_line_draw(&self->line, words, share);
    return !interrupt_came();
}

static const char *database_remedy(const check_result *of)
{
    if (of->structure) return "the tables are not as eenet creates them: restore a backup";
    if (of->tables)
        return "the log is intact: stop the servers, copy the database with 'eenet backup --keep-damaged', run 'eenet "
               "check --repair' on the copy, and move that to a new database";
    return "the log is intact: restore a backup, or delete these rows of eenet.blobs; the server trains again from the "
           "log";
}

const char *damage_remedy(const check_result *of, const char *where)
{
    if (of->log) return "the log itself is damaged: restore a backup";
    if (place_is_database(where)) return database_remedy(of);
    if (of->structure || of->tables)
        return "the log is intact: stop the server, run 'eenet check --repair' on the folder, and start it again";
    return "the log is intact: restore the files from a backup, or delete them; the server trains again from the log";
}

int folder_check(const command *self, const char *folder, const char *where)
{
    char place[PLACE_NAME_SIZE];
    damage_report report = {.into = stderr};
    check_request request = {
        .folder = folder, .found = damage_report_found, .progress = damage_report_progress, .context = &report};
    check_result found;
    ee_error error;
    ee_status status = store_check_folder(&request, &found, &error);
    status_line_clear(&report.line);
    if (status && interrupt_came()) return EXIT_INTERRUPTED;
    if (status) return command_failed(self, "%s", error.message);
    if (!check_damages(&found)) return EXIT_DONE;
    place_name(where, place);
    return command_failed(self, "%s is damaged; %s", place, damage_remedy(&found, where));
}
