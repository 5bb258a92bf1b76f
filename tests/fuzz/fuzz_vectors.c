/* Files of word vectors that nobody meant: reading them ends, and what is accepted is finite numbers for known words
 * and zeros for the others. */
#include "data/sets/word_vectors.h"
#include "fuzz.h"

static void check_values(const word_vectors *vectors, size_t words)
{
    require(vectors->dim > 0, "vectors without numbers");
    for (size_t i = 0; i < words * vectors->dim; i++) {
        require(isfinite(vectors->values[i]), "a number that is not finite");
        require(vectors->known[i / vectors->dim] || vectors->values[i] == 0, "numbers of an unknown word");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char text[] = "cat dog ox yak 7";
    field whole = {text, sizeof text - 1};
    text_features features;
    source file = {"fuzzed", malloc(size + 1), size};
    if (!file.bytes || text_features_create(&whole, 1, 1, 10, &features, NULL)) abort();
    if (size) memcpy(file.bytes, bytes, size);
    file.bytes[size] = 0;
    word_vectors vectors;
    ee_error error = {EE_OK, ""};
    ee_status status = word_vectors_read(&file, &features.words, &vectors, &error);
    require(status == error.status, "a status without its error");
    require((status == EE_OK) == (vectors.values != NULL), "vectors where there are none");
    if (!status) check_values(&vectors, features.words.count);
    word_vectors_release(&vectors);
    text_features_release(&features);
    free(file.bytes);
    return 0;
}
