#include "limits_reading.h"

#include <string.h>

#include "shared/call_arguments.h"
#include "shared/raising.h"

/* The items of a sequence of this length; any length if it is negative. A mapping or a set has no order of arms. */
static PyObject *read_items(PyObject *object, const char *what, const char *items, Py_ssize_t length)
{
    if (!PySequence_Check(object)) {
        raise_wrong_type(what, "a sequence", object);
        return NULL;
    }
    PyObject *tuple = read_sequence(object, what);
    if (tuple && length >= 0 && PyTuple_Size(tuple) != length) {
        raise_bad_input("%s: expected %zd %s, got %zd", what, length, items, PyTuple_Size(tuple));
        Py_CLEAR(tuple);
    }
    return tuple;
}

/* Zeroed memory, which arms_release frees. NULL: an exception is set. */
static void *allocate(size_t count, size_t size)
{
    void *block = PyMem_Calloc(count + 1, size);
    if (!block) PyErr_NoMemory();
    return block;
}

static int read_boosts(PyObject *boosts, Py_ssize_t arms, arms_limits *out)
{
    PyObject *items = read_items(boosts, "boosts", "numbers, one per arm", arms);
    if (items) out->boosts = allocate((size_t)arms, sizeof *out->boosts);
    int status = items && out->boosts ? 0 : -1;
    for (Py_ssize_t i = 0; i < arms && !status; i++) {
        double boost;
        status = read_number(PyTuple_GetItem(items, i), "boosts", &boost);
        if (!status) out->boosts[i] = (float)boost;
    }
    Py_XDECREF(items);
    out->limits.boosts = out->boosts;
    return status;
}

static int read_share(PyObject *share, double *low, double *high)
{
    PyObject *pair = read_items(share, "shares", "numbers for each group, (low, high)", 2);
    int status = pair ? read_number(PyTuple_GetItem(pair, 0), "shares", low) : -1;
    if (!status) status = read_number(PyTuple_GetItem(pair, 1), "shares", high);
    Py_XDECREF(pair);
    return status;
}

static int read_shares(PyObject *shares, arms_limits *out)
{
    PyObject *items = read_items(shares, "shares", "", -1);
    if (!items) return -1;
    Py_ssize_t count = PyTuple_Size(items);
    out->bounds = allocate(2 * (size_t)count, sizeof *out->bounds);
    int status = out->bounds ? 0 : -1;
    for (Py_ssize_t i = 0; i < count && !status; i++)
        status = read_share(PyTuple_GetItem(items, i), &out->bounds[i], &out->bounds[count + i]);
    Py_DECREF(items);
    out->limits.low = out->bounds;
    out->limits.high = out->bounds + count;
    out->limits.group_count = (size_t)count;
    return status;
}

static int read_groups(PyObject *groups, Py_ssize_t arms, arms_limits *out)
{
    PyObject *items = read_items(groups, "groups", "integers or None, one per arm", arms);
    if (items) out->groups = allocate((size_t)arms, sizeof *out->groups);
    int status = items && out->groups ? 0 : -1;
    for (Py_ssize_t i = 0; i < arms && !status; i++) {
        PyObject *item = PyTuple_GetItem(items, i);
        uint64_t group = EE_NO_GROUP;
        if (item != Py_None) status = read_whole(item, "groups", UINT32_MAX - 1, &group);
        if (!status && item != Py_None && group >= out->limits.group_count)
            status = raise_bad_input("groups: arm %zd has group %llu, but shares has %zu entries", i,
                                     (unsigned long long)group, out->limits.group_count);
        if (!status) out->groups[i] = (uint32_t)group;
    }
    Py_XDECREF(items);
    out->limits.groups = out->groups;
    return status;
}

static int read_all(limits_arguments given, Py_ssize_t arms, arms_limits *out)
{
    if (given.boosts && read_boosts(given.boosts, arms, out)) return -1;
    if (!given.groups && !given.shares) return 0;
    if (!given.shares) return raise_bad_input("groups: expected shares too, one (low, high) per group");
    if (!given.groups) return raise_bad_input("shares: expected groups too, the group of each arm");
    return read_shares(given.shares, out) || read_groups(given.groups, arms, out) ? -1 : 0;
}

int limits_read(limits_arguments given, arms_reading *arms)
{
    if (given.boosts == Py_None) given.boosts = NULL;
    if (given.groups == Py_None) given.groups = NULL;
    if (given.shares == Py_None) given.shares = NULL;
    if (!given.boosts && !given.groups && !given.shares) return 0;
    arms->limits = allocate(1, sizeof *arms->limits);
    if (!arms->limits) return -1;
    if (read_all(given, (Py_ssize_t)arms_read_count(arms), arms->limits)) return -1;
    arms->arms.limits = &arms->limits->limits;
    ee_round_set_limits(arms->round, &arms->limits->limits);
    return 0;
}
