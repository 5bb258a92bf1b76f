/* The server: liveness, readiness, metrics, API description. */
#include "call.h"
#include "handlers.h"
#include "openapi.h"

void api_live(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    text_add(&exchange->answer, "{\"live\":true}\n");
    http_answer(exchange, 200);
}

void api_ready(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *self = owner;
    if (atomic_load(&self->draining)) {
        call_refuse_for(exchange, 503, 1, "the server is stopping");
    } else if (!journal_read_counts(self->journal).writable) {
        call_refuse_for(exchange, 503, 1, "the store cannot be written; the server's log says when it can again");
    } else {
        bool doubt = journal_clock(self->journal).in_doubt;
        text_add(&exchange->answer, "{\"ready\":true%s}\n",
                 doubt ? ",\"warning\":\"The clock jumped: nothing is settled or removed. See /v1/clock.\"" : "");
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
    bool ready = !atomic_load(&self->draining) && journal_read_counts(self->journal).writable;
    text_add(&exchange->answer, "{\"service\":\"personalizer\",\"ready\":\"%s\"}\n", ready ? "ready" : "not ready");
    http_answer(exchange, ready ? 200 : 503);
}

void api_status(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *self = owner;
    bool ready = !atomic_load(&self->draining) && journal_read_counts(self->journal).writable;
    text_add(&exchange->answer, "{\"service\":\"personalizer\",\"apiStatus\":\"%s\",\"apiStatusMessage\":\"%s\"}\n",
             ready ? "Valid" : "Invalid",
             ready ? "The server is ready." : "The server is stopping, or its store cannot be written.");
    http_answer(exchange, ready ? 200 : 503);
}
