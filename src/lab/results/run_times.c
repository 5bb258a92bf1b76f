#include "run_times.h"

#include <math.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"

static uint64_t checksum(const char *text)
{
    return archive_checksum((const uint8_t *)text, strlen(text));
}

static bool same_setting(const timed_setting *left, const timed_setting *right)
{
    return left->data == right->data && left->policy == right->policy && left->options == right->options;
}

/* The place of a setting, which is added if it is new. The last one is tried first: runs of a setting are adjacent. */
static ee_status find_setting(run_times *self, const timed_setting *wanted, size_t *place, ee_error *error)
{
    for (*place = self->count; (*place)--;)
        if (same_setting(&self->settings[*place], wanted)) return EE_OK;
    *place = self->count;
    ee_status status =
        memory_grow(NULL, &self->settings, &self->capacity, self->count + 1, sizeof *self->settings, error);
    if (!status) self->settings[self->count++] = *wanted;
    return status;
}

ee_status run_times_learn(run_times *self, const stored_runs *runs, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0, place; i < runs->count && !status; i++) {
        const stored_run *run = &runs->runs[i];
        timed_setting of = {.data = checksum(run->dataset) ^ run->fingerprint,
                            .policy = checksum(run->policy),
                            .options = checksum(run->options)};
        status = find_setting(self, &of, &place, error);
        if (status) break;
        self->settings[place].rounds += run_times_rounds(&(run_job){.slots = run->slots}, run->rounds);
        self->settings[place].seconds += run->result.seconds;
    }
    return status;
}

ee_status run_times_expect(run_times *self, const run_job *job, const char *options, size_t *place, ee_error *error)
{
    timed_setting of = {.data = checksum(dataset_name(job->data)) ^ dataset_fingerprint(job->data),
                        .policy = checksum(job->policy),
                        .options = checksum(options ? options : "")};
    ee_status status = find_setting(self, &of, place, error);
    if (status) return status;
    timed_setting *setting = &self->settings[*place];
    double rounds = run_times_rounds(job, job->rounds);
    setting->unfinished += rounds;
    setting->longest = fmax(setting->longest, rounds);
    return EE_OK;
}

double run_times_rounds(const run_job *job, uint64_t rounds)
{
    return (double)rounds * (double)run_slots(job);
}

/* How much two settings have in common. */
enum { NOTHING, SAME_POLICY, SAME_POLICY_AND_DATA, SAME_SETTING };

static int likeness(const timed_setting *left, const timed_setting *right)
{
    if (left->policy != right->policy) return NOTHING;
    if (left->data != right->data) return SAME_POLICY;
    return left->options == right->options ? SAME_SETTING : SAME_POLICY_AND_DATA;
}

double run_times_round(const run_times *self, const timed_setting *of, bool any)
{
    int most = any ? NOTHING : SAME_POLICY;
    double sum = 0.0, count = 0.0;
    for (size_t i = 0; i < self->count; i++) {
        const timed_setting *other = &self->settings[i];
        int like = likeness(other, of);
        if (like < most || !(other->rounds > 0.0)) continue;
        if (like > most) sum = count = 0.0;
        most = like;
        sum += other->seconds / other->rounds;
        count++;
    }
    return count > 0.0 ? sum / count : (double)NAN;
}

double run_times_left(const run_times *self, bool any, double *longest)
{
    double left = 0.0;
    *longest = 0.0;
    for (size_t i = 0; i < self->count; i++) {
        const timed_setting *of = &self->settings[i];
        if (!(of->unfinished > 0.0)) continue;
        double round = run_times_round(self, of, any);
        left += of->unfinished * round;
        *longest = fmax(*longest, fmin(of->longest, of->unfinished) * round);
    }
    return left;
}

void run_times_release(run_times *self)
{
    memory_free(self->settings);
    *self = (run_times){0};
}
