/* Saves and loads a play: sums and what candidates have learned. */
#include <string.h>

#include "evaluation_play.h"

static void archive_double(archive *a, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    archive_u64(a, &bits);
    memcpy(value, &bits, sizeof bits);
}

static void archive_doubles(archive *a, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) archive_double(a, &values[i]);
}

static void archive_bool(archive *a, bool *value)
{
    size_t number = *value;
    archive_size(a, &number, 0, 1, "flag");
    *value = number;
}

static void archive_sums(archive *a, rounds_sums *self)
{
    double sums[ROUNDS_SUMS];
    memcpy(sums, &self->count, sizeof sums);
    archive_u64(a, &self->events);
    archive_double(a, &self->wmax);
    archive_double(a, &self->copies_max);
    archive_doubles(a, sums, ROUNDS_SUMS);
    archive_doubles(a, self->lost, ROUNDS_SUMS);
    memcpy(&self->count, sums, sizeof sums);
}

static void archive_end(archive *a, one_sided_sequence *self)
{
    archive_double(a, &self->count);
    archive_double(a, &self->sum);
    archive_double(a, &self->variation);
}

static void archive_sequence(archive *a, confidence_sequence *self)
{
    archive_end(a, &self->below);
    archive_end(a, &self->above);
}

static void archive_test(archive *a, gain_test *self)
{
    for (size_t i = 0; i < GAIN_BETS; i++) archive_end(a, &self->bets[i]);
    archive_double(a, &self->count);
    archive_double(a, &self->sum);
}

/* Of the whole event or of a slot. */
static void archive_sums_of(archive *a, tally *self)
{
    tally_view *plain = &self->views[VIEW_PLAIN];
    archive_sums(a, &plain->sums);
    archive_sums(a, &plain->gains);
    archive_sequence(a, &plain->sequence);
    archive_sequence(a, &self->gain);
    archive_test(a, &self->test);
    archive_bool(a, &self->whole);
    archive_bool(a, &self->chance);
    archive_bool(a, &self->factored);
    archive_double(a, &self->supported);
    archive_double(a, &self->promised);
    archive_double(a, &self->variance);
    archive_doubles(a, self->bins, EVALUATION_WEIGHT_BINS);
    archive_doubles(a, self->overlap, EVALUATION_OVERLAP_BINS);
}

static void archive_tally(archive *a, tally *self)
{
    enum { MOST_SLOTS = 65536 };
    size_t slots = self->slot_count;
    archive_sums_of(a, self);
    archive_size(a, &slots, 0, MOST_SLOTS, "slots");
    if (!a->status && a->reading) a->status = tally_reserve_slots(self, slots, a->error);
    for (size_t i = 0; i < slots && !a->status; i++) archive_sums_of(a, self->slots[i]);
}

static void archive_stretch(archive *a, reward_stretch *self)
{
    archive_double(a, &self->count);
    archive_double(a, &self->sum);
    archive_double(a, &self->squares);
    archive_double(a, &self->square_copies);
}

static void archive_about(archive *a, log_tally *self)
{
    double *sums[] = {&self->least_probability, &self->spread,          &self->spread_copies,   &self->spread_squares,
                      &self->spread_all,        &self->spread_promised, &self->spread_variance, &self->worst_sum,
                      &self->sums_off,          &self->first_time,      &self->last_time};
    archive_sums(a, &self->rewards);
    archive_sequence(a, &self->sequence);
    archive_bool(a, &self->whole);
    archive_bool(a, &self->slots);
    archive_u64(a, &self->rounds_of_slots);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) archive_double(a, sums[i]);
    archive_size(a, &self->stretch_count, 1, LOG_STRETCHES, "stretches");
    archive_u64(a, &self->stretch_events);
    archive_u64(a, &self->last_events);
    for (size_t i = 0; i < self->stretch_count; i++) archive_stretch(a, &self->stretches[i]);
}

void evaluation_play_archive(evaluation_play *self, archive *a)
{
    archive_double(a, &self->range.reward_low);
    archive_double(a, &self->range.reward_high);
    if (a->reading) evaluation_play_judge_anew(self, self->range);
    archive_about(a, &self->about);
    for (size_t i = 0; i < self->player_count; i++) {
        evaluation_player *one = &self->players[i];
        archive_tally(a, one->sums);
        if (one->class->archive) one->class->archive(one->copies[0], a);
    }
}
