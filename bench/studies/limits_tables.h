/* Prints the tables of docs/limits.md. */
#ifndef EENET_LIMITS_TABLES_H
#define EENET_LIMITS_TABLES_H

#include <stddef.h>

#include "base/status.h"

ee_status limits_print(uint64_t seed, size_t seeds, size_t per_day, ee_error *error);

#endif
