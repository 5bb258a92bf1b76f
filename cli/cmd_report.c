/* eenet report: a folder of results as a page, figures and a table. */
#include <stdio.h>

#include "command.h"
#include "lab/report_folder.h"
#include "shards.h"

enum { REFERENCE, OUTPUT, FLAGS };

static const flag flags[FLAGS] = {
    [REFERENCE] = {'\0', "reference", "POLICY", "what the others are compared with, as the page names it; else eenet"},
    [OUTPUT] = {'o', "output", "FILE", "the page; DIR/report.html unless given"},
};

typedef struct request {
    const char *folder, *reference, *output;
} request;

static int read_arguments(const command *self, int count, char **words, request *out)
{
    arguments from = arguments_of(self, count, words);
    const char *value;
    for (int got; (got = arguments_next(&from, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == REFERENCE)
            out->reference = value;
        else if (got == OUTPUT)
            out->output = value;
        else if (out->folder)
            return command_misused(self, "takes one folder, got '%s' too", value);
        else
            out->folder = value;
    }
    return out->folder ? EXIT_DONE : command_misused(self, "which results? Give the folder that 'eenet run -o' wrote");
}

static void print_line(const char *line)
{
    printf("%s\n", line);
}

static int run(const command *self, int count, char **words)
{
    request wanted = {0};
    int code = read_arguments(self, count, words, &wanted);
    if (code) return code;
    report_folder all = {0};
    ee_error error;
    shards_remark_unmerged(self, wanted.folder, "are not shown");
    ee_status status = report_folder_read(wanted.folder, wanted.reference, &all, &error);
    if (!status) status = report_folder_write(&all, wanted.folder, wanted.output, print_line, &error);
    report_folder_release(&all);
    return status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

const command command_report = {
    .name = "report",
    .form = "DIR [--reference POLICY] [-o FILE]",
    .summary = "make a page, figures and a table of the results in a folder",
    .details =
        "Writes DIR/report.html, one file that needs no other and no network; DIR/summary.csv of runs and\n"
        "DIR/evaluations.csv of evaluations, the same numbers for programs; and DIR/figures, each figure as SVG\n"
        "and PDF, with the script that drew it. Needs gnuplot (Debian's package gnuplot-nox). While runs go on, it\n"
        "shows those that are finished. The reference may have options that tell it from others of its policy:\n"
        "--reference 'eenet label=abs'.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
