#define _POSIX_C_SOURCE 200809L
#include "notify.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *lines)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) return;
    memcpy(to.sun_path, path, length);
    if (path[0] == '@') to.sun_path[0] = '\0'; /* a name that is no file's */
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return;
    sendto(sender, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(sender);
}

/* An integer environment variable; 0 if it is not set. */
static long number_of(const char *name)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

int notify_socket(void)
{
    enum { FIRST = 3 };
    if (number_of("LISTEN_PID") != (long)getpid() || number_of("LISTEN_FDS") < 1) return -1;
    return fcntl(FIRST, F_SETFD, FD_CLOEXEC) ? -1 : FIRST;
}

double notify_watchdog(void)
{
    long who = number_of("WATCHDOG_PID"), microseconds = number_of("WATCHDOG_USEC");
    return microseconds > 0 && (!who || who == (long)getpid()) ? (double)microseconds / 1e6 : 0;
}
