/* eenet paper: the experiments of the EE-Net paper, from the data to the page. */
#include <stdio.h>

#include "lab/gnuplot.h"
#include "shards.h"
#include "tuning.h"

/* Its systems, and greedy and uniform as controls. */
static const char policies[] =
    "eenet,neural-epsilon,neural-ucb,neural-ts,linucb,lints,kernelucb,kernelts,greedy,uniform";

/* The report is made even where some runs failed. */
static int run(const command *self, int count, char **words)
{
    tuning plan = {.paper = true, .ablations = true, .announced = true};
    int code = tuning_read(self, count, words, &plan);
    const char **given = plan.request.given;
    if (!code && !given[REQUEST_OUTPUT]) code = command_misused(self, "expected a folder for the results: -o DIR");
    if (!given[REQUEST_POLICIES]) given[REQUEST_POLICIES] = policies;
    ee_error error;
    if (!code) code = shards_read(self, &plan.request);
    bool reports = !shard_is_part(plan.request.shard);
    if (!code && reports && !plan.request.plan && gnuplot_find(&error))
        code = command_failed(self, "%s", error.message); /* now, not hours later */
    if (!code) code = tuning_run(self, &plan);
    if (plan.ended) {
        char end_of_flags[] = "--", *report_words[] = {end_of_flags, (char *)given[REQUEST_OUTPUT]};
        printf("\n");
        int reported = command_report.run(&command_report, 2, report_words);
        if (!code) code = reported;
    }
    run_request_release(&plan.request);
    return code;
}

const command command_paper = {
    .name = "paper",
    .form = "-d DATASET [-d DATASET]... -o DIR [--halving] [-p POLICY[,...]] [--set SETTING]... [--tune SEEDS] "
            "[-T ROUNDS] [-s SEEDS] [--delay DELAY] [--slots K] [-j JOBS] [--shard I/N] [--plan] [-q]",
    .summary = "the EE-Net paper's experiments on these data sets, and a report",
    .details =
        "For each data set: the paper's grids on the tuning seeds, the best setting of each policy on the seeds\n"
        "0-9, and EE-Net's ablations: the label of f2, the kind of f3, and without f2. Then DIR/report.html, with\n"
        "figures, tables, paired comparisons and the direction of exploration; see 'eenet help report'.\n"
        "With --shard I/N, as in 'eenet help run', it plays in two steps: the runs that choose settings; after\n"
        "'eenet merge DIR' the same again, for those that count. Then 'eenet merge DIR', and all without --shard.\n"
        "Before it starts it says on stderr how many runs there are and how long they take, as 'eenet help run' has\n"
        "it of --plan, which says the same and plays nothing.\n"
        "Whatever ends it, the same command goes on from what is done.\n"
        "mpirun plays it on many machines, as in 'eenet help run'; under it write --tune=SEEDS, in one word.\n"
        "Exit status: 0, 1 where something failed, 2 for wrong usage, 130 after Ctrl-C.\n",
    .flags = tuning_flags,
    .flag_count = TUNING_PAPER, /* it is what this does */
    .run = run,
};
