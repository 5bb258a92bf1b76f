/* eenet paper: the experiments of the EE-Net paper, from the data to the page. */
#include <stdio.h>

#include "cli/shards.h"
#include "cli/tuning.h"

/* Its systems, and greedy and uniform as controls. */
static const char policies[] =
    "eenet,neural-epsilon,neural-ucb,neural-ts,linucb,lints,kernelucb,kernelts,greedy,uniform";

/* The report is made even where some runs failed. */
static int run(const command *self, int argc, char **argv)
{
    tuning plan = {.paper = true, .ablations = true, .announced = true};
    int code = tuning_read(self, argc, argv, &plan);
    const char **given = plan.request.given;
    if (!code && !given[REQUEST_OUTPUT]) code = command_misused(self, "expected a folder for results: -o DIR");
    if (!given[REQUEST_POLICIES]) given[REQUEST_POLICIES] = policies;
    if (!code) code = shards_read(self, &plan.request);
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
    .summary = "reproduce the EE-Net paper's experiments, and write a report",
    .details =
        "On each data set: tunes the paper's grids on the tuning seeds, runs the best setting of each policy on seeds\n"
        "0-9, and runs EE-Net's ablations (label of f2, kind of f3, no f2). Then writes DIR/report.html with figures,\n"
        "tables, paired comparisons and the direction of exploration; see 'eenet help report'.\n"
        "Example: eenet paper -d mnist:data/mnist -d yelp:data/yelp -o paper --halving\n"
        "\n"
        "Before it starts, it prints on stderr the number of runs and their estimated time; --plan prints only that.\n"
        "If it stops for any reason, the same command resumes it.\n"
        "--shard I/N: works in two steps. First the shards do the tuning runs; after 'eenet merge DIR', the same\n"
        "commands do the final runs. Merge again, and repeat the command without --shard for tables and report.\n"
        "Under mpirun it uses all ranks, as in 'eenet help run'; write --tune=SEEDS as one word there.\n"
        "Exit status: 0; 1 if something failed; 2 for wrong usage; 130 after Ctrl-C.\n",
    .flags = tuning_flags,
    .flag_count = TUNING_PAPER, /* it is what this does */
    .run = run,
};
