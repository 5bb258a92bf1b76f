#define _DEFAULT_SOURCE /* for struct winsize */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "data/values/seconds.h"

enum { BAR = 20, USUAL_COLUMNS = 80 };

/* Seconds. Where lines stay, the first is written soon, if it is worth one; later ones come after twice the time, but
 * never more often than the second of these, and not more rarely than the third. */
#define FIRST_LINE 3.0
#define LINES_APART 30.0
#define LINES_APART_MOST 600.0
#define WORTH_A_LINE 10.0 /* what is left, at least */

progress progress_start(const char *verb, bool quiet, progress_namer *name, const void *context)
{
    return (progress){.verb = verb,
                      .name = name,
                      .context = context,
                      .quiet = quiet,
                      .terminal = isatty(STDERR_FILENO) == 1,
                      .started = seconds_now(),
                      .due = FIRST_LINE};
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

/* "37.2%, 3/10 runs, 1:05 left" */
static void append_standing(progress *line, const run_standing *now)
{
    bool tuning = now->running && now->runs[0].job->tuning;
    append(line, "%.1f%%, %zu/%zu %sruns", 100.0 * now->share, now->ended, now->jobs, tuning ? "tuning " : "");
    if (isnan(now->left)) return;
    append(line, ", ");
    append_time(line, now->left);
    append(line, " left");
}

/* "[####----------------] 22.4%, 3/10 runs, 1:05 left; yelp eenet seed 3: 512/10000" */
static void write_bar(progress *line, const run_standing *now)
{
    size_t full = (size_t)(now->share * BAR);
    append(line, "[");
    for (size_t i = 0; i < BAR; i++) append(line, i < full ? "#" : "-");
    append(line, "] ");
    append_standing(line, now);
    if (!now->running) return;
    const run_playing *first = &now->runs[0];
    append(line, "; %s %s seed %" PRIu64 ": %" PRIu64 "/%" PRIu64, line->name(line->context, first->job->data),
           first->job->policy, first->job->seed, first->played, first->job->rounds);
}

static void redraw(progress *line, const run_standing *now)
{
    write_bar(line, now);
    size_t columns = terminal_columns();
    if (strlen(line->text) >= columns) line->text[columns - 1] = '\0'; /* a wrapped line could not be rewritten */
    fprintf(stderr, "\r%s\033[K", line->text); /* what is left of the old one goes last: the line is never empty */
    fflush(stderr);
    line->drawn = true;
}

/* A line that stays. */
static void write_when_due(progress *line, const run_standing *now)
{
    double elapsed = seconds_now() - line->started;
    if (elapsed < line->due || now->left < WORTH_A_LINE) return;
    append_standing(line, now);
    fprintf(stderr, "eenet %s: %s\n", line->verb, line->text);
    fflush(stderr);
    line->due = fmax(elapsed + fmin(elapsed, LINES_APART_MOST), LINES_APART);
}

void progress_draw(progress *line, const run_standing *now)
{
    if (line->quiet) return;
    line->text[0] = '\0';
    if (line->terminal)
        redraw(line, now);
    else
        write_when_due(line, now);
}

void progress_clear(progress *line)
{
    if (!line->drawn) return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    line->drawn = false;
}
