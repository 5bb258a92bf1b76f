/* eenet report: a folder of results as a page, figures and a table. */
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "command.h"
#include "lab/report.h"

enum { REFERENCE, OUTPUT, FLAGS };

static const flag flags[FLAGS] = {
    [REFERENCE] = {'\0', "reference", "POLICY", "what the others are compared with; eenet unless given"},
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

/* Says what was written as soon as it is: the table is there even where gnuplot is not. */
static ee_status write_all(const summary *of, const request *wanted, const char *table, const char *page,
                           ee_error *error)
{
    size_t figures;
    ee_status status = report_csv(of, table, error);
    if (status) return status;
    printf("%s\n", table);
    status = report_figures(of, wanted->folder, &figures, error);
    if (status) return status;
    printf("%s/figures (%zu figures as .svg, .pdf, .gp and .dat)\n", wanted->folder, figures);
    status = report_page(of, wanted->folder, page, error);
    if (!status) printf("%s\n", page);
    return status;
}

static int run(const command *self, int count, char **words)
{
    request wanted = {0};
    int code = read_arguments(self, count, words, &wanted);
    if (code) return code;
    stored_runs runs = {0};
    summary all = {0};
    char *table = NULL, *page = NULL;
    ee_error error;
    ee_status status = results_read(wanted.folder, &runs, &error);
    if (!status && !runs.count)
        status = status_fail(&error, EE_BAD_INPUT, "%.150s has no finished run yet", wanted.folder);
    if (!status) status = summary_create(&runs, wanted.folder, wanted.reference, &all, &error);
    if (!status) status = file_join(wanted.folder, "summary.csv", &table, &error);
    if (!status) status = file_join(wanted.folder, "report.html", &page, &error);
    if (!status) status = write_all(&all, &wanted, table, wanted.output ? wanted.output : page, &error);
    memory_free(page);
    memory_free(table);
    summary_release(&all);
    results_release(&runs);
    return status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

const command command_report = {
    .name = "report",
    .form = "DIR [--reference POLICY] [-o FILE]",
    .summary = "make a page, figures and a table of the results in a folder",
    .details =
        "Writes DIR/report.html, one file that needs no other and no network; DIR/summary.csv, the same numbers\n"
        "for programs; and DIR/figures, each figure as SVG and PDF, with the script that drew it. Needs gnuplot\n"
        "(Debian's package gnuplot-nox). While runs go on, it shows those that are finished.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
