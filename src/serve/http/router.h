/* Which route a request means. A pattern is as "/v1/bandits/{name}/decide": a part in braces takes one part of the
 * path, decoded after the path was cut, so that a name may have "%2F" in it. */
#ifndef EENET_ROUTER_H
#define EENET_ROUTER_H

#include "http.h"
#include "keys.h"

enum { ROUTE_PARTS = 4, ROUTE_PART_SIZE = 260 };

typedef enum route_trait {
    ROUTE_WAITS = 1,        /* for the disk or for training: runs in the worker's thread */
    ROUTE_DECIDES = 2,      /* counts for the latency of decisions */
    ROUTE_REWARDS = 4,      /* counts for the latency of rewards */
    ROUTE_SLOTS = 8,        /* the body is about several slots */
    ROUTE_ARCHIVED = 16,    /* also for archived bandits, as every GET is */
    ROUTE_ALL_BANDITS = 32, /* shows every bandit: not for a key of one */
    ROUTE_MODEL = 64        /* its body is a model, which may be larger than others */
} route_trait;

/* Answers a call (api/call.h) and returns EE_OK, now or later; or says in its error why it cannot. */
struct call;
typedef ee_status call_handler(struct call *self);

typedef struct route route;
typedef struct route_match {
    const route *route;
    char parts[ROUTE_PARTS][ROUTE_PART_SIZE]; /* what the braces took, decoded */
    size_t count;
} route_match;

struct route {
    http_method method;
    const char *pattern;
    key_role role; /* that is needed; KEY_NOBODY: none */
    call_handler *handle;
    unsigned traits;   /* of route_trait */
    const char *error; /* Personalizer's name for a request that cannot be understood; NULL: BadRequest */
};

typedef struct route_table {
    const route *routes; /* (count) */
    size_t count;
} route_table;

typedef enum route_result { ROUTE_FOUND, ROUTE_NONE, ROUTE_OTHER_METHOD, ROUTE_BAD_PATH } route_result;

/* HEAD finds what GET does. allowed becomes "GET, HEAD, POST" for ROUTE_OTHER_METHOD. A path is bad
 * that does not begin with a slash, has an empty part or one that is "." or "..", or does not decode. */
route_result router_find(const route_table *table, http_method method, json_text path, route_match *out,
                         char allowed[64]);

/* Which setting limits the body of its requests; NULL: they have none. */
const char *router_limit(const route *of);

/* "GET"; "OTHER" for a method that no route has. */
const char *router_method_name(http_method method);

/* Of a hexadecimal digit; -1: it is none. */
int router_hex_value(char digit);
/* Percent-decoding; false where it is none, or does not fit, or gives a zero byte. */
bool router_decode(json_text from, char *out, size_t capacity, size_t *length);

#endif
