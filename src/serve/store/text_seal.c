#include "text_seal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/archive.h"

static const char form[] = "\nchecksum %016" PRIx64 "\n";
enum { SEAL = 27 }; /* its bytes */

void text_seal(text *into)
{
    if (!into->status) text_add(into, form, archive_checksum((const uint8_t *)into->bytes, into->length));
}

bool text_unseal(const void *bytes, size_t *size)
{
    const char *all = bytes;
    char expected[SEAL + 1];
    if (*size && all[*size - 1] == '}') return true;
    if (*size < SEAL) return false;
    snprintf(expected, sizeof expected, form, archive_checksum(bytes, *size - SEAL));
    if (memcmp(all + *size - SEAL, expected, SEAL) != 0) return false;
    *size -= SEAL;
    return true;
}
