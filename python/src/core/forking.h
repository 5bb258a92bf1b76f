/* What a fork leaves behind: the child has the forking thread alone. An object that another thread was using then stays
 * locked and half changed there, so the child must not touch it. */
#ifndef EENET_PYTHON_FORKING_H
#define EENET_PYTHON_FORKING_H

#include <Python.h>

/* Counts the forks that led to this process, from now on. 0, or -1 with an exception set. */
int forking_watch(void);
unsigned long forking_count(void);

/* RuntimeError: "this Bandit was in use by another thread when ..."; returns -1. */
int forking_refuse(const char *type);

#endif
