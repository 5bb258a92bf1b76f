#include "snapshot.h"

#include <string.h>

#include "arms.h"
#include "features/features.h"
#include "record.h"

/* ---- the gate ---- */

static ee_status gate_create(memory *owner, snapshot_gate **out, ee_error *error)
{
    snapshot_gate *self;
    ee_status status = memory_create(owner, &self, 1, sizeof *self, error);
    if (status) return status;
    if (pthread_mutex_init(&self->mutex, NULL)) return status_no_memory(error, sizeof self->mutex);
    if (pthread_cond_init(&self->left, NULL)) {
        pthread_mutex_destroy(&self->mutex);
        return status_no_memory(error, sizeof self->left);
    }
    *out = self;
    return EE_OK;
}

static void gate_destroy(snapshot_gate *self)
{
    if (!self) return;
    pthread_cond_destroy(&self->left);
    pthread_mutex_destroy(&self->mutex);
}

static void gate_leave(snapshot_gate *self, size_t copy)
{
    if (atomic_fetch_sub(&self->readers[copy].count, 1) != 1 || !atomic_load(&self->waited_for)) return;
    pthread_mutex_lock(&self->mutex);
    pthread_cond_broadcast(&self->left);
    pthread_mutex_unlock(&self->mutex);
}

/* The copy that was published last. Nobody writes it until gate_leave. */
static size_t gate_enter(snapshot_gate *self)
{
    for (;;) {
        size_t copy = atomic_load(&self->published);
        atomic_fetch_add(&self->readers[copy].count, 1);
        if (atomic_load(&self->published) == copy) return copy;
        gate_leave(self, copy); /* another one was published in between */
    }
}

static void gate_wait_until_left(snapshot_gate *self, size_t copy)
{
    if (!atomic_load(&self->readers[copy].count)) return;
    pthread_mutex_lock(&self->mutex);
    atomic_store(&self->waited_for, true);
    while (atomic_load(&self->readers[copy].count)) pthread_cond_wait(&self->left, &self->mutex);
    atomic_store(&self->waited_for, false);
    pthread_mutex_unlock(&self->mutex);
}

/* ---- the snapshot ---- */

static ee_status create_copy(ee_snapshot *self, size_t copy, const ee_bandit *bandit, ee_error *error)
{
    ee_status status = parameters_create(&self->memory, bandit->policy, &self->copies[copy], error);
    if (status || !bandit->features) return status;
    features **named = &self->features[copy];
    status = memory_create(&self->memory, named, 1, sizeof **named, error);
    if (!status) status = features_create(*named, &self->memory, &bandit->features->options, error);
    return status ? status : features_follow(*named, bandit->features, error);
}

ee_status ee_snapshot_create(ee_bandit *bandit, ee_snapshot **out, ee_error *error)
{
    if (!bandit || !out) return status_fail(error, EE_BAD_INPUT, "snapshot: no bandit or nowhere to put the snapshot");
    *out = NULL;
    ee_snapshot *self;
    ee_status status = bandit_tell(bandit, error);
    if (!status) status = memory_create_owner(&bandit->memory.allocator, &self, sizeof *self, error);
    if (status) return status;
    self->policy = bandit->policy;
    self->fingerprint = bandit->fingerprint;
    self->rules = bandit->rules;
    status = gate_create(&self->memory, &self->gate, error);
    for (size_t i = 0; i < 2 && !status; i++) status = create_copy(self, i, bandit, error);
    if (status)
        ee_snapshot_free(self);
    else
        *out = self;
    return status;
}

void ee_snapshot_free(ee_snapshot *snapshot)
{
    if (!snapshot) return;
    gate_destroy(snapshot->gate);
    memory_release(&snapshot->memory);
}

size_t snapshot_publish(ee_snapshot *self, const parameters *learned)
{
    size_t next = 1 - atomic_load(&self->gate->published);
    gate_wait_until_left(self->gate, next);
    size_t copied = parameters_copy(&self->copies[next], learned);
    self->versions[next] = self->version;
    atomic_store(&self->gate->published, next);
    return copied;
}

