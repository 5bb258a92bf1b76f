/* The server under systemd, which this program plays: it is told when the server is ready, reloads and stops, is fed
 * its watchdog, and hands over a socket that listens already. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_client.h"

static pid_t server;
static int mailbox; /* what the server tells */

static void fail(const char *what)
{
    fprintf(stderr, "systemd: %s\n", what);
    if (server > 0) kill(server, SIGKILL);
    exit(1);
}

/* Waits for a message that begins so; others may come before it. */
static void expect(const char *begin)
{
    char message[512];
    for (;;) {
        struct pollfd wanted = {.fd = mailbox, .events = POLLIN};
        if (poll(&wanted, 1, 600000) != 1) break;
        ssize_t size = recv(mailbox, message, sizeof message - 1, 0);
        if (size < 0) break;
        message[size] = '\0';
        if (strncmp(message, begin, strlen(begin)) == 0) return;
    }
    fail(begin);
}

static void open_mailbox(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "mailbox"};
    char path[sizeof address.sun_path + 1024];
    mailbox = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (mailbox < 0 || bind(mailbox, (struct sockaddr *)&address, sizeof address)) fail("no mailbox");
    char folder[1024];
    if (!getcwd(folder, sizeof folder)) fail("no folder");
    snprintf(path, sizeof path, "%s/mailbox", folder);
    if (strlen(path) >= sizeof address.sun_path) exit(77); /* the folder's name is too long for a socket */
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "400000", 1);
}

static int open_listening(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) || listen(listening, 64) ||
        getsockname(listening, (struct sockaddr *)&address, &size))
        fail("no socket");
    *port = ntohs(address.sin_port);
    return listening;
}

/* As systemd starts it: the socket is descriptor 3, and the variables say so. */
static void start(const char *program, int listening)
{
    server = fork();
    if (server < 0) fail("no process");
    if (server > 0) return;
    char pid[16];
    int log = open("server.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(127);
    if (listening == 3 ? fcntl(3, F_SETFD, 0) < 0 : dup2(listening, 3) < 0) _exit(127);
    execl(program, program, "serve", "--folder", "data", "--port", "1", NULL);
    _exit(127);
}

int main(int count, char **words)
{
    uint16_t port;
    int status;
    if (count < 2) return 2;
    open_mailbox();
    int listening = open_listening(&port);
    http_client client = http_client_start(port);
    start(words[1], listening);
    expect("READY=1");
    if (http_client_ask(&client, "GET", "/readyz", "%s", "") != 200) fail("nobody answers at the socket");
    expect("WATCHDOG=1");
    expect("WATCHDOG=1");
    kill(server, SIGHUP);
    expect("RELOADING=1\nMONOTONIC_USEC=");
    expect("READY=1");
    kill(server, SIGTERM);
    expect("STOPPING=1");
    if (waitpid(server, &status, 0) != server || !WIFEXITED(status) || WEXITSTATUS(status)) fail("it did not end well");
    http_client_end(&client);
    return 0;
}
