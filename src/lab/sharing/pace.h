/* How long runs take. Policies differ by a thousand times, so what is known of each is kept apart. */
#ifndef EENET_PACE_H
#define EENET_PACE_H

#include "lab/runs/runner.h"

/* What makes runs take the same time, as checksums. */
typedef struct pace_setting {
    uint64_t data, policy, options;
} pace_setting;

/* options: as in a job, always in the same form. NULL: none. */
pace_setting pace_setting_of(const char *dataset_name, uint64_t fingerprint, const char *policy, const char *options);
pace_setting pace_setting_of_job(const run_job *job);
bool pace_setting_same(const pace_setting *left, const pace_setting *right);

typedef struct pace_rate {
    pace_setting setting;
    double work, seconds; /* sums over the runs that it was learned from */
} pace_rate;

/* Starts as zeros. */
typedef struct pace {
    pace_rate *rates; /* (count) */
    size_t count, capacity;
} pace;

/* Records that `work` took `seconds` of processor time. Work is a number of rounds, or anything else that the time is
 * proportional to, in the same unit for all calls. */
ee_status pace_learn(pace *self, const pace_setting *setting, double work, double seconds, ee_error *error);

/* Estimated seconds of processor time for `work`: from the same setting, otherwise from its policy on the same data
 * set, otherwise from its policy, otherwise the average of all. NaN if nothing is known. */
double pace_seconds(const pace *self, const pace_setting *setting, double work);

/* Whether a run of its policy was among what was learned. */
bool pace_knows(const pace *self, const pace_setting *setting);

/* Makes self the same as another. */
ee_status pace_copy(pace *self, const pace *from, ee_error *error);

void pace_release(pace *self);

#endif
