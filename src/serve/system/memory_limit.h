/* How much memory this process may use: of the machine, or less if a control group (a container, a systemd unit) limits
 * it. */
#ifndef EENET_MEMORY_LIMIT_H
#define EENET_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes. */
uint64_t memory_limit(void);

/* The limit of the control groups in `groups`, the text of /proc/self/cgroup, below the folder where they are mounted:
 * the smallest of the group and those above it. UINT64_MAX: none. Version 2, and the memory controller of version 1. */
uint64_t memory_limit_of_groups(const char *groups, const char *folder);

#endif
