#include "vocabulary.h"

#include <string.h>

#include "id_set.h"

/* The slot of a word, or the free slot for it. There is always a free one. */
static size_t find_slot(const vocabulary *words, const char *letters, size_t length)
{
    size_t mask = words->slot_count - 1, slot = (size_t)id_hash(letters, length) & mask;
    for (; words->slots[slot]; slot = (slot + 1) & mask) {
        const vocabulary_word *there = &words->words[words->slots[slot] - 1];
        if (there->length == length && memcmp(words->letters + there->start, letters, length) == 0) break;
    }
    return slot;
}

size_t vocabulary_find(const vocabulary *words, const char *letters, size_t length)
{
    if (words->count == 0) return 0;
    uint32_t found = words->slots[find_slot(words, letters, length)];
    return found ? found - 1 : words->count;
}

static ee_status double_slots(vocabulary *words, ee_error *error)
{
    enum { FIRST = 1024 };
    uint32_t *slots;
    size_t slot_count = words->slot_count ? 2 * words->slot_count : FIRST;
    ee_status status = memory_create(words->owner, &slots, slot_count, sizeof *slots, error);
    if (status) return status;
    memory_free(words->slots);
    words->slots = slots;
    words->slot_count = slot_count;
    for (size_t i = 0; i < words->count; i++)
        slots[find_slot(words, words->letters + words->words[i].start, words->words[i].length)] = (uint32_t)i + 1;
    return EE_OK;
}

ee_status vocabulary_add(vocabulary *words, const char *letters, size_t length, size_t *number, ee_error *error)
{
    if (words->count == UINT32_MAX)
        return status_fail(error, EE_BAD_INPUT, "vocabulary: more than 2^32 - 2 different words");
    size_t end = words->letters_count;
    ee_status status = memory_grow(words->owner, &words->letters, &words->letters_capacity, end + length, 1, error);
    if (!status)
        status =
            memory_grow(words->owner, &words->words, &words->capacity, words->count + 1, sizeof *words->words, error);
    if (!status && 2 * words->count >= words->slot_count) status = double_slots(words, error);
    if (status) return status;
    size_t slot = find_slot(words, letters, length);
    if (!words->slots[slot]) {
        if (length) memcpy(words->letters + end, letters, length);
        words->words[words->count] = (vocabulary_word){end, length, 0};
        words->letters_count += length;
        words->slots[slot] = (uint32_t)++words->count;
    }
    *number = words->slots[slot] - 1;
    return EE_OK;
}

void vocabulary_release(vocabulary *words)
{
    memory_free(words->words);
    memory_free(words->letters);
    memory_free(words->slots);
    *words = (vocabulary){0};
}
