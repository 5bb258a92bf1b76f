/* Two tables: ids go to the newer; once that has its share, it becomes the older one and the older is emptied. Nothing
 * is ever taken out of a table, so that the search is a plain walk. */
#include "id_set.h"

#include <string.h>

enum { SLOTS = 2 * ID_SET_LEAST }; /* at most half full */

struct id_set {
    uint64_t *newer, *older; /* (SLOTS); 0: free */
    size_t count;            /* in the newer */
};

ee_status id_set_create(memory *owner, id_set **out, ee_error *error)
{
    ee_status status = memory_create(owner, out, 1, sizeof **out, error);
    if (!status) status = memory_create(owner, &(*out)->newer, SLOTS, sizeof(uint64_t), error);
    if (!status) status = memory_create(owner, &(*out)->older, SLOTS, sizeof(uint64_t), error);
    return status;
}

/* Where it is, or where it would be. */
static uint64_t *find(uint64_t *table, uint64_t hash)
{
    size_t at = (size_t)hash % SLOTS;
    while (table[at] && table[at] != hash) at = (at + 1) % SLOTS;
    return &table[at];
}

bool id_set_add(id_set *set, uint64_t hash)
{
    hash += hash == 0;
    uint64_t *place = find(set->newer, hash);
    if (*place || *find(set->older, hash)) return true;
    *place = hash;
    if (++set->count < ID_SET_LEAST) return false;
    uint64_t *emptied = set->older;
    set->older = set->newer;
    set->newer = emptied;
    set->count = 0;
    memset(emptied, 0, SLOTS * sizeof *emptied);
    return false;
}

/* Multiply and fold (as in Wyhash): two words of the input a step. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    a ^= a >> 32;
    a *= 0x9e3779b97f4a7c15u;
    a ^= b;
    a ^= a >> 29;
    return a * 0xbf58476d1ce4e5b9u;
}

uint64_t id_hash(const char *bytes, size_t size)
{
    uint64_t hash = size;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = mix(hash, word);
    }
    uint64_t rest = 0;
    if (size) memcpy(&rest, bytes, size);
    hash = mix(hash, rest);
    hash = mix(hash, 0);
    return hash ^ (hash >> 31);
}
