/* Dense arms as lists of Python's own numbers. numpy takes them too, and takes five times as long. */
#ifndef EENET_PYTHON_LIST_READING_H
#define EENET_PYTHON_LIST_READING_H

#include "shared/array_view.h"

/* The view of a list of lists, all of one length, that hold nothing but float and int. 0; 1 where it is anything else,
 * which is for numpy to see; -1 with an exception set. */
int list_read(PyObject *arms, array_view *out);

#endif
