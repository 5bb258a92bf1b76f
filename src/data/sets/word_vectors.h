/* Word vectors from a file in one of two formats, detected by its content:
 *
 *     text (.vec of fastText, word2vec and GloVe)
 *         a line for each word: the word and its numbers, separated by blanks; optionally preceded by a line with the
 *         number of words and the dimension
 *
 *     word2vec binary
 *         that line, then for each word: the word, a blank, its numbers as little-endian float32, and optionally a
 *         line end
 *
 * Only the numbers of words in the vocabulary are read. If a word occurs twice, the first counts. */
#ifndef EENET_WORD_VECTORS_H
#define EENET_WORD_VECTORS_H

#include "text_features.h"

typedef struct word_vectors {
    size_t dim;
    float *values; /* (words of the vocabulary, dim); zeros where the file has no such word */
    bool *known;   /* (words of the vocabulary) whether the file has it */
} word_vectors;

/* EE_BAD_INPUT, with the line or byte and what was expected, if the file is malformed or has no word of the vocabulary.
 * Release it; on failure it is empty. */
ee_status word_vectors_read(const source *file, const vocabulary *words, word_vectors *out, ee_error *error);
void word_vectors_release(word_vectors *vectors);

#endif
