/* Clocks that a test moves while the program runs: a library for LD_PRELOAD (Linux).
 *
 *     LD_PRELOAD=libmoved_clock.so MOVED_CLOCK=FILE PROGRAM
 *
 * FILE has two int64: seconds that are added to CLOCK_REALTIME, and to CLOCK_BOOTTIME. It is mapped, so a change takes
 * effect at once. CLOCK_MONOTONIC stays as it is: the system's waits end by it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const atomic_int_least64_t none[2];
static const atomic_int_least64_t *moved = none;

__attribute__((constructor)) static void map_file(void)
{
    const char *path = getenv("MOVED_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) abort();
    void *bytes = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) abort();
    moved = bytes;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    long failed = syscall(SYS_clock_gettime, which, out);
    if (failed) return (int)failed;
    if (which == CLOCK_REALTIME) out->tv_sec += atomic_load(&moved[0]);
    if (which == CLOCK_BOOTTIME) out->tv_sec += atomic_load(&moved[1]);
    return 0;
}
