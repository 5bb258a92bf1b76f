/* eenet.Bandit: a bandit of the library with a lock.
 *
 * Every call reads its arguments, releases the GIL, takes the lock, then computes. No Python object is used while
 * the lock is held, and no thread waits for the lock with the GIL, so threads may share a bandit. */
#ifndef EENET_PYTHON_BANDIT_OBJECT_H
#define EENET_PYTHON_BANDIT_OBJECT_H

#include <Python.h>
#include <pthread.h>
#include <stdbool.h>

#include "arms_reading.h"
#include "eenet.h"
#include "shared/call_arguments.h"

typedef struct bandit_object {
    PyObject_HEAD ee_bandit *bandit;
    pthread_mutex_t mutex;
    const char *policy, *options, *features; /* these three, dim and seed as in ee_info; they never change */
    Py_ssize_t dim;
    unsigned long long seed;
    bool takes_rounds;         /* it has named features */
    unsigned long long number; /* unique in this process; 0: restored, may learn other bandits' decisions */
    unsigned long forks;       /* forking_count at the last call */
    bool lost;                 /* another thread was inside a call when this process forked */
} bandit_object;

/* Call one of these, with the GIL, before bandit_enter. bandit_check returns 0, or -1 with RuntimeError set if the
 * bandit was lost in a fork; bandit_arguments is bandit_check followed by call_arguments. */
int bandit_check(bandit_object *self);
int bandit_arguments(PyObject *self, const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names,
                     PyObject **values);

/* Releases the GIL and takes the lock, until bandit_leave. */
static inline PyThreadState *bandit_enter(bandit_object *self)
{
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&self->mutex);
    return state;
}

static inline void bandit_leave(bandit_object *self, PyThreadState *state)
{
    pthread_mutex_unlock(&self->mutex);
    PyEval_RestoreThread(state);
}

/* Call it between bandit_enter and bandit_leave. Finds the arms of a reading. learns: add unknown feature names to
 * the bandit first. */
ee_status bandit_arms(bandit_object *self, arms_reading *reading, bool learns, ee_arms *out, ee_error *error);

/* The bytes that the bandit has allocated. */
size_t bandit_memory(bandit_object *self);

/* A new Bandit or subclass that owns bandit. On failure it frees bandit and returns NULL. */
PyObject *bandit_wrap(PyTypeObject *type, ee_bandit *bandit);

int bandit_add(PyObject *module);

#endif