/* Brings the features of the copy that is published next up to date. If that fails, it is as it was. */
static ee_status follow_features(ee_snapshot *self, const features *learned, ee_error *error)
{
    size_t next = 1 - atomic_load(&self->gate->published);
    gate_wait_until_left(self->gate, next);
    return features_follow(self->features[next], learned, error);
}

ee_status ee_snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, ee_error *error)
{
    return snapshot_update(snapshot, bandit, 0, error);
}

ee_status snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, uint64_t version, ee_error *error)
{
    if (!snapshot || !bandit) return status_fail(error, EE_BAD_INPUT, "snapshot: no snapshot or no bandit");
    if (snapshot->policy != bandit->policy)
        return status_fail(error, EE_BAD_INPUT, "snapshot: it was created from another bandit");
    ee_status status = bandit_tell(bandit, error);
    if (!status && bandit->features) status = follow_features(snapshot, bandit->features, error);
    if (status) return status;
    snapshot->version = version;
    snapshot_publish(snapshot, &bandit->policy->parameters);
    return EE_OK;
}

/* ---- deciding on it ---- */

size_t snapshot_enter(const ee_snapshot *self)
{
    return gate_enter(self->gate);
}

void snapshot_leave(const ee_snapshot *self, size_t copy)
{
    gate_leave(self->gate, copy);
}

ee_status ee_scratch_create(const ee_snapshot *snapshot, ee_scratch **out, ee_error *error)
{
    if (!snapshot || !out)
        return status_fail(error, EE_BAD_INPUT, "scratch: no snapshot or nowhere to put the scratch");
    *out = NULL;
    ee_scratch *self;
    ee_status status = memory_create_owner(&snapshot->memory.allocator, &self, sizeof *self, error);
    if (status) return status;
    status = deciding_room_create(&self->room, &self->memory, &snapshot->rules, snapshot->policy, error);
    if (status)
        ee_scratch_free(self);
    else
        *out = self;
    return status;
}

void ee_scratch_free(ee_scratch *own)
{
    if (own) memory_release(&own->memory);
}

uint64_t scratch_version(const ee_scratch *own)
{
    return own->version;
}

static ee_status check(const ee_snapshot *snapshot, const ee_scratch *own, const ee_arms *arms, ee_error *error)
{
    if (!snapshot || !own) return status_fail(error, EE_BAD_INPUT, "snapshot: no snapshot or no scratch");
    return arms_check(arms, snapshot->rules.dim, error);
}

ee_status ee_snapshot_score(const ee_snapshot *snapshot, ee_scratch *own, const ee_arms *arms, uint64_t seed,
                            ee_score *scores, ee_error *error)
{
    ee_status status = check(snapshot, own, arms, error);
    if (!status && !scores) status = status_fail(error, EE_BAD_INPUT, "score: nowhere to put the scores");
    if (status) return status;
    scored_arms scored;
    own->room.streams = decision_streams_of(seed);
    size_t copy = snapshot_enter(snapshot);
    const parameters *learned = &snapshot->copies[copy];
    status = deciding_score(&snapshot->rules, learned, arms, 1, learned->length, &own->room, &scored, error);
    snapshot_leave(snapshot, copy);
    if (!status) memcpy(scores, own->room.scores, arms->count * sizeof *scores);
    return status;
}

static ee_status write_record(const ee_snapshot *snapshot, const parameters *learned, const scored_arms *scored,
                              size_t arm, ee_scratch *own, ee_error *error)
{
    deciding_room *room = &own->room;
    vector played = vector_of_arm(&scored->arms, arm);
    record_head head = {
        .fingerprint = snapshot->fingerprint,
        .length = scored->length,
        .decision = kept_decision_make(learned->round, scored->arms.count, played, room->scores[arm]),
    };
    size_t words = kept_decision_words(&head.decision, learned->policy), size = record_size(words);
    ee_status status = memory_grow(&own->memory, &own->record, &own->record_capacity, size, 1, error);
    if (status) return status;
    kept_decision_fill(&head.decision, learned, &scored->arms, arm, &room->scratch, record_words(own->record));
    record_write(&head, words, own->record);
    own->record_size = size;
    return EE_OK;
}

