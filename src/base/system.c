#define _GNU_SOURCE
#include "system.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && !defined(EENET_PLAIN_SYSTEM)
#define ON_LINUX 1
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
/* Some compilers with musl do not find the kernel's headers. */
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#endif
#else
#define ON_LINUX 0
#endif

static size_t cores_of_machine(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

#if ON_LINUX
size_t system_cores(void)
{
    cpu_set_t cores; /* of 1,024; a larger machine fails here */
    return sched_getaffinity(0, sizeof cores, &cores) ? cores_of_machine() : (size_t)CPU_COUNT(&cores);
}
#else
size_t system_cores(void)
{
    return cores_of_machine();
}
#endif

#if ON_LINUX && defined(MADV_HUGEPAGE)
void system_take_large_pages(void *start, size_t bytes)
{
    (void)madvise(start, bytes, MADV_HUGEPAGE); /* if this fails, small pages work as well */
}
#else
void system_take_large_pages(void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
}
#endif

#if ON_LINUX
void system_processor(char *name, size_t capacity)
{
    char line[256];
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " ");
        snprintf(name, capacity, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file) fclose(file);
}
#else
void system_processor(char *name, size_t capacity)
{
    if (capacity) name[0] = '\0';
}
#endif

#if ON_LINUX && defined(PERF_FLAG_FD_CLOEXEC)
int system_instruction_counter(void)
{
    struct perf_event_attr wanted = {.type = PERF_TYPE_HARDWARE,
                                     .size = sizeof wanted,
                                     .config = PERF_COUNT_HW_INSTRUCTIONS,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1,
                                     .inherit = 1};
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
#else
int system_instruction_counter(void)
{
    return -1;
}
#endif
