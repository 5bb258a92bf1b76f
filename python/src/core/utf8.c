#include "utf8.h"

#include <string.h>

#include "shared/raising.h"

int utf8_text(PyObject *object, const char *what, PyObject **holder, const char **text)
{
    *holder = NULL;
    *text = NULL;
    if (!object) return -1;
    if (object == Py_None) return 0;
    if (!PyUnicode_Check(object)) {
        raise_wrong_type(what, "a string", object);
        return -1;
    }
    *holder = PyUnicode_AsUTF8String(object);
    if (!*holder) return -1;
    *text = PyBytes_AsString(*holder);
    if (strlen(*text) == (size_t)PyBytes_Size(*holder)) return 0;
    Py_CLEAR(*holder);
    raise_bad_input("%s: the string contains a null character", what);
    return -1;
}

int utf8_path(PyObject *object, PyObject **holder, const char **path)
{
    *holder = NULL;
    if (!PyUnicode_FSConverter(object, holder)) return -1;
    *path = PyBytes_AsString(*holder);
    return 0;
}
