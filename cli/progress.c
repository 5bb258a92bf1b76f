#define _DEFAULT_SOURCE /* for struct winsize */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double draw_interval = 0.1; /* seconds: smooth to the eye, and no load for a slow terminal */

enum { BAR = 10, LINE_SIZE = 256, USUAL_COLUMNS = 80 };

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_start(size_t runs)
{
    progress line = {.shown = isatty(STDERR_FILENO) == 1, .runs = runs, .run_start = clock_seconds()};
    return line;
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0) return USUAL_COLUMNS;
    return size.ws_col;
}

/* "1:05" or "2:03:59". */
static void format_time(double seconds, char *text, size_t capacity)
{
    if (!(seconds < 1e9)) seconds = 1e9;
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, capacity, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(text, capacity, "%lu:%02lu", whole / 60, whole % 60);
}

static void draw(progress *line, const run_job *job, const run_result *so_far, double now)
{
    double elapsed = now - line->run_start;
    double rate = (double)so_far->rounds / (elapsed > 1e-6 ? elapsed : 1e-6);
    double part = (double)so_far->rounds / (double)job->rounds;
    /* The runs to come may be of other policies. That they are as fast as this one is the best guess there is. */
    double rounds_left = ((double)(line->runs - line->ended) - part) * (double)job->rounds;
    char left[32], bar[BAR + 1], text[LINE_SIZE];
    format_time(rounds_left / rate, left, sizeof left);
    size_t full = (size_t)(((double)line->ended + part) / (double)line->runs * BAR);
    for (size_t i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '-';
    bar[BAR] = '\0';
    snprintf(text, sizeof text, "[%s] %zu/%zu %s, seed %" PRIu64 ": %" PRIu64 "/%" PRIu64 ", %.0f rounds/s, %s left",
             bar, line->ended + 1, line->runs, job->policy, job->seed, so_far->rounds, job->rounds, rate, left);
    size_t columns = terminal_columns();
    if (strlen(text) >= columns) text[columns - 1] = '\0'; /* a wrapped line could not be rewritten */
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    line->drawn = true;
    line->last_draw = now;
}

void progress_round(progress *line, const run_job *job, const run_result *so_far)
{
    if (!line->shown) return;
    double now = clock_seconds();
    if (!line->drawn || now - line->last_draw >= draw_interval) draw(line, job, so_far, now);
}

void progress_run_ended(progress *line)
{
    line->ended++;
    line->run_start = clock_seconds();
}

void progress_clear(progress *line)
{
    if (!line->drawn) return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    line->drawn = false;
}
