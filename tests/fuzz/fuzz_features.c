/* JSON that nobody wrote, as a round of named features: parsing ends with a status and the round as it was, or its arms
 * are such as a bandit takes; the same input always gives the same arms, and encoding learns nothing.
 *
 * The first byte of an input picks the options of the features, the rest is the JSON. It is read as a whole round, as a
 * context and as an action. */
#include "engine/arms.h"
#include "features/features.h"
#include "fuzz.h"

static const char *const options[] = {
    "names=200 hashes=16",
    "names=4 hashes=3",
    "names=16 hashes=0 products=context*context+u*action",
    "standardize=off names=64 hashes=8 products=u*i+i*i+context*action",
    "hashing=vw bits=6",
    "hashing=vw bits=10 chain_hash=on products=none",
};
enum { OPTIONS = sizeof options / sizeof *options };

static const char other[] = "{\"u\":{\"x\":2,\"y\":\"z\"},\"_multi\":[{\"i\":{\"v\":[1,-2]}},{\"i\":{\"w\":true}}]}";

/* What the same calls must make equal. */
typedef struct outcome {
    ee_status status;
    uint64_t arms, state; /* checksums */
} outcome;

static uint64_t checksum_of(const ee_arms *arms)
{
    size_t entries = arms->starts[arms->count];
    uint64_t parts[] = {
        archive_checksum((const uint8_t *)arms->starts, (arms->count + 1) * sizeof *arms->starts),
        archive_checksum((const uint8_t *)arms->indices, entries * sizeof *arms->indices),
        archive_checksum((const uint8_t *)arms->values, entries * sizeof *arms->values),
    };
    return archive_checksum((const uint8_t *)parts, sizeof parts);
}

static uint64_t checksum_of_state(features *self)
{
    ee_error error = {EE_OK, ""};
    archive a = archive_writer(&error);
    features_archive(self, &a);
    require_error(a.status == EE_OK, "does not save", &error);
    uint64_t checksum = archive_checksum(a.bytes, a.size);
    memory_free(a.bytes);
    return checksum;
}

/* Whatever the status, the round can be learned and encoded. */
static void try_round(features *self, ee_round *round, outcome *out)
{
    ee_error error = {EE_OK, ""};
    ee_arms arms;
    uint64_t before = checksum_of_state(self);
    ee_status status = features_learn(self, round, &error);
    require_status(status, &error, EE_BAD_INPUT);
    if (status) require_error(checksum_of_state(self) == before, "learned though it failed", &error);
    if (status) return;
    require_error(features_encode(self, round, &arms, &error) == EE_OK, "does not encode", &error);
    require_error(arms_check(&arms, self->dim, &error) == EE_OK, "arms that no bandit takes", &error);
    out->arms = checksum_of(&arms);
    out->state = checksum_of_state(self);
    require_error(features_encode(self, round, &arms, &error) == EE_OK, "does not encode again", &error);
    require_error(checksum_of(&arms) == out->arms, "encodes otherwise", &error);
    require_error(checksum_of_state(self) == out->state, "learns by encoding", &error);
}

typedef ee_status (*reading)(ee_round *, const char *, size_t, ee_error *);

static outcome play(const char *text, reading read, const char *json, size_t size)
{
    ee_error error = {EE_OK, ""};
    memory owner = {0};
    features self;
    features_options wanted;
    ee_round *round;
    outcome out = {0};
    require_error(!features_read_options(&wanted, text, &error) && !features_create(&self, &owner, &wanted, &error) &&
                      !ee_round_create(NULL, &round, &error) && !ee_round_read(round, other, sizeof other - 1, &error),
                  "does not start", &error);
    for (int twice = 0; twice < 2; twice++) {
        out.status = read(round, json, size, &error);
        require_error(out.status == error.status, "a status without its error", &error);
        require_error(out.status == EE_OK || out.status == EE_BAD_INPUT, "an odd status", &error);
        try_round(&self, round, &out);
        error = (ee_error){EE_OK, ""};
    }
    ee_round_free(round);
    memory_release(&owner);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const reading readings[] = {ee_round_read, ee_round_context, ee_round_action};
    if (!size) return 0;
    const char *json = (const char *)bytes + 1, *text = options[bytes[0] % OPTIONS];
    for (size_t i = 0; i < 3; i++) {
        outcome once = play(text, readings[i], json, size - 1), again = play(text, readings[i], json, size - 1);
        ee_error error = {EE_OK, ""};
        require_error(once.status == again.status && once.arms == again.arms && once.state == again.state,
                      "the same input gives another outcome", &error);
    }
    return 0;
}
