/* Keys files that nobody meant: reading them ends, and what is read has names and roles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/http/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_keys: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    key_ring *ring;
    key_grant grant;
    ee_error error = {EE_OK, ""};
    char *copy = malloc(size ? size : 1);
    if (!copy) return 0;
    if (size) memcpy(copy, bytes, size);
    ee_status status = key_ring_parse(copy, size, &ring, &error);
    free(copy);
    require(status == error.status && (status == EE_OK || status == EE_BAD_INPUT), "a status without its error");
    require(memchr(error.message, '\0', sizeof error.message) != NULL, "a message without an end");
    if (status) return 0;
    for (size_t i = 0; i < key_ring_count(ring); i++) {
        require(key_ring_at(ring, i, &grant), "fewer keys than there are");
        require(grant.role >= KEY_READER && grant.role <= KEY_ADMIN, "no role");
        require(grant.name[0] && (!grant.bandit || grant.bandit[0]), "no name");
    }
    require(!key_ring_at(ring, key_ring_count(ring), &grant), "more keys than there are");
    if (key_ring_find(ring, (json_text){"a key", 5}, &grant)) require(grant.place < key_ring_count(ring), "no place");
    key_ring_free(ring);
    return 0;
}
