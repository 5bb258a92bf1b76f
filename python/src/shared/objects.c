#include "objects.h"

#include <string.h>

int object_attribute(PyObject *object, const char *name, PyObject **out)
{
    *out = PyObject_GetAttrString(object, name);
    if (*out) return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

int object_has(PyObject *object, const char *name)
{
    PyObject *found;
    int has = object_attribute(object, name, &found);
    Py_XDECREF(found);
    return has;
}

PyObject *text_from_bytes(const char *bytes)
{
    if (!bytes) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

void list_append(PyObject **list, PyObject *item)
{
    if (!item || PyList_Append(*list, item)) Py_CLEAR(*list);
    Py_XDECREF(item);
}

int type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (!*type) return -1;
    Py_INCREF(*type);
    return PyModule_AddObject(module, strrchr(spec->name, '.') + 1, (PyObject *)*type);
}
