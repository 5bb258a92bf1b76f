#define _POSIX_C_SOURCE 200809L
#include "forwarding.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "serve/system/server_clock.h"

enum {
    SECOND = 1000000,
    FORWARD_SECONDS = 10, /* for which a request is tried */
    ATTEMPT_SECONDS = 3,  /* of one attempt: a server that hangs has lost its bandits by then */
    ONLY_SECONDS = 8,     /* of one that is not repeated */
    LONG_SECONDS = 120,   /* of one that may take long, such as the upload of a model, while its server is alive */
    CHECK_SECONDS = 1,    /* until it is asked again whether that server is alive */
    WAIT_PAUSE = 30000,   /* microseconds until waiting requests are tried again, if nothing changes */
    MISDIRECTED = 421
};

#define FLEET_HEADER "X-Eenet-Fleet"

struct forwarding {
    memory memory;
    service *of;
    forwarder *client;
    char secret[2 * FLEET_SECRET_SIZE + 1];
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    call *waiting;
    bool has_thread, stopping;
};

/* ---- arriving ---- */

/* "4 website shop": role, name, bandit. The names are copied. */
static bool read_grant(call *self, const char *from, key_grant *grant)
{
    char *end;
    unsigned long role = strtoul(from, &end, 10);
    size_t name, length = strlen(from);
    if (role > KEY_ADMIN || *end != ' ' || length >= sizeof self->granted) return false;
    memcpy(self->granted, end + 1, strlen(end + 1) + 1);
    name = strcspn(self->granted, " ");
    if (!self->granted[name]) return false;
    self->granted[name] = '\0';
    const char *bandit = self->granted + name + 1;
    *grant = (key_grant){.role = (key_role)role,
                         .name = strcmp(self->granted, "-") == 0 ? "" : self->granted,
                         .bandit = strcmp(bandit, "*") == 0 ? NULL : bandit};
    return true;
}

bool forwarding_read_headers(call *self, key_grant *grant)
{
    http_exchange *exchange = self->exchange;
    const char *secret = http_header(exchange, FLEET_HEADER);
    const char *given = http_header(exchange, "X-Eenet-Grant");
    const char *first_id = http_header(exchange, "X-Eenet-Decision");
    if (!secret) return true;
    if (!given || !self->owner->fleet || !fleet_knows(self->owner->fleet, secret) || !read_grant(self, given, grant)) {
        http_refuse(exchange, MISDIRECTED, "this server is not of the fleet that forwarded the request");
        return false;
    }
    self->is_forwarded = true;
    http_add_header(exchange, FLEET_HEADER, self->owner->fleet_mark);
    if (first_id && strlen(first_id) == DECISION_ID_SIZE) memcpy(self->first_id, first_id, DECISION_ID_SIZE + 1);
    return true;
}

const char *forwarding_bandit(const call *self)
{
    return self->is_forwarded ? http_header(self->exchange, "X-Eenet-Bandit") : NULL;
}

/* ---- waiting ---- */

static void refuse_waiting(call *self, const char *why)
{
    call_refuse_for(self->exchange, 503, 1, "%s", why);
}

/* Puts the call among those that are tried again. */
static void wait_on(call *self)
{
    struct forwarding *all = self->owner->forwarding;
    if (server_clock_real() >= self->forward_until) {
        refuse_waiting(self, "the bandit has no owner at the moment; repeat the request with the same id");
        return;
    }
    pthread_mutex_lock(&all->lock);
    bool stopping = all->stopping;
    if (!stopping) {
        self->next_waiting = all->waiting;
        all->waiting = self;
        pthread_cond_signal(&all->changed);
    }
    pthread_mutex_unlock(&all->lock);
    if (stopping) refuse_waiting(self, "the server is stopping");
}

static void *retry(void *context)
{
    struct forwarding *all = context;
    pthread_mutex_lock(&all->lock);
    while (!all->stopping) {
        if (!all->waiting) {
            pthread_cond_wait(&all->changed, &all->lock);
            continue;
        }
        pthread_mutex_unlock(&all->lock);
        fleet_hurry(all->of->fleet);
        fleet_await_change(all->of->fleet, WAIT_PAUSE);
        pthread_mutex_lock(&all->lock);
        call *first = all->waiting;
        all->waiting = NULL;
        pthread_mutex_unlock(&all->lock);
        for (call *next; first; first = next) {
            next = first->next_waiting;
            forwarding_handle(first);
        }
        pthread_mutex_lock(&all->lock);
    }
    call *left = all->waiting;
    all->waiting = NULL;
    pthread_mutex_unlock(&all->lock);
    for (call *next; left; left = next) {
        next = left->next_waiting;
        refuse_waiting(left, "the server is stopping");
    }
    return NULL;
}

/* ---- the request ---- */

