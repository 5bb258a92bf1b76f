#include "vw_hash.h"

#include <string.h>

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* Scrambles a word of the input before it enters the hash. */
static uint32_t scramble(uint32_t word)
{
    return rotate(word * 0xcc9e2d51U, 15) * 0x1b873593U;
}

/* The input of a hash, piece by piece: the text of a feature may be in several pieces. */
typedef struct murmur {
    uint32_t hash, tail; /* tail: bytes of an incomplete word */
    size_t count;
} murmur;

static void feed(murmur *self, unsigned char byte)
{
    self->tail |= (uint32_t)byte << (8 * (self->count++ % 4));
    if (self->count % 4) return;
    self->hash = rotate(self->hash ^ scramble(self->tail), 13) * 5 + 0xe6546b64U;
    self->tail = 0;
}

static uint32_t finish(const murmur *self)
{
    uint32_t hash = self->hash ^ scramble(self->tail); /* 0 for an empty tail */
    hash ^= (uint32_t)self->count;
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

uint32_t vw_murmur(const char *bytes, size_t count, uint32_t seed)
{
    murmur state = {.hash = seed};
    for (size_t i = 0; i < count; i++) feed(&state, (unsigned char)bytes[i]);
    return finish(&state);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* A feature is `key` followed by `word`. In a word, the separators of their text format become _. */
static char byte_at(json_text key, json_text word, size_t i)
{
    if (i < key.length) return key.bytes[i];
    char byte = word.bytes[i - key.length];
    return byte == ' ' || byte == '\t' || byte == '|' || byte == ':' ? '_' : byte;
}

static uint32_t hash_parts(json_text key, json_text word, uint32_t seed)
{
    size_t start = 0, end = key.length + word.length;
    uint32_t number = 0;
    bool digits = true;
    while (start < end && is_blank(byte_at(key, word, start))) start++;
    while (end > start && is_blank(byte_at(key, word, end - 1))) end--;
    murmur state = {.hash = seed};
    for (size_t i = start; i < end; i++) {
        char byte = byte_at(key, word, i);
        digits = digits && byte >= '0' && byte <= '9';
        number = number * 10 + (uint32_t)(byte - '0');
        feed(&state, (unsigned char)byte);
    }
    return digits ? number + seed : finish(&state);
}

uint32_t vw_hash(const char *bytes, size_t count, uint32_t seed)
{
    return hash_parts((json_text){bytes, count}, (json_text){"", 0}, seed);
}

uint32_t vw_feature_hash(const round_feature *feature, const char *text, bool chained)
{
    const char *name = text + feature->text;
    uint32_t space = feature->path ? vw_hash(name + feature->inner, feature->path - feature->inner, 0) : 0;
    if (feature->is_element) return space + feature->element;
    json_text key = {name + feature->key, feature->key_bytes};
    json_text word = {name + feature->word, feature->bytes - feature->word};
    if (!chained || !feature->has_word) return hash_parts(key, word, space);
    return hash_parts((json_text){"", 0}, word, hash_parts(key, (json_text){"", 0}, space));
}
