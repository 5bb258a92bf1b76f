/* Prints the tables of docs/guardrail-statistics.md. */
#ifndef EENET_GUARDRAIL_TABLES_H
#define EENET_GUARDRAIL_TABLES_H

#include "base/status.h"

typedef struct guardrail_request {
    size_t bandits, decisions; /* simulated lives of each row, and their length */
    uint64_t seed;
    size_t threads;
} guardrail_request;

ee_status guardrail_tables(const guardrail_request *of, ee_error *error);

#endif
