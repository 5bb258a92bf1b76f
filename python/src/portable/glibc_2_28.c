/* Lets a wheel that is built with a newer glibc run on glibc 2.28. Newer versions gave these functions new symbol
 * versions, which an older glibc refuses. The extension calls those below, which call the old versions; they compute
 * the same. Each extension of a wheel contains this file, and hides its functions. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

/* The first versions of each architecture, and the version of struct stat that __xstat expects. */
#if defined(__x86_64__)
#define BASE "GLIBC_2.2.5"
#define SETCLOCK "GLIBC_2.3.3"
enum { STAT_VERSION = 1 };
#elif defined(__aarch64__)
#define BASE "GLIBC_2.17"
#define SETCLOCK BASE
enum { STAT_VERSION = 0 };
#else
#error "portable wheels are built for x86-64 and aarch64"
#endif

/* Declares old_NAME, which is version `version` of NAME. */
#define OLD(result, name, arguments, version)                                                                          \
    result old_##name arguments;                                                                                       \
    __asm__(".symver old_" #name ", " #name "@" version)

/* ---- changed in 2.29 and 2.35 ---- */

OLD(double, exp, (double), BASE);
OLD(double, exp2, (double), BASE);
OLD(double, log, (double), BASE);
OLD(double, log2, (double), BASE);
OLD(double, pow, (double, double), BASE);
OLD(double, hypot, (double, double), BASE);

double exp(double x)
{
    return old_exp(x);
}

double exp2(double x)
{
    return old_exp2(x);
}

double log(double x)
{
    return old_log(x);
}

double log2(double x)
{
    return old_log2(x);
}

double pow(double x, double y)
{
    return old_pow(x, y);
}

double hypot(double x, double y)
{
    return old_hypot(x, y);
}

/* ---- new in 2.33: before, they were part of every program, and called these ---- */

int __xstat(int version, const char *path, struct stat *about);
int __lxstat(int version, const char *path, struct stat *about);
int __fxstat(int version, int descriptor, struct stat *about);

int stat(const char *restrict path, struct stat *restrict about)
{
    return __xstat(STAT_VERSION, path, about);
}

int lstat(const char *restrict path, struct stat *restrict about)
{
    return __lxstat(STAT_VERSION, path, about);
}

int fstat(int descriptor, struct stat *about)
{
    return __fxstat(STAT_VERSION, descriptor, about);
}

/* ---- moved from libpthread to libc in 2.34 ---- */

OLD(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), BASE);
OLD(int, pthread_join, (pthread_t, void **), BASE);
OLD(int, pthread_once, (pthread_once_t *, void (*)(void)), BASE);
OLD(int, pthread_mutex_trylock, (pthread_mutex_t *), BASE);
OLD(int, pthread_getcpuclockid, (pthread_t, clockid_t *), BASE);
OLD(int, pthread_condattr_setclock, (pthread_condattr_t *, clockid_t), SETCLOCK);

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                   void *restrict argument)
{
    return old_pthread_create(thread, attributes, start, argument);
}

int pthread_join(pthread_t thread, void **result)
{
    return old_pthread_join(thread, result);
}

int pthread_once(pthread_once_t *once, void (*function)(void))
{
    return old_pthread_once(once, function);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return old_pthread_mutex_trylock(mutex);
}

int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
    return old_pthread_getcpuclockid(thread, clock);
}

int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock)
{
    return old_pthread_condattr_setclock(attributes, clock);
}
