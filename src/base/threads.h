/* What pthread.h offers. A WebAssembly module has one thread, so nothing waits there and these calls do nothing. */
#ifndef EENET_THREADS_H
#define EENET_THREADS_H

#if defined(__wasi__)

typedef char one_thread;
#define pthread_mutex_t one_thread
#define pthread_cond_t one_thread
#define pthread_mutex_init(mutex, attributes) ((void)(mutex), 0)
#define pthread_cond_init(condition, attributes) ((void)(condition), 0)
#define pthread_mutex_destroy(mutex) ((void)(mutex))
#define pthread_cond_destroy(condition) ((void)(condition))
#define pthread_mutex_lock(mutex) ((void)(mutex))
#define pthread_mutex_unlock(mutex) ((void)(mutex))
#define pthread_cond_broadcast(condition) ((void)(condition))
#define pthread_cond_wait(condition, mutex) ((void)(condition), (void)(mutex))

#else
#include <pthread.h>
#endif

#endif
