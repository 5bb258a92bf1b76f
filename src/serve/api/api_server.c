/* The server: liveness, readiness, metrics, API description. */
#include <stdio.h>

#include "call.h"
#include "handlers.h"
#include "openapi.h"
#include "readiness.h"

void api_live(call *self)
{
    text_add(&self->exchange->answer, "{\"live\":true}\n");
    http_answer(self->exchange, 200);
}

/* An error like others, with the progress besides. */
static void answer_loading(http_exchange *exchange, service_loading *loading)
{
    size_t loaded = atomic_load(&loading->loaded), failed = atomic_load(&loading->failed);
    char message[96];
    snprintf(message, sizeof message, "the models of active bandits are being loaded: %zu of %zu", loaded + failed,
             loading->total);
    http_error(&exchange->answer, http_code(503), message);
    exchange->answer.length--; /* the last brace */
    text_add(&exchange->answer, ",\"loading\":{\"total\":%zu,\"loaded\":%zu,\"failed\":%zu}}\n", loading->total, loaded,
             failed);
    http_add_header(exchange, "Retry-After", "1");
    http_answer(exchange, 503);
}

void api_ready(call *self)
{
    http_exchange *exchange = self->exchange;
    switch (service_readiness(self->owner)) {
    case NOT_READY_STOPPING:
        call_refuse_for(exchange, 503, 1, "the server is stopping");
        break;
    case NOT_READY_STORE:
        call_refuse_for(exchange, 503, 1, "the store cannot be written; the server's log says when it can again");
        break;
    case NOT_READY_LOADING:
        answer_loading(exchange, &self->owner->loading);
        break;
    case READY:
        text_add(&exchange->answer, "{\"ready\":true%s}\n",
                 journal_clock(self->owner->journal).in_doubt
                     ? ",\"warning\":\"The clock jumped: nothing is settled or removed. See /v1/clock.\""
                     : "");
        http_answer(exchange, 200);
    }
}

void api_openapi(call *self)
{
    text_bytes(&self->exchange->answer, openapi_json, openapi_size);
    http_answer(self->exchange, 200);
}

void api_metrics(call *self)
{
    self->exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
    service_metrics_write(self->owner, &self->exchange->answer);
    http_answer(self->exchange, 200);
}

/* ---- as Cognitive Services containers have it, which those who watch over Personalizer may ask ---- */

void api_container_ready(call *self)
{
    bool ready = service_readiness(self->owner) == READY;
    text_add(&self->exchange->answer, "{\"service\":\"personalizer\",\"ready\":\"%s\"}\n",
             ready ? "ready" : "not ready");
    http_answer(self->exchange, ready ? 200 : 503);
}

void api_status(call *self)
{
    bool ready = service_readiness(self->owner) == READY;
    text_add(
        &self->exchange->answer, "{\"service\":\"personalizer\",\"apiStatus\":\"%s\",\"apiStatusMessage\":\"%s\"}\n",
        ready ? "Valid" : "Invalid", ready ? "The server is ready." : "The server is not ready; GET /readyz says why.");
    http_answer(self->exchange, ready ? 200 : 503);
}
