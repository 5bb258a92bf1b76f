/* Forks. The child process has only the thread that forked. An object that another thread was using stays locked and
 * half changed there, so the child must not use it. */
#ifndef EENET_PYTHON_FORKING_H
#define EENET_PYTHON_FORKING_H

#include <Python.h>

/* Starts to count the forks that lead to this process. 0, or -1 with an exception set. */
int forking_watch(void);
unsigned long forking_count(void);

/* RuntimeError: "this Bandit was in use by another thread when ..."; returns -1. */
int forking_refuse(const char *type);

#endif
