#include "text_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

/* ---- counting ---- */

typedef struct entry {
    uint32_t word, count;
} entry;

/* How often each text has each of its words. */
typedef struct counts {
    memory owner;
    vocabulary words;
    size_t *newest; /* (words) 1 + the place of the word's newest entry */
    size_t newest_capacity;
    size_t *starts; /* (texts + 1) */
    entry *entries; /* (starts[texts]) */
    size_t entry_count, entry_capacity;
    char *lowered; /* (longest text so far) the present text in small letters */
    size_t lowered_capacity;
} counts;

static char to_small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           (uint8_t)byte >= 0x80;
}

/* text_start is the first entry of the current text. */
static ee_status count_word(counts *all, size_t text_start, const char *letters, size_t length, ee_error *error)
{
    size_t number;
    ee_status status = vocabulary_add(&all->words, letters, length, &number, error);
    if (!status)
        status = memory_grow(&all->owner, &all->newest, &all->newest_capacity, number + 1, sizeof *all->newest, error);
    if (status) return status;
    if (all->newest[number] > text_start) {
        all->entries[all->newest[number] - 1].count++;
        return EE_OK;
    }
    status = memory_grow(&all->owner, &all->entries, &all->entry_capacity, all->entry_count + 1, sizeof *all->entries,
                         error);
    if (status) return status;
    all->entries[all->entry_count] = (entry){(uint32_t)number, 1};
    all->newest[number] = ++all->entry_count;
    all->words.words[number].uses++;
    return EE_OK;
}

static ee_status count_text(counts *all, const field *text, ee_error *error)
{
    size_t text_start = all->entry_count;
    ee_status grown = memory_grow(&all->owner, &all->lowered, &all->lowered_capacity, text->length, 1, error);
    if (grown) return grown;
    for (size_t i = 0; i < text->length; i++) all->lowered[i] = to_small(text->text[i]);
    for (size_t start = 0, end; start < text->length; start = end + 1) {
        for (end = start; end < text->length && is_letter(all->lowered[end]);) end++;
        if (end == start) continue;
        ee_status status = count_word(all, text_start, all->lowered + start, end - start, error);
        if (status) return status;
    }
    return EE_OK;
}

static ee_status count_texts(const field *texts, size_t count, counts *out, ee_error *error)
{
    ee_status status = memory_create(&out->owner, &out->starts, count + 1, sizeof *out->starts, error);
    for (size_t i = 0; i < count && !status; i++) {
        status = count_text(out, &texts[i], error);
        out->starts[i + 1] = out->entry_count;
    }
    return status;
}

/* ---- the words that stay ---- */

typedef struct candidate {
    json_text letters;
    size_t texts, number;
} candidate;

static int compare_candidates(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (a->texts != b->texts) return a->texts > b->texts ? -1 : 1;
    return json_compare(a->letters, b->letters);
}

/* renamed is (words): the new numbers of the words that stay, the new vocabulary's count for the others. */
static ee_status choose_words(const vocabulary *from, size_t min_texts, size_t most_words, vocabulary *out,
                              size_t *renamed, ee_error *error)
{
    candidate *candidates;
    size_t count = 0;
    ee_status status = memory_create(from->owner, &candidates, from->count, sizeof *candidates, error);
    if (status) return status;
    for (size_t i = 0; i < from->count; i++) {
        const vocabulary_word *w = &from->words[i];
        if (w->uses >= min_texts) candidates[count++] = (candidate){{from->letters + w->start, w->length}, w->uses, i};
    }
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    if (count > most_words) count = most_words;
    for (size_t i = 0; i < from->count; i++) renamed[i] = count;
    for (size_t i = 0; i < count && !status; i++) {
        const candidate *chosen = &candidates[i];
        status = vocabulary_add(out, chosen->letters.bytes, chosen->letters.length, &renamed[chosen->number], error);
        if (!status) out->words[i].uses = chosen->texts;
    }
    return status;
}

/* ---- the weights ---- */

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return (a->word > b->word) - (a->word < b->word);
}

/* The weights of a row from its counts. entries is (count): the new numbers of the words, in any order. */
static void weigh_row(text_features *out, size_t row, entry *entries, size_t count)
{
    uint32_t *indices = out->indices + out->starts[row];
    float *values = out->values + out->starts[row];
    double squares = 0;
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++) {
        double having = (double)out->words.words[entries[i].word].uses;
        double idf = 1 + log((1 + (double)out->texts) / (1 + having));
        double weight = (1 + log((double)entries[i].count)) * idf;
        squares += weight * weight;
        indices[i] = entries[i].word;
        values[i] = (float)weight;
    }
    for (size_t i = 0; i < count; i++) values[i] = (float)((double)values[i] / sqrt(squares));
}

static ee_status weigh(counts *all, const size_t *renamed, text_features *out, ee_error *error)
{
    ee_status status = memory_create(NULL, &out->starts, out->texts + 1, sizeof *out->starts, error);
    if (!status) status = memory_create(NULL, &out->indices, all->entry_count, sizeof *out->indices, error);
    if (!status) status = memory_create(NULL, &out->values, all->entry_count, sizeof *out->values, error);
    if (status) return status;
    for (size_t row = 0; row < out->texts; row++) {
        entry *entries = all->entries + all->starts[row];
        size_t count = 0, before = all->starts[row + 1] - all->starts[row];
        for (size_t i = 0; i < before; i++) {
            size_t number = renamed[entries[i].word];
            if (number < out->words.count) entries[count++] = (entry){(uint32_t)number, entries[i].count};
        }
        weigh_row(out, row, entries, count);
        out->starts[row + 1] = out->starts[row] + count;
    }
    return EE_OK;
}

ee_status text_features_create(const field *texts, size_t count, size_t min_texts, size_t most_words,
                               text_features *out, ee_error *error)
{
    *out = (text_features){.texts = count};
    counts all = {0};
    size_t *renamed;
    all.words.owner = &all.owner;
    ee_status status = count_texts(texts, count, &all, error);
    if (!status) status = memory_create(&all.owner, &renamed, all.words.count, sizeof *renamed, error);
    if (!status) status = choose_words(&all.words, min_texts, most_words, &out->words, renamed, error);
    if (!status) status = weigh(&all, renamed, out, error);
    memory_release(&all.owner);
    if (status) text_features_release(out);
    return status;
}

void text_features_release(text_features *features)
{
    vocabulary_release(&features->words);
    memory_free(features->starts);
    memory_free(features->indices);
    memory_free(features->values);
    *features = (text_features){0};
}
