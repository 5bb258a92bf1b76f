/* An extension with a mistake of each kind, so that the tests under the sanitizers are seen to find them. */
#include <Python.h>

#include <pthread.h>
#include <stdlib.h>

static void *volatile last; /* what is overwritten here is lost */

static PyObject *leak_memory(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    last = malloc(1000);
    last = NULL;
    Py_RETURN_NONE;
}

static PyObject *leak_object(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    last = PyBytes_FromStringAndSize(NULL, 1000);
    last = NULL;
    Py_RETURN_NONE;
}

static PyObject *read_beyond(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    char *volatile bytes = calloc(10, 1);
    const char beyond = bytes[10];
    free(bytes);
    return PyLong_FromLong(beyond);
}

static PyObject *overflow_number(PyObject *module, PyObject *number)
{
    (void)module;
    const int value = (int)PyLong_AsLong(number);
    return PyLong_FromLong(value + 1);
}

static void *count(void *counter)
{
    for (int i = 0; i < 1000; i++) ++*(volatile int *)counter;
    return NULL;
}

static PyObject *race(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int counter = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, &counter)) return PyErr_NoMemory();
    count(&counter);
    pthread_join(thread, NULL);
    return PyLong_FromLong(counter);
}

static PyMethodDef functions[] = {{"leak_memory", leak_memory, METH_NOARGS, NULL},
                                  {"leak_object", leak_object, METH_NOARGS, NULL},
                                  {"read_beyond", read_beyond, METH_NOARGS, NULL},
                                  {"overflow_number", overflow_number, METH_O, NULL},
                                  {"race", race, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_planted", .m_methods = functions};

PyMODINIT_FUNC PyInit__planted(void)
{
    return PyModuleDef_Init(&definition);
}
