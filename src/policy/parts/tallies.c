#include "tallies.h"

#include <math.h>
#include <string.h>

/* A place is stored with a decision as a float, which holds whole numbers up to 2^24 exactly. */
static const option rows[] = {
    OPTION_ROW_INTEGER(tallies_options, common.blocks, "blocks", "1", 1, 65536,
                       "number of feature blocks: arms without ids are identified by their non-zero block; 1: by their "
                       "position in the round"),
    OPTION_ROW_INTEGER(tallies_options, positions, "positions", "1024", 1, 1e7,
                       "arms to distinguish. By id: a new id replaces one not chosen recently; by position: all "
                       "further positions share the last",
                       .needs = "blocks=1"),
};
const option_table tallies_option_table = OPTION_TABLE(rows);

enum { FLOATS_PER_DOUBLE = sizeof(double) / sizeof(float) };

/* ---- the parameters ---- */

/* The floats of the total and this many places. */
static size_t floats_of(size_t places)
{
    return (sizeof(tallies_total) + places * sizeof(tally)) / sizeof(double) * FLOATS_PER_DOUBLE;
}

static float *ids_of(const tallies *self, float *values)
{
    return values + floats_of(self->places);
}

ee_status tallies_create(const policy_setup *setup, policy **out, ee_error *error)
{
    const tallies_options *options = setup->options;
    size_t blocks = (size_t)options->common.blocks;
    tallies *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = policy_check_blocks(setup, error);
    if (status) return status;
    self->places = blocks > 1 ? blocks : (size_t)options->positions;
    self->block = blocks > 1 ? setup->dim / blocks : 0;
    self->alpha = options->alpha;
    size_t saved = floats_of(self->places), of_ids = id_tallies_count(self->places);
    policy_setup larger = *setup;
    if (larger.most_parameters < SIZE_MAX - of_ids) larger.most_parameters += of_ids; /* a model may have no ids */
    status = policy_set_parameters(&self->base, &larger, saved + of_ids, error);
    self->base.parameters.unsaved = of_ids;
    if (!status) *out = &self->base;
    return status;
}

static tallies_total *total_of(float *values)
{
    return (tallies_total *)(void *)values;
}

static tally *places_of(float *values)
{
    return (tally *)(void *)(total_of(values) + 1);
}

const tallies_total *tallies_all(const parameters *learned)
{
    return total_of(learned->values);
}

/* ---- places ---- */

/* The index of the first non-zero entry of an arm; its count if all are zero. */
static size_t first_filled(vector x)
{
    size_t at = 0;
    while (at < x.count && x.values[at] == 0) at++;
    return at;
}

/* An arm of zeros is in no block. Its arms come in the order of the blocks, so its position identifies it. */
static size_t place_of(const tallies *self, const ee_arms *arms, size_t arm, const scratch *room)
{
    size_t place = room->positions ? room->positions[arm] : arm;
    if (self->block) {
        vector x = vector_of_arm(arms, arm);
        size_t at = first_filled(x);
        if (at < x.count) place = (x.indices ? x.indices[at] : at) / self->block;
    }
    return place < self->places ? place : self->places - 1;
}

const tally *tallies_of(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room)
{
    static const tally none;
    const tallies *self = (const tallies *)learned->policy;
    if (!arms->ids) return places_of(learned->values) + place_of(self, arms, arm, room);
    const tally *found = id_tallies_find(ids_of(self, learned->values), self->places, arms->ids[arm]);
    return found ? found : &none;
}

/* The tally of the chosen arm. The stored place may come from a record, and be any finite number. */
static tally *played(policy *self, const observation *o)
{
    const tallies *table = (const tallies *)self;
    if (o->id.known) return id_tallies_play(ids_of(table, self->parameters.values), table->places, o->id.value);
    size_t last = table->places - 1;
    size_t place = o->kept[0] >= 0 && o->kept[0] <= (float)last ? (size_t)o->kept[0] : last;
    tallies_total *total = total_of(self->parameters.values);
    if (total->used < (double)place + 1) total->used = (double)place + 1;
    return places_of(self->parameters.values) + place;
}

