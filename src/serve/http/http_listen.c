/* The listening socket, and the limit of open files. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_inside.h"

static ee_status listen_at(const struct addrinfo *where, const char *address, uint16_t port, int *listening,
                           ee_error *error)
{
    const int on = 1, off = 0;
    int made = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made >= 0) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (made >= 0 && where->ai_family == AF_INET6) setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (made >= 0 && !bind(made, where->ai_addr, where->ai_addrlen) && !listen(made, SOMAXCONN)) {
        *listening = made;
        return EE_OK;
    }
    int reason = errno;
    if (made >= 0) close(made);
    if (reason == EADDRINUSE)
        return status_fail(error, EE_BAD_INPUT,
                           "http: port %u of %s is in use by another program; choose another with --port", port,
                           address);
    return status_fail(error, EE_BAD_INPUT, "http: could not listen on port %u of %s: %s", port, address,
                       strerror(reason));
}

ee_status http_listen(const char *address, uint16_t port, int *listening, ee_error *error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int code = getaddrinfo(address, service, &hints, &found);
    if (code)
        return status_fail(error, EE_BAD_INPUT, "http: '%s' is not an address of this machine: %s", address,
                           gai_strerror(code));
    ee_status status = listen_at(found, address, port, listening, error);
    freeaddrinfo(found);
    return status;
}

/* The address of a socket; family 0: it has none. */
static socket_name name_of(int listening)
{
    socket_name name = {.any.sa_family = 0};
    socklen_t size = sizeof name;
    if (getsockname(listening, &name.any, &size)) name.any.sa_family = 0;
    return name;
}

uint16_t http_socket_port(int listening)
{
    socket_name name = name_of(listening);
    if (name.any.sa_family == AF_INET) return ntohs(name.four.sin_port);
    return name.any.sa_family == AF_INET6 ? ntohs(name.six.sin6_port) : 0;
}

bool http_socket_is_local(int listening)
{
    socket_name name = name_of(listening);
    if (name.any.sa_family == AF_INET) return ntohl(name.four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (name.any.sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&name.six.sin6_addr);
    return name.any.sa_family == AF_UNIX;
}

ee_status http_raise_files(size_t *connections, ee_error *error)
{
    /* The store, evaluations, models and logs need some of the descriptors, whatever clients do. */
    enum { OTHERS = 128, LEAST_CONNECTIONS = 16, LEAST = OTHERS + REFUSED_AT_ONCE + LEAST_CONNECTIONS };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files)) return EE_OK;
    if (files.rlim_cur < files.rlim_max) {
        rlim_t before = files.rlim_cur;
        files.rlim_cur = files.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &files)) files.rlim_cur = before;
    }
    if (files.rlim_cur < LEAST)
        return status_fail(error, EE_BAD_INPUT,
                           "http: the limit of open files is %llu, but the server needs at least %d; raise it with "
                           "ulimit -n, or LimitNOFILE= of systemd",
                           (unsigned long long)files.rlim_cur, LEAST);
    rlim_t most = files.rlim_cur - OTHERS - REFUSED_AT_ONCE;
    if (*connections > most) *connections = (size_t)most;
    return EE_OK;
}
