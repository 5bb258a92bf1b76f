/* A Python value as JSON: mappings, lists, texts and numbers, whatever nests in them, for the library's featurizer.
 *
 * Nothing is trusted: a value may run code of anybody (__float__, items, tolist), which may change what is being
 * read. What nests too deep, or in itself, is refused. */
#ifndef EENET_PYTHON_NAMED_VALUE_H
#define EENET_PYTHON_NAMED_VALUE_H

#include <Python.h>

#include "json_writing.h"

/* As deep as the library reads. */
enum { NAMED_DEPTH = 64 };

/* Where in a value one is: a key, by where it was written, or a number of a list. */
typedef struct named_step {
    size_t key, bytes;  /* bytes: 0 of a list, and of what was converted */
    Py_ssize_t element; /* -1 where it is none */
} named_step;

typedef struct named_writing {
    json_writing json;
    Py_ssize_t arm; /* that is being written; -1: the context */
    named_step path[NAMED_DEPTH];
    int depth;
} named_writing;

/* All of them return 0, or -1 with an exception set that names the key. What is missing (None, NaN, NaT and NA of
 * pandas) is null, which is no feature. */
int named_write_value(named_writing *self, PyObject *value);

/* A mapping as an object. id: what the action is called, any object, which is its "_tag" then; or NULL. */
int named_write_mapping(named_writing *self, PyObject *mapping, PyObject *id);

/* A text as it is, which the library is to read as JSON. */
int named_write_json(named_writing *self, PyObject *text);

/* The key of a member, a text or a whole number, with its colon; the value is written then. */
int named_write_key(named_writing *self, PyObject *key);

int named_write_byte(named_writing *self, char byte);

/* Opens a level of the path, and closes it. */
int named_enter(named_writing *self);
void named_leave(named_writing *self);

/* TypeError: "arms[3]: user.age is <class 'set'>; " and what is needed. Returns -1. */
int named_refuse_type(const named_writing *self, PyObject *value, const char *needed);

/* Whether it is a mapping: a dict, or what has keys. -1 with an exception set. */
int named_is_mapping(PyObject *object);

#endif
