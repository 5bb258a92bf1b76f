/* The server: liveness, readiness, metrics, API description; and the table of all routes. */
#include "service_inside.h"

const route service_routes[] = {
    /* The first are found soonest: what is asked most. */
    {HTTP_POST, "/v1/bandits/{name}/decide", KEY_APP, "body-bytes", api_decide, "Decide", false},
    {HTTP_POST, "/v1/bandits/{name}/decide/batch", KEY_APP, "body-bytes", api_decide_batch, "Decide in a batch", false},
    {HTTP_POST, "/v1/bandits/{name}/reward", KEY_APP, "body-bytes", api_reward, "Send a reward", false},
    {HTTP_POST, "/v1/bandits/{name}/reward/batch", KEY_APP, "body-bytes", api_reward_batch, "Send rewards in a batch",
     false},
    {HTTP_POST, "/v1/bandits/{name}/activate", KEY_APP, "body-bytes", api_activate, "Activate a deferred decision",
     false},
    {HTTP_GET, "/livez", KEY_NOBODY, NULL, api_live, "Liveness", false},
    {HTTP_GET, "/readyz", KEY_NOBODY, NULL, api_ready, "Readiness", false},
    {HTTP_GET, "/ready", KEY_NOBODY, NULL, api_container_ready,
     "Readiness, in the form of Cognitive Services containers", false},
    {HTTP_GET, "/status", KEY_NOBODY, NULL, api_status, "Status, in the form of Cognitive Services containers", false},
    {HTTP_GET, "/openapi.json", KEY_NOBODY, NULL, api_openapi, "Description of this API (OpenAPI)", false},
    {HTTP_GET, "/", KEY_NOBODY, NULL, api_page, "Dashboard", false},
    {HTTP_GET, "/page/visitor", KEY_NOBODY, NULL, api_page_visitor, "Role of the key of this request", false},
    {HTTP_GET, "/page/{file}", KEY_NOBODY, NULL, api_page_file, "File of the dashboard", false},
    {HTTP_GET, "/metrics", KEY_READER, NULL, api_metrics, "Metrics for Prometheus", false},
    {HTTP_GET, "/v1/bandits", KEY_READER, NULL, api_list, "List bandits", false},
    {HTTP_POST, "/v1/bandits", KEY_ADMIN, "body-bytes", api_create, "Create a bandit", true},
    {HTTP_GET, "/v1/bandits/{name}", KEY_READER, NULL, api_describe, "Describe a bandit", false},
    {HTTP_PATCH, "/v1/bandits/{name}", KEY_ADMIN, "body-bytes", api_change, "Change settings of a bandit", true},
    {HTTP_DELETE, "/v1/bandits/{name}", KEY_ADMIN, NULL, api_archive, "Archive a bandit", true},
    {HTTP_POST, "/v1/bandits/{name}/restore", KEY_ADMIN, "body-bytes", api_restore, "Restore an archived bandit", true},
    {HTTP_GET, "/v1/bandits/{name}/model", KEY_READER, NULL, api_get_model, "Download the model", true},
    {HTTP_PUT, "/v1/bandits/{name}/model", KEY_ADMIN, "model-bytes", api_put_model, "Upload a model", true},
    {HTTP_DELETE, "/v1/bandits/{name}/model", KEY_ADMIN, NULL, api_reset_model, "Reset the model", true},
    {HTTP_GET, "/v1/bandits/{name}/model/versions", KEY_READER, NULL, api_model_versions,
     "List stored versions of the model", true},
    {HTTP_GET, "/v1/bandits/{name}/evaluation", KEY_READER, NULL, api_evaluation, "Live evaluation", false},
    {HTTP_GET, "/v1/bandits/{name}/challengers", KEY_READER, NULL, api_list_challengers, "List challengers", false},
    {HTTP_POST, "/v1/bandits/{name}/challengers", KEY_ADMIN, "body-bytes", api_add_challenger, "Add a challenger",
     true},
    {HTTP_DELETE, "/v1/bandits/{name}/challengers/{challenger}", KEY_ADMIN, NULL, api_remove_challenger,
     "Remove a challenger", true},
    {HTTP_POST, "/v1/bandits/{name}/challengers/{challenger}/promote", KEY_ADMIN, "body-bytes", api_promote,
     "Promote a challenger", true},
    {HTTP_GET, "/v1/bandits/{name}/activity", KEY_READER, NULL, api_activity,
     "Recent activity: seconds, actions, rewards, training, latency", false},
    {HTTP_POST, "/v1/bandits/{name}/explain", KEY_READER, "body-bytes", api_explain, "Explain a request", false},
    {HTTP_GET, "/v1/bandits/{name}/decisions/{id}/explain", KEY_READER, NULL, api_explain_decision,
     "Explain a stored decision", true},
    {HTTP_GET, "/v1/bandits/{name}/importance", KEY_READER, NULL, api_importance, "Feature importance", false},
    {HTTP_GET, "/v1/bandits/{name}/evaluations", KEY_READER, NULL, api_list_evaluations, "List evaluations", true},
    {HTTP_POST, "/v1/bandits/{name}/evaluations", KEY_ADMIN, "body-bytes", api_ask_evaluation,
     "Start an evaluation of candidates on the log", true},
    {HTTP_GET, "/v1/bandits/{name}/evaluations/{id}", KEY_READER, NULL, api_read_evaluation,
     "Get an evaluation and its results", true},
    {HTTP_DELETE, "/v1/bandits/{name}/evaluations/{id}", KEY_ADMIN, NULL, api_delete_evaluation,
     "Delete or cancel an evaluation", true},
    {HTTP_GET, "/v1/bandits/{name}/log", KEY_READER, NULL, api_log, "Export settled decisions as dsjson", true},
};
const size_t service_route_count = sizeof service_routes / sizeof *service_routes;
/* Personalizer's are beside them. */
_Static_assert(sizeof service_routes / sizeof *service_routes <= MOST_ROUTES / 2, "room for the counts of each route");

const route *service_route_at(size_t place)
{
    if (place < service_route_count) return &service_routes[place];
    place -= service_route_count;
    return place < personalizer_route_count ? &personalizer_routes[place] : NULL;
}

size_t service_route_place(const route *of)
{
    bool own = of >= service_routes && of < service_routes + service_route_count;
    return own ? (size_t)(of - service_routes) : service_route_count + (size_t)(of - personalizer_routes);
}

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
        text_add(&exchange->answer, "{\"ready\":true}\n");
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