static const char *method_name(http_method method)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", ""};
    return names[method];
}

/* May be executed twice with the same result: it reads, or its decisions get the same ids. */
static bool is_safe(const call *self)
{
    http_method method = self->exchange->method;
    return method == HTTP_GET || method == HTTP_HEAD || self->match.route->traits & ROUTE_DECIDES;
}

static void add_line(text *into, const char *name, const char *value)
{
    text_bytes(into, name, strlen(name));
    text_bytes(into, ": ", 2);
    text_bytes(into, value, strlen(value));
    text_bytes(into, "\r\n", 2);
}

static ee_status write_headers(call *self)
{
    static const char *const passed[] = {"Content-Type",           "If-None-Match", "If-Match",       "traceparent",
                                         "x-ms-client-request-id", "Accept",        "Accept-Encoding"};
    text *into = &self->forward_headers;
    char grant[sizeof self->granted + 8];
    if (!self->first_id[0] && decision_ids_make(&self->owner->ids, server_clock_wall(), self->first_id, &self->error))
        return self->error.status;
    self->first_id[DECISION_ID_SIZE] = '\0';
    into->length = 0;
    snprintf(grant, sizeof grant, "%d %s %s", (int)self->role, self->key_name[0] ? self->key_name : "-",
             self->only_bandit ? self->only_bandit : "*");
    add_line(into, FLEET_HEADER, self->owner->forwarding->secret);
    add_line(into, "X-Eenet-Grant", grant);
    add_line(into, "X-Eenet-Decision", self->first_id);
    add_line(into, "X-Request-Id", self->request_id);
    if (self->remote_name[0]) add_line(into, "X-Eenet-Bandit", self->remote_name);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const char *value = http_header(self->exchange, passed[i]);
        if (value) add_line(into, passed[i], value);
    }
    return into->status ? status_no_memory(&self->error, into->length) : EE_OK;
}

static ee_status write_target(call *self)
{
    const http_exchange *exchange = self->exchange;
    text *into = &self->forward_target;
    into->length = 0;
    text_bytes(into, exchange->path.bytes, exchange->path.length);
    if (exchange->query.length) text_bytes(into, "?", 1);
    text_bytes(into, exchange->query.bytes, exchange->query.length);
    return into->status ? status_no_memory(&self->error, into->length) : EE_OK;
}

/* ---- the response ---- */

/* Headers that are of one connection, or that this server adds itself. */
static bool is_own_header(json_text name)
{
    static const char *const own[] = {
        "Connection",   "Content-Length", "Content-Type", "Transfer-Encoding",      "Date",      "Server",
        "X-Request-Id", "traceresponse",  "Keep-Alive",   "x-ms-client-request-id", FLEET_HEADER};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == name.length && strncasecmp(own[i], name.bytes, name.length) == 0) return true;
    return false;
}

static void copy_line(http_exchange *to, json_text line)
{
    char name[64], value[512];
    const char *colon = memchr(line.bytes, ':', line.length);
    if (!colon) return;
    json_text named = {line.bytes, (size_t)(colon - line.bytes)};
    const char *end = line.bytes + line.length;
    for (colon++; colon < end && *colon == ' ';) colon++;
    if (named.length >= sizeof name || (size_t)(end - colon) >= sizeof value || is_own_header(named)) return;
    snprintf(name, sizeof name, "%.*s", (int)named.length, named.bytes);
    snprintf(value, sizeof value, "%.*s", (int)(end - colon), colon);
    http_add_header(to, name, value);
}

static void copy_headers(http_exchange *to, json_text lines)
{
    while (lines.length) {
        const char *end = memchr(lines.bytes, '\n', lines.length);
        size_t length = end ? (size_t)(end - lines.bytes) + 1 : lines.length, text_length = length;
        while (text_length && (lines.bytes[text_length - 1] == '\n' || lines.bytes[text_length - 1] == '\r'))
            text_length--;
        copy_line(to, (json_text){lines.bytes, text_length});
        lines.bytes += length;
        lines.length -= length;
    }
}

static void set_content_type(http_exchange *to, json_text type)
{
    char *copy;
    if (!type.bytes || memory_create(&to->memory, &copy, type.length + 1, 1, NULL)) return;
    memcpy(copy, type.bytes, type.length);
    to->content_type = copy;
}

static void pass_response(call *self)
{
    http_exchange *exchange = self->exchange;
    const forward_request *request = &self->forward;
    copy_headers(exchange, request->response_headers);
    set_content_type(exchange, forward_header(request, "Content-Type"));
    text_bytes(&exchange->answer, request->response.bytes, request->response.length);
    http_answer(exchange, request->status);
}

