/* eenet.Bandit: a bandit of the library with a lock.
 *
 * Every call reads its arguments, then lets go of the GIL, then locks, then computes. Nothing of Python is touched with
 * the lock held, and nobody waits for it with the GIL, so that threads may share a bandit: one after the other. */
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
    const char *policy, *options, *features; /* as in ee_info, like what follows; they never change */
    Py_ssize_t dim;
    unsigned long long seed;
    bool takes_rounds;         /* it has named features */
    unsigned long long number; /* unique in this process; 0: restored from a model, whose decisions it may learn */
    unsigned long forks;       /* forking_count at the last call */
    bool lost;                 /* another thread was inside a call when this process forked */
} bandit_object;

/* Every call that enters begins with one of these two, with the GIL. bandit_check: 0, or -1 with RuntimeError set if
 * the bandit was lost in a fork. bandit_arguments: call_arguments after that. */
int bandit_check(bandit_object *self);
int bandit_arguments(PyObject *self, const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names,
                     PyObject **values);

/* Without the GIL and with the lock, until bandit_leave. */
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

/* Between the two. The arms of a reading: of named features by what the bandit knows, which then learns their names
 * where learns. */
ee_status bandit_arms(bandit_object *self, arms_reading *reading, bool learns, ee_arms *out, ee_error *error);

/* Bytes that the bandit has allocated. */
size_t bandit_memory(bandit_object *self);

/* A Bandit, or a subclass of it, that owns bandit; takes it over also where it fails, and returns NULL. */
PyObject *bandit_wrap(PyTypeObject *type, ee_bandit *bandit);

int bandit_add(PyObject *module);

#endif
