/* Settings that only Personalizer's API uses, in the object of the setting "personalizer". */
#include <stdio.h>

#include "data/values/json_members.h"
#include "personalizer_settings.h"

static void take_text(char *out, size_t size, const json_token *token)
{
    if (token->kind == JSON_KIND_TEXT && token->text.length < size)
        snprintf(out, size, "%.*s", (int)token->text.length, token->text.bytes);
}

personalizer_kept personalizer_kept_of(const bandit_settings *settings)
{
    personalizer_kept kept = {.export_frequency = "PT5M", .optimization_frequency = "P7D", .retrain_days = 2};
    memory escapes = {0};
    json_room room = {.owner = &escapes};
    json_reader reader = json_start(settings->personalizer, strlen(settings->personalizer), &room);
    json_token token;
    if (!settings->personalizer[0] || json_next(&reader, &token, NULL)) return kept;
    const struct {
        const char *name;
        char *out;
        size_t size;
    } texts[] = {{"modelExportFrequency", kept.export_frequency, sizeof kept.export_frequency},
                 {"autoOptimizationFrequency", kept.optimization_frequency, sizeof kept.optimization_frequency},
                 {"autoOptimizationStartDate", kept.optimization_start, sizeof kept.optimization_start},
                 {"lastConfigurationEditDate", kept.edited, sizeof kept.edited},
                 {"policyName", kept.policy_name, sizeof kept.policy_name},
                 {"policyArguments", kept.policy_arguments, sizeof kept.policy_arguments}};
    while (!json_next(&reader, &token, NULL) && token.kind != JSON_KIND_OBJECT_END) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (json_is(token.key, texts[i].name)) take_text(texts[i].out, texts[i].size, &token);
        if (json_is(token.key, "modelRetrainDays") && token.kind == JSON_KIND_NUMBER && token.number >= 0 &&
            token.number <= 36500)
            kept.retrain_days = (int64_t)token.number;
        if (json_skip(&reader, &token, NULL, NULL)) break;
    }
    memory_release(&escapes);
    return kept;
}

static void add_text(text *into, const char *name, const char *value)
{
    if (value[0]) text_member(into, name, value);
}

ee_status personalizer_keep(const personalizer_kept *kept, bandit_settings *into, ee_error *error)
{
    text made = text_start(error);
    text_add(&made, "{\"modelRetrainDays\":%lld", (long long)kept->retrain_days);
    add_text(&made, "modelExportFrequency", kept->export_frequency);
    add_text(&made, "autoOptimizationFrequency", kept->optimization_frequency);
    add_text(&made, "autoOptimizationStartDate", kept->optimization_start);
    add_text(&made, "lastConfigurationEditDate", kept->edited);
    add_text(&made, "policyName", kept->policy_name);
    add_text(&made, "policyArguments", kept->policy_arguments);
    text_add(&made, "}");
    ee_status status = made.status;
    if (!status && made.length >= sizeof into->personalizer)
        status = status_fail(error, EE_BAD_INPUT, "name and arguments are too long together");
    if (!status) memset(into->personalizer, 0, sizeof into->personalizer);
    if (!status) memcpy(into->personalizer, made.bytes, made.length);
    memory_free(made.bytes);
    return status;
}
