/* eenet inspect: shows how a data set is read. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/inspection.h"

enum { FLAG_SEED, FLAG_JSON, FLAGS };

static const flag flags[FLAGS] = {
    [FLAG_SEED] = {'s', "seed", "SEED", "seed of the round shown (default: 0)"},
    [FLAG_JSON] = {'\0', "json", NULL, "print one line of JSON with every column, class and feature"},
};

typedef struct wishes {
    const char *dataset;
    uint64_t seed;
    bool json;
} wishes;

/* Other commands take the data set with -d, --dataset or -dX. */
static bool is_dataset_flag(const char *argument)
{
    return strncmp(argument, "-d", 2) == 0 || strcmp(argument, "--dataset") == 0 ||
           strncmp(argument, "--dataset=", 10) == 0;
}

static int read_arguments(const command *self, int argc, char **argv, wishes *out)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value, *seed = NULL;
    *out = (wishes){0};
    for (int i = 0; i < argc; i++)
        if (is_dataset_flag(argv[i]))
            return command_misused(self, "give the data set without %s: eenet inspect DATASET",
                                   argv[i][1] == 'd' ? "-d" : "--dataset");
    for (int got = arguments_next(&from, &value); got != ARGUMENT_END; got = arguments_next(&from, &value)) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == FLAG_SEED && seed) return command_misused(self, "--seed is given twice");
        if (got == FLAG_SEED) seed = value;
        if (got == FLAG_JSON) out->json = true;
        if (got != ARGUMENT_WORD) continue;
        if (out->dataset) return command_misused(self, "expected one data set, got '%s' too", value);
        out->dataset = value;
    }
    if (!out->dataset) return command_misused(self, "expected a data set; 'eenet datasets' lists the kinds");
    return arguments_number(self, FLAG_SEED, seed, 0, INT64_MAX, &out->seed);
}

/* Prints the survey of the data set and its first round. */
static ee_status inspect(const dataset *data, const wishes *wanted, ee_error *error)
{
    inspection what = {
        .data = data, .seen = dataset_survey(data), .encoding = dataset_row_encoding(data), .seed = wanted->seed};
    environment *world;
    ee_status status = environment_create(data, wanted->seed, &world, error);
    if (status) return status;
    status = environment_next(world, &what.round, error);
    if (!status && wanted->json) status = inspection_print_json(&what, error);
    if (!status && !wanted->json) inspection_print(&what);
    environment_free(world);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    wishes wanted;
    dataset *data;
    ee_error error;
    int code = read_arguments(self, argc, argv, &wanted);
    if (code) return code;
    if (dataset_open(wanted.dataset, NULL, &data, &error)) return command_refused(self, &error);
    if (inspect(data, &wanted, &error)) code = command_failed(self, "%s", error.message);
    dataset_free(data);
    return code;
}

const command command_inspect = {
    .name = "inspect",
    .form = "DATASET [-s SEED] [--json]",
    .summary = "show how a data set is read: columns, classes, a round",
    .details =
        "Prints the number of rows, arms and features; for each column its kind (numeric, categorical, label or\n"
        "left out), missing values, different values and range; the classes with their number of rows; the first\n"
        "round; and likely mistakes, which 'eenet run' reports too.\n"
        "Exit status: 0, also with likely mistakes; 1 if the data set cannot be read; 2 for wrong usage.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
