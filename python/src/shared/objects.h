/* Small operations on Python objects that both extensions need. */
#ifndef EENET_PYTHON_OBJECTS_H
#define EENET_PYTHON_OBJECTS_H

#include <Python.h>

/* *out: an attribute, as a new reference. 1; 0 if the object lacks it; -1 with an exception set. */
int object_attribute(PyObject *object, const char *name, PyObject **out);

/* Whether an object has an attribute; -1 with an exception set. */
int object_has(PyObject *object, const char *name);

/* A string whose bytes may be anything: what is not UTF-8 is replaced. None for NULL. */
PyObject *text_from_bytes(const char *bytes);

/* Appends item, a reference that it takes over. If item is NULL or there is no memory, *list becomes NULL. */
void list_append(PyObject **list, PyObject *item);

/* Adds the type of a spec such as "eenet.Scores" to a module. 0, or -1 with an exception set. */
int type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

#endif
