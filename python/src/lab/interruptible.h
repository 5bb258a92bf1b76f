/* Runs long work without the GIL; Ctrl-C stops it. */
#ifndef EENET_INTERRUPTIBLE_H
#define EENET_INTERRUPTIBLE_H

#include <Python.h>
#include <stdatomic.h>

/* Runs work(context) in another thread, and checks for signals ten times a second. If a signal handler raises, sets
 * *stop, waits until work returns (it should do so soon), and returns -1 with the exception set. Otherwise returns
 * 0. */
int interruptible_run(void (*work)(void *context), void *context, atomic_bool *stop);

#endif
