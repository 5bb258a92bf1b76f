/* Texts in the place of rounds.json: reading them ends, and what is accepted is written so that it reads back the same.
 */
#include "data/sets/rounds_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    rounds_file first, second;
    ee_error error = {EE_OK, ""};
    survey *seen = NULL;
    if (survey_create(&seen, NULL)) return 0;
    ee_status status = rounds_file_parse(bytes, size, "fuzz", seen, &first, &error);
    survey_free(seen);
    require_status(status, &error, EE_BAD_INPUT);
    if (status) return 0;
    text page = text_start(&error);
    require_error(rounds_file_check(&first, &error) == EE_OK, "cannot be written", &error);
    rounds_file_format(&first, &page);
    require_error(page.status == EE_OK, "is not written", &error);
    require_error(rounds_file_parse((const uint8_t *)page.bytes, page.length, "fuzz", NULL, &second, &error) == EE_OK,
                  "is not read again", &error);
    memory_free(page.bytes);
    require_error(memcmp(&first, &second, sizeof first) == 0, "reads back as another", &error);
    return 0;
}
