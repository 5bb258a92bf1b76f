/* Deciding and scoring on a snapshot, and the scratch of each thread. */
#include <string.h>

#include "arms.h"
#include "deciding_call.h"
#include "features/features.h"
#include "limits.h"
#include "record.h"
#include "snapshot.h"

/* ---- the scratch ---- */

ee_status ee_scratch_create(const ee_snapshot *snapshot, uint64_t seed, ee_scratch **out, ee_error *error)
{
    if (!snapshot || !out) return status_fail(error, EE_BAD_INPUT, "scratch: snapshot and out must not be NULL");
    *out = NULL;
    ee_scratch *self;
    ee_status status = memory_create_owner(&snapshot->memory.allocator, &self, sizeof *self, error);
    if (status) return status;
    size_t copy = snapshot_enter(snapshot);
    status =
        deciding_room_create(&self->room, &self->memory, &snapshot->rules, snapshot->copies[copy].policy, seed, error);
    snapshot_leave(snapshot, copy);
    if (status)
        ee_scratch_free(self);
    else
        *out = self;
    return status;
}

void ee_scratch_free(ee_scratch *work)
{
    if (work) memory_release(&work->memory);
}

void ee_scratch_seed(ee_scratch *work, uint64_t seed)
{
    if (work) work->room.streams = decision_streams_of(seed);
}

uint64_t scratch_version(const ee_scratch *work)
{
    return work->version;
}

ee_status ee_scratch_record(const ee_scratch *work, size_t index, const void **bytes, size_t *size, ee_error *error)
{
    if (!work || !bytes || !size)
        return status_fail(error, EE_BAD_INPUT, "record: scratch, bytes and size must not be NULL");
    if (index >= work->record_count)
        return status_fail(error, EE_BAD_INPUT,
                           "record: there is no decision %zu: the last call with this scratch made %zu", index,
                           work->record_count);
    size_t start = index ? work->record_ends[index - 1] : 0;
    *bytes = work->records + start;
    *size = work->record_ends[index] - start;
    return EE_OK;
}

/* Writes the records of the decisions in the room. */
static ee_status write_records(const ee_snapshot *snapshot, ee_scratch *work, ee_error *error)
{
    const made_decisions *made = &work->room.made;
    size_t size = 0;
    for (size_t i = 0; i < made->count; i++) size += record_size(made->rows[i].word_count);
    ee_status status = memory_grow(&work->memory, &work->records, &work->record_capacity, size, 1, error);
    if (!status)
        status = memory_grow(&work->memory, &work->record_ends, &work->record_end_capacity, made->count,
                             sizeof *work->record_ends, error);
    if (status) return status;
    uint8_t *next = work->records;
    for (size_t i = 0; i < made->count; i++) {
        const made_decision *row = &made->rows[i];
        record_head head = {snapshot->fingerprint, row->divisor, row->kept};
        if (row->word_count)
            memcpy(record_words(next), made->words + row->first_word, row->word_count * sizeof *made->words);
        record_write(&head, row->word_count, next);
        next += record_size(row->word_count);
        work->record_ends[i] = (size_t)(next - work->records);
    }
    work->record_count = made->count;
    return EE_OK;
}

/* ---- rounds of named features ---- */

static ee_status check_takes_rounds(const ee_snapshot *snapshot, const char *verb, ee_error *error)
{
    if (snapshot->features[0]) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "%s: this bandit takes vectors; for named features, set features when you create it", verb);
}

ee_status ee_snapshot_arms(const ee_snapshot *snapshot, ee_round *round, ee_arms *arms, ee_error *error)
{
    if (!snapshot || !round || !arms)
        return status_fail(error, EE_BAD_INPUT, "arms: snapshot, round and arms must not be NULL");
    ee_status status = check_takes_rounds(snapshot, "arms", error);
    if (status) return status;
    size_t copy = snapshot_enter(snapshot);
    status = features_encode(snapshot->features[copy], round, arms, error);
    snapshot_leave(snapshot, copy);
    return status;
}

/* ---- deciding ---- */

