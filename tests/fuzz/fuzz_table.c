/* Tables that nobody wrote: reading them ends, with a sentence or with rows that are what the rounds rely on. The first
 * line is the options, the rest the file. */
#include "base/memory.h"
#include "data/tables/table.h"
#include "fuzz.h"

static void check_rows(const classes_dataset *data)
{
    require(data->rows > 0 && data->features > 0 && data->classes > 1, "rounds of nothing");
    require(data->starts[0] == 0, "the first row does not start at the first entry");
    for (size_t row = 0; row < data->rows; row++) {
        size_t start = data->starts[row], end = data->starts[row + 1];
        require(start <= end, "a row ends before it starts");
        require(data->labels[row] < data->classes, "a label of no class");
        for (size_t i = start; i < end; i++) {
            require(data->indices[i] < data->features, "an index past the features");
            require(i == start || data->indices[i] > data->indices[i - 1], "indices that do not ascend");
            require(isfinite(data->values[i]), "a value that is no number");
        }
    }
}

/* Made anew, as the parser changes it. */
static void try_table(const char *options, const uint8_t *bytes, size_t size)
{
    static char name[] = "table";
    source file = {.path = name, .size = size};
    classes_dataset *data = NULL;
    ee_error error = {EE_OK, ""};
    survey *seen = NULL;
    if (memory_create(NULL, &file.bytes, size + 1, 1, NULL) || survey_create(&seen, NULL)) abort();
    if (size) memcpy(file.bytes, bytes, size);
    ee_status status = table_parse(&file, options, seen, &data, &error);
    require(status == error.status, "a status without its error");
    require((status == EE_OK) == (data != NULL), "rows where there are none");
    if (data) check_rows(data);
    if (data) classes_close(&data->head);
    survey_free(seen);
    memory_free(file.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char options[256];
    if (take_line(&bytes, &size, options)) try_table(options, bytes, size);
    return 0;
}
