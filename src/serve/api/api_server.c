/* The server: liveness, readiness, metrics, API description. */
#include <stdio.h>

#include "call.h"
#include "handlers.h"
#include "openapi.h"
#include "readiness.h"

ee_status api_live(call *self)
{
    text_add(&self->exchange->answer, "{\"live\":true}");
    return call_answer(self, 200);
}

/* An error like others, with the progress besides. */
static ee_status answer_loading(http_exchange *exchange, service_loading *loading)
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
    return EE_OK;
}

ee_status api_ready(call *self)
{
    readiness state = service_readiness(self->owner);
    if (state == NOT_READY_STOPPING) return status_fail(&self->error, EE_FILE_ERROR, "the server is stopping");
    if (state == NOT_READY_STORE)
        return status_fail(&self->error, EE_FILE_ERROR,
                           "the store cannot be written; the server's log says when it can again");
    if (state == NOT_READY_LOADING) return answer_loading(self->exchange, &self->owner->loading);
    bool in_doubt = journal_clock(self->owner->journal).in_doubt;
    text_add(&self->exchange->answer, "{\"ready\":true%s}",
             in_doubt ? ",\"warning\":\"The clock jumped: nothing is settled or removed. See /v1/clock.\"" : "");
    return call_answer(self, 200);
}

ee_status api_openapi(call *self)
{
    text_bytes(&self->exchange->answer, openapi_json, openapi_size);
    http_answer(self->exchange, 200);
    return EE_OK;
}

ee_status api_metrics(call *self)
{
    self->exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
    service_metrics_write(self->owner, &self->exchange->answer);
    http_answer(self->exchange, 200);
    return EE_OK;
}

/* ---- as Cognitive Services containers have it, which those who watch over Personalizer may ask ---- */

ee_status api_container_ready(call *self)
{
    bool ready = service_readiness(self->owner) == READY;
    text_add(&self->exchange->answer, "{\"service\":\"personalizer\",\"ready\":\"%s\"}", ready ? "ready" : "not ready");
    return call_answer(self, ready ? 200 : 503);
}

ee_status api_status(call *self)
{
    bool ready = service_readiness(self->owner) == READY;
    text_add(&self->exchange->answer, "{\"service\":\"personalizer\",\"apiStatus\":\"%s\",\"apiStatusMessage\":\"%s\"}",
             ready ? "Valid" : "Invalid",
             ready ? "The server is ready." : "The server is not ready; GET /readyz says why.");
    return call_answer(self, ready ? 200 : 503);
}
