/* Personalizer's service and policy configurations. Another policy or share of exploration means another model, trained
 * on the last days of the log: then the handler moves from the worker to the relearner. */
#include "call.h"
#include "handlers.h"
#include "personalizer_changes.h"
#include "serve/live/succession.h"
#include "serve/personalizer/personalizer_settings.h"
#include "serve/system/server_clock.h"

/* ---- answers ---- */

static ee_status answer_configuration(call *self, const bandit_settings *settings)
{
    service_configuration_write(settings, self->base.generation == PERSONALIZER_2022, &self->exchange->answer);
    return call_answer(self, 200);
}

static ee_status answer_policy(call *self, const bandit_settings *settings)
{
    policy_contract_write(settings, &self->exchange->answer);
    return call_answer(self, 200);
}

ee_status api_get_configuration(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    return answer_configuration(self, &settings);
}

ee_status api_get_policy(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    return answer_policy(self, &settings);
}

/* ---- changes ---- */

/* What cannot be is the request's fault until it was tried. */
static ee_status fail(call *self, ee_status status, const char *code)
{
    if (call_status_of(self, status) == 400 && self->base.generation != PERSONALIZER_1_0) self->error_code = code;
    return status;
}

ee_status api_put_configuration(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    const char *code;
    bool answered = false;
    ee_status status = service_configuration_read(&settings, self->exchange->body, &code, &self->error);
    if (!status)
        status = personalizer_change(self, &before, &settings, "\"why\":\"the configuration of the service changed\"",
                                     &answered, &self->error);
    if (status) return fail(self, status, code);
    return answered ? EE_OK : answer_configuration(self, &settings);
}

ee_status api_put_policy(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    bool answered = false;
    ee_status status = policy_contract_read(&settings, self->exchange->body, &self->error);
    if (!status)
        status = personalizer_change(self, &before, &settings, "\"why\":\"the policy was configured\"", &answered,
                                     &self->error);
    if (status) return fail(self, status, "InvalidPolicyContract");
    return answered ? EE_OK : answer_policy(self, &settings);
}

ee_status api_reset_policy(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    bool answered = false;
    ee_status status = policy_contract_reset(&settings, &self->error);
    if (!status)
        status =
            personalizer_change(self, &before, &settings, "\"why\":\"the policy was reset\"", &answered, &self->error);
    if (status) return fail(self, status, "InvalidPolicyConfiguration");
    return answered ? EE_OK : answer_policy(self, &settings);
}
