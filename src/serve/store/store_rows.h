/* What the writers of all stores share: checksums of rows, and the ends of the logs. */
#ifndef EENET_STORE_ROWS_H
#define EENET_STORE_ROWS_H

#include "event_row.h"
#include "joining.h"

/* ---- checksums of rows (row_checksum.h) ---- */

/* Sets the checksums of the group's new events, and their sums for each bandit. */
void store_sum_events(joining *set);

int64_t store_bandit_checksum(uint32_t number, json_text name, bool archived, json_text first_settings);
int64_t store_reward_id_checksum(uint32_t bandit, json_text id, json_text reward_id, double value,
                                 event_outcome outcome);
int64_t store_clock_checksum(const stored_clock *clock);

/* ---- the end of a bandit's log, by which missing events are noticed: a row of log_ends ---- */

enum { CLOCK_END = 0 }; /* the number that the table clock has there; last and sum are of its rows */

typedef struct stored_end {
    uint64_t first, last; /* numbers of its events; first is 1 and last 0 if there never was one */
    uint64_t sum;         /* of their checksums, modulo 2^64 */
    uint64_t settled_to;  /* as in the row of bandits */
    uint64_t kept;        /* sum of the checksums of reward_ids whose event is gone and whose decision is left */
} stored_end;

enum { END_COLUMNS = 7 };
/* The row: bandit, first, last, sum, settled_to, kept, checksum. */
void store_end_columns(uint32_t bandit, const stored_end *end, int64_t columns[END_COLUMNS]);
/* false: its checksum is wrong. */
bool store_end_of(const int64_t columns[END_COLUMNS], stored_end *out);

/* What a transaction changes of it. {0} is nothing. */
typedef struct end_change {
    uint64_t first, last; /* 0: as before */
    uint64_t sum, kept;   /* to be added */
    bool settles;         /* settled_to changes */
    uint64_t settled_to;
} end_change;
void store_end_apply(stored_end *end, const end_change *by);
/* What a group changes, after store_sum_events; false: nothing. */
bool store_end_change_of(const join_bandit *bandit, end_change *out);

#endif
