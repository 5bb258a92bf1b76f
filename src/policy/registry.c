/* The list of policies. */
#include <string.h>

#include "policy.h"

static const policy_class *const classes[] = {
    &eenet_class,         &neural_epsilon_class,  &neural_ucb_class,    &neural_ts_class, &neural_linear_class,
    &neural_linucb_class, &neural_ensemble_class, &neural_fastcb_class, &squarecb_class,  &linucb_class,
    &lints_class,         &kernelucb_class,       &kernelts_class,      &greedy_class,    &ucb1_class,
    &thompson_class,      &uniform_class,
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* Policy number index, each class followed by its presets, as class and preset (NULL for the class itself). */
static bool policy_at(size_t index, const policy_class **class, const policy_preset **preset)
{
    for (size_t i = 0; i < CLASSES; index -= classes[i]->presets.count + 1, i++) {
        if (index > classes[i]->presets.count) continue;
        *class = classes[i];
        *preset = index ? &classes[i]->presets.rows[index - 1] : NULL;
        return true;
    }
    return false;
}

ee_status policy_find(const char *name, const policy_class **class, const char **preset, ee_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    const policy_preset *found;
    size_t count = 0;
    for (; count < MOST && policy_at(count, class, &found); count++) {
        names[count] = found ? found->name : (*class)->schema->owner;
        *preset = found ? found->options : "";
        if (strcmp(name, names[count]) == 0) return EE_OK;
    }
    const char *nearest = options_nearest(name, names, count);
    if (!nearest) return status_fail(error, EE_BAD_OPTION, "policy: unknown policy '%.64s'", name);
    return status_fail(error, EE_BAD_OPTION, "policy: unknown policy '%.64s'; did you mean '%s'?", name, nearest);
}

ee_status ee_policy_describe(size_t index, ee_policy *out, ee_error *error)
{
    const policy_class *class;
    const policy_preset *preset;
    if (!out) return status_fail(error, EE_BAD_INPUT, "describe: out must not be NULL");
    if (!policy_at(index, &class, &preset))
        return status_fail(error, EE_BAD_INPUT, "describe: unknown policy number %zu", index);
    *out = (ee_policy){.name = preset ? preset->name : class->schema->owner,
                       .summary = preset ? preset->summary : class->summary,
                       .paper = class->paper,
                       .preset = preset ? preset->options : ""};
    return EE_OK;
}
