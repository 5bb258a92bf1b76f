#include "job_keys.h"

#include <string.h>

#include "base/memory.h"
#include "run_keys.h"

static bool same_setting(const run_job *left, const run_job *right)
{
    if (left->data != right->data || strcmp(left->policy, right->policy) != 0) return false;
    if (!delay_same(&left->late, &right->late) || left->slots != right->slots) return false;
    if (left->rounds != right->rounds) return false; /* a data set may have fewer */
    return strcmp(left->options ? left->options : "", right->options ? right->options : "") == 0;
}

/* Neighbours mostly differ in the seed alone, and have the same options: no bandit is created for each. */
static ee_status find_options(const run_job *jobs, size_t place, job_key *own, ee_error *error)
{
    if (place == 0 || !same_setting(&jobs[place - 1], &jobs[place])) {
        ee_status status = runner_check(&jobs[place], &own->options, error);
        return status == EE_NO_MEMORY ? status : EE_OK;
    }
    const char *before = own[-1].options;
    if (!before) return EE_OK;
    ee_status status = memory_create(NULL, &own->options, strlen(before) + 1, 1, error);
    if (!status) strcpy(own->options, before);
    return status;
}

static ee_status find_same(job_keys *self, ee_error *error)
{
    uint64_t *keys;
    ee_status status = memory_create(NULL, &keys, self->count, sizeof *keys, error);
    if (status) return status;
    for (size_t i = 0; i < self->count; i++) keys[i] = self->keys[i].run;
    status = run_index_create(keys, self->count, &self->index, error);
    for (size_t i = 0; i < self->count && !status; i++) {
        self->keys[i].same_as = i;
        if (self->keys[i].options) run_index_find(&self->index, keys[i], &self->keys[i].same_as);
    }
    memory_free(keys);
    return status;
}

ee_status job_keys_create(const run_job *jobs, size_t count, job_keys *out, ee_error *error)
{
    *out = (job_keys){0};
    ee_status status = memory_create(NULL, &out->keys, count, sizeof *out->keys, error);
    if (status) return status;
    out->count = count;
    for (size_t i = 0; i < count && !status; i++) {
        job_key *own = &out->keys[i];
        status = find_options(jobs, i, own, error);
        if (own->options) own->run = run_keys_of_job(&jobs[i], own->options).run;
    }
    return status ? status : find_same(out, error);
}

void job_keys_release(job_keys *self)
{
    for (size_t i = 0; i < self->count; i++) memory_free(self->keys[i].options);
    memory_free(self->keys);
    run_index_release(&self->index);
    *self = (job_keys){0};
}
