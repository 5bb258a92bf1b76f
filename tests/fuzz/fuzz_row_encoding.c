/* Encodings of rows that nobody wrote: reading them ends, with a sentence or with one that is written as it was read,
 * and rows of JSON are refused or have features that a bandit takes. The first line is the row, the rest the file. */
#include "data/tables/row_encoding.h"
#include "data/values/text.h"
#include "fuzz.h"

static void encode(const row_encoding *encoding, json_text row)
{
    uint32_t *indices;
    float *values;
    size_t count, most = row_encoding_entries(encoding);
    ee_error error = {EE_OK, ""};
    if (memory_create(NULL, &indices, most, sizeof *indices, NULL)) abort();
    if (memory_create(NULL, &values, most, sizeof *values, NULL)) abort();
    ee_status status = row_encoding_json(encoding, row, NULL, indices, values, &count, &error);
    require(status == error.status && (!status || error.message[0]), "refused without a sentence");
    require(count <= most && (!status || count == 0), "more entries than there is room for");
    for (size_t i = 0; i < count; i++) {
        require(indices[i] < row_encoding_features(encoding), "an index past the features");
        require(i == 0 || indices[i] > indices[i - 1], "indices that do not ascend");
        require(isfinite(values[i]), "a value that is no number");
    }
    memory_free(indices);
    memory_free(values);
}

static void write_again(const row_encoding *encoding)
{
    text first = text_start(NULL), second = text_start(NULL);
    row_encoding *again;
    row_encoding_format(encoding, &first);
    require(!first.status, "not written");
    require(!row_encoding_parse(first.bytes, first.length, "again", &again, NULL), "what was written is refused");
    row_encoding_format(again, &second);
    require(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0,
            "what was written is something else");
    require(row_encoding_features(again) == row_encoding_features(encoding), "another number of features");
    row_encoding_free(again);
    memory_free(first.bytes);
    memory_free(second.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *line_end = size ? memchr(bytes, '\n', size) : NULL;
    row_encoding *encoding;
    ee_error error = {EE_OK, ""};
    if (!line_end) return 0;
    size_t length = (size_t)(line_end - bytes);
    ee_status status =
        row_encoding_parse((const char *)line_end + 1, size - length - 1, "rows.json", &encoding, &error);
    require(status == error.status && (encoding != NULL) == !status, "a status without its error");
    if (status) return 0;
    for (size_t i = 0; i < row_encoding_features(encoding); i++) {
        char name[40];
        row_encoding_feature_name(encoding, i, name, sizeof name);
    }
    write_again(encoding);
    encode(encoding, (json_text){(const char *)bytes, length});
    row_encoding_free(encoding);
    return 0;
}