/* The status of a response; 0: there is none, or it is a stranger's, who listens where a server of the fleet did. */
static int status_of(const call *self, const forward_request *request)
{
    const char *mark = self->owner->fleet_mark;
    bool is_ours = request->status && json_is(forward_header(request, FLEET_HEADER), mark);
    return is_ours || request->status == MISDIRECTED ? request->status : 0;
}

static void forwarded(forward_request *request)
{
    call *self = request->context;
    int status = status_of(self, request);
    bool again = status == MISDIRECTED || (!status && (!request->sent || is_safe(self)));
    if (again)
        wait_on(self);
    else if (status)
        pass_response(self);
    else
        refuse_waiting(self, "the bandit's server did not answer, so it is not known whether it executed the request; "
                             "repeat it, with the same id if it has one");
}

/* A request that may take long goes on while its server is alive. One that is stopped would answer when it resumes: its
 * bandits have other owners by then. */
static double extend_long(const forward_request *request)
{
    const call *self = request->context;
    bool ends = request->seconds >= LONG_SECONDS || fleet_is_dead(self->owner->fleet, request->address);
    return ends ? 0 : CHECK_SECONDS;
}

/* false: the server is stopping. */
static bool send_request(struct forwarding *self, forward_request *request)
{
    pthread_mutex_lock(&self->lock);
    bool sent = !self->stopping && forwarder_send(self->client, request);
    pthread_mutex_unlock(&self->lock);
    return sent;
}

static void send_to(call *self, const char *address)
{
    forward_request *request = &self->forward;
    self->error = (ee_error){.status = EE_OK};
    if (write_target(self) || write_headers(self)) {
        call_fail(self, &self->error);
        return;
    }
    bool is_long = self->match.route->traits & (ROUTE_WAITS | ROUTE_LONG);
    *request = (forward_request){.method = method_name(self->exchange->method),
                                 .target = {self->forward_target.bytes, self->forward_target.length},
                                 .headers = {self->forward_headers.bytes, self->forward_headers.length},
                                 .body = self->exchange->body,
                                 .seconds = is_safe(self) ? ATTEMPT_SECONDS : ONLY_SECONDS,
                                 .safe = is_safe(self),
                                 .done = forwarded,
                                 .extend = is_long ? extend_long : NULL,
                                 .context = self};
    snprintf(request->address, sizeof request->address, "%s", address);
    if (!send_request(self->owner->forwarding, request)) refuse_waiting(self, "the server is stopping");
}

/* ---- which server ---- */

bool forwarding_admit(call *self, const char *name)
{
    fleet *all = self->owner->fleet;
    char address[SERVER_ADDRESS_SIZE];
    fleet_whose whose = fleet_find(all, name, address);
    self->is_remote = true;
    snprintf(self->remote_name, sizeof self->remote_name, "%s", name ? name : "");
    if (name && whose == FLEET_UNKNOWN && (fleet_leads(all) || self->is_forwarded)) {
        bool leads = fleet_leads(all);
        fleet_hurry(all);
        http_refuse(self->exchange, leads ? 404 : MISDIRECTED,
                    "there is no bandit '%.64s'; create it with POST /v1/bandits", name);
        return false;
    }
    if (!self->is_forwarded) return true;
    fleet_hurry(all);
    http_refuse(self->exchange, MISDIRECTED, "another server owns the bandit");
    return false;
}

/* The bandit, or the lead, is this server's by now. */
static void handle_here(call *self)
{
    const char *name = self->remote_name;
    if (name[0]) self->bandit = served_bandits_find(self->owner->bandits, (json_text){name, strlen(name)});
    if (name[0] && !self->bandit) {
        wait_on(self);
        return;
    }
    self->is_remote = false;
    if (call_finds_bandit_there(self)) call_handle(self, call_dispatch);
}

void forwarding_handle(call *self)
{
    char address[SERVER_ADDRESS_SIZE];
    const char *name = self->remote_name[0] ? self->remote_name : NULL;
    if (!self->forward_until) self->forward_until = server_clock_real() + (int64_t)FORWARD_SECONDS * SECOND;
    fleet_whose whose = fleet_find(self->owner->fleet, name, address);
    if (whose == FLEET_UNKNOWN) { /* the leader knows all bandits */
        whose = fleet_find(self->owner->fleet, NULL, address);
        if (whose == FLEET_MINE) {
            http_refuse(self->exchange, 404, "there is no bandit '%.64s'; create it with POST /v1/bandits", name);
            return;
        }
    }
    if (whose == FLEET_MINE)
        handle_here(self);
    else if (whose == FLEET_OTHER)
        send_to(self, address);
    else
        wait_on(self);
}

