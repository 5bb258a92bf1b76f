/* Bytes that somebody sends as the body of a decide or reward request. The first byte says what the bandit takes. What
 * is accepted keeps to what the header promises, and the context that is stored is one line of JSON whose actions are
 * those of the request. */
#include "base/checksum.h"
#include "fuzz.h"
#include "serve/requests/decide_request.h"
#include "serve/requests/reward_request.h"

static void check_id(json_text id)
{
    require(id.length >= 1 && id.length <= REQUEST_ID_MOST && json_is_utf8(id), "an id that is none");
}

static void check_context(const decide_request *request)
{
    char *context = NULL;
    size_t length = 0, capacity = 0, count = 0;
    json_room room = {0};
    json_token token;
    require(decide_request_context(request, NULL, &context, &length, &capacity, NULL) == EE_OK, "no context");
    require(!memchr(context, '\n', length) && !memchr(context, '\r', length), "a context of several lines");
    json_reader reader = json_start(context, length, &room);
    while (json_next(&reader, &token, NULL) == EE_OK && token.kind != JSON_KIND_END)
        if (reader.depth == 3 && json_is(token.key, "_tag")) {
            json_text name = request->names[count++];
            require(name.length == token.text.length && !memcmp(name.bytes, token.text.bytes, name.length),
                    "an action of another name");
        }
    require(token.kind == JSON_KIND_END, "a context that is no JSON");
    require(count >= request->count, "actions were lost");
    memory_free(room.key);
    memory_free(room.text);
    memory_free(context);
}

static void check_decide(decide_request *request, json_text body, const decide_limits *limits)
{
    json_reader reader = decide_request_start(request, body);
    json_token token;
    ee_error error = {EE_OK, ""};
    if (json_next(&reader, &token, &error) || token.kind != JSON_KIND_OBJECT) return;
    ee_status status = decide_request_read(request, &reader, limits, &error);
    require_status(status, &error, EE_BAD_INPUT);
    if (status) {
        require(json_is_utf8((json_text){error.message, strlen(error.message)}), "a message that is no UTF-8");
        return;
    }
    size_t excluded = 0;
    if (request->id.bytes) check_id(request->id);
    require(request->count >= 1 && request->count <= limits->actions, "a number of actions that is not allowed");
    for (size_t i = 0; i < request->count; i++) {
        if (request->named) check_id(request->names[i]);
        excluded += request->excluded[i];
    }
    require(excluded == request->excluded_count && excluded < request->count, "exclusion is miscounted");
    for (size_t i = 0; i < request->count * limits->dim; i++)
        require(request->values[i] >= -1e9F && request->values[i] <= 1e9F, "a number that is too large");
    if (!limits->dim) check_context(request);
}

static void check_reward(json_text body)
{
    kept_texts texts = {0};
    json_room room = {0};
    reward_request reward;
    json_token token;
    json_reader reader = json_start(body.bytes, body.length, &room);
    if (!json_next(&reader, &token, NULL) && token.kind == JSON_KIND_OBJECT &&
        !reward_request_read(&reward, &reader, &texts, NULL)) {
        check_id(reward.id);
        if (reward.reward_id.bytes) check_id(reward.reward_id);
        require(reward.value >= -1e9 && reward.value <= 1e9, "a value that is too large");
        uint8_t bytes[METRIC_VALUES_SIZE];
        size_t size = metric_values_write(&reward.metrics, bytes);
        metric_values again;
        require(metric_values_read(bytes, size, &again, NULL) == EE_OK, "metrics that cannot be read again");
    }
    memory_free(texts.bytes);
    memory_free(room.key);
    memory_free(room.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) return 0;
    json_text body = {(const char *)bytes + 1, size - 1};
    memory owner = {0};
    decide_request request = {.owner = &owner};
    decide_limits limits = {.dim = bytes[0] % 4, .actions = 20, .features = 50};
    uint64_t checksum[2];
    check_decide(&request, body, &limits);
    check_decide(&request, body, &limits); /* the room of the first serves the second */
    check_reward(body);
    checksum_128(body.bytes, body.length, checksum);
    memory_release(&owner);
    return 0;
}
