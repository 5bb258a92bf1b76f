/* Finds the route of a request. A pattern is like "/v1/bandits/{name}/decide": a part in braces matches one part of the
 * path. Parts are decoded after the path is split, so a name may contain "%2F". */
#ifndef EENET_ROUTER_H
#define EENET_ROUTER_H

#include "http.h"
#include "keys.h"

enum { ROUTE_PARTS = 4, ROUTE_PART_SIZE = 260 };

typedef enum route_trait {
    ROUTE_WAITS = 1,        /* waits for the disk or for training: runs in a worker's thread */
    ROUTE_DECIDES = 2,      /* counted in the latency of decisions */
    ROUTE_REWARDS = 4,      /* counted in the latency of rewards */
    ROUTE_SLOTS = 8,        /* the body is about several slots */
    ROUTE_ARCHIVED = 16,    /* also for archived bandits, as every GET is */
    ROUTE_ALL_BANDITS = 32, /* shows every bandit: refused to keys of one bandit */
    ROUTE_MODEL = 64,       /* its body is a model: the limit is model-bytes */
    ROUTE_LEADER = 128,     /* of a fleet, only the leader can do it */
    ROUTE_LONG = 256        /* may take long, though no worker waits for it */
} route_trait;

/* Answers a call (api/call.h) and returns EE_OK, now or later; or says in its error why it cannot. */
struct call;
typedef ee_status call_handler(struct call *self);

typedef struct route route;
typedef struct route_match {
    const route *route;
    char parts[ROUTE_PARTS][ROUTE_PART_SIZE]; /* the parts in braces, decoded */
    size_t count;
} route_match;

struct route {
    http_method method;
    const char *pattern;
    key_role role; /* the role it requires; KEY_NOBODY: none */
    call_handler *handle;
    unsigned traits;   /* of route_trait */
    const char *error; /* Personalizer's code for an invalid request; NULL: BadRequest */
};

typedef struct route_table {
    const route *routes; /* (count) */
    size_t count;
} route_table;

typedef enum route_result { ROUTE_FOUND, ROUTE_NONE, ROUTE_OTHER_METHOD, ROUTE_BAD_PATH } route_result;

/* HEAD finds the route of GET. allowed becomes "GET, HEAD, POST" for ROUTE_OTHER_METHOD. A path is bad if it does not
 * begin with a slash, has a part that is empty, "." or "..", or cannot be decoded. */
route_result router_find(const route_table *table, http_method method, json_text path, route_match *out,
                         char allowed[64]);

/* Which setting limits the body of its requests; NULL: they have none. */
const char *router_limit(const route *of);

/* "GET"; "OTHER" for a method that no route has. */
const char *router_method_name(http_method method);

/* Of a hexadecimal digit; -1: it is none. */
int router_hex_value(char digit);
/* Percent-decoding; false if it is invalid, does not fit, or contains a zero byte. */
bool router_decode(json_text from, char *out, size_t capacity, size_t *length);

#endif
