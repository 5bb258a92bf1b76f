#include "explain_answer.h"

#include <math.h>

#include "features/features.h"
#include "serve/model/decision_arms.h"

static void add_feature_name(text *into, const ee_round *round, size_t arm, uint32_t number)
{
    const round_feature *feature = round_feature_at(round, arm, number);
    text_bytes(into, round->text + feature->text, feature->bytes);
}

void explain_name(text *into, const explained_decision *self, size_t arm, const explained_entry *entry)
{
    if (!self->round) {
        text_add(into, "[%u]", (unsigned)entry->left);
    } else if (entry->left == NO_FEATURE) {
        text_add(into, "constant");
    } else {
        add_feature_name(into, self->round, arm, entry->left);
        if (entry->right == NO_FEATURE) return;
        text_add(into, "*");
        add_feature_name(into, self->round, arm, entry->right);
    }
}

/* What is no number is null. */
static void add_number(text *into, const char *name, double number)
{
    text_add(into, ",\"%s\":", name);
    if (isnan(number))
        text_add(into, "null");
    else
        text_float(into, (float)number);
}

static void add_entries(text *into, const explained_decision *self, size_t arm, size_t most)
{
    const explained_arm *explained = &self->explanation->arms[arm];
    text name = text_start(into->error);
    double others = 0;
    text_add(into, ",\"features\":[");
    for (size_t i = 0; i < explained->count; i++) {
        const explained_entry *entry = &self->explanation->entries[explained->first + i];
        if (i >= most) {
            others += (double)entry->contribution;
            continue;
        }
        name.length = 0;
        explain_name(&name, self, arm, entry);
        text_add(into, "%s{\"name\":", i ? "," : "");
        text_json(into, (json_text){name.bytes ? name.bytes : "", name.length});
        add_number(into, "value", (double)entry->value);
        add_number(into, "contribution", (double)entry->contribution);
        text_add(into, "}");
    }
    text_add(into, "]");
    add_number(into, "others", others);
    if (name.status && !into->status) into->status = name.status;
    memory_free(name.bytes);
}

static void add_action(text *into, const explained_decision *self, size_t arm, size_t most)
{
    const explained_arm *explained = &self->explanation->arms[arm];
    size_t action = decision_arms_action(self->body, arm);
    text_add(into, "{\"action\":");
    if (self->body->names)
        text_json(into, self->body->names[action]);
    else
        text_add(into, "\"%zu\"", action);
    text_add(into, ",\"index\":%zu", action);
    add_number(into, "f1", (double)explained->score.exploitation);
    add_number(into, "f2", (double)explained->score.exploration);
    add_number(into, "recalled", (double)explained->recalled);
    add_number(into, "score", (double)explained->score.score);
    add_number(into, "probability", explained->probability);
    add_number(into, "base", (double)explained->base);
    add_entries(into, self, arm, most);
    text_add(into, "}");
}

void explain_answer_actions(text *into, const explained_decision *self, size_t most)
{
    text_add(into, "[");
    for (size_t arm = 0; arm < self->explanation->arm_count; arm++) {
        if (arm) text_add(into, ",");
        add_action(into, self, arm, most);
    }
    text_add(into, "]");
}
