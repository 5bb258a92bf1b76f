#define _GNU_SOURCE
#include "memory_limit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* The number in a file; UINT64_MAX if it has none, as "max". */
static uint64_t read_number(const char *path)
{
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file) return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1) number = UINT64_MAX;
    fclose(file);
    return number;
}

/* Of the group at `path` and all above it. In a container the path may be one that is not visible there; its own group
 * is then at the top. */
static uint64_t smallest_above(const char *folder, const char *path, size_t length, const char *name)
{
    uint64_t smallest = UINT64_MAX;
    for (;;) {
        char file[PATH_SIZE];
        int size = snprintf(file, sizeof file, "%s%.*s/%s", folder, (int)length, path, name);
        uint64_t limit = size < (int)sizeof file ? read_number(file) : UINT64_MAX;
        if (limit < smallest) smallest = limit;
        if (!length) return smallest;
        while (length && path[--length] != '/') continue;
    }
}

static bool has_memory(const char *controllers, size_t length)
{
    static const char name[] = "memory";
    for (const char *at = controllers, *end = at + length; at < end;) {
        size_t size = strcspn(at, ",:");
        if (size == sizeof name - 1 && memcmp(at, name, size) == 0) return true;
        at += size + 1;
    }
    return false;
}

/* A line is NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers. */
uint64_t memory_limit_of_groups(const char *groups, const char *folder)
{
    uint64_t smallest = UINT64_MAX;
    for (const char *line = groups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        size_t length = strcspn(++path, "\n");
        uint64_t limit = UINT64_MAX;
        if (strncmp(line, "0::", 3) == 0) {
            limit = smallest_above(folder, path, length, "memory.max");
        } else if (has_memory(controllers + 1, (size_t)(path - 1 - (controllers + 1)))) {
            char below[PATH_SIZE];
            snprintf(below, sizeof below, "%s/memory", folder);
            limit = smallest_above(below, path, length, "memory.limit_in_bytes");
        }
        if (limit < smallest) smallest = limit;
    }
    return smallest;
}

uint64_t memory_limit(void)
{
    char groups[PATH_SIZE];
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return machine;
    groups[fread(groups, 1, sizeof groups - 1, file)] = '\0';
    fclose(file);
    uint64_t limit = memory_limit_of_groups(groups, "/sys/fs/cgroup");
    return limit < machine ? limit : machine;
}
