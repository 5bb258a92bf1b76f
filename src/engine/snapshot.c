#include "snapshot.h"

#include "features/features.h"

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

/* The copy published last. It is not written until gate_leave. */
static size_t gate_enter(snapshot_gate *self)
{
    for (;;) {
        size_t copy = atomic_load(&self->published);
        atomic_fetch_add(&self->readers[copy].count, 1);
        if (atomic_load(&self->published) == copy) return copy;
        gate_leave(self, copy); /* another one was published meanwhile */
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

/* Makes a copy of the parameters of the current policy of the bandit. On failure nothing changes. */
static ee_status renew_copy(ee_snapshot *self, size_t copy, const ee_bandit *bandit, ee_error *error)
{
    parameters made;
    ee_status status = parameters_create(&self->memory, bandit->policy, &made, error);
    if (status) return status;
    parameters_free(&self->copies[copy]);
    policy_arena_release(self->arenas[copy]);
    self->copies[copy] = made;
    self->arenas[copy] = policy_arena_hold(bandit->arena);
    return EE_OK;
}

static ee_status create_copy(ee_snapshot *self, size_t copy, const ee_bandit *bandit, ee_error *error)
{
    ee_status status = renew_copy(self, copy, bandit, error);
    if (status || !bandit->features) return status;
    features **named = &self->features[copy];
    status = memory_create(&self->memory, named, 1, sizeof **named, error);
    if (!status) status = features_create(*named, &self->memory, &bandit->features->options, error);
    return status ? status : features_follow(*named, bandit->features, error);
}

ee_status ee_snapshot_create(ee_bandit *bandit, ee_snapshot **out, ee_error *error)
{
    if (!bandit || !out) return status_fail(error, EE_BAD_INPUT, "snapshot: bandit and out must not be NULL");
    *out = NULL;
    ee_snapshot *self;
    ee_status status = bandit_await_pending(bandit, error);
    if (!status) status = memory_create_owner(&bandit->memory.allocator, &self, sizeof *self, error);
    if (status) return status;
    self->bandit = bandit;
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
    for (size_t i = 0; i < 2; i++) policy_arena_release(snapshot->arenas[i]);
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

/* Prepares the copy to publish next for the current policy and features of the bandit. On failure it can still be
 * published. */
static ee_status follow(ee_snapshot *self, const ee_bandit *bandit, ee_error *error)
{
    size_t next = 1 - atomic_load(&self->gate->published);
    gate_wait_until_left(self->gate, next);
    ee_status status = bandit->features ? features_follow(self->features[next], bandit->features, error) : EE_OK;
    if (status || self->arenas[next] == bandit->arena) return status;
    return renew_copy(self, next, bandit, error);
}

ee_status ee_snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, ee_error *error)
{
    return snapshot_update(snapshot, bandit, 0, error);
}

ee_status snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, uint64_t version, ee_error *error)
{
    if (!snapshot || !bandit) return status_fail(error, EE_BAD_INPUT, "snapshot: snapshot and bandit must not be NULL");
    if (snapshot->bandit != bandit)
        return status_fail(error, EE_BAD_INPUT, "snapshot: it was created from another bandit");
    ee_status status = bandit_await_pending(bandit, error);
    if (!status) status = follow(snapshot, bandit, error);
    if (status) return status;
    snapshot->version = version;
    snapshot_publish(snapshot, &bandit->policy->parameters);
    return EE_OK;
}

size_t snapshot_enter(const ee_snapshot *self)
{
    return gate_enter(self->gate);
}

void snapshot_leave(const ee_snapshot *self, size_t copy)
{
    gate_leave(self->gate, copy);
}
