/* Vectors of words from a file, in one of two forms, told apart by what is in it:
 *
 *     text (.vec of fastText, word2vec and GloVe)
 *         a line for each word: the word and its numbers, between blanks; in front there may be a line with the number
 *         of words and the dimension
 *
 *     word2vec binary
 *         that line, then for each word: the word, a blank, its numbers as float32, little-endian, and perhaps a line
 *         end
 *
 * The file lies in memory whole; of its numbers only those of words that the vocabulary has are looked at and kept. Of
 * a word that comes twice the first counts. */
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
