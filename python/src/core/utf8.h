/* Texts for the library, which wants them in UTF-8 and ended by a zero. */
#ifndef EENET_PYTHON_UTF8_H
#define EENET_PYTHON_UTF8_H

#include <Python.h>

/* *text is valid while *holder lives, which is a new reference or NULL. None gives NULL. 0, or -1 with an exception
 * set. `what` names the argument. */
int utf8_text(PyObject *object, const char *what, PyObject **holder, const char **text);

/* As utf8_text, of a path: str, bytes or os.PathLike. */
int utf8_path(PyObject *object, PyObject **holder, const char **path);

#endif
