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

/* Which mode is active, if there is more than one. */
static void add_mode(service *self, readiness state, text *into)
{
    if (service_config_now(self)->settings.spool_seconds <= 0 && state != READY_SPOOLING) return;
    journal_counts counts = journal_read_counts(self->journal);
    text_add(into, ",\"mode\":\"%s\"", state == READY_SPOOLING ? "spooling" : "normal");
    if (state == READY_SPOOLING)
        text_add(into, ",\"spool\":{\"entries\":%llu,\"seconds_left\":%.1f}", (unsigned long long)counts.spooled,
                 counts.spool_seconds_left);
}

ee_status api_ready(call *self)
{
    readiness state = service_readiness(self->owner);
    if (state == NOT_READY_STOPPING) return status_fail(&self->error, EE_FILE_ERROR, "the server is stopping");
    if (state == NOT_READY_STORE)
        return status_fail(&self->error, EE_FILE_ERROR,
                           "the store cannot be written; the server's log says when it can again");
    if (state == NOT_READY_JOINING) return status_fail(&self->error, EE_FILE_ERROR, "the server is joining its fleet");
    if (state == NOT_READY_LOADING) return answer_loading(self->exchange, &self->owner->loading);
    bool in_doubt = journal_clock(self->owner->journal).in_doubt;
    text_add(&self->exchange->answer, "{\"ready\":true");
    add_mode(self->owner, state, &self->exchange->answer);
    text_add(&self->exchange->answer, "%s}",
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
    bool ready = service_is_ready(self->owner);
    text_add(&self->exchange->answer, "{\"service\":\"personalizer\",\"ready\":\"%s\"}", ready ? "ready" : "not ready");
    return call_answer(self, ready ? 200 : 503);
}

ee_status api_status(call *self)
{
    bool ready = service_is_ready(self->owner);
    text_add(&self->exchange->answer, "{\"service\":\"personalizer\",\"apiStatus\":\"%s\",\"apiStatusMessage\":\"%s\"}",
             ready ? "Valid" : "Invalid",
             ready ? "The server is ready." : "The server is not ready; GET /readyz says why.");
    return call_answer(self, ready ? 200 : 503);
}