/* ---- expected rewards ---- */

double tallies_expect(const tally *arm, double prior, double worth)
{
    double count = arm->count + worth;
    return count > 0 ? (arm->count * arm->mean + worth * prior) / count : prior;
}

double tallies_range(const parameters *learned)
{
    const tallies_total *total = tallies_all(learned);
    if (total->high > total->low) return total->high - total->low;
    return total->low == 0 ? 1 : fabs(total->low);
}

/* ---- learning ---- */

static void add(tally *self, double reward)
{
    double before = reward - self->mean;
    self->count++;
    self->mean += before / self->count;
    self->squares += before * (reward - self->mean);
}

/* Changes an earlier reward. */
static void correct(tally *self, double from, double to)
{
    double mean = self->mean + (to - from) / self->count;
    self->squares = fmax(self->squares + (to - from) * (to + from - self->mean - mean), 0);
    self->mean = mean;
}

static void add_to_total(tallies_total *self, double reward)
{
    bool first = self->rewards.count == 0;
    self->low = first ? reward : fmin(self->low, reward);
    self->high = first ? reward : fmax(self->high, reward);
    if (reward != 0 && reward != 1) self->graded = 1;
    add(&self->rewards, reward);
}

float tallies_await(policy *self, const observation *o, double prior, double worth)
{
    tally *arm = played(self, o);
    float expected = (float)tallies_expect(arm, prior, worth);
    add(arm, (double)expected);
    total_of(self->parameters.values)->plays++;
    return expected;
}

bool tallies_learn(policy *self, const observation *o, float reward)
{
    tallies_total *total = total_of(self->parameters.values);
    tally *arm = played(self, o);
    if (o->awaited && arm->count > 0) {
        correct(arm, (double)o->expected, (double)reward);
    } else {
        add(arm, (double)reward);
        total->plays++;
    }
    add_to_total(total, (double)reward);
    self->parameters.round++;
    return true;
}

/* ---- the other functions of a class ---- */

size_t tallies_kept_count(const policy *self, uint64_t round, size_t arms)
{
    (void)self;
    (void)round;
    (void)arms;
    return 1;
}

void tallies_keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept)
{
    kept[0] = arms->ids ? 0 : (float)place_of((const tallies *)learned->policy, arms, arm, room);
}

/* Unused places are zeros everywhere. */
size_t tallies_copy(const policy *self, uint64_t first, float *to)
{
    (void)first;
    const tallies *table = (const tallies *)self;
    size_t count = floats_of((size_t)tallies_all(&self->parameters)->used);
    memcpy(to, self->parameters.values, count * sizeof *to);
    return count + id_tallies_copy(ids_of(table, self->parameters.values), table->places, ids_of(table, to));
}

/* ---- saving and loading ---- */

static bool total_is_sound(const tallies_total *self, size_t places)
{
    bool flags = self->graded == 0 || self->graded == 1;
    bool counts = self->plays >= 0 && isfinite(self->plays) && self->used >= 0 && self->used <= (double)places;
    return tally_is_sound(&self->rewards) && flags && counts && isfinite(self->low) && isfinite(self->high) &&
           self->low <= self->high;
}

/* Visits the table of ids, and checks the parameters that were read. */
void tallies_archive(policy *self, archive *a)
{
    size_t places = ((const tallies *)self)->places;
    if (a->version >= 11) id_tallies_archive(ids_of((const tallies *)self, self->parameters.values), places, a);
    const tallies_total *total = tallies_all(&self->parameters);
    if (!a->reading || a->status) return;
    bool sound = total_is_sound(total, places);
    for (size_t i = 0; i < places && sound; i++) {
        const tally *arm = places_of(self->parameters.values) + i;
        sound = tally_is_sound(arm) && ((double)i < total->used || arm->count == 0);
    }
    if (!sound) archive_fail(a, EE_BAD_MODEL, "model: invalid rewards by arm");
}
