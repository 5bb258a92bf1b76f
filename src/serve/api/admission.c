#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <strings.h>

#include "admission.h"
#include "data/values/id_set.h"
#include "forwarding.h"
#include "serve/system/server_clock.h"

/* Copies a short header of printable characters. */
static bool take_name(const http_exchange *exchange, const char *header, char out[REQUEST_NAME_MOST + 1])
{
    const char *given = http_header(exchange, header);
    size_t length = 0;
    while (given && given[length] > ' ' && given[length] < 127) length++;
    if (!given || length == 0 || length > REQUEST_NAME_MOST || given[length]) return false;
    memcpy(out, given, length + 1);
    return true;
}

/* Uses the caller's request id if it is valid, else a new one. */
static void name_request(service *self, http_exchange *exchange, char id[REQUEST_NAME_MOST + 1])
{
    memset(id, 0, REQUEST_NAME_MOST + 1);
    bool named = take_name(exchange, "X-Request-Id", id);
    if (!named && decision_ids_make(&self->ids, server_clock_wall(), id, NULL)) return;
    http_add_header(exchange, "X-Request-Id", id);
}

/* Continues the caller's trace with a span of ours, and says so in the response. */
static void join_trace(service *self, http_exchange *exchange, trace_context *trace)
{
    const char *given = http_header(exchange, "traceparent");
    char made[DECISION_ID_SIZE + 1] = "", ours[TRACE_PARENT_SIZE + 1];
    if (!given || decision_ids_make(&self->ids, server_clock_wall(), made, NULL)) return;
    uint64_t span = strtoull(made + DECISION_ID_SIZE - SPAN_ID_SIZE, NULL, 16); /* the random half */
    if (!trace_context_read(given, span ? span : 1, trace)) return;
    trace_context_write(trace, ours);
    http_add_header(exchange, "traceresponse", ours);
}

void service_begin(void *context, http_exchange *exchange)
{
    service *self = context;
    call *made = call_take(self, exchange);
    char id[REQUEST_NAME_MOST + 1];
    name_request(self, exchange, made ? made->request_id : id);
    if (made) join_trace(self, exchange, &made->trace);
}

/* Chooses the API of the request; errors from here on use its codes. */
static void choose_dialect(call *self)
{
    static const char client_header[] = "x-ms-client-request-id";
    personalizer_path_read(self->exchange->path, &self->base);
    self->dialect = &dialect_v1;
    if (!self->base.generation) return;
    self->dialect = &dialect_personalizer;
    self->exchange->name_error = personalizer_name_error;
    if (take_name(self->exchange, client_header, self->client_request))
        http_add_header(self->exchange, client_header, self->client_request);
}

/* ---- pages of others ---- */

static bool is_local_host(const char *host)
{
    static const char *const names[] = {"localhost", "[::1]"};
    size_t number = strncmp(host, "127.", 4) == 0 ? strspn(host, "0123456789.") : 0;
    if (number && (host[number] == '\0' || host[number] == ':')) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':')) return true;
    }
    return false;
}

static bool is_same_origin(const char *origin, const char *host)
{
    size_t scheme = strncmp(origin, "http://", 7) == 0 ? 7 : strncmp(origin, "https://", 8) == 0 ? 8 : 0;
    return scheme && host && strcasecmp(origin + scheme, host) == 0;
}

/* A web page must not act for the person who views it: neither by scripts, which send their origin, nor through a host
 * name that resolves to this machine (DNS rebinding). false: answered. */
static bool check_origin(const service_config *config, http_exchange *exchange)
{
    const char *origin = http_header(exchange, "Origin"), *host = http_header(exchange, "Host");
    if (origin && !is_same_origin(origin, host)) {
        http_refuse(exchange, 403,
                    "web pages of the origin '%.100s' may not call this server; call it from your backend", origin);
        return false;
    }
    if (config->keys || !host || is_local_host(host)) return true;
    http_refuse(exchange, 403,
                "without keys the server accepts only the host name localhost, got '%.100s'; start it with --keys, or "
                "send Host: localhost",
                host);
    return false;
}

/* ---- keys and rates ---- */

static json_text key_of(const http_exchange *exchange)
{
    static const char *const names[] = {"X-Api-Key", "Ocp-Apim-Subscription-Key"};
    static const char scheme[] = "Bearer ";
    const char *key = http_header(exchange, "Authorization");
    if (key && strncasecmp(key, scheme, sizeof scheme - 1) == 0)
        key += sizeof scheme - 1;
    else
        key = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !key; i++) key = http_header(exchange, names[i]);
    return key ? (json_text){key, strlen(key)} : (json_text){NULL, 0};
}

/* Fills *grant; false: answered. */
static bool check_key(const service_config *config, http_exchange *exchange, const route *of, key_grant *grant)
{
    *grant = (key_grant){.role = KEY_ADMIN, .name = ""};
    if (!config->keys) return true;
    json_text key = key_of(exchange);
    grant->role = KEY_NOBODY;
    bool found = key.bytes && key_ring_find(config->keys, key, grant);
    if (of->role == KEY_NOBODY) return true;
    if (!found) {
        http_add_header(exchange, "WWW-Authenticate", "Bearer");
        http_refuse(exchange, 401,
                    key.bytes ? "invalid API key: it is not in the server's keys file; after 'eenet keys add', reload "
                                "the server (SIGHUP)"
                              : "missing API key: send the header '%s' or '%s'",
                    "Authorization: Bearer KEY", "Ocp-Apim-Subscription-Key: KEY");
        return false;
    }
    if (key_role_allows(grant->role, of->role)) return true;
    http_refuse(exchange, 403, "this request needs a key with the role %s; the key '%s' has the role %s",
                key_role_name(of->role), grant->name, key_role_name(grant->role));
    return false;
}