/* Decides a checked call or, if it is not NULL, the round: its arms then come from the published features. */
static ee_status decide(const ee_snapshot *snapshot, ee_scratch *work, const deciding_call *asked, ee_round *round,
                        ee_error *error)
{
    ee_status status = EE_OK;
    deciding_call call = *asked;
    ee_arms encoded;
    decision_streams before = work->room.streams;
    size_t copy = snapshot_enter(snapshot);
    if (round) {
        status = features_encode(snapshot->features[copy], round, &encoded, error);
        call.rounds = &encoded;
        if (!status) status = limits_check(encoded.limits, encoded.count, error);
    }
    if (!status) status = deciding_call_make(&call, &snapshot->rules, &snapshot->copies[copy], &work->room, error);
    work->version = snapshot->versions[copy];
    snapshot_leave(snapshot, copy);
    if (!status) status = write_records(snapshot, work, error);
    if (status) work->room.streams = before;
    return status;
}

static ee_status decide_arms(const ee_snapshot *snapshot, ee_scratch *work, const deciding_call *call, ee_error *error)
{
    if (work) work->record_count = 0; /* a failed call leaves no records */
    if (!snapshot || !work) return status_fail(error, EE_BAD_INPUT, "decide: snapshot and scratch must not be NULL");
    ee_status status = deciding_call_check(call, snapshot->rules.dim, error);
    return status ? status : decide(snapshot, work, call, NULL, error);
}

ee_status ee_snapshot_decide(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms, ee_decision *decision,
                             ee_score *scores, double *probabilities, ee_error *error)
{
    deciding_call call = {
        .rounds = arms, .count = 1, .decisions = decision, .scores = scores, .probabilities = probabilities};
    return decide_arms(snapshot, work, &call, error);
}

ee_status ee_snapshot_decide_many(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *rounds, size_t count,
                                  const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                  double *probabilities, ee_error *error)
{
    deciding_call call = {rounds, count, excluded, false, decisions, scores, probabilities};
    return decide_arms(snapshot, work, &call, error);
}

ee_status ee_snapshot_decide_slots(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *seen, size_t count,
                                   const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                   double *probabilities, ee_error *error)
{
    deciding_call call = {seen, count, excluded, true, decisions, scores, probabilities};
    return decide_arms(snapshot, work, &call, error);
}

ee_status ee_snapshot_decide_round(const ee_snapshot *snapshot, ee_scratch *work, ee_round *round,
                                   ee_decision *decision, ee_score *scores, double *probabilities, ee_error *error)
{
    deciding_call call = {.count = 1, .decisions = decision, .scores = scores, .probabilities = probabilities};
    if (work) work->record_count = 0;
    if (!snapshot || !work) return status_fail(error, EE_BAD_INPUT, "decide: snapshot and scratch must not be NULL");
    if (!round || !decision) return status_fail(error, EE_BAD_INPUT, "decide: round and decision must not be NULL");
    ee_status status = check_takes_rounds(snapshot, "decide", error);
    return status ? status : decide(snapshot, work, &call, round, error);
}

/* ---- without changing anything ---- */

/* The scores and probabilities of the next decision; either may be NULL. */
static ee_status preview(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms, ee_score *scores,
                         double *probabilities, ee_error *error)
{
    scored_arms seen;
    deciding_room *room = &work->room;
    ee_status status = arms_check(arms, snapshot->rules.dim, error);
    if (status) return status;
    size_t copy = snapshot_enter(snapshot);
    status =
        deciding_preview(&snapshot->rules, &snapshot->copies[copy], arms, probabilities != NULL, room, &seen, error);
    snapshot_leave(snapshot, copy);
    if (status) return status;
    if (scores) memcpy(scores, room->scores, arms->count * sizeof *scores);
    if (probabilities) memcpy(probabilities, room->probabilities, arms->count * sizeof *probabilities);
    return EE_OK;
}

ee_status ee_snapshot_score(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms, ee_score *scores,
                            ee_error *error)
{
    if (!snapshot || !work || !scores)
        return status_fail(error, EE_BAD_INPUT, "score: snapshot, scratch and scores must not be NULL");
    return preview(snapshot, work, arms, scores, NULL, error);
}

ee_status ee_snapshot_probabilities(const ee_snapshot *snapshot, ee_scratch *work, const ee_arms *arms,
                                    double *probabilities, ee_error *error)
{
    if (!snapshot || !work || !probabilities)
        return status_fail(error, EE_BAD_INPUT, "probabilities: snapshot, scratch and probabilities must not be NULL");
    return preview(snapshot, work, arms, NULL, probabilities, error);
}
