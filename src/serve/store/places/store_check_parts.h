/* What the files of the check share. */
#ifndef EENET_STORE_CHECK_PARTS_H
#define EENET_STORE_CHECK_PARTS_H

#include "store_check.h"
#include "store_derive.h"

typedef enum derived_table { DECISIONS, IDS, REWARD_IDS, UNCLAIMED, DERIVED_TABLES } derived_table;
extern const char *const derived_table_names[DERIVED_TABLES];

/* The rows of a table, in any order. */
typedef struct table_sum {
    uint64_t count, sum; /* of their checksums, modulo 2^64 */
} table_sum;

/* A model that the log names. */
typedef struct named_model {
    uint32_t bandit;
    uint64_t event, version, size, checksum;
    bool upload; /* of a MODEL event; else of a CHECKPOINT */
} named_model;

typedef struct checked_bandit {
    uint32_t number;
    char name[72];
    uint64_t settled_to;
    json_text settings, first_settings; /* the check's memory */
    stored_end end;                     /* as stored */
    bool has_end;
    bool is_going;       /* it is removed, or being removed: its rows mean nothing any more */
    stored_end found;    /* from the log */
    bool damaged;        /* its log: the tables cannot be compared */
    uint64_t checkpoint; /* number of its last CHECKPOINT event */
    table_sum expected[DERIVED_TABLES], there[DERIVED_TABLES];
} checked_bandit;

typedef struct check {
    memory memory;
    const check_request *request;
    check_result *result;
    sqlite3 *database;
    checked_bandit *bandits; /* (bandit_count) by number */
    size_t bandit_count, bandit_capacity;
    named_model *models; /* (model_count) in the order of the log */
    size_t model_count, model_capacity;
    uint64_t sentences;
    bool stopped;
} check;

enum { MOST_SENTENCES = 50 };

/* ---- store_check_report.c ---- */

/* Reports a damage of a part, which is a counter of the result. */
__attribute__((format(printf, 3, 4))) void check_found(check *self, uint64_t *part, const char *format, ...);

/* false: the check is to stop. */
bool check_goes_on(check *self, const char *what, double share);
ee_status check_stopped(ee_error *error);

/* NULL: there is no such bandit. */
checked_bandit *check_bandit(check *self, uint32_t number);

/* store_check_log.c: reads the bandits and the log, and compares the tables. */
ee_status check_log(check *self, ee_error *error);

/* store_check_files.c: after check_log. */
ee_status check_files(check *self, ee_error *error);

#endif
