#define _POSIX_C_SOURCE 200809L
#include "serve/system/notify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support.h"

/* On a socket without a file; serve_systemd has one with a file. */
TEST(lines_are_heard)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    char heard[64] = "";
    int length = snprintf(own.sun_path + 1, sizeof own.sun_path - 1, "eenet-test-%ld", (long)getpid());
    int listener = socket(AF_UNIX, SOCK_DGRAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    assert_int_equal(bind(listener, (struct sockaddr *)&own, size), 0);
    own.sun_path[0] = '@';
    setenv("NOTIFY_SOCKET", own.sun_path, 1);
    notify_send("READY=1\nSTATUS=fine");
    unsetenv("NOTIFY_SOCKET");
    assert_true(recv(listener, heard, sizeof heard - 1, MSG_DONTWAIT) > 0);
    assert_string_equal(heard, "READY=1\nSTATUS=fine");
    close(listener);
}

TEST(nobody_listens)
{
    static const char *const paths[] = {"", "relative", "/nowhere/at/all", "@"};
    unsetenv("NOTIFY_SOCKET");
    notify_send("READY=1");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        setenv("NOTIFY_SOCKET", paths[i], 1);
        notify_send("READY=1");
    }
    unsetenv("NOTIFY_SOCKET");
}

TEST(a_socket_is_handed_over)
{
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    assert_int_equal(notify_socket(), -1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", "1", 1);
    assert_int_equal(notify_socket(), -1);
    setenv("LISTEN_PID", own, 1);
    int kept = dup(3), made = socket(AF_UNIX, SOCK_DGRAM, 0);
    dup2(made, 3);
    assert_int_equal(notify_socket(), 3);
    assert_int_equal(fcntl(3, F_GETFD), FD_CLOEXEC);
    if (made != 3) close(made);
    close(3);
    if (kept >= 0) dup2(kept, 3), close(kept);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
}

TEST(a_watchdog_wants_a_sign)
{
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    assert_true(notify_watchdog() == 0);
    setenv("WATCHDOG_USEC", "30000000", 1);
    assert_true(notify_watchdog() == 30);
    setenv("WATCHDOG_PID", "1", 1);
    assert_true(notify_watchdog() == 0);
    setenv("WATCHDOG_PID", own, 1);
    assert_true(notify_watchdog() == 30);
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
}
