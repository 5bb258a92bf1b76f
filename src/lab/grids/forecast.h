/* How much of the work of many runs is done, and how long the rest takes. Work is counted in usual seconds
 * (usual_pace.h): by how much runs are slower or faster than usual is what they have in common, where the data sets and
 * the rounds differ. */
#ifndef EENET_FORECAST_H
#define EENET_FORECAST_H

#include "lab/results/job_keys.h"
#include "lab/sharing/pace.h"

/* The jobs of one setting. */
typedef struct forecast_setting {
    pace_setting setting;
    const dataset *data;
    double unended; /* work of those that have not ended */
    double playing; /* work of those that are played now */
    double longest; /* work of one job */
} forecast_setting;

typedef struct forecast {
    const run_job *jobs; /* (count) */
    size_t count;
    size_t threads;
    size_t *setting_of;         /* (count) place in settings */
    forecast_setting *settings; /* (setting_count) */
    size_t setting_count, setting_capacity;
    pace known, now; /* of runs that have ended; of those and the ones that play */
    double done;     /* seconds of processor time of the jobs that have ended */
    double spent;    /* those of them that were played in this call */
    double busy;     /* seconds that threads were playing, by the clock on the wall */
    double last;     /* standing's seconds */
    double share;    /* that was told last; 0 at first */
} forecast;

/* The jobs are borrowed. out starts as zeros, and is to be released, on failure too. */
ee_status forecast_start(const run_job *jobs, size_t count, size_t threads, forecast *out, ee_error *error);
void forecast_release(forecast *self);

/* Learns the pace of runs that were kept, on the data sets of the jobs. keys are those of the jobs. */
ee_status forecast_learn(forecast *self, const stored_runs *kept, const job_keys *keys, ee_error *error);

/* Seconds of processor time that a job takes: by what is known of its setting, its policy or the others, or else as is
 * usual. */
double forecast_seconds(const forecast *self, size_t place);

/* A job has ended; its pace is learned. Or it was read: then it took no time of this call. */
ee_status forecast_end(forecast *self, size_t place, const run_result *result, bool read, ee_error *error);

/* Fills in the share and the seconds left of a standing whose jobs are these. The share never goes back, and always
 * moves: where the rest turns out to be more than was thought, it goes on more slowly. Where there is no memory for
 * that, both stay as they are. */
void forecast_tell(forecast *self, run_standing *now);

#endif
