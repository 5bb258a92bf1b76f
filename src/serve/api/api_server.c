/* The server: liveness, readiness, metrics, API description. */
#include <stdio.h>

#include "call.h"
#include "handlers.h"
#include "openapi.h"
#include "readiness.h"

void api_live(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    text_add(&exchange->answer, "{\"live\":true}\n");
    http_answer(exchange, 200);
}

/* An error like others, with the progress besides. */
static void answer_loading(http_exchange *exchange, service_loading *loading)
{
    size_t loaded = atomic_load(&loading->loaded), failed = atomic_load(&loading->failed);
    char message[96];
    snprintf(message, sizeof message, "the models of active bandits are being loaded: %zu of %zu", loaded + failed,
             loading->total);
    http_error(&exchange->answer, call_code(503), message);
    exchange->answer.length--; /* the last brace */
    text_add(&exchange->answer, ",\"loading\":{\"total\":%zu,\"loaded\":%zu,\"failed\":%zu}}\n", loading->total, loaded,
             failed);
    http_add_header(exchange, "Retry-After", "1");
    http_answer(exchange, 503);
}

void api_ready(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *self = owner;
    switch (service_readiness(self)) {
    case NOT_READY_STOPPING:
        call_refuse_for(exchange, 503, 1, "the server is stopping");
        break;
    case NOT_READY_STORE:
        call_refuse_for(exchange, 503, 1, "the store cannot be written; the server's log says when it can again");
        break;
    case NOT_READY_LOADING:
        answer_loading(exchange, &self->loading);
        break;
    case READY:
        text_add(&exchange->answer, "{\"ready\":true%s}\n",
                 journal_clock(self->journal).in_doubt
                     ? ",\"warning\":\"The clock jumped: nothing is settled or removed. See /v1/clock.\""
                     : "");
        http_answer(exchange, 200);
    }
}

void api_openapi(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    text_bytes(&exchange->answer, openapi_json, openapi_size);
    http_answer(exchange, 200);
}

void api_metrics(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
    service_metrics_write(owner, &exchange->answer);
    http_answer(exchange, 200);
}

/* ---- as Cognitive Services containers have it, which those who watch over Personalizer may ask ---- */

void api_container_ready(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *self = owner;
    bool ready = service_readiness(self) == READY;
    text_add(&exchange->answer, "{\"service\":\"personalizer\",\"ready\":\"%s\"}\n", ready ? "ready" : "not ready");
    http_answer(exchange, ready ? 200 : 503);
}

void api_status(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *self = owner;
    bool ready = service_readiness(self) == READY;
    text_add(&exchange->answer, "{\"service\":\"personalizer\",\"apiStatus\":\"%s\",\"apiStatusMessage\":\"%s\"}\n",
             ready ? "Valid" : "Invalid",
             ready ? "The server is ready." : "The server is not ready; GET /readyz says why.");
    http_answer(exchange, ready ? 200 : 503);
}