/* Decides by these parameters. *arm's probability and all others then lie in the room. */
static ee_status decide(const ee_snapshot *snapshot, const parameters *learned, const ee_arms *arms, ee_scratch *own,
                        size_t *arm, ee_error *error)
{
    scored_arms scored;
    const decision_rules *rules = &snapshot->rules;
    deciding_room *room = &own->room;
    ee_status status = deciding_score(rules, learned, arms, 1, learned->length, room, &scored, error);
    if (status) return status;
    *arm = deciding_draw(rules, learned, &scored, 0, arms->count, room);
    status = write_record(snapshot, learned, &scored, *arm, own, error);
    if (!status && learned->policy->class->draws) deciding_estimate(rules, learned, &scored, *arm, room);
    return status;
}

/* Decides arms, or a round whose arms the published features give. One of the two is NULL. */
static ee_status decide_either(const ee_snapshot *snapshot, ee_scratch *own, const ee_arms *arms, ee_round *round,
                               uint64_t seed, ee_decision *decision, ee_score *scores, double *probabilities,
                               ee_error *error)
{
    ee_status status = EE_OK;
    ee_arms encoded;
    size_t arm = 0;
    deciding_room *room = &own->room;
    room->streams = decision_streams_of(seed);
    size_t copy = snapshot_enter(snapshot);
    if (round) {
        status = features_encode(snapshot->features[copy], round, &encoded, error);
        arms = &encoded;
    }
    if (!status) status = decide(snapshot, &snapshot->copies[copy], arms, own, &arm, error);
    own->version = snapshot->versions[copy];
    snapshot_leave(snapshot, copy);
    if (status) return status;
    *decision = (ee_decision){0, arm, room->probabilities[arm]};
    if (scores) memcpy(scores, room->scores, arms->count * sizeof *scores);
    if (probabilities) memcpy(probabilities, room->probabilities, arms->count * sizeof *probabilities);
    return EE_OK;
}

ee_status ee_snapshot_decide(const ee_snapshot *snapshot, ee_scratch *own, const ee_arms *arms, uint64_t seed,
                             ee_decision *decision, ee_score *scores, double *probabilities, ee_error *error)
{
    ee_status status = check(snapshot, own, arms, error);
    if (!status && !decision) status = status_fail(error, EE_BAD_INPUT, "decide: nowhere to put the decision");
    if (status) return status;
    return decide_either(snapshot, own, arms, NULL, seed, decision, scores, probabilities, error);
}

ee_status ee_snapshot_decide_round(const ee_snapshot *snapshot, ee_scratch *own, ee_round *round, uint64_t seed,
                                   ee_decision *decision, ee_score *scores, double *probabilities, ee_error *error)
{
    if (!snapshot || !own) return status_fail(error, EE_BAD_INPUT, "snapshot: no snapshot or no scratch");
    if (!round || !decision) return status_fail(error, EE_BAD_INPUT, "decide: no round or nowhere to put the decision");
    if (!snapshot->features[0])
        return status_fail(error, EE_BAD_INPUT, "decide: the bandit takes vectors: set features when it is created");
    return decide_either(snapshot, own, NULL, round, seed, decision, scores, probabilities, error);
}

ee_status ee_scratch_record(const ee_scratch *own, const void **bytes, size_t *size, ee_error *error)
{
    if (!own || !bytes || !size)
        return status_fail(error, EE_BAD_INPUT, "record: no scratch or nowhere to put the record");
    if (!own->record_size) return status_fail(error, EE_BAD_INPUT, "record: no decision was made with this scratch");
    *bytes = own->record;
    *size = own->record_size;
    return EE_OK;
}