static uint64_t caller_of(const service_config *config, const http_exchange *exchange, const key_grant *grant)
{
    if (config->keys && grant->name[0]) return grant->place + 1;
    return id_hash(exchange->peer, strlen(exchange->peer)) | 1ULL << 63;
}

static bool check_rate(rate_limit *limit, http_exchange *exchange, uint64_t who, double rate, const char *whose)
{
    double wait = 0;
    if (rate <= 0 || rate_limit_pass(limit, who, rate, 1, exchange->arrived, &wait)) return true;
    call_refuse_for(exchange, 429, wait, "rate limit exceeded: %g requests per second per %s", rate, whose);
    return false;
}

/* ---- routes and bandits ---- */

/* The bandit of a Personalizer request: of the path, else of the key, else of the server. */
static const char *personalizer_bandit(const call *self, const key_grant *grant, char asked[ROUTE_PART_SIZE])
{
    size_t length;
    if (!self->base.bandit.bytes)
        return grant->bandit ? grant->bandit : service_config_now(self->owner)->settings.personalizer;
    return router_decode(self->base.bandit, asked, ROUTE_PART_SIZE, &length) ? asked : "";
}

/* Finds the bandit in the path, if there is one; false: answered. A key of one bandit may only use that bandit, and the
 * list, which then has only that one. */
static bool find_bandit(service *self, call *into, const key_grant *grant)
{
    http_exchange *exchange = into->exchange;
    const route_match *match = &into->match;
    bool names_one = match->count && match->route->role != KEY_NOBODY; /* what needs no key is of no bandit */
    const char *forwarded = forwarding_bandit(into);
    char asked[ROUTE_PART_SIZE];
    const char *name = names_one ? match->parts[0] : NULL;
    if (into->base.generation) name = forwarded ? forwarded : personalizer_bandit(into, grant, asked);
    if (grant->bandit && (name ? strcmp(grant->bandit, name) != 0 : match->route->traits & ROUTE_ALL_BANDITS)) {
        http_refuse(exchange, 403, "this key is only for the bandit '%s'", grant->bandit);
        return false;
    }
    bool creates = !name && self->fleet && match->route->traits & ROUTE_LEADER;
    if (creates && !fleet_leads(self->fleet) &&
        !(forwarded && served_bandits_find(self->bandits, (json_text){forwarded, strlen(forwarded)})))
        return forwarding_admit(into, NULL);
    if (!name) return true;
    into->bandit = served_bandits_find(self->bandits, (json_text){name, strlen(name)});
    if (self->fleet && into->bandit && served_bandit_is_removed(into->bandit)) into->bandit = NULL; /* just now */
    if (!into->bandit && self->fleet) return forwarding_admit(into, name);
    if (!into->bandit) {
        http_refuse(exchange, 404, "there is no bandit '%.64s'; create it with POST /v1/bandits", name);
        return false;
    }
    return call_finds_bandit_there(into);
}

static bool find_route(call *self)
{
    http_exchange *exchange = self->exchange;
    char allowed[64];
    bool is_v1 = !self->base.generation;
    const route_table *table = &self->owner->routes[is_v1 ? ROUTES_V1 : ROUTES_PERSONALIZER];
    json_text path = is_v1 ? exchange->path : self->base.path;
    route_result result = router_find(table, exchange->method, path, &self->match, allowed);
    switch (result) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_OTHER_METHOD:
        http_add_header(exchange, "Allow", allowed);
        http_refuse(exchange, 405, "method not allowed; this path takes %s", allowed);
        return false;
    case ROUTE_BAD_PATH:
        http_refuse(exchange, 400, "invalid path: a segment is empty, '.' or '..', or its percent-encoding is wrong");
        return false;
    default:
        http_refuse(exchange, 404, "no such path; see /openapi.json");
        return false;
    }
}

/* Everything that can be refused before the body is read. false: answered. */
static bool let_in(service *self, call *into)
{
    http_exchange *exchange = into->exchange;
    const service_config *config = service_config_now(self);
    const route *of = into->match.route;
    key_grant grant;
    if (!into->is_forwarded && !check_key(config, exchange, of, &grant)) return false;
    if (into->is_forwarded) grant = into->grant;
    into->only_bandit = grant.bandit;
    into->key_name = grant.name;
    into->role = grant.role;
    if (of->role != KEY_NOBODY && !into->is_forwarded &&
        !check_rate(self->rates, exchange, caller_of(config, exchange, &grant), config->settings.rate,
                    config->keys ? "key" : "address"))
        return false;
    if (!find_bandit(self, into, &grant)) return false;
    if (into->bandit && !check_rate(self->bandit_rates, exchange, served_bandit_number(into->bandit),
                                    config->settings.bandit_rate, "bandit"))
        return false;
    const char *limit = router_limit(of);
    exchange->body_limit = !limit                              ? 0
                           : strcmp(limit, "model-bytes") == 0 ? (size_t)config->settings.model_bytes
                                                               : (size_t)config->settings.body_bytes;
    return true;
}

bool service_admit(void *context, http_exchange *exchange)
{
    service *self = context;
    call *made = exchange->context;
    if (!made) {
        call_refuse_for(exchange, 503, 1, "out of memory");
        return false;
    }
    choose_dialect(made);
    if (!forwarding_read_headers(made, &made->grant)) return false;
    if (!made->is_forwarded && !check_origin(service_config_now(self), exchange)) return false;
    if (!find_route(made)) return false;
    exchange->route = made->match.route;
    return let_in(self, made);
}
