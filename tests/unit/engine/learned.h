/* All that a bandit has learned, as bytes to compare: parameters and what its policy keeps besides; not how many
 * decisions were made, what is pending, or what was drawn. */
#ifndef EENET_TEST_LEARNED_H
#define EENET_TEST_LEARNED_H

#include "rounds.h"

#include "engine/bandit.h"

static inline archive learned_bytes(const ee_bandit *bandit)
{
    archive a = archive_writer(NULL);
    parameters *learned = &bandit->policy->parameters;
    archive_u64(&a, &learned->round);
    archive_bytes(&a, &learned->length, sizeof learned->length);
    archive_floats(&a, learned->values, learned->count);
    if (bandit->policy->class->archive) bandit->policy->class->archive(bandit->policy, &a);
    ok(a.status);
    return a;
}

static inline bool learned_the_same(const ee_bandit *a, const ee_bandit *b)
{
    auto_archive one = learned_bytes(a), other = learned_bytes(b);
    return one.size == other.size && memcmp(one.bytes, other.bytes, one.size) == 0;
}

#endif
