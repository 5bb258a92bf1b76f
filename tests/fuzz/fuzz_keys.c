/* Keys files that nobody meant: reading them ends, and what is read has names and roles. */
#include "fuzz.h"
#include "serve/http/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    key_ring *ring;
    key_grant grant;
    ee_error error = {EE_OK, ""};
    ee_status status = key_ring_parse((const char *)bytes, size, &ring, &error);
    require_status(status, &error, EE_BAD_INPUT);
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
