/* Long work without the GIL, which Ctrl-C ends. */
#ifndef EENET_INTERRUPTIBLE_H
#define EENET_INTERRUPTIBLE_H

#include <Python.h>
#include <stdatomic.h>

/* Does work(context) in a thread of its own; this one waits, and looks for signals ten times a second. Where a handler
 * raises, *stop becomes true, work is expected to return soon, and -1 with the exception is returned once it has; else
 * 0. */
int interruptible_run(void (*work)(void *context), void *context, atomic_bool *stop);

#endif
