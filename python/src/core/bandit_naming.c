#include "bandit_naming.h"

#include <stdio.h>
#include <stdlib.h>

#include "arms_reading.h"
#include "bandit_object.h"
#include "engine/bandit.h"
#include "explanation_values.h"
#include "features/features.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* A bandit with named features accepts vectors too, of its full dimension; any other are probably a mistake. */
static ee_status check_vectors(const bandit_object *self, const ee_arms *arms, ee_error *error)
{
    if (arms->dim == ee_bandit_info(self->bandit).dim) return EE_OK;
    *error = (ee_error){.status = EE_BAD_INPUT};
    snprintf(
        error->message, sizeof error->message,
        "arms: expected named features, such as [{'price': 9.5}], because of features=True; got vectors of dimension "
        "%zu",
        arms->dim);
    return EE_BAD_INPUT;
}

ee_status bandit_arms(bandit_object *self, arms_reading *reading, bool learns, ee_arms *out, ee_error *error)
{
    *out = reading->arms;
    if (!reading->round && self->takes_rounds) return check_vectors(self, out, error);
    if (!reading->round) return EE_OK;
    if (learns) return ee_bandit_arms(self->bandit, reading->round, out, error);
    return features_encode(self->bandit->features, reading->round, out, error);
}

/* ---- named features ---- */

/* What the terms of an arm contribute, each its share of the entry that it is part of. */
typedef struct named_shares {
    float *contributions; /* of the arm's entries */
    explained_entry *terms;
    size_t count;
} named_shares;

/* Where among the entries of an arm a place lies; count where two cancelled each other out and left none. */
static size_t entry_of(const uint32_t *indices, size_t count, uint32_t place)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (indices[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && indices[low] == place ? low : count;
}

static void share_out(const ee_arms *arms, size_t arm, const feature_term *terms, named_shares *out)
{
    size_t first = arms->starts[arm], entries = arms->starts[arm + 1] - first;
    for (size_t i = 0; i < out->count; i++) {
        const feature_term *term = &terms[i];
        size_t entry = entry_of(arms->indices + first, entries, term->place);
        float contribution = 0;
        if (entry < entries) {
            float whole = arms->values[first + entry], part = (float)term->value;
            contribution = out->contributions[entry];
            if (part != whole) contribution = (float)((double)contribution * (double)part / (double)whole);
        }
        out->terms[i] = (explained_entry){term->left, term->right, 0, contribution};
    }
}

static ee_status fail_memory(ee_error *error)
{
    snprintf(error->message, sizeof error->message, "explain: out of memory");
    return EE_NO_MEMORY;
}

/* With the bandit's lock. Learns no names: what is new goes where a bandit that does not know it sees it. */
static ee_status explain_terms(bandit_object *self, arms_reading *reading, size_t arm, named_shares *out,
                               ee_error *error)
{
    ee_arms arms;
    const feature_term *terms;
    ee_status status = bandit_arms(self, reading, false, &arms, error);
    if (status) return status;
    out->contributions = malloc((explained_entries(&arms, arm) + 1) * sizeof *out->contributions);
    if (!out->contributions) return fail_memory(error);
    status = ee_bandit_explain(self->bandit, &arms, arm, out->contributions, error);
    if (!status) status = features_terms(self->bandit->features, reading->round, arm, &terms, &out->count, error);
    if (status) return status;
    out->terms = malloc((out->count + 1) * sizeof *out->terms);
    if (!out->terms) return fail_memory(error);
    share_out(&arms, arm, terms, out);
    return EE_OK;
}

static PyObject *explain_round(bandit_object *self, arms_reading *reading, size_t arm)
{
    named_shares shares = {NULL, NULL, 0};
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = explain_terms(self, reading, arm, &shares, &error);
    bandit_leave(self, state);
    PyObject *told =
        status ? raise_status(status, &error) : explained_names(reading->round, arm, shares.terms, shares.count);
    free(shares.contributions);
    free(shares.terms);
    return told;
}

/* ---- vectors ---- */

static PyObject *explain_vector(bandit_object *self, const ee_arms *arms, size_t arm)
{
    size_t count = explained_entries(arms, arm);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(float)));
    if (!bytes) return NULL;
    float *contributions = (float *)(void *)PyBytes_AsString(bytes);
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_explain(self->bandit, arms, arm, contributions, &error);
    bandit_leave(self, state);
    return explained_array(bytes, status, &error);
}

/* ---- methods ---- */

const char bandit_explain_doc[] =
    "explain($self, /, arms, arm, *, context=None)\n--\n\n"
    "What each feature contributes to the expected reward of an arm.\n\n"
    "For vectors: a float32 array, one number per feature of a dense arm or per entry of a sparse\n"
    "one. For named features: a dict from name to number, largest first. An interaction is named\n"
    "like 'user.age*item.id=a7'; 'constant' is the term that all arms share. Exact for linear\n"
    "policies, approximate for the others, and 0 for policies that do not learn. The mean of the\n"
    "rewards and the exploration bonus are not included. Changes nothing, and adds no names.\n\n"
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"
    ">>> arms = [{'topic': 'music'}, {'topic': 'sport'}]\n"
    ">>> for _ in range(20):\n"
    "...     decision = bandit.decide(arms)\n"
    "...     bandit.learn(decision, decision.arm)\n"
    ">>> sorted(bandit.explain(arms, 1))\n"
    "['constant', 'topic=sport']";

PyObject *bandit_explain(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"explain", 2, 2, 3, {"arms", "arm", "context"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[3], *told = NULL;
    arms_reading reading;
    size_t arm;
    if (bandit_arguments(self, &shape, args, count, names, values)) return NULL;
    if (arms_read(values[0], values[2], self->takes_rounds, &reading)) return NULL;
    if (!explained_read_arm(values[1], arms_read_count(&reading), &arm))
        told = reading.round ? explain_round(self, &reading, arm) : explain_vector(self, &reading.arms, arm);
    arms_release(&reading);
    return told;
}

const char bandit_learn_names_doc[] =
    "learn_names($self, /, arms, *, context=None)\n--\n\n"
    "Adds the feature names of a round and updates the scale of its numbers; learns nothing else.\n\n"
    "decide, decide_many, decide_slots and learn_from already do this; score, probabilities and\n"
    "explain never do. Call it once for each round that a snapshot decided, in order.\n\n"
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"
    ">>> bandit.learn_names([{'topic': 'music'}], context={'age': 31})\n"
    ">>> bandit.feature(1).name\n"
    "'age'";

PyObject *bandit_learn_names(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"learn_names", 1, 1, 2, {"arms", "context"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2];
    arms_reading reading;
    if (bandit_arguments(self, &shape, args, count, names, values)) return NULL;
    if (arms_read(values[0], values[1], self->takes_rounds, &reading)) return NULL;
    ee_error error;
    ee_arms arms;
    ee_status status = EE_OK;
    if (reading.round) {
        PyThreadState *state = bandit_enter(self);
        status = bandit_arms(self, &reading, true, &arms, &error);
        bandit_leave(self, state);
    }
    bool named = reading.round;
    arms_release(&reading);
    if (!named) return raise_bad_input("learn_names: expected named features (a list of mappings), got vectors");
    if (status) return raise_status(status, &error);
    Py_RETURN_NONE;
}
