/* Bytes that somebody sends to Personalizer's API. The first byte says what they are: a body of rank or of multi-slot
 * rank, of a reward, a configuration, a policy, a path, a duration. What is accepted keeps to what the headers promise.
 */
#include "fuzz.h"
#include "serve/personalizer/personalizer.h"
#include "serve/personalizer/personalizer_settings.h"

static void check_id(json_text id)
{
    require(id.length >= 1 && id.length <= REQUEST_ID_MOST && json_is_utf8(id), "an id that is none");
}

static void check_refusal(ee_status status, const ee_error *error)
{
    require(status == error->status && status == EE_BAD_INPUT, "a status without its error");
    require(json_is_utf8((json_text){error->message, strlen(error->message)}), "a message that is no UTF-8");
}

/* Whether it is one line of JSON. */
static void check_json(const char *bytes, size_t length)
{
    json_room room = {0};
    json_token token = {.kind = JSON_KIND_NULL};
    require(!memchr(bytes, '\n', length) && !memchr(bytes, '\r', length), "a context of several lines");
    json_reader reader = json_start(bytes, length, &room);
    while (json_next(&reader, &token, NULL) == EE_OK && token.kind != JSON_KIND_END) continue;
    require(token.kind == JSON_KIND_END, "a context that is no JSON");
    memory_free(room.key);
    memory_free(room.text);
}

static void check_accepted(const decide_request *request, const decide_limits *limits, bool of_slots)
{
    char *context = NULL;
    size_t length = 0, capacity = 0;
    require(request->count >= 1 && request->count <= PERSONALIZER_MOST, "a number of actions that is not allowed");
    require(request->feature_count <= limits->features, "too many features");
    require(of_slots ? request->slot_count >= 1 : request->slot_count == 0, "slots where there are none");
    if (request->id.bytes) check_id(request->id);
    for (size_t i = 0; i < request->count; i++) check_id(request->names[i]);
    for (size_t k = 0; k < (of_slots ? request->slot_count : 1); k++) {
        size_t excluded = 0;
        for (size_t i = 0; i < request->count; i++) excluded += request->excluded[k * request->count + i];
        require(excluded < request->count, "nothing is left to choose from");
        if (!of_slots) continue;
        check_id(request->slots[k].id);
        require(request->slots[k].baseline_action < request->count, "a slot without its baseline");
    }
    require(rank_request_context(request, NULL, &context, &length, &capacity, NULL) == EE_OK, "no context");
    check_json(context, length);
    memory_free(context);
}

static void check_rank(json_text body, bool of_slots)
{
    memory owner = {0};
    decide_request request = {.owner = &owner};
    decide_limits limits = {.actions = 20, .features = 50};
    for (int again = 0; again < 2; again++) { /* the room of the first serves the second */
        json_reader reader = decide_request_start(&request, body);
        json_token token;
        ee_error error = {EE_OK, ""};
        if (json_next(&reader, &token, &error) || token.kind != JSON_KIND_OBJECT) break;
        ee_status status = rank_request_read(&request, &reader, &limits, of_slots, &error);
        if (status)
            check_refusal(status, &error);
        else
            check_accepted(&request, &limits, of_slots);
    }
    memory_release(&owner);
}

static ee_status take_reward(void *context, json_text slot, double value, ee_error *error)
{
    (void)error;
    check_id(slot);
    require(fabs(value) <= 1 && ++*(size_t *)context <= PERSONALIZER_MOST, "a reward that is none");
    return EE_OK;
}

static void check_reward(json_text body, bool of_slots)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    kept_texts texts = {.owner = &owner};
    json_reader reader = json_start(body.bytes, body.length, &room);
    json_token token;
    size_t count = 0;
    double value = NAN;
    ee_error error = {EE_OK, ""};
    if (!json_next(&reader, &token, NULL) && token.kind == JSON_KIND_OBJECT) {
        ee_status status = of_slots ? rank_slot_rewards_read(&reader, &texts, take_reward, &count, &error)
                                    : rank_reward_read(&reader, &value, &error);
        if (status) check_refusal(status, &error);
        require(status || (of_slots ? count > 0 : fabs(value) <= 1), "no reward");
    }
    memory_release(&owner);
}

/* What is read and written is read again as the same. */
static void check_settings(json_text body, bool of_policy)
{
    bandit_settings settings = bandit_settings_usual(), again;
    const char *code = NULL;
    ee_error error = {EE_OK, ""};
    ee_status status = of_policy ? policy_contract_read(&settings, body, &error)
                                 : service_configuration_read(&settings, body, &code, &error);
    if (status) {
        check_refusal(status, &error);
        return;
    }
    text written = text_start(NULL);
    if (of_policy)
        policy_contract_write(&settings, &written);
    else
        service_configuration_write(&settings, true, &written);
    json_text span = {written.bytes, written.length};
    again = settings;
    status = of_policy ? policy_contract_read(&again, span, &error)
                       : service_configuration_read(&again, span, &code, &error);
    require(status == EE_OK, "what was written is not read");
    require(strcmp(again.personalizer, settings.personalizer) == 0 &&
                strcmp(again.propensity, settings.propensity) == 0 && strcmp(again.policy, settings.policy) == 0,
            "what was written is read as something else");
    memory_free(written.bytes);
}

static void check_path(json_text path)
{
    personalizer_path read;
    personalizer_path_read(path, &read);
    if (!read.generation) return;
    require(read.path.length <= sizeof read.room, "a path that is too long");
    require(!read.path.length || memcmp(read.path.bytes, "/personalizer", 13) == 0, "a path of somebody else");
}

static void check_duration(json_text words)
{
    double seconds, again;
    char written[ISO_DURATION_SIZE];
    if (!iso_duration_parse(words, &seconds) || seconds > 1e11) return;
    iso_duration_format(seconds, written);
    require(iso_duration_parse((json_text){written, strlen(written)}, &again) && fabs(again - seconds) <= 0.001,
            "a duration that is read as another");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) return 0;
    json_text body = {(const char *)bytes + 1, size - 1};
    bool second = bytes[0] % 2;
    int kind = bytes[0] % 8 / 2;
    if (kind == 0) check_rank(body, second);
    if (kind == 1) check_reward(body, second);
    if (kind == 2) check_settings(body, second);
    if (kind == 3 && !second) check_path(body);
    if (kind == 3 && second) check_duration(body);
    return 0;
}
