#define _POSIX_C_SOURCE 200809L
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a signal handler may touch is a global. Every thread that plays reads it after every round. */
static atomic_bool came;

static volatile sig_atomic_t came_at; /* second of the clock */

/* What the handler says; empty: nothing. It takes the place of a line of progress. */
static char answer[160];

/* A second Ctrl-C ends the program at once, should a round take too long. One that comes within the same second or the
 * next is taken for the first: timeout(1) sends two. */
static void handle(int number)
{
    int interrupted = errno; /* of a call that we came into */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (came && now.tv_sec > came_at + 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (came) return;
    came_at = (sig_atomic_t)now.tv_sec;
    came = true;
    if (answer[0] && write(STDERR_FILENO, answer, strlen(answer)) < 0) answer[0] = '\0'; /* stderr is closed */
    errno = interrupted;
}

/* A program started in the background of a script has it ignored, and should. */
static void catch (int number)
{
    struct sigaction before, action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void interrupt_catch(const char *verb)
{
    if (isatty(STDERR_FILENO) == 1)
        snprintf(answer, sizeof answer, "\r\033[Keenet %s: stopping; press Ctrl-C again to quit at once\n", verb);
    catch (SIGINT);
}

void interrupt_catch_termination(void)
{
    catch (SIGTERM);
}

bool interrupt_came(void)
{
    return atomic_load_explicit(&came, memory_order_relaxed);
}
