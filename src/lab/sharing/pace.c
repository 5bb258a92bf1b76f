#include "pace.h"

#include <math.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"

static uint64_t text_key(const char *text)
{
    return archive_checksum((const uint8_t *)text, strlen(text));
}

pace_setting pace_setting_of(const char *dataset_name, uint64_t fingerprint, const char *policy, const char *options)
{
    return (pace_setting){text_key(dataset_name) ^ fingerprint, text_key(policy), text_key(options ? options : "")};
}

pace_setting pace_setting_of_job(const run_job *job)
{
    return pace_setting_of(dataset_name(job->data), dataset_fingerprint(job->data), job->policy, job->options);
}

bool pace_setting_same(const pace_setting *left, const pace_setting *right)
{
    return left->data == right->data && left->policy == right->policy && left->options == right->options;
}

ee_status pace_learn(pace *self, const pace_setting *setting, double work, double seconds, ee_error *error)
{
    if (!(work > 0.0) || !(seconds > 0.0)) return EE_OK;
    pace_rate *rate = self->rates, *end = rate + self->count;
    while (rate < end && !pace_setting_same(&rate->setting, setting)) rate++;
    if (rate == end) {
        ee_status status =
            memory_grow(NULL, &self->rates, &self->capacity, self->count + 1, sizeof *self->rates, error);
        if (status) return status;
        rate = &self->rates[self->count++];
        *rate = (pace_rate){.setting = *setting};
    }
    rate->work += work;
    rate->seconds += seconds;
    return EE_OK;
}

/* How much two settings have in common; a larger number tells more. */
enum { NOTHING, SAME_POLICY, SAME_POLICY_AND_DATA, SAME_SETTING };

static int likeness(const pace_setting *left, const pace_setting *right)
{
    if (left->policy != right->policy) return NOTHING;
    if (left->data != right->data) return SAME_POLICY;
    return left->options == right->options ? SAME_SETTING : SAME_POLICY_AND_DATA;
}

double pace_seconds(const pace *self, const pace_setting *setting, double work)
{
    int nearest = NOTHING;
    double sum = 0.0, count = 0.0; /* of the seconds a unit of work of those that are as near as the nearest */
    for (size_t i = 0; i < self->count; i++) {
        const pace_rate *rate = &self->rates[i];
        int near = likeness(&rate->setting, setting);
        if (near < nearest) continue;
        if (near > nearest) sum = count = 0.0;
        nearest = near;
        sum += rate->seconds / rate->work;
        count++;
    }
    return count > 0.0 ? work * sum / count : (double)NAN;
}

bool pace_knows(const pace *self, const pace_setting *setting)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->rates[i].setting.policy == setting->policy) return true;
    return false;
}

ee_status pace_copy(pace *self, const pace *from, ee_error *error)
{
    ee_status status = memory_grow(NULL, &self->rates, &self->capacity, from->count, sizeof *self->rates, error);
    if (status) return status;
    if (from->count) memcpy(self->rates, from->rates, from->count * sizeof *self->rates);
    self->count = from->count;
    return EE_OK;
}

void pace_release(pace *self)
{
    memory_free(self->rates);
    *self = (pace){0};
}
