#include "place_name.h"

#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <string.h>

bool place_is_database(const char *where)
{
    return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

typedef struct shown_parts {
    const char *user, *host, *port, *database;
} shown_parts;

static shown_parts find_parts(const PQconninfoOption *options)
{
    shown_parts parts = {"", "", "", ""};
    for (; options->keyword; options++) {
        if (!options->val) continue;
        if (strcmp(options->keyword, "user") == 0) parts.user = options->val;
        if (strcmp(options->keyword, "host") == 0) parts.host = options->val;
        if (strcmp(options->keyword, "port") == 0) parts.port = options->val;
        if (strcmp(options->keyword, "dbname") == 0) parts.database = options->val;
    }
    return parts;
}

static void add(char *out, const char *text, size_t length)
{
    size_t used = strlen(out);
    snprintf(out + used, PLACE_NAME_SIZE - used, "%.*s", (int)length, text);
}

/* "a:1,b:2" of the lists "a,b" and "1,2". A folder with a socket is left out. */
static void add_hosts(char *out, const char *host, const char *port)
{
    for (bool more = true; more;) {
        size_t host_length = strcspn(host, ","), port_length = strcspn(port, ",");
        bool is_address = memchr(host, ':', host_length);
        if (is_address) add(out, "[", 1);
        if (host[0] != '/') add(out, host, host_length);
        if (is_address) add(out, "]", 1);
        if (port_length) add(out, ":", 1);
        add(out, port, port_length);
        more = host[host_length] == ',';
        host += host_length + more;
        port += port_length + (port[port_length] == ',');
        if (more) add(out, ",", 1);
    }
}

void place_name(const char *where, char out[PLACE_NAME_SIZE])
{
    if (!place_is_database(where)) {
        snprintf(out, PLACE_NAME_SIZE, "%s", where);
        return;
    }
    PQconninfoOption *options = PQconninfoParse(where, NULL);
    snprintf(out, PLACE_NAME_SIZE, "postgresql://%s", options ? "" : "...");
    if (!options) return;
    shown_parts parts = find_parts(options);
    add(out, parts.user, strlen(parts.user));
    if (parts.user[0]) add(out, "@", 1);
    add_hosts(out, parts.host, parts.port);
    if (parts.database[0]) add(out, "/", 1);
    add(out, parts.database, strlen(parts.database));
    PQconninfoFree(options);
}
