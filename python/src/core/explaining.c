/* explain: what each feature of an arm adds to its expected reward. */
#include "deciding.h"
#include "engine/bandit.h"
#include "engine/explanation.h"
#include "features/features.h"
#include "features/round.h"
#include "shared/raising.h"

static size_t count_entries(const ee_arms *arms, size_t arm)
{
    return arms->starts ? arms->starts[arm + 1] - arms->starts[arm] : arms->dim;
}

/* ---- vectors ---- */

static PyObject *explain_vector(const decider *self, const ee_arms *arms, size_t arm)
{
    const Py_ssize_t count = (Py_ssize_t)count_entries(arms, arm);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(float));
    if (!bytes) return NULL;
    float *contributions = (void *)PyBytes_AsString(bytes);
    ee_error error;
    PyThreadState *state = decider_enter(self);
    ee_status status = self->snapshot
                           ? ee_snapshot_explain(self->snapshot, self->scratch, arms, arm, contributions, &error)
                           : ee_bandit_explain(self->bandit->bandit, arms, arm, contributions, &error);
    decider_leave(self, state);
    PyObject *array = status ? raise_status(status, &error) : array_from_bytes(bytes, "f4", 1, &count);
    Py_DECREF(bytes);
    return array;
}

/* ---- named features ---- */

/* What the terms of an arm contribute. */
typedef struct term_list {
    explained_entry *entries; /* (count) */
    size_t count;
    float *contributions; /* (entries of the arm), and the memory of `entries`; both NULL for a snapshot */
    explained_entry *block;
} term_list;

/* The position of a place among the entries of an arm; count if there is none because two terms cancelled out. */
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

/* Gives each term its share of the entry that it is part of. */
static void share_out(const ee_arms *arms, size_t arm, const feature_term *terms, term_list *out)
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
        out->entries[i] = (explained_entry){term->left, term->right, 0, contribution};
    }
}

/* Learns no names: unknown features are encoded as unknown. */
static ee_status explain_with_bandit(bandit_object *self, arms_reading *reading, size_t arm, term_list *out,
                                     ee_error *error)
{
    ee_arms arms;
    const feature_term *terms;
    ee_status status = bandit_arms(self, reading, false, &arms, error);
    if (!status) status = memory_create(NULL, &out->contributions, count_entries(&arms, arm), sizeof(float), error);
    if (!status) status = ee_bandit_explain(self->bandit, &arms, arm, out->contributions, error);
    if (!status) status = features_terms(self->bandit->features, reading->round, arm, &terms, &out->count, error);
    if (!status) status = memory_create(NULL, &out->block, out->count, sizeof *out->block, error);
    if (status) return status;
    out->entries = out->block;
    share_out(&arms, arm, terms, out);
    return EE_OK;
}

static ee_status explain_with_snapshot(const decider *self, arms_reading *reading, size_t arm, term_list *out,
                                       ee_error *error)
{
    explanation *found;
    ee_status status =
        snapshot_explain(self->snapshot, self->scratch, NULL, reading->round, self->seed, (int64_t)arm, &found, error);
    if (!status) *out = (term_list){.entries = found->entries, .count = found->entry_count};
    return status;
}

static PyObject *feature_name(const ee_round *round, size_t arm, uint32_t number)
{
    const round_feature *feature = round_feature_at(round, arm, number);
    return PyUnicode_DecodeUTF8(round->text + feature->text, (Py_ssize_t)feature->bytes, "replace");
}

/* "user.age", "user.age*item.id=a7" or "constant", like ee_bandit_feature. */
static PyObject *entry_name(const ee_round *round, size_t arm, const explained_entry *entry)
{
    if (entry->left == NO_FEATURE) return PyUnicode_FromString("constant");
    PyObject *left = feature_name(round, arm, entry->left);
    if (!left || entry->right == NO_FEATURE) return left;
    PyObject *right = feature_name(round, arm, entry->right);
    PyObject *both = right ? PyUnicode_FromFormat("%U*%U", left, right) : NULL;
    Py_DECREF(left);
    Py_XDECREF(right);
    return both;
}

static int add_contribution(PyObject *dict, PyObject *name, double contribution)
{
    PyObject *before = PyDict_GetItemWithError(dict, name);
    if (!before && PyErr_Occurred()) return -1;
    if (before) contribution += PyFloat_AsDouble(before);
    PyObject *number = PyFloat_FromDouble(contribution);
    int status = number ? PyDict_SetItem(dict, name, number) : -1;
    Py_XDECREF(number);
    return status;
}

/* A dict from name to contribution, largest first. Terms with the same name are added up. */
static PyObject *name_terms(const ee_round *round, size_t arm, const term_list *terms)
{
    explained_arm all = {.count = terms->count};
    explanation ranked = {.arms = &all, .arm_count = 1, .entries = terms->entries, .entry_count = terms->count};
    if (terms->count) explanation_rank(&ranked);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < terms->count; i++) {
        PyObject *name = entry_name(round, arm, &terms->entries[i]);
        if (!name || add_contribution(dict, name, (double)terms->entries[i].contribution)) Py_CLEAR(dict);
        Py_XDECREF(name);
    }
    return dict;
}

static PyObject *explain_round(const decider *self, arms_reading *reading, size_t arm)
{
    term_list terms = {0};
    ee_error error;
    PyThreadState *state = decider_enter(self);
    ee_status status = self->snapshot ? explain_with_snapshot(self, reading, arm, &terms, &error)
                                      : explain_with_bandit(self->bandit, reading, arm, &terms, &error);
    decider_leave(self, state);
    PyObject *dict = status ? raise_status(status, &error) : name_terms(reading->round, arm, &terms);
    memory_free(terms.contributions);
    memory_free(terms.block);
    return dict;
}

PyObject *decider_explain(const decider *self, arms_reading *reading, PyObject *argument)
{
    uint64_t arm;
    size_t count = arms_read_count(reading);
    if (read_whole(argument, "arm", UINT64_MAX, &arm)) return NULL;
    if (!count) return raise_bad_input("explain: expected at least one arm, got none"), NULL;
    if (arm >= count)
        return raise_bad_input("explain: expected an arm from 0 to %zu, got %llu", count - 1, (unsigned long long)arm),
               NULL;
    return reading->round ? explain_round(self, reading, (size_t)arm)
                          : explain_vector(self, &reading->arms, (size_t)arm);
}
