/* How long runs take. Policies differ by a thousand times, so what is known of each is kept apart. */
#ifndef EENET_PACE_H
#define EENET_PACE_H

#include "runner.h"

/* What makes runs take the same time, as checksums. */
typedef struct pace_setting {
    uint64_t data, policy, options;
} pace_setting;

/* options: as a job has them; whoever learns and asks writes them in the same way. NULL: none. */
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

/* So much work took so many seconds of processor time. Work is counted in rounds, or in whatever else the time is
 * proportional to; it is the same for all that is learned and asked. */
ee_status pace_learn(pace *self, const pace_setting *setting, double work, double seconds, ee_error *error);

/* Seconds of processor time that so much work takes: by what is known of the setting; or else of its policy on the
 * same data set with other options; or else of its policy; or else of all settings on average. NaN where nothing is. */
double pace_seconds(const pace *self, const pace_setting *setting, double work);

/* Whether a run of its policy was among what was learned. */
bool pace_knows(const pace *self, const pace_setting *setting);

/* Makes self the same as another. */
ee_status pace_copy(pace *self, const pace *from, ee_error *error);

void pace_release(pace *self);

#endif