/* The bandit of the call was found not to be this server's while it was handled. */
static void forwarding_again(call *self)
{
    fleet_doubt(self->owner->fleet, self->bandit ? served_bandit_number(self->bandit) : LEADER);
    self->exchange->answer.length = 0;
    if (self->is_forwarded) {
        http_refuse(self->exchange, MISDIRECTED, "another server owns the bandit");
        return;
    }
    if (!self->forward_until) self->forward_until = server_clock_real() + (int64_t)FORWARD_SECONDS * SECOND;
    self->is_remote = true;
    snprintf(self->remote_name, sizeof self->remote_name, "%s", self->bandit ? served_bandit_name(self->bandit) : "");
    wait_on(self);
}

bool forwarding_to_owner(call *self, json_text name)
{
    char address[SERVER_ADDRESS_SIZE];
    if (name.length >= sizeof self->remote_name) return false;
    memcpy(self->remote_name, name.bytes, name.length);
    self->remote_name[name.length] = '\0';
    if (fleet_find(self->owner->fleet, self->remote_name, address) == FLEET_UNKNOWN) return false;
    forwarding_handle(self);
    return true;
}

/* ---- asking all ---- */

enum { MOST_OTHERS = 64 };
_Static_assert((int)SERVER_ADDRESS_SIZE <= (int)FORWARD_ADDRESS_SIZE, "addresses of servers are copied");

typedef struct gathering {
    call *call;
    void (*go_on)(call *self, const gathered *responses, size_t count);
    atomic_size_t left;
    size_t count;
    gathered responses[MOST_OTHERS];
    forward_request requests[MOST_OTHERS];
} gathering;

static void end_gathering(gathering *self)
{
    self->go_on(self->call, self->responses, self->count);
    for (size_t i = 0; i < self->count; i++) memory_free(self->responses[i].bytes.bytes);
    memory_free(self);
}

static void take_gathered(forward_request *request)
{
    gathering *self = request->context;
    gathered *to = &self->responses[request - self->requests];
    to->status = status_of(self->call, request);
    text_bytes(&to->bytes, request->response.bytes, request->response.length);
    if (atomic_fetch_sub(&self->left, 1) == 1) end_gathering(self);
}

void forwarding_gather(call *self, void (*go_on)(call *self, const gathered *responses, size_t count))
{
    char addresses[MOST_OTHERS][SERVER_ADDRESS_SIZE];
    gathering *all;
    self->remote_name[0] = '\0';
    self->error = (ee_error){.status = EE_OK};
    ee_status status = write_target(self);
    if (!status) status = write_headers(self);
    if (!status) status = memory_create(NULL, &all, 1, sizeof *all, &self->error);
    if (status) {
        call_fail(self, &self->error);
        return;
    }
    all->call = self;
    all->go_on = go_on;
    all->count = fleet_others(self->owner->fleet, addresses, MOST_OTHERS);
    atomic_store(&all->left, all->count + 1);
    size_t count = all->count; /* it may be freed when the last has answered */
    for (size_t i = 0; i < count; i++) {
        all->responses[i].bytes = text_start(NULL);
        all->requests[i] = (forward_request){.method = "GET",
                                             .target = {self->forward_target.bytes, self->forward_target.length},
                                             .headers = {self->forward_headers.bytes, self->forward_headers.length},
                                             .seconds = ATTEMPT_SECONDS,
                                             .safe = true,
                                             .done = take_gathered,
                                             .context = all};
        memcpy(all->requests[i].address, addresses[i], sizeof addresses[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (!send_request(self->owner->forwarding, &all->requests[i])) atomic_fetch_sub(&all->left, 1);
    if (atomic_fetch_sub(&all->left, 1) == 1) end_gathering(all);
}

/* ---- beginning and end ---- */

ee_status forwarding_start(service *of, ee_error *error)
{
    struct forwarding *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    of->forwarding = self;
    of->moved = forwarding_again;
    self->of = of;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    fleet_secret(of->fleet, self->secret);
    forwarder_options options = {.most_response_bytes = (size_t)1 << 30,
                                 .idle_seconds = service_config_now(of)->settings.idle_seconds / 2};
    status = forwarder_start(&options, &self->client, error);
    if (status) return status;
    self->has_thread = pthread_create(&self->thread, NULL, retry, self) == 0;
    return self->has_thread ? EE_OK : status_fail(error, EE_NO_MEMORY, "could not start a thread");
}

void forwarding_stop(service *of)
{
    struct forwarding *self = of->forwarding;
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (self->has_thread) pthread_join(self->thread, NULL);
    forwarder_stop(self->client); /* its requests end without a response */
}

void forwarding_free(service *of)
{
    struct forwarding *self = of->forwarding;
    if (!self) return;
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    memory_release(&self->memory);
}

forwarder_counts forwarding_counts(const service *of)
{
    struct forwarding *self = of->forwarding;
    forwarder_counts counts = {0};
    if (!self) return counts;
    pthread_mutex_lock(&self->lock);
    if (!self->stopping) counts = forwarder_count(self->client);
    pthread_mutex_unlock(&self->lock);
    return counts;
}
