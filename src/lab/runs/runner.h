/* Plays a policy through the rounds of a data set and adds up its regret. */
#ifndef EENET_RUNNER_H
#define EENET_RUNNER_H

#include <stdbool.h>

#include "data/sets/environment.h"
#include "delay.h"

/* One run: what it plays and for how long. The strings and the data set are borrowed. */
typedef struct run_job {
    const dataset *data;
    const char *policy;
    const char *options; /* as in ee_settings; NULL: none */
    uint64_t seed;       /* for the rounds and the policy, which use separate random streams */
    uint64_t rounds;
    bool tuning;            /* a tuning run: reports do not show it among the results */
    delay late;             /* when rewards arrive; zeros: at once */
    size_t slots;           /* per round, each filled with a different arm; 0 is as 1 */
    struct log_writer *log; /* receives the decisions; NULL: none. One job only */
} run_job;

/* Compares the exploration of a policy with the error of f1, h - f1, over a part of the rounds and all their arms. The
 * exploration is what the policy added to f1 (f2, a width, a draw); h is the expected reward. */
typedef struct run_direction {
    uint64_t arms;                                      /* scored */
    uint64_t up, down;                                  /* exploration above 0, below 0 */
    uint64_t up_right;                                  /* of up: h above f1 */
    uint64_t down_right;                                /* of down: h below f1 */
    double gain, exploration;                           /* sums over the arms: of h - f1, and of the exploration */
    double gain_squares, exploration_squares, products; /* sums of their squares, and of their product */
} run_direction;

/* The rounds are divided into equal parts: part i ends after round (i + 1) rounds / RUN_PARTS. */
enum { RUN_PARTS = 20 };

enum { RUN_SLOTS = 16 }; /* of a round, at most */

static inline size_t run_slots(const run_job *job)
{
    return job->slots ? job->slots : 1;
}

typedef struct run_result {
    ee_status status; /* EE_OK, or why it failed */
    bool finished;    /* all rounds were played */
    uint64_t rounds;  /* played */
    uint64_t optimal; /* rounds in which no arm had a better expected reward than the one played */
    double regret;    /* sum over the rounds of the best expected reward minus that of the chosen arm; with slots, of
                         the best arms for all slots minus those of the chosen arms */
    double reward;    /* sum of the rewards of the chosen arms, learned or not */
    double seconds;   /* of processor time, including creating the policy and drawing the rounds; 0 until it ended */
    size_t bytes;     /* of memory that the bandit held at the end, its maximum */
    size_t slots;     /* per round, if there are several; otherwise 0 */
    double slot_regrets[RUN_SLOTS]; /* (slots) of each: in slot k the k-th best arm would be right, so that a better
                                       one counts as less than nothing; together they are the regret */
    double marks[RUN_PARTS];        /* the regret at the end of each part */
    run_direction directions[RUN_PARTS]; /* all zero if the policy scores without exploring */
} run_result;

/* A run that has ended. Valid during the call. */
typedef struct run_report {
    const run_job *job;
    const run_result *result;
    const char *options;     /* every option with its value; "" if the bandit could not be created */
    const double *curve;     /* (result->rounds) the regret after each round; NULL if not requested */
    const ee_error *error;   /* the reason, if the run failed */
    const ee_bandit *bandit; /* as it is at the end; NULL where it could not be created, the run was read, or it was
                                played elsewhere */
    const char *machine;     /* where it ran; NULL: here */
    const char *version, *kernels; /* of the program that ran it; NULL: this program */
} run_report;

/* A run in progress. */
typedef struct run_playing {
    const run_job *job;
    uint64_t played; /* rounds */
    double seconds;  /* of processor time */
} run_playing;

/* Progress of all runs. */
typedef struct run_standing {
    size_t jobs, ended;      /* jobs of this call, and those of them that have ended */
    uint64_t rounds, played; /* the same in rounds */
    uint64_t read;           /* of those played: stored by an earlier call */
    double seconds;          /* since the call */
    const run_playing *runs; /* (running) in progress; the first stays the same until it ends */
    size_t running;
    double share; /* share of the work done, 0 to 1; by rounds if there is no estimate of seconds */
    double left;  /* seconds until all have ended; NaN: unknown */
} run_standing;

/* Callbacks; each may be NULL. standing and ended are never called at the same time. */
typedef struct run_watch {
    bool (*wanted)(void *context); /* after every round, in every thread: false ends all runs. It must be cheap. */
    void (*standing)(void *context, const run_standing *now); /* ten times a second, in the thread that called */
    bool (*ended)(void *context, const run_report *report);   /* after every run that was started, in the order of the
                                                                 jobs or not, one at a time: false ends all runs */
    void *context;
    void (*noted)(void *context, const char *sentence); /* a warning for the user */
} run_watch;

/* How many decisions the bandit of a run keeps unless its options say so: the policy's default, or more where the
 * rewards of more may be on their way. 0 where there is no such policy. */
uint64_t runner_pending(const char *name, const delay *late, size_t slots);

/* The bandit of a job, to be freed with ee_bandit_free. What is known of the arms and the delay is among its options,
 * where they act; the job's own may say otherwise. */
ee_status runner_create_bandit(const run_job *job, ee_bandit **bandit, ee_error *error);

/* Whether the job could start: creates the bandit and frees it, and compares the rounds with those of the data set.
 * *options, unless NULL, is every option with its value, to be freed with memory_free. */
ee_status runner_check(const run_job *job, char **options, ee_error *error);

/* Does one job in the calling thread. If the watch stops it, the status is EE_OK and the run is not finished. Does not
 * report the standing. */
ee_status runner_run(const run_job *job, const run_watch *watch, run_result *result, ee_error *error);

/* The same, and the report has a curve. */
ee_status runner_run_with_curve(const run_job *job, const run_watch *watch, run_result *result, ee_error *error);

/* What the finished ones among the runs of one policy say together. Where there is none, or for the deviation one, the
 * numbers are NaN. */
typedef struct run_summary {
    size_t runs;   /* finished */
    double regret; /* the mean, as of all below */
    double regret_deviation;
    double optimal; /* share of the rounds */
    double seconds; /* a run */
    size_t slots;   /* as in run_result */
    double slot_regrets[RUN_SLOTS];
} run_summary;

ee_status runner_summarize(const run_result *results, size_t count, run_summary *summary, ee_error *error);

#endif
