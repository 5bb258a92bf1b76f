/* The arguments of a call as CPython passes them to a fast method: those by position, then those by name. In all
 * functions `what` names the argument in messages. */
#ifndef EENET_PYTHON_CALL_ARGUMENTS_H
#define EENET_PYTHON_CALL_ARGUMENTS_H

#include <Python.h>
#include <stdint.h>

/* In the stable ABI since 3.10; 3.9 has it with the same value and meaning, but its headers hide it. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

typedef PyObject *fast_method(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* A row of a method table; function is a fast_method. */
#define FAST_METHOD(name, function, flags, doc)                                                                        \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS | (flags), doc                    \
    }

/* The arguments of a method. */
typedef struct call_shape {
    const char *method; /* "decide" */
    int required;       /* the number of required arguments, which come first */
    int by_position;    /* the number of arguments that may be positional */
    int count;          /* of names */
    const char *names[7];
} call_shape;

/* values is (shape->count): borrowed references, NULL if not given. 0, or -1 with TypeError set. */
int call_arguments(const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names,
                   PyObject **values);

/* Numbers, and integers from 0 to most: 0, or -1 with an exception set. */
int read_whole(PyObject *object, const char *what, uint64_t most, uint64_t *out);
int read_number(PyObject *object, const char *what, double *out);

/* The items of a sequence as a tuple: a new reference, or NULL with an exception set. */
PyObject *read_sequence(PyObject *object, const char *what);

/* *text, in UTF-8, is valid as long as *holder, a new reference. Both are NULL for None. 0, or -1 with an exception
 * set. */
int read_text(PyObject *object, const char *what, PyObject **holder, const char **text);

/* Like read_text for a path: str, bytes or os.PathLike. */
int read_path(PyObject *object, PyObject **holder, const char **path);

#endif
