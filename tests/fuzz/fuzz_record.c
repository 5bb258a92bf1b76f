/* Records that no decision made: learning one, or taking it in, ends with a status and the bandit as it was, or with a
 * bandit that decides and can be saved and loaded.
 *
 * The first byte of an input names a bandit, the rest is the record. It is tried as it is, and once more with the
 * bandit's fingerprint and its last eight bytes made the checksum of the others: without that next to nothing would get
 * past the two. */
#include "engine/bandit.h"
#include "fuzz.h"
#include "fuzz_bandits.h"

static void go_on(ee_bandit *bandit)
{
    ee_error error = {EE_OK, ""};
    ee_status status = fuzz_bandit_play(bandit, 99, &error);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not go on", &error);
    fuzz_save_twice(bandit);
}

/* Learns the record at once, or takes it in and learns it as a decision of the bandit's own. */
static ee_status learn(ee_bandit *bandit, const uint8_t *record, size_t size, bool waits, ee_error *error)
{
    ee_decision decision;
    if (!waits) return ee_bandit_learn_record(bandit, record, size, 1, error);
    ee_status status = ee_bandit_take_record(bandit, record, size, &decision, error);
    if (status) return status;
    ee_error of_learning = {EE_OK, ""};
    go_on(bandit); /* the policy is told of it */
    status = ee_bandit_learn(bandit, decision.id, 1, &of_learning);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not learn what waits", &of_learning);
    return EE_OK;
}

static void try_record(size_t kind, const uint8_t *record, size_t size, bool waits)
{
    ee_error error = {EE_OK, ""};
    ee_bandit *bandit = fuzz_bandit_make(kind, &error);
    require_error(bandit != NULL, "is not created", &error);
    fuzz_saved before = fuzz_save(bandit);
    ee_status status = learn(bandit, record, size, waits, &error);
    require_error(status == error.status, "a status without its error", &error);
    require_error(status == EE_OK || status == EE_BAD_RECORD || status == EE_BAD_INPUT || status == EE_DIVERGED,
                  "an odd status", &error);
    require_error(fuzz_is_of(before, bandit) || !status, "changed", &error);
    go_on(bandit);
    ee_bandit_free(bandit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { FINGERPRINT = 16, CHECKSUM_SIZE = 8, SHORTEST = 32 };
    ee_error error = {EE_OK, ""};
    if (!size) return 0;
    size_t kind = bytes[0] % FUZZ_BANDITS, rest = size - 1;
    for (int waits = 0; waits < 2; waits++) try_record(kind, bytes + 1, rest, waits);
    if (rest < SHORTEST) return 0;
    uint8_t *repaired = copy_of(bytes + 1, rest);
    ee_bandit *bandit = fuzz_bandit_make(kind, &error);
    if (bandit) {
        memcpy(repaired + FINGERPRINT, &bandit->fingerprint, sizeof bandit->fingerprint);
        uint64_t checksum = archive_checksum(repaired, rest - CHECKSUM_SIZE);
        memcpy(repaired + rest - CHECKSUM_SIZE, &checksum, CHECKSUM_SIZE);
        bool same = memcmp(repaired, bytes + 1, rest) == 0;
        for (int waits = 0; waits < 2 && !same; waits++) try_record(kind, repaired, rest, waits);
    }
    ee_bandit_free(bandit);
    free(repaired);
    return 0;
}
