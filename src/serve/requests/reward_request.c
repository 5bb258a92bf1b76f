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
    member_reader at = {.reader = reader, .names = names, .count = 4};
    *out = (reward_request){.value = 0};
    while (member_next(&at, error)) {
        json_text *const ids[] = {[ID] = &out->id, [REWARD_ID] = &out->reward_id, [SLOT] = &out->slot};
        if (at.which == VALUE)
            at.status = read_value(&out->value, &at.token, error);
        else if (at.which == ID || at.token.kind != JSON_KIND_NULL)
            at.status = read_text(ids[at.which], reader, &at.token, names[at.which], texts, error);
    }
    if (at.status && json_is(at.token.key, "reward")) /* nearer to "reward_id", which would only mislead */
        return status_fail(error, EE_BAD_INPUT, "unknown key \"reward\"; did you mean \"value\"?");
    if (at.status) return at.status;
    for (size_t i = ID; i <= VALUE; i++)
        if (!(at.seen & 1u << i)) return status_fail(error, EE_BAD_INPUT, "missing \"%s\"", names[i]);
    return EE_OK;
}
