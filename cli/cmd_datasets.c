/* eenet datasets: what -d takes. */
#include <stdio.h>

#include "command.h"
#include "lab/environment.h"

static int run(const command *self, int count, char **words)
{
    int code = arguments_none(self, count, words);
    if (code) return code;
    dataset_info info;
    for (size_t kind = 0; !dataset_describe(kind, &info, NULL); kind++) {
        printf("%s\n    %s\n", info.form, info.summary);
        ee_option entry;
        for (size_t i = 0; !dataset_option_describe(kind, i, &entry, NULL); i++)
            printf("    %-6s  default %-4s  %-12s  %s\n", entry.name, entry.value, entry.range, entry.meaning);
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
