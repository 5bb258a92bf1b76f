/* eenet rounds: writes the rounds of a data set for other programs. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "data/sets/rounds_export.h"
#include "data/values/seconds.h"

enum { FLAG_DATASET, FLAG_ROUNDS, FLAG_SEED, FLAG_OUTPUT, FLAGS };

static const flag flags[FLAGS] = {
    [FLAG_DATASET] = {'d', "dataset", "DATASET", "data set to write; 'eenet datasets' lists the kinds"},
    [FLAG_ROUNDS] = {'T', "rounds", "ROUNDS", "number of rounds (default: 10000, or all if there are fewer)"},
    [FLAG_SEED] = {'s', "seed", "SEED", "seed of the rounds (default: 0)"},
    [FLAG_OUTPUT] = {'o', "output", "DIR", "folder to write to; created if missing"},
};

static int take(const command *self, int got, const char *value, void *context)
{
    const char **given = context; /* (FLAGS) */
    if (given[got]) return command_misused(self, "--%s is given twice", flags[got].name);
    given[got] = value;
    return EXIT_DONE;
}

/* ---- while it writes ---- */

typedef struct audience {
    uint64_t rounds;
    bool shown; /* stderr is a terminal */
    bool drawn;
    double last_draw; /* in seconds */
} audience;

static const double draw_interval = 0.1; /* seconds: smooth to the eye */

static bool still_wanted(void *context, uint64_t written)
{
    audience *who = context;
    if (who->shown) {
        double seconds = seconds_now();
        if (!who->drawn || seconds - who->last_draw >= draw_interval) {
            fprintf(stderr, "\r\033[K%" PRIu64 "/%" PRIu64 " rounds", written, who->rounds);
            fflush(stderr);
            who->drawn = true;
            who->last_draw = seconds;
        }
    }
    return !interrupt_came();
}

static int export(const command *self, const dataset *data, uint64_t seed, uint64_t rounds, const char *folder)
{
    audience who = {.rounds = rounds, .shown = isatty(STDERR_FILENO) == 1};
    rounds_watch watch = {still_wanted, &who};
    bool finished;
    ee_error error;
    interrupt_catch(self->name);
    ee_status status = rounds_export(data, seed, rounds, folder, &watch, &finished, &error);
    if (who.drawn) fprintf(stderr, "\r\033[K");
    if (status) return command_failed(self, "%s", error.message);
    if (!finished) {
        fprintf(stderr, "eenet %s: interrupted; nothing was written\n", self->name);
        return EXIT_INTERRUPTED;
    }
    printf("%s: %" PRIu64 " rounds of %s, seed %" PRIu64 "\n", folder, rounds, dataset_name(data), seed);
    return EXIT_DONE;
}

static int run(const command *self, int argc, char **argv)
{
    const char *given[FLAGS] = {NULL};
    uint64_t rounds = 0, seed = 0;
    int code = arguments_each(self, argc, argv, take, given);
    if (code) return code;
    if (!given[FLAG_DATASET]) return command_misused(self, "expected a data set: -d DATASET");
    if (!given[FLAG_OUTPUT]) return command_misused(self, "expected a folder to write to: -o DIR");
    code = arguments_number(self, FLAG_ROUNDS, given[FLAG_ROUNDS], 1, INT64_MAX, &rounds);
    if (!code) code = arguments_number(self, FLAG_SEED, given[FLAG_SEED], 0, INT64_MAX, &seed);
    if (code) return code;
    dataset *data;
    ee_error error;
    if (dataset_open(given[FLAG_DATASET], NULL, &data, &error)) return command_refused(self, &error);
    if (!rounds) rounds = command_usual_rounds(data);
    command_print_remarks(self, dataset_name(data), data);
    code = export(self, data, seed, rounds, given[FLAG_OUTPUT]);
    dataset_free(data);
    return code;
}

const command command_rounds = {
    .name = "rounds",
    .form = "-d DATASET [-T ROUNDS] [-s SEED] -o DIR",
    .summary = "write the rounds of a data set as .npy files, for other programs",
    .details = "'eenet run' with the same data set and seed uses the same rounds; '-d rounds:DIR' reads them back.\n"
               "Dense arms:  contexts.npy (arms, rounds, features), float32.\n"
               "Sparse arms: values.npy (float32), indices.npy and starts.npy: arm i of round t is row\n"
               "             t * arms + i, with the values starts[row] to starts[row + 1].\n"
               "Both:        rewards.npy and expected.npy (arms, rounds), float64, and rounds.json.\n"
               "Other rounds in the folder are never overwritten. Ctrl-C leaves nothing behind.\n"
               "Exit status: 0; 1 if it failed; 2 for wrong usage; 130 after Ctrl-C.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
