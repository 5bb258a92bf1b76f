/* Texts in the place of rounds.json: reading them ends, and what is accepted is written so that it reads back the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/sets/rounds_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds, const char *what, const ee_error *error)
{
    if (holds) return;
    fprintf(stderr, "fuzz_rounds: %s: %s\n", what, error->message);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    rounds_file first, second;
    ee_error error = {EE_OK, ""};
    survey *seen = NULL;
    if (survey_create(&seen, NULL)) return 0;
    ee_status status = rounds_file_parse(bytes, size, "fuzz", seen, &first, &error);
    survey_free(seen);
    require(status == error.status, "a status without its error", &error);
    require(status == EE_OK || status == EE_BAD_INPUT, "an odd status", &error);
    if (status) return 0;
    text page = text_start(&error);
    require(rounds_file_check(&first, &error) == EE_OK, "cannot be written", &error);
    rounds_file_format(&first, &page);
    require(page.status == EE_OK, "is not written", &error);
    require(rounds_file_parse((const uint8_t *)page.bytes, page.length, "fuzz", NULL, &second, &error) == EE_OK,
            "is not read again", &error);
    memory_free(page.bytes);
    require(memcmp(&first, &second, sizeof first) == 0, "reads back as another", &error);
    return 0;
}
