#include "record.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "arms.h"

static const uint8_t magic[8] = "eerec\x1a\r\n";
enum { RECORD_VERSION = 2, CHECKSUM_SIZE = 8 };
/* Mark, version, fingerprint and length; round and arms, entries and sparse, three scores, whether the arm has an id,
 * and the id. */
enum { HEAD_SIZE = 4 * 8 + 2 * 8 + 2 * 4 + 3 * 4 + 4 + 8 };

size_t record_size(size_t words)
{
    return HEAD_SIZE + words * sizeof(uint32_t) + CHECKSUM_SIZE;
}

uint32_t *record_words(void *bytes)
{
    return (uint32_t *)(void *)((uint8_t *)bytes + HEAD_SIZE);
}

static void archive_record_head(record_head *head, uint8_t *mark, uint64_t *version, archive *a)
{
    archive_bytes(a, mark, sizeof magic);
    archive_u64(a, version);
    archive_u64(a, &head->fingerprint);
    archive_bytes(a, &head->length, sizeof head->length);
    kept_decision_archive(&head->decision, a);
}

void record_write(const record_head *head, size_t words, void *bytes)
{
    uint8_t mark[sizeof magic];
    uint64_t version = RECORD_VERSION;
    record_head written = *head;
    size_t end = record_size(words) - CHECKSUM_SIZE;
    memcpy(mark, magic, sizeof mark);
    archive a = archive_into(bytes, HEAD_SIZE);
    archive_record_head(&written, mark, &version, &a);
    uint64_t checksum = archive_checksum(bytes, end);
    memcpy((uint8_t *)bytes + end, &checksum, sizeof checksum);
}

static ee_status check_frame(const uint8_t *bytes, size_t size, ee_error *error)
{
    uint64_t checksum;
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return status_fail(error, EE_BAD_RECORD, "record: not a decision record");
    if (size < HEAD_SIZE + CHECKSUM_SIZE)
        return status_fail(error, EE_BAD_RECORD, "record: truncated: %zu bytes", size);
    memcpy(&checksum, bytes + size - CHECKSUM_SIZE, sizeof checksum);
    if (archive_checksum(bytes, size - CHECKSUM_SIZE) != checksum)
        return status_fail(error, EE_BAD_RECORD, "record: damaged or truncated: the checksum of its %zu bytes is wrong",
                           size);
    return EE_OK;
}

static bool score_is_finite(ee_score score)
{
    return isfinite(score.exploitation) && isfinite(score.exploration) && isfinite(score.score);
}

ee_status record_read(const void *bytes, size_t size, uint64_t fingerprint, const policy *owner, record_head *head,
                      size_t *words, ee_error *error)
{
    uint8_t mark[sizeof magic];
    uint64_t version = 0;
    ee_status status = check_frame(bytes, size, error);
    if (status) return status;
    *head = (record_head){0};
    archive a = archive_reader(bytes, size - CHECKSUM_SIZE, error);
    archive_record_head(head, mark, &version, &a);
    if (version != RECORD_VERSION)
        return status_fail(error, EE_BAD_RECORD, "record: version %llu is not supported; this library reads version %d",
                           (unsigned long long)version, RECORD_VERSION);
    if (head->fingerprint != fingerprint)
        return status_fail(error, EE_BAD_RECORD,
                           "record: from another model: its policy, options or dimension differ from this bandit's");
    const kept_decision *decision = &head->decision;
    bool sound = !a.status && decision->arms >= 1 && decision->arms <= UINT32_MAX && decision->sparse <= 1 &&
                 arm_length_is_one(head->length) && score_is_finite(decision->score);
    *words = sound ? kept_decision_words(decision, owner) : 0;
    if (!sound || archive_remaining(&a) != *words * sizeof(uint32_t))
        return status_fail(error, EE_BAD_RECORD, "record: invalid contents despite a correct checksum");
    return EE_OK;
}

ee_status record_read_words(const void *bytes, const record_head *head, const policy *owner, size_t dim, size_t count,
                            uint32_t *words, ee_error *error)
{
    memcpy(words, (const uint8_t *)bytes + HEAD_SIZE, count * sizeof *words);
    observation seen = kept_decision_observation(&head->decision, owner, words);
    if (!vector_is_sound(seen.x, dim) || !vector_is_within(seen.x.values, seen.x.count, LARGEST_INPUT))
        return status_fail(error, EE_BAD_RECORD, "record: its arm does not have %zu features", dim);
    if (!vector_is_within(seen.kept, seen.kept_count, FLT_MAX))
        return status_fail(error, EE_BAD_RECORD, "record: a number that the policy keeps is not finite");
    return EE_OK;
}
