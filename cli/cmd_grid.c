/* eenet grid: runs with the settings that do best. */
#include "tuning.h"

static int run(const command *self, int count, char **words)
{
    tuning plan = {0};
    int code = tuning_read(self, count, words, &plan);
    if (!code) code = tuning_run(self, &plan);
    run_request_release(&plan.request);
    return code;
}

const command command_grid = {
    .name = "grid",
    .form = "-d DATASET -p POLICY[,...] [--set POLICY.OPTION=VALUE,VALUE...]... [--paper] [--halving] [--tune SEEDS] "
            "[-T ROUNDS] [-s SEEDS] [--delay DELAY] [--slots K] [-j JOBS] [-o DIR] [--shard I/N] [--save MODEL] "
            "[--plan] [-q]",
    .summary = "choose settings on some seeds, then run them on others",
    .details =
        "Every combination of the values in the lists is tried on the seeds of --tune; for each policy and data\n"
        "set the one with the least mean regret then plays the seeds of --seeds, which must be others: what is\n"
        "reported was not chosen by the numbers that are shown.\n"
        "--paper tries the grids of the EE-Net paper, but for options that --set names. --halving plays all\n"
        "settings for a ninth of the rounds, the best third of each policy for a third, the best ninth for all.\n"
        "--save MODEL has the policy of least mean regret, as it was chosen, play its first seed once more, and keeps\n"
        "the bandit that it then is, for 'eenet decide'.\n"
        "With -o, DIR keeps the tuning runs too, and the same command again plays only what is missing.\n"
        "With --shard I/N, as in 'eenet help run', it plays in two steps: the runs that choose settings; after\n"
        "'eenet merge DIR' the same again, for those that count.\n"
        "--plan says what all of it takes, as in 'eenet help run', and plays nothing.\n"
        "mpirun plays it on many machines, as in 'eenet help run'; under it write --tune=SEEDS, in one word.\n"
        "Exit status: 0, 1 where a run that counts failed, 2 for wrong usage, 130 after Ctrl-C.\n",
    .flags = tuning_flags,
    .flag_count = TUNING_FLAGS,
    .run = run,
};
