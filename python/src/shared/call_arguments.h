/* The arguments of a call as CPython hands them to a fast method: those by position, then those by name. */
#ifndef EENET_PYTHON_CALL_ARGUMENTS_H
#define EENET_PYTHON_CALL_ARGUMENTS_H

#include <Python.h>
#include <stdint.h>

/* In the stable ABI from 3.10 on; 3.9 has it with the same value and meaning, and the headers hide it. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* A row of a method table. The function is (self, args, count, names). */
#define FAST_METHOD(name, function, flags, doc)                                                                        \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS | (flags), doc                    \
    }

/* What a method takes. */
typedef struct call_shape {
    const char *method; /* "decide" */
    int required;       /* how many arguments are required: the first ones */
    int by_position;    /* how many may be positional */
    int count;          /* of all names */
    const char *names[6];
} call_shape;

/* values is (shape->count): borrowed references, NULL where not given. 0, or -1 with TypeError set. */
int call_arguments(const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names,
                   PyObject **values);

/* Numbers, with a sentence where they are none: 0, or -1 with an exception set. Whole numbers are 0 to most. */
int read_whole(PyObject *object, const char *what, uint64_t most, uint64_t *out);
int read_number(PyObject *object, const char *what, double *out);

#endif
