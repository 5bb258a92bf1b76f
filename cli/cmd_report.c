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

/* What a folder holds. */
typedef struct contents {
    stored_runs runs;
    stored_evaluations stored;
    summary all;                   /* of the runs */
    evaluation_groups evaluations; /* of what is stored */
} contents;

/* A folder may have runs, evaluations or both. */
static ee_status read_contents(const request *wanted, contents *out, ee_error *error)
{
    ee_status status = evaluations_read(wanted->folder, &out->stored, error);
    if (status == EE_NO_FILE) status = EE_OK;
    char *runs = NULL;
    if (!status) status = file_join(wanted->folder, "results.jsonl", &runs, error);
    if (!status && !(out->stored.count && file_is_missing(runs)))
        status = results_read(wanted->folder, &out->runs, error);
    memory_free(runs);
    if (!status && !out->runs.count && !out->stored.count)
        status = status_fail(error, EE_BAD_INPUT, "%.150s has no finished run yet", wanted->folder);
    if (!status && out->runs.count)
        status = summary_create(&out->runs, wanted->folder, wanted->reference, &out->all, error);
    return status ? status : evaluation_groups_create(&out->stored, &out->evaluations, error);
}

static void release_contents(contents *of)
{
    evaluation_groups_release(&of->evaluations);
    evaluations_release(&of->stored);
    summary_release(&of->all);
    results_release(&of->runs);
}

/* Says what was written as soon as it is: the tables are there even where gnuplot is not. */
static ee_status write_tables(const contents *of, const char *folder, ee_error *error)
{
    char *runs = NULL, *evaluations = NULL;
    ee_status status = file_join(folder, "summary.csv", &runs, error);
    if (!status) status = file_join(folder, "evaluations.csv", &evaluations, error);
    if (!status && of->runs.count) {
        status = report_csv(&of->all, runs, error);
        if (!status) printf("%s\n", runs);
    }
    if (!status && of->stored.count) {
        status = evaluation_csv(&of->evaluations, evaluations, error);
        if (!status) printf("%s\n", evaluations);
    }
    memory_free(runs);
    memory_free(evaluations);
    return status;
}

static ee_status write_all(const contents *of, const request *wanted, ee_error *error)
{
    size_t figures;
    char *page = NULL;
    ee_status status = write_tables(of, wanted->folder, error);
    if (!status) status = report_figures(&of->all, wanted->folder, &figures, error);
    if (!status) status = evaluation_figures(&of->evaluations, wanted->folder, &figures, error);
    if (status) return status;
    printf("%s/figures (%zu figures as .svg, .pdf, .gp and .dat)\n", wanted->folder, figures);
    status = file_join(wanted->folder, "report.html", &page, error);
    const char *path = wanted->output ? wanted->output : page;
    if (!status) status = report_page(&of->all, &of->evaluations, wanted->folder, path, error);
    if (!status) printf("%s\n", path);
    memory_free(page);
    return status;
}

static int run(const command *self, int count, char **words)
{
    request wanted = {0};
    int code = read_arguments(self, count, words, &wanted);
    if (code) return code;
    contents all = {0};
    ee_error error;
    ee_status status = read_contents(&wanted, &all, &error);
    if (!status) status = write_all(&all, &wanted, &error);
    release_contents(&all);
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
        "shows those that are finished.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
