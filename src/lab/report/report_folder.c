#include "report_folder.h"

#include "base/file.h"
#include "base/memory.h"

ee_status report_folder_read(const char *folder, const char *reference, report_folder *out, ee_error *error)
{
    if (file_is_missing(folder))
        return status_fail(error, EE_NO_FILE,
                           "%.130s not found; expected the DIR of 'eenet run -o DIR' or 'eenet evaluate -o DIR'",
                           folder);
    ee_status status = evaluations_read(folder, &out->stored, error);
    if (status == EE_NO_FILE) status = EE_OK;
    char *runs = NULL;
    if (!status) status = file_join(folder, "results.jsonl", &runs, error);
    if (!status && !out->stored.count && file_is_missing(runs))
        status = status_fail(error, EE_NO_FILE,
                             "no results in %.130s; expected the DIR of 'eenet run -o DIR' or 'eenet evaluate -o DIR'",
                             folder);
    if (!status && !(out->stored.count && file_is_missing(runs))) status = results_read(folder, &out->runs, error);
    memory_free(runs);
    if (!status && !out->runs.count && !out->stored.count)
        status = status_fail(error, EE_BAD_INPUT,
                             "%.150s has no finished runs yet; wait for one, or repeat the command", folder);
    if (!status && out->runs.count) status = summary_create(&out->runs, folder, reference, &out->all, error);
    return status ? status : evaluation_groups_create(&out->stored, &out->evaluations, error);
}

void report_folder_release(report_folder *of)
{
    evaluation_groups_release(&of->evaluations);
    evaluations_release(&of->stored);
    summary_release(&of->all);
    results_release(&of->runs);
}

static void report_line(report_progress *progress, const char *line)
{
    if (progress) progress(line);
}

static ee_status write_tables(const report_folder *of, const char *folder, report_progress *progress, ee_error *error)
{
    char *runs = NULL, *evaluations = NULL;
    ee_status status = file_join(folder, "summary.csv", &runs, error);
    if (!status) status = file_join(folder, "evaluations.csv", &evaluations, error);
    if (!status && of->runs.count) {
        status = report_csv(&of->all, runs, error);
        if (!status) report_line(progress, runs);
    }
    if (!status && of->stored.count) {
        status = evaluation_csv(&of->evaluations, evaluations, error);
        if (!status) report_line(progress, evaluations);
    }
    memory_free(runs);
    memory_free(evaluations);
    return status;
}

static ee_status draw_figures(const report_folder *of, const char *folder, report_progress *progress, ee_error *error)
{
    size_t figures;
    char *place = NULL;
    ee_status status = file_join(folder, "figures", &place, error);
    if (!status) status = report_figures(&of->all, place, &figures, error);
    if (!status) status = evaluation_figures(&of->evaluations, place, &figures, error);
    text line = text_start(error);
    if (!status) text_add(&line, "%s (%zu figures as .svg and .dat)", place, figures);
    if (!status) status = line.status;
    if (!status) report_line(progress, line.bytes);
    memory_free(line.bytes);
    memory_free(place);
    return status;
}

ee_status report_folder_write(const report_folder *of, const char *folder, const char *path, report_progress *progress,
                              ee_error *error)
{
    char *page = NULL;
    ee_status status = write_tables(of, folder, progress, error);
    if (!status) status = draw_figures(of, folder, progress, error);
    if (!status) status = file_join(folder, "report.html", &page, error);
    const char *place = path ? path : page;
    if (!status) status = report_page(&of->all, &of->evaluations, folder, place, error);
    if (!status) report_line(progress, place);
    memory_free(page);
    return status;
}
