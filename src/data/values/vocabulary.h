/* A hash table that numbers words in the order in which they are added. */
#ifndef EENET_VOCABULARY_H
#define EENET_VOCABULARY_H

#include "base/memory.h"

typedef struct vocabulary_word {
    size_t start, length; /* in the letters of its vocabulary */
    size_t uses;          /* a counter for the caller; 0 at first */
} vocabulary_word;

/* Starts as zeros. */
typedef struct vocabulary {
    memory *owner;          /* NULL: the caller releases it */
    vocabulary_word *words; /* (count) */
    size_t count, capacity;
    char *letters; /* (letters_count) */
    size_t letters_count, letters_capacity;
    uint32_t *slots; /* (slot_count, a power of two) 1 + a word's number; 0: free */
    size_t slot_count;
} vocabulary;

/* Sets *number; a new word gets the next one. letters must not point into the vocabulary. */
ee_status vocabulary_add(vocabulary *words, const char *letters, size_t length, size_t *number, ee_error *error);

/* The number of a word, matched exactly; the vocabulary's count if it is unknown. */
size_t vocabulary_find(const vocabulary *words, const char *letters, size_t length);

void vocabulary_release(vocabulary *words);

#endif
