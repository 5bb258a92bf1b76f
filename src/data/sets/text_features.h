/* Texts as weights of words (TF-IDF). A word is a run of ASCII letters, digits and bytes above 0x7f (letters of other
 * scripts in UTF-8); ASCII letters are lowercased. A word that occurs c times in a text has the weight
 *
 *     (1 + ln c) idf,   idf = 1 + ln((1 + texts) / (1 + texts that have the word)),
 *
 * and the weights of a text are scaled to length 1 (Manning, Raghavan and Schuetze, "Introduction to information
 * retrieval", 2008, section 6.4; one is added as if another text had every word, so that no weight is zero). */
#ifndef EENET_TEXT_FEATURES_H
#define EENET_TEXT_FEATURES_H

#include "data/files/rows.h"
#include "data/values/vocabulary.h"

/* Row i has the entries starts[i] to starts[i + 1]; a text without any word of the vocabulary has none. */
typedef struct text_features {
    vocabulary words; /* in the most texts first, then by their bytes */
    size_t texts;
    size_t *starts;    /* (texts + 1) */
    uint32_t *indices; /* (starts[texts]) numbers of words, ascending within a row */
    float *values;     /* (starts[texts]) */
} text_features;

/* The first most_words of the words that at least min_texts texts have. texts is (count), only read here.
 * Release *out; on failure it is empty. */
ee_status text_features_create(const field *texts, size_t count, size_t min_texts, size_t most_words,
                               text_features *out, ee_error *error);
void text_features_release(text_features *features);

#endif
