/* eenet bench: how fast the engine is on this machine. */
#include "bench/bench.h"
#include "command.h"

enum { FLAG_DATA, FLAG_OUTPUT };

static const flag flags[] = {
    {'d', "data", "DIR", "a folder that holds yelp/, mnist/ and perhaps dsjson/; without it, the like is made up"},
    {'o', "output", "DIR", "write figures of the growth there, by gnuplot"},
};

static int run(const command *self, int count, char **words)
{
    bench_request request = {.filters = words};
    arguments from = arguments_of(self, count, words);
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == FLAG_DATA) request.data = value;
        if (got == FLAG_OUTPUT) request.output = value;
        /* In place: a word never moves to a place that has not been read. */
        if (got == ARGUMENT_WORD) words[request.filter_count++] = words[from.next - 1];
    }
    ee_error error;
    return bench_run(&request, &error) ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

const command command_bench = {
    .name = "bench",
    .form = "[-d DIR] [-o DIR] [FILTER...]",
    .summary = "measure the engine's speed on this machine",
    .details = "Measures what has a FILTER in its name, PART/TITLE/ROW as they are printed; without one, all, which "
               "takes two\n"
               "minutes. Parts: kernels, json, calls, runs, growth, jobs, estimators. docs/performance.md says how to\n"
               "read it.\n",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
    .run = run,
};
