#include "forking.h"

#include <pthread.h>

static unsigned long forks;

static void count_fork(void)
{
    forks++;
}

int forking_watch(void)
{
    static int watched;
    if (watched || !pthread_atfork(NULL, NULL, count_fork)) {
        watched = 1;
        return 0;
    }
    PyErr_NoMemory();
    return -1;
}

unsigned long forking_count(void)
{
    return forks;
}

int forking_refuse(const char *type)
{
    PyErr_Format(PyExc_RuntimeError,
                 "this %s was in use by another thread when the process forked; in the child, load the bandit from a "
                 "file or from bytes",
                 type);
    return -1;
}
