/* eenet bench: how fast the engine is on this machine. */
#include "bench/bench.h"
#include "cli/command.h"

enum { FLAG_DATA, FLAG_OUTPUT };

static const flag flags[] = {
    {'d', "data", "DIR", "folder with yelp/, mnist/ and (optional) dsjson/ (default: similar synthetic data)"},
    {'o', "output", "DIR", "also write charts of the growth part to this folder"},
};

static int run(const command *self, int argc, char **argv)
{
    bench_request request = {.filters = argv};
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == FLAG_DATA) request.data = value;
        if (got == FLAG_OUTPUT) request.output = value;
        /* In place: a word never moves to a place that has not been read. */
        if (got == ARGUMENT_WORD) argv[request.filter_count++] = argv[from.next - 1];
    }
    ee_error error;
    return bench_run(&request, &error) ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

const command command_bench = {
    .name = "bench",
    .form = "[-d DIR] [-o DIR] [FILTER...]",
    .summary = "measure the engine's speed on this machine",
    .details = "Runs the measurements whose printed name, PART/TITLE/ROW, contains a FILTER; default: all, in about "
               "two\nminutes. Parts: kernels, json, calls, runs, growth, jobs, estimators. docs/performance.md "
               "explains the\noutput.\n",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
    .run = run,
};
