#include "explanation_values.h"

#include "features/round.h"
#include "shared/array_view.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

int explained_read_arm(PyObject *object, size_t count, size_t *arm)
{
    uint64_t number;
    if (read_whole(object, "arm", UINT64_MAX, &number)) return -1;
    *arm = (size_t)number;
    if (number < count) return 0;
    if (count)
        raise_bad_input("explain: expected an arm from 0 to %zu, got %llu", count - 1, (unsigned long long)number);
    else
        raise_bad_input("explain: expected at least one arm, got none");
    return -1;
}

size_t explained_entries(const ee_arms *arms, size_t arm)
{
    return arms->starts ? arms->starts[arm + 1] - arms->starts[arm] : arms->dim;
}

PyObject *explained_array(PyObject *bytes, ee_status status, const ee_error *error)
{
    const Py_ssize_t shape[1] = {PyBytes_Size(bytes) / (Py_ssize_t)sizeof(float)};
    PyObject *array = status ? raise_status(status, error) : array_from_bytes(bytes, "f4", 1, shape);
    Py_DECREF(bytes);
    return array;
}

static PyObject *feature_name(const ee_round *round, size_t arm, uint32_t number)
{
    const round_feature *feature = round_feature_at(round, arm, number);
    return PyUnicode_DecodeUTF8(round->text + feature->text, (Py_ssize_t)feature->bytes, "replace");
}

/* "user.age", "user.age*item.id=a7", "constant": as ee_bandit_feature has them. */
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

PyObject *explained_names(const ee_round *round, size_t arm, explained_entry *entries, size_t count)
{
    explained_arm all = {.count = count};
    explanation ranked = {.arms = &all, .arm_count = 1, .entries = entries, .entry_count = count};
    if (count) explanation_rank(&ranked);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        PyObject *name = entry_name(round, arm, &entries[i]);
        if (!name || add_contribution(dict, name, (double)entries[i].contribution)) Py_CLEAR(dict);
        Py_XDECREF(name);
    }
    return dict;
}
