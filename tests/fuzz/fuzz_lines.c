/* Lines of results.jsonl and evaluations.jsonl that nobody wrote: reading one ends, with a sentence or with a run or an
 * evaluation, and the run is written as it is read again. */
#include "base/memory.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "fuzz.h"
#include "lab/results/results.h"

/* To be freed with memory_free. */
static char *format(const stored_run *run)
{
    char *line;
    size_t length = results_format(run, NULL, 0);
    if (memory_create(NULL, &line, length + 1, 1, NULL)) abort();
    results_format(run, line, length + 1);
    return line;
}

static void write_again(const stored_run *run)
{
    stored_run again = {0};
    char *first = format(run);
    require(!results_parse(first, strlen(first), 1, &again, NULL), "what was written is refused");
    char *second = format(&again);
    require(strcmp(first, second) == 0, "what was written is something else");
    memory_free(first);
    memory_free(second);
    results_release_run(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *line = (const char *)bytes;
    stored_run run = {0};
    stored_evaluations list = {.count = 1, .capacity = 1};
    ee_error of_run = {EE_OK, ""}, of_evaluation = {EE_OK, ""};
    ee_status status = results_parse(line, size, 1, &run, &of_run);
    require(status == of_run.status, "a status without its error");
    if (!status) write_again(&run);
    results_release_run(&run);
    if (memory_create(NULL, &list.rows, 1, sizeof *list.rows, NULL)) abort();
    status = evaluations_parse(line, size, 1, list.rows, &of_evaluation);
    require(status == of_evaluation.status, "a status without its error");
    evaluations_release(&list);
    return 0;
}
