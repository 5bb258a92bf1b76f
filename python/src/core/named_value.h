/* Writes a Python value as JSON for the library's featurizer: nested mappings, lists, strings and numbers.
 *
 * Nothing is trusted: a value may run user code (__float__, items, tolist), which may change the objects being read.
 * A value that is nested too deeply, or contains itself, is refused. */
#ifndef EENET_PYTHON_NAMED_VALUE_H
#define EENET_PYTHON_NAMED_VALUE_H

#include <Python.h>

#include "json_writing.h"

/* The depth that the library reads. */
enum { NAMED_DEPTH = 64 };

/* One step of the path to the current value: a key, by its position in the JSON, or an index of a list. */
typedef struct named_step {
    size_t key, bytes;  /* bytes: 0 for a list and for a converted value */
    Py_ssize_t element; /* -1 if it is not an index */
} named_step;

typedef struct named_writing {
    json_writing json;
    Py_ssize_t arm; /* being written; -1: the context */
    named_step path[NAMED_DEPTH];
    int depth;
} named_writing;

/* All of these return 0, or -1 with an exception set that names the key. Missing values (None, NaN, pandas' NaT and
 * NA) become null, which is not a feature. */
int named_write_value(named_writing *self, PyObject *value);

/* Writes a mapping as an object. id: NULL, or an object whose string becomes the action's "_tag". */
int named_write_mapping(named_writing *self, PyObject *mapping, PyObject *id);

/* Writes a string unchanged; the library parses it as JSON. */
int named_write_json(named_writing *self, PyObject *text);

/* Writes the key of a member, a string or an integer, and a colon. */
int named_write_key(named_writing *self, PyObject *key);

int named_write_byte(named_writing *self, char byte);

/* Enter and leave a level of the path. */
int named_enter(named_writing *self);
void named_leave(named_writing *self);

/* TypeError: "arms[3]: user.age: expected a number, got set". Returns -1. */
int named_refuse_type(const named_writing *self, PyObject *value, const char *needed);

/* Whether it is a dict or has keys; -1 with an exception set. */
int named_is_mapping(PyObject *object);

#endif
