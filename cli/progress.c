#define _DEFAULT_SOURCE /* for struct winsize */
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 10, USUAL_COLUMNS = 80 };

#define SHORTEST 0.05 /* seconds: a shorter time gives no rate that means anything */

progress progress_start(void)
{
    return (progress){.shown = isatty(STDERR_FILENO) == 1};
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0) return USUAL_COLUMNS;
    return size.ws_col;
}

__attribute__((format(printf, 2, 3))) static void append(progress *line, const char *format, ...)
{
    size_t length = strlen(line->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text + length, sizeof line->text - length, format, arguments);
    va_end(arguments);
}

/* "1:05" or "2:03:59". */
static void append_time(progress *line, double seconds)
{
    if (!(seconds < 1e9)) seconds = 1e9;
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        append(line, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        append(line, "%lu:%02lu", whole / 60, whole % 60);
}

/* "[###-------] 3/10 runs, 2 running, 51000 rounds/s, 1:05 left; yelp eenet seed 3: 512/10000" */
static void write_text(progress *line, const run_standing *now)
{
    line->text[0] = '\0';
    size_t full = now->rounds ? (size_t)((double)now->played / (double)now->rounds * BAR) : BAR;
    append(line, "[");
    for (size_t i = 0; i < BAR; i++) append(line, i < full ? "#" : "-");
    bool tuning = now->shown && now->shown->tuning;
    append(line, "] %zu/%zu %sruns, %zu running", now->ended, now->jobs, tuning ? "tuning " : "", now->running);
    if (now->played > now->read && now->seconds > SHORTEST) {
        double rate = (double)(now->played - now->read) / now->seconds;
        append(line, ", %.0f rounds/s, ", rate);
        append_time(line, (double)(now->rounds - now->played) / rate);
        append(line, " left");
    }
    if (now->shown)
        append(line, "; %s %s seed %" PRIu64 ": %" PRIu64 "/%" PRIu64, dataset_name(now->shown->data),
               now->shown->policy, now->shown->seed, now->shown_played, now->shown->rounds);
}

void progress_draw(progress *line, const run_standing *now)
{
    if (!line->shown) return;
    write_text(line, now);
    size_t columns = terminal_columns();
    if (strlen(line->text) >= columns) line->text[columns - 1] = '\0'; /* a wrapped line could not be rewritten */
    fprintf(stderr, "\r%s\033[K", line->text); /* what is left of the old one goes last: the line is never empty */
    fflush(stderr);
    line->drawn = true;
}

void progress_clear(progress *line)
{
    if (!line->drawn) return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    line->drawn = false;
}
