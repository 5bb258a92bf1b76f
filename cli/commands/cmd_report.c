/* eenet report: writes the results of a folder as a page, figures and tables. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/shards.h"
#include "lab/report/report_folder.h"

enum { REFERENCE, OUTPUT, FLAGS };

static const flag flags[FLAGS] = {
    [REFERENCE] = {'\0', "reference", "POLICY", "policy to compare the others with (default: eenet)"},
    [OUTPUT] = {'o', "output", "FILE", "where to write the page (default: DIR/report.html)"},
};

typedef struct request {
    const char *folder, *reference, *output;
} request;

static int read_arguments(const command *self, int argc, char **argv, request *out)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    for (int got; (got = arguments_next(&from, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == REFERENCE)
            out->reference = value;
        else if (got == OUTPUT)
            out->output = value;
        else if (out->folder)
            return command_misused(self, "expected one folder, got '%s' too", value);
        else
            out->folder = value;
    }
    return out->folder ? EXIT_DONE
                       : command_misused(self, "expected the DIR of 'eenet run -o DIR' or 'eenet evaluate -o DIR'");
}

static void print_line(const char *line)
{
    printf("%s\n", line);
}

static int run(const command *self, int argc, char **argv)
{
    request wanted = {0};
    int code = read_arguments(self, argc, argv, &wanted);
    if (code) return code;
    report_folder all = {0};
    ee_error error;
    shards_remark_unmerged(self, wanted.folder, "the report leaves them out");
    ee_status status = report_folder_read(wanted.folder, wanted.reference, &all, &error);
    if (!status) status = report_folder_write(&all, wanted.folder, wanted.output, print_line, &error);
    report_folder_release(&all);
    return status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

const command command_report = {
    .name = "report",
    .form = "DIR [--reference POLICY] [-o FILE]",
    .summary = "turn a folder of results into a web page, figures and tables",
    .details =
        "Writes DIR/report.html, a single file that works offline; DIR/summary.csv (runs) and DIR/evaluations.csv\n"
        "(evaluations) with the same numbers; and DIR/figures, each figure as SVG, with its data. For a PDF:\n"
        "rsvg-convert -f pdf -o NAME.pdf NAME.svg (Debian package librsvg2-bin). While runs are in progress, it shows\n"
        "the finished ones.\n"
        "--reference: the policy as the page names it, with options if several settings ran: 'eenet label=abs'.\n"
        "Example: eenet report results\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
