#include "reward_request.h"

#include <math.h>

static ee_status read_text(json_text *out, json_reader *reader, const json_token *token, const char *what,
                           kept_texts *texts, ee_error *error)
{
    ee_status status = request_check_id(token, what, error);
    *out = token->text;
    return status ? status : kept_texts_keep(texts, reader, out, error);
}

static ee_status read_value(double *out, const json_token *token, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER) return status_fail(error, EE_BAD_INPUT, "value must be a number");
    if (!(fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "value must be -1e9 to 1e9, got %g", token->number);
    *out = token->number;
    return EE_OK;
}

ee_status reward_request_read(reward_request *out, json_reader *reader, kept_texts *texts, ee_error *error)
{
    enum { ID, VALUE, REWARD_ID, SLOT };
    static const char *const names[] = {"id", "value", "reward_id", "slot"};
    static const member_names known = {names, 4};
    unsigned seen = 0;
    size_t which = 0;
    json_token token;
    *out = (reward_request){.value = 0};
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (!status && token.kind == JSON_KIND_OBJECT_END) break;
        if (!status && json_is(token.key, "reward")) /* nearer to "reward_id", which would only mislead */
            status = status_fail(error, EE_BAD_INPUT, "unknown key \"reward\"; did you mean \"value\"?");
        if (!status) status = request_member(token.key, &known, "", &seen, &which, error);
        if (!status && which == ID) status = read_text(&out->id, reader, &token, "id", texts, error);
        if (!status && which == VALUE) status = read_value(&out->value, &token, error);
        if (!status && which == REWARD_ID && token.kind != JSON_KIND_NULL)
            status = read_text(&out->reward_id, reader, &token, "reward_id", texts, error);
        if (!status && which == SLOT && token.kind != JSON_KIND_NULL)
            status = read_text(&out->slot, reader, &token, "slot", texts, error);
        if (status) return status;
    }
    for (size_t i = ID; i <= VALUE; i++)
        if (!(seen & 1u << i)) return status_fail(error, EE_BAD_INPUT, "missing \"%s\"", names[i]);
    return EE_OK;
}
