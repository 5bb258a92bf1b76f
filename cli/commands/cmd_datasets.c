/* eenet datasets: what -d takes. */
#include <stdio.h>

#include "cli/command.h"
#include "data/sets/environment.h"

/* The widest name, default and range among the options of a kind. */
typedef struct widths {
    size_t name, value, range;
} widths;

static void print_options(size_t kind)
{
    ee_option entry;
    widths most = {0};
    for (size_t i = 0; !dataset_option_describe(kind, i, &entry, NULL); i++) {
        most.name = command_wider(most.name, entry.name);
        most.value = command_wider(most.value, entry.value);
        most.range = command_wider(most.range, entry.range);
    }
    for (size_t i = 0; !dataset_option_describe(kind, i, &entry, NULL); i++)
        printf("    %-*s  default %-*s  %-*s  %s\n", (int)most.name, entry.name, (int)most.value, entry.value,
               (int)most.range, entry.range, entry.meaning);
}

static int run(const command *self, int argc, char **argv)
{
    int code = arguments_none(self, argc, argv);
    if (code) return code;
    dataset_info info;
    for (size_t kind = 0; !dataset_describe(kind, &info, NULL); kind++) {
        printf("%s\n    %s\n", info.form, info.summary);
        print_options(kind);
    }
    return EXIT_DONE;
}

const command command_datasets = {
    .name = "datasets",
    .form = "",
    .summary = "list the kinds of data sets and their options",
    .details = "",
    .run = run,
};
