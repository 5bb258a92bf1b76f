#define _POSIX_C_SOURCE 200809L
#include "input_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- signals ---- */

/* A signal handler may only use globals. The pipe wakes poll(), even if the signal arrives just before it. */
static volatile sig_atomic_t asked_to_stop;
static int wake[2];

static void ask_to_stop(int number)
{
    int before = errno;
    (void)number;
    asked_to_stop = 1;
    if (write(wake[1], "", 1) < 0) errno = before; /* the pipe is full, so it wakes anyway */
}

static ee_status catch_signals(ee_error *error)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction before, action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (pipe(wake)) return status_fail(error, EE_FILE_ERROR, "could not create a pipe: %s", strerror(errno));
    for (size_t i = 0; i < 2; i++) {
        fcntl(wake[i], F_SETFD, FD_CLOEXEC);
        fcntl(wake[i], F_SETFL, O_NONBLOCK);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) /* an ignored signal (nohup) stays ignored */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    return EE_OK;
}

/* ---- lines ---- */

ee_status input_lines_start(input_lines *self, ee_error *error)
{
    *self = (input_lines){0};
    return catch_signals(error);
}

void input_lines_release(input_lines *self)
{
    memory_free(self->bytes);
    *self = (input_lines){0};
}

/* Waits for input or a signal. */
static ee_status wait_for_input(ee_error *error)
{
    struct pollfd looked_at[2] = {{STDIN_FILENO, POLLIN, 0}, {wake[0], POLLIN, 0}};
    if (poll(looked_at, 2, -1) < 0 && errno != EINTR)
        return status_fail(error, EE_FILE_ERROR, "could not wait for standard input: %s", strerror(errno));
    return EE_OK;
}

static ee_status read_more(input_lines *self, ee_error *error)
{
    enum { PART = 1 << 16 };
    if (self->taken) memmove(self->bytes, self->bytes + self->taken, self->filled - self->taken);
    self->filled -= self->taken;
    self->taken = 0;
    ee_status status = memory_grow(NULL, &self->bytes, &self->capacity, self->filled + PART, 1, error);
    if (!status) status = wait_for_input(error);
    if (status || asked_to_stop) return status;
    ssize_t got = read(STDIN_FILENO, self->bytes + self->filled, PART);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return status_fail(error, EE_FILE_ERROR, "could not read standard input: %s", strerror(errno));
    if (got > 0) self->filled += (size_t)got;
    self->ended = got == 0;
    return EE_OK;
}

/* The end of the next line; NULL: not read yet. */
static char *find_end(input_lines *self)
{
    size_t from = self->taken + self->searched;
    char *end = self->filled > from ? memchr(self->bytes + from, '\n', self->filled - from) : NULL;
    self->searched = end ? 0 : self->filled - self->taken;
    return end;
}

/* The rest at the end of the input is a line too. */
static line_kind take_line(input_lines *self, const char *end, json_text *line)
{
    char *from = self->bytes + self->taken;
    size_t length = end ? (size_t)(end - from) : self->filled - self->taken;
    self->taken += length + (end != NULL);
    self->searched = 0;
    self->number++;
    *line = (json_text){from, length};
    return length > LONGEST_LINE ? LINE_TOO_LONG : LINE_WHOLE;
}

/* Drops the bytes of a line that is too long and keeps its length one above the limit. */
static void drop_what_is_too_long(input_lines *self)
{
    if (self->filled - self->taken <= LONGEST_LINE) return;
    self->taken = 0;
    self->filled = self->searched = LONGEST_LINE + 1;
}

ee_status input_lines_next(input_lines *self, line_kind *kind, json_text *line, ee_error *error)
{
    *line = (json_text){"", 0};
    for (;;) {
        if (asked_to_stop) {
            *kind = LINE_STOPPED;
            return EE_OK;
        }
        const char *end = self->bytes ? find_end(self) : NULL;
        if (end || (self->ended && self->filled > self->taken)) {
            *kind = take_line(self, end, line);
            return EE_OK;
        }
        if (self->ended) {
            *kind = LINE_END;
            return EE_OK;
        }
        drop_what_is_too_long(self);
        ee_status status = read_more(self, error);
        if (status) return status;
    }
}
