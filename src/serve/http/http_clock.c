/* Deadlines of connections. They do not restart with each byte: a slow client cannot hold a connection forever. */
#include "http_inside.h"
#include "serve/system/server_clock.h"

enum { SECOND = 1000000, LEAST_RATE = 16 << 10 /* bytes a second */ };

int64_t http_now(const http_server *server)
{
    return server->options.clock ? server->options.clock(server->options.context) : server_clock_real();
}

static int64_t time_for(size_t bytes)
{
    return (int64_t)((double)bytes * SECOND / LEAST_RATE);
}

static int64_t idle_time(const http_connection *connection)
{
    return (int64_t)(connection->server->options.idle_seconds * SECOND);
}

void http_start_clock(http_connection *connection, size_t bytes)
{
    connection->deadline = http_now(connection->server) + idle_time(connection) + time_for(bytes);
}

void http_give_time(http_connection *connection, size_t bytes)
{
    int64_t longer = connection->deadline + time_for(bytes),
            most = http_now(connection->server) + idle_time(connection);
    connection->deadline = longer < most ? longer : most;
}

void http_limit_time(http_connection *connection, double seconds)
{
    int64_t most = http_now(connection->server) + (int64_t)(seconds * SECOND);
    if (connection->deadline > most) connection->deadline = most;
}

void http_stop_clock(http_connection *connection)
{
    connection->deadline = INT64_MAX;
}
