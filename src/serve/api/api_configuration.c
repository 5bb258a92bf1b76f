/* Personalizer's service and policy configurations. They run in the worker's thread, because another policy or share of
 * exploration means another model, trained on the last days of the log. */
#include "call.h"
#include "handlers.h"
#include "personalizer_changes.h"
#include "serve/live/succession.h"
#include "serve/personalizer/personalizer_settings.h"
#include "serve/system/server_clock.h"

/* ---- answers ---- */

static void answer_configuration(call *self, const bandit_settings *settings)
{
    service_configuration_write(settings, self->base.generation == PERSONALIZER_2022, &self->exchange->answer);
    call_answer(self, 200);
}

static void answer_policy(call *self, const bandit_settings *settings)
{
    policy_contract_write(settings, &self->exchange->answer);
    call_answer(self, 200);
}

void api_get_configuration(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    answer_configuration(self, &settings);
}

void api_get_policy(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    answer_policy(self, &settings);
}

/* ---- changes ---- */

/* What cannot be is the request's fault until it was tried. */
static void refuse(call *self, ee_status status, const char *code, const ee_error *error)
{
    if (call_status_of(status) == 400 && self->base.generation != PERSONALIZER_1_0) self->error_code = code;
    call_refuse(self, error);
}

void api_put_configuration(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    const char *code;
    ee_error error;
    ee_status status = service_configuration_read(&settings, self->exchange->body, &code, &error);
    if (!status)
        status = personalizer_change(self, &settings, "\"why\":\"the configuration of the service changed\"", &error);
    if (status)
        refuse(self, status, code, &error);
    else
        answer_configuration(self, &settings);
}

void api_put_policy(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    ee_error error;
    ee_status status = policy_contract_read(&settings, self->exchange->body, &error);
    if (!status) status = personalizer_change(self, &settings, "\"why\":\"the policy was configured\"", &error);
    if (status)
        refuse(self, status, "InvalidPolicyContract", &error);
    else
        answer_policy(self, &settings);
}

void api_reset_policy(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    ee_error error;
    ee_status status = policy_contract_reset(&settings, &error);
    if (!status) status = personalizer_change(self, &settings, "\"why\":\"the policy was reset\"", &error);
    if (status)
        refuse(self, status, "InvalidPolicyConfiguration", &error);
    else
        answer_policy(self, &settings);
}
