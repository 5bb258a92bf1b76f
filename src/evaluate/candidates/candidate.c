#include "candidate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "features/round.h"

/* Named classes come before the policies, so that `uniform` needs no bandit. */
static const candidate_class *const classes[] = {
    &candidate_uniform, &candidate_first,          &candidate_arm,       &candidate_logged,
    &candidate_model,   &candidate_learning_model, &candidate_from_file, &candidate_policy,
};

enum { CLASSES = sizeof classes / sizeof *classes };

const candidate_class *candidate_class_at(size_t index)
{
    return index < CLASSES ? classes[index] : NULL;
}

/* "arm:3" names arm, "uniform" names uniform, "uniform:3" names nothing. */
static bool has_name(const candidate_class *class, const char *text)
{
    size_t length = strlen(class->name);
    if (strncmp(text, class->name, length) != 0) return false;
    return text[length] == class->form[length] && (text[length] == '\0' || text[length + 1] != '\0');
}

static bool is_policy(const char *text)
{
    ee_option first;
    return ee_option_describe(text, 0, &first, NULL) == EE_OK;
}

/* The nearest name of a policy or of a class. */
static const char *nearest(const char *text)
{
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count = 0;
    ee_policy policy;
    for (size_t i = 0; i < CLASSES; i++)
        if (classes[i]->name) names[count++] = classes[i]->form;
    for (size_t i = 0; count < MOST && !ee_policy_describe(i, &policy, NULL); i++) names[count++] = policy.name;
    return options_nearest(text, names, count);
}

ee_status candidate_find(const char *text, const candidate_class **class, ee_error *error)
{
    for (size_t i = 0; i < CLASSES; i++) {
        *class = classes[i];
        if (classes[i]->name ? has_name(classes[i], text) : is_policy(text)) return EE_OK;
    }
    const char *near = nearest(text);
    if (near) return status_fail(error, EE_BAD_OPTION, "unknown candidate '%.80s'; did you mean '%s'?", text, near);
    if (strchr(text, ':')) return status_fail(error, EE_BAD_OPTION, "unknown candidate '%.80s'", text);
    return status_fail(error, EE_BAD_OPTION,
                       "unknown candidate '%.80s'; to always choose the action '%.30s', write arm:%.30s", text, text,
                       text);
}

/* Checks that the features of the slots are readable; the round has those of the event again afterwards. */
static ee_status check_slots(ee_round *features, const log_event *event, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < event->slot_count && !status; i++) {
        const log_slot *slot = &event->slots[i];
        if (slot->features.length)
            status = ee_round_context(features, slot->features.bytes, slot->features.length, error);
    }
    if (status) return status;
    ee_round_clear(features);
    return ee_round_read(features, event->context.bytes, event->context.length, error);
}

ee_status candidate_read_features(ee_round *features, const log_event *event, bool *usable, ee_error *error)
{
    *usable = features || !event->arms.count || event->arms.count == event->count;
    if (!*usable)
        status_fail(error, EE_BAD_INPUT, "expected vectors for %zu actions, got %zu", event->count, event->arms.count);
    if (!features) return EE_OK;
    if (!event->context.length)
        return status_fail(
            error, EE_BAD_INPUT,
            "line %zu: the log has no vectors or features; evaluate uniform, first, arm:NAME or file:FILE "
            "with ips or snips",
            event->line);
    ee_round_clear(features);
    ee_status status = ee_round_read(features, event->context.bytes, event->context.length, error);
    if (!status && features->arms != event->count)
        status = event->slate
                     ? status_fail(error, EE_BAD_INPUT,
                                   "a slate (one reward for all slots); evaluate its first slot: uniform, first, "
                                   "arm:NAME or file:FILE with ips or snips")
                     : status_fail(error, EE_BAD_INPUT, "expected features for %zu actions, got %zu", event->count,
                                   features->arms);
    if (!status && event->slot_count && !event->slate) status = check_slots(features, event, error);
    *usable = !status;
    return status == EE_NO_MEMORY ? status : EE_OK;
}

static ee_status find_checksum(const char *path, char *text, size_t capacity, ee_error *error)
{
    enum {
        OWN = 8
    }; /* bytes of the checksum at the end of a model, which makes the checksum of the whole file constant */
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    uint64_t whole = archive_checksum(bytes, size), inside = archive_checksum(bytes, size > OWN ? size - OWN : 0);
    snprintf(text, capacity, "checksum=%016" PRIx64, whole ^ inside);
    memory_free(bytes);
    return EE_OK;
}

ee_status candidate_describe(const candidate_setup *setup, char **out, ee_error *error)
{
    const candidate_class *class;
    candidate *self = NULL;
    char checksum[32] = "";
    ee_status status = candidate_find(setup->text, &class, error);
    if (!status) status = class->create(class, setup, &self, error);
    if (status) return status;
    if (class->file) status = find_checksum(candidate_place(setup->text), checksum, sizeof checksum, error);
    const char *options = class->options ? class->options(self) : "";
    size_t capacity = strlen(options) + sizeof checksum + 1;
    if (!status) status = memory_create(NULL, out, capacity, 1, error);
    if (!status) snprintf(*out, capacity, "%s%s%s", options, options[0] && checksum[0] ? " " : "", checksum);
    class->free(self);
    return status;
}
