/* eenet grid: tunes settings on some seeds and runs the best on others. */
#include "cli/tuning.h"

static int run(const command *self, int argc, char **argv)
{
    tuning plan = {0};
    int code = tuning_read(self, argc, argv, &plan);
    if (!code) code = tuning_run(self, &plan);
    run_request_release(&plan.request);
    return code;
}

const command command_grid = {
    .name = "grid",
    .form = "-d DATASET -p POLICY[,...] [--set POLICY.OPTION=VALUE,VALUE...]... [--paper] [--halving] [--tune SEEDS] "
            "[-T ROUNDS] [-s SEEDS] [--delay DELAY] [--slots K] [-j JOBS] [-o DIR] [--shard I/N] [--save MODEL] "
            "[--plan] [-q]",
    .summary = "tune settings on some seeds, then compare policies on others",
    .details =
        "Tries every combination of the listed values on the tuning seeds (--tune). For each policy and data set, the\n"
        "setting with the lowest mean regret then runs on the seeds of --seeds. The two sets of seeds must not "
        "overlap,\n"
        "so the regret shown is not the one that chose the setting.\n"
        "Example: eenet grid -d synthetic:cosine -p linucb,eenet --set linucb.alpha=0.1,1\n"
        "\n"
        "--paper: tries the grids of the EE-Net paper; a --set replaces the grid of its option.\n"
        "--halving: runs all settings for a ninth of the rounds, the best third of each policy for a third, and the\n"
        "best ninth for all.\n"
        "--save MODEL: runs the tuned policy with the lowest mean regret once more on its first seed and saves the\n"
        "bandit, for 'eenet decide'.\n"
        "-o DIR: keeps the tuning runs too. The same command again runs only what is missing.\n"
        "--shard I/N: works in two steps. First the shards do the tuning runs; after 'eenet merge DIR', the same\n"
        "commands do the final runs. See 'eenet help run'.\n"
        "--plan: prints the number of runs and their estimated time, as in 'eenet help run'; runs nothing.\n"
        "Under mpirun it uses all ranks, as in 'eenet help run'; write --tune=SEEDS as one word there.\n"
        "Exit status: 0; 1 if a final run failed; 2 for wrong usage; 130 after Ctrl-C.\n",
    .flags = tuning_flags,
    .flag_count = TUNING_FLAGS,
    .run = run,
};
