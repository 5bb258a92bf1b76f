#include "features.h"

#include <math.h>
#include <string.h>

#include "sparse_entries.h"
#include "vw_hash.h"

/* A longer name shares a place. A text value may have any length, and names with a place are never removed:
 * this bounds the memory of a bandit by its options. */
enum { LONGEST_KEPT = 1024 };

/* The value of an id beside other features: a quarter is soon learned if the id matters, and too small to hide the
 * features. */
static const double ID_BESIDE_FEATURES = 0.25;

/* Limit for the arms of one round together. A few kilobytes of JSON can ask for more products than fit in memory. */
enum { MOST_ENTRIES = 1 << 24 };

/* ---- creating ---- */

ee_status features_create(features *self, memory *owner, const features_options *options, ee_error *error)
{
    *self = (features){.memory = owner, .options = *options, .dim = features_dim(options)};
    ee_status status = products_read(&self->products, options->products, error);
    if (status || features_hash_as_vw(options)) return status;
    size_t hashes = (size_t)options->hashes;
    status = names_create(&self->names, owner, (size_t)options->names, error);
    if (!status) status = memory_create(owner, &self->shared_counts, hashes, sizeof *self->shared_counts, error);
    if (!status) status = memory_create(owner, &self->shared_scales, hashes, sizeof *self->shared_scales, error);
    return status;
}

/* ---- places ---- */

static bool is_vw(const features *self)
{
    return features_hash_as_vw(&self->options);
}

/* The place shared by all names without one. */
static uint32_t shared_place(const features *self, uint64_t hash)
{
    uint64_t hashes = (uint64_t)self->options.hashes;
    return hashes ? (uint32_t)((uint64_t)self->options.names + ((hash >> 32) * hashes >> 32)) : NO_PLACE;
}

static bool is_named(const features *self, uint32_t place)
{
    return place < (uint64_t)self->options.names;
}

static uint32_t vw_place(const features *self, uint32_t hash)
{
    return hash & (uint32_t)(self->dim - 1);
}

/* Whether a feature exists only for ids while ids are off. */
static bool is_left_out(const features *self, const round_feature *feature)
{
    return feature->is_implied && (!self->options.ids || is_vw(self));
}

/* Whether a feature must recur before it gets a place. */
static bool must_come_again(const features *self, const round_feature *feature)
{
    return feature->is_id && self->options.ids;
}

static uint32_t find_place(const features *self, const round_feature *feature, const char *text)
{
    if (is_left_out(self, feature)) return NO_PLACE;
    if (is_vw(self)) return vw_place(self, vw_feature_hash(feature, text, self->options.chain_hash));
    uint32_t place = names_find(&self->names, feature->hash, text + feature->text, feature->bytes);
    if (place != NO_PLACE) return place;
    if (must_come_again(self, feature) && self->names.count < self->names.most) return NO_PLACE;
    return shared_place(self, feature->hash);
}

/* A product may have a place if both names have one. */
static uint32_t find_product(const features *self, const placed_feature *left, const placed_feature *right)
{
    if (is_vw(self)) return vw_place(self, vw_product_hash(left->place, right->place));
    uint64_t hash = names_product_hash(left->hash, right->hash);
    if (!is_named(self, left->place) || !is_named(self, right->place)) return shared_place(self, hash);
    uint32_t place = names_find_product(&self->names, hash, left->place, right->place);
    return place == NO_PLACE ? shared_place(self, hash) : place;
}

/* ---- numbers ---- */

static uint32_t *scale_of(const features *self, uint32_t place)
{
    return is_named(self, place) ? &self->names.places[place].scale
                                 : &self->shared_scales[place - (uint64_t)self->options.names];
}

/* The total for the share of a number: contexts or actions. */
static uint64_t possible(const features *self, const number_scale *scale)
{
    return scale->of_action ? self->actions : self->contexts;
}

static double standardised(const features *self, uint32_t place, double x)
{
    uint32_t number = *scale_of(self, place);
    if (!number) return 0; /* its size is not known yet */
    const number_scale *scale = &self->scales[number - 1];
    return number_scale_standardised(scale, x, possible(self, scale));
}

static void learn_number(features *self, uint32_t place, double x, bool of_action)
{
    uint32_t *number = scale_of(self, place);
    if (!*number) {
        self->scales[self->scale_count] = (number_scale){.place = place, .of_action = of_action};
        *number = (uint32_t)++self->scale_count;
    }
    number_scale *scale = &self->scales[*number - 1];
    number_scale_learn(scale, x, possible(self, scale));
}

/* ---- room ---- */

/* Upper bounds for the arms of a round. */
typedef struct round_size {
    size_t features;                    /* of an arm */
    size_t pairs;                       /* of an arm */
    size_t all_pairs, entries, numbers; /* of all */
} round_size;

static size_t count_numbers(const feature_list *list)
{
    size_t numbers = 0;
    for (size_t i = 0; i < list->count; i++) numbers += list->items[i].is_number;
    return numbers;
}

/* Whether a feature of an action, (count), is an id beside others: it is not multiplied. */
static bool is_beside_features(const round_feature *feature, size_t count)
{
    return feature->is_implied && count > 1;
}

/* Marks the sides of the features of the round. Stops if there are too many entries. */
static round_size measure(const features *self, ee_round *round)
{
    feature_list *context = &round->context, *actions = &round->actions;
    round_size size = {.numbers = count_numbers(context) + count_numbers(actions),
                       .entries = (context->count + 1) * round->arms + actions->count};
    products_mark(&self->products, round->text, context->items, context->count, false);
    products_mark(&self->products, round->text, actions->items, actions->count, true);
    for (size_t arm = 0; arm < round->arms && size.entries <= MOST_ENTRIES; arm++) {
        size_t count;
        round_feature *action = round_action(round, arm, &count);
        for (size_t i = 0; i < count; i++)
            if (is_beside_features(&action[i], count)) action[i].sides = 0;
        size_t pairs = products_most(&self->products, context->items, context->count, action, count);
        if (context->count + count > size.features) size.features = context->count + count;
        if (pairs > size.pairs) size.pairs = pairs;
        size.all_pairs += pairs;
        size.entries += pairs;
    }
    return size;
}

static ee_status reserve(ee_round *round, const round_size *size, ee_error *error)
{
    encoding_room *room = &round->room;
    memory *owner = &round->memory;
    size_t placed = size->features, pairs = size->pairs, entries = placed + pairs + 1;
    ee_status status = memory_grow(owner, &room->placed, &room->placed_capacity, placed, sizeof *room->placed, error);
    if (!status) status = memory_grow(owner, &room->rights, &room->right_capacity, placed, sizeof *room->rights, error);
    if (!status) status = memory_grow(owner, &room->pairs, &room->pair_capacity, pairs, sizeof *room->pairs, error);
    if (!status)
        status = memory_grow(owner, &room->entries, &room->entry_capacity, entries, sizeof *room->entries, error);
    if (!status)
        status = memory_grow(owner, &room->sorted, &room->sorted_capacity, entries, sizeof *room->sorted, error);
    if (!status)
        status = memory_grow(owner, &room->starts, &room->start_capacity, round->arms + 1, sizeof *room->starts, error);
    if (!status)
        status = memory_grow(owner, &room->indices, &room->index_capacity, size->entries, sizeof *room->indices, error);
    if (!status)
        status = memory_grow(owner, &room->values, &room->value_capacity, size->entries, sizeof *room->values, error);
    return status;
}

/* Numbers that are not standardised must be valid in arms. */
static ee_status check_numbers(const features *self, const ee_round *round, const feature_list *list, ee_error *error)
{
    if (self->options.standardize) return EE_OK;
    for (size_t i = 0; i < list->count; i++) {
        const round_feature *feature = &list->items[i];
        if (fabs(feature->value) <= (double)LARGEST_VALUE) continue;
        return status_fail(error, EE_BAD_INPUT, "features: %.*s is %g; expected -1e9 to 1e9: scale it",
                           (int)(feature->bytes < 60 ? feature->bytes : 60), round->text + feature->text,
                           feature->value);
    }
    return EE_OK;
}

static ee_status prepare(const features *self, ee_round *round, round_size *size, ee_error *error)
{
    if (!round->arms) return status_fail(error, EE_BAD_INPUT, "features: a round needs at least one action");
    ee_status status = check_numbers(self, round, &round->context, error);
    if (!status) status = check_numbers(self, round, &round->actions, error);
    if (status) return status;
    *size = measure(self, round);
    if (size->entries > MOST_ENTRIES)
        return status_fail(error, EE_BAD_INPUT, "features: more than %d features and products in one round",
                           (int)MOST_ENTRIES);
    return reserve(round, size, error);
}

/* ---- learning ---- */

static void count_place(features *self, uint32_t place)
{
    if (place == NO_PLACE) return;
    if (is_named(self, place))
        self->names.places[place].count++;
    else
        self->shared_counts[place - (uint64_t)self->options.names]++;
}

/* The place of a feature; a new one if it has none. */
static uint32_t learn_place(features *self, const ee_round *round, const round_feature *feature)
{
    const char *name = round->text + feature->text;
    uint32_t place = names_find(&self->names, feature->hash, name, feature->bytes);
    if (place != NO_PLACE || is_left_out(self, feature)) return place;
    bool is_kept = feature->bytes <= LONGEST_KEPT, is_full = self->names.count == self->names.most;
    if (must_come_again(self, feature) && !is_full &&
        !(is_kept && new_ids_came_again(&self->new_ids, feature->hash, self->contexts, round->arms)))
        return NO_PLACE;
    if (is_kept) place = names_add(&self->names, feature->hash, name, feature->bytes);
    return place == NO_PLACE ? shared_place(self, feature->hash) : place;
}

static void learn_features(features *self, const ee_round *round, const round_feature *list, size_t count,
                           bool of_action, placed_feature *placed)
{
    for (size_t i = 0; i < count; i++) {
        const round_feature *feature = &list[i];
        uint32_t place = learn_place(self, round, feature);
        count_place(self, place);
        if (feature->is_number && place != NO_PLACE && self->options.standardize)
            learn_number(self, place, feature->value, of_action);
        placed[i] = (placed_feature){feature->hash, 0, place, feature->sides};
    }
}

static uint32_t learn_product(features *self, const placed_feature *left, const placed_feature *right)
{
    if (left->place == NO_PLACE || right->place == NO_PLACE) return NO_PLACE;
    uint32_t place = find_product(self, left, right);
    if (is_named(self, place) || !is_named(self, left->place) || !is_named(self, right->place)) return place;
    uint64_t hash = names_product_hash(left->hash, right->hash);
    uint32_t added = names_add_product(&self->names, hash, left->place, right->place);
    return added == NO_PLACE ? place : added;
}

static void learn_products(features *self, ee_round *round, size_t count)
{
    encoding_room *room = &round->room;
    size_t pairs = products_list(&self->products, room->placed, count, room->rights, room->pairs);
    for (size_t i = 0; i < pairs; i++) {
        const placed_feature *left = &room->placed[room->pairs[i].left], *right = &room->placed[room->pairs[i].right];
        count_place(self, learn_product(self, left, right));
    }
}

ee_status features_learn(features *self, ee_round *round, ee_error *error)
{
    round_size size;
    ee_status status = prepare(self, round, &size, error);
    if (status || is_vw(self)) return status;
    size_t names = round->context.count + round->actions.count + size.all_pairs;
    size_t bytes = (self->names.most - self->names.count) * LONGEST_KEPT;
    status = names_reserve(&self->names, names, round->text_used < bytes ? round->text_used : bytes, error);
    size_t scales = self->scale_count + size.numbers < self->dim ? self->scale_count + size.numbers : self->dim;
    if (!status)
        status = memory_grow(self->memory, &self->scales, &self->scale_capacity, scales, sizeof *self->scales, error);
    if (!status && self->options.ids) status = new_ids_reserve(&self->new_ids, self->memory, round->identified, error);
    if (status) return status;
    placed_feature *placed = round->room.placed;
    size_t shared = round->context.count;
    self->contexts++;
    self->actions += round->arms;
    count_place(self, 0);
    learn_features(self, round, round->context.items, shared, false, placed);
    for (size_t arm = 0; arm < round->arms; arm++) {
        size_t count;
        const round_feature *action = round_action(round, arm, &count);
        learn_features(self, round, action, count, true, placed + shared);
        learn_products(self, round, shared + count);
    }
    return EE_OK;
}

size_t features_count(const features *self)
{
    return self->names.count;
}

/* ---- encoding ---- */

static void place_features(const features *self, const char *text, const round_feature *list, size_t count,
                           placed_feature *placed)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = find_place(self, &list[i], text);
        double value = list[i].value;
        if (place == NO_PLACE)
            value = 0;
        else if (self->options.standardize && list[i].is_number)
            value = standardised(self, place, value);
        else if (is_beside_features(&list[i], count))
            value = ID_BESIDE_FEATURES;
        placed[i] = (placed_feature){list[i].hash, value, place, list[i].sides};
    }
}

/* The entries of an arm whose features have places. Zeros are left out. */
static size_t list_entries(const features *self, ee_round *round, size_t count)
{
    encoding_room *room = &round->room;
    size_t listed = 0, pairs = products_list(&self->products, room->placed, count, room->rights, room->pairs);
    uint32_t constant = is_vw(self) ? vw_place(self, VW_CONSTANT) : 0;
    room->entries[listed++] = entry_make(constant, 1);
    for (size_t i = 0; i < count; i++)
        if (room->placed[i].value != 0)
            room->entries[listed++] = entry_make(room->placed[i].place, room->placed[i].value);
    for (size_t i = 0; i < pairs; i++) {
        const placed_feature *left = &room->placed[room->pairs[i].left], *right = &room->placed[room->pairs[i].right];
        double value = left->value * right->value;
        uint32_t place = value != 0 ? find_product(self, left, right) : NO_PLACE;
        if (place != NO_PLACE) room->entries[listed++] = entry_make(place, value);
    }
    return listed;
}

ee_status features_encode(const features *self, ee_round *round, ee_arms *arms, ee_error *error)
{
    round_size size;
    ee_status status = prepare(self, round, &size, error);
    if (status) return status;
    encoding_room *room = &round->room;
    size_t shared = round->context.count, used = 0;
    place_features(self, round->text, round->context.items, shared, room->placed);
    room->starts[0] = 0;
    for (size_t arm = 0; arm < round->arms; arm++) {
        size_t count;
        const round_feature *action = round_action(round, arm, &count);
        place_features(self, round->text, action, count, room->placed + shared);
        size_t listed = list_entries(self, round, shared + count);
        used +=
            entries_gather(room->entries, room->sorted, listed, self->dim, room->indices + used, room->values + used);
        room->starts[arm + 1] = used;
    }
    *arms = ee_arms_sparse(room->starts, room->indices, room->values, round->arms, self->dim);
    if (round->identified && self->options.ids) arms->ids = round->ids;
    arms->limits = round->limits;
    return EE_OK;
}

/* Like list_entries, with the features of each entry. */
static size_t list_terms(const features *self, ee_round *round, size_t count)
{
    encoding_room *room = &round->room;
    size_t listed = 0, pairs = products_list(&self->products, room->placed, count, room->rights, room->pairs);
    uint32_t constant = is_vw(self) ? vw_place(self, VW_CONSTANT) : 0;
    room->terms[listed++] = (feature_term){1, constant, NO_FEATURE, NO_FEATURE};
    for (uint32_t i = 0; i < count; i++)
        if (room->placed[i].value != 0)
            room->terms[listed++] = (feature_term){room->placed[i].value, room->placed[i].place, i, NO_FEATURE};
    for (size_t i = 0; i < pairs; i++) {
        feature_pair pair = room->pairs[i];
        const placed_feature *left = &room->placed[pair.left], *right = &room->placed[pair.right];
        double value = left->value * right->value;
        uint32_t place = value != 0 ? find_product(self, left, right) : NO_PLACE;
        if (place != NO_PLACE) room->terms[listed++] = (feature_term){value, place, pair.left, pair.right};
    }
    return listed;
}

ee_status features_terms(const features *self, ee_round *round, size_t arm, const feature_term **terms, size_t *count,
                         ee_error *error)
{
    encoding_room *room = &round->room;
    size_t action_count, shared = round->context.count;
    const round_feature *action = round_action(round, arm, &action_count);
    size_t most =
        1 + shared + action_count + products_most(&self->products, round->context.items, shared, action, action_count);
    ee_status status =
        memory_grow(&round->memory, &room->terms, &room->term_capacity, most, sizeof *room->terms, error);
    if (status) return status;
    place_features(self, round->text, round->context.items, shared, room->placed);
    place_features(self, round->text, action, action_count, room->placed + shared);
    *count = list_terms(self, round, shared + action_count);
    *terms = room->terms;
    return EE_OK;
}

/* ---- describing, copying, saving ---- */

size_t features_describe(const features *self, size_t place, ee_feature *out, char *name, size_t capacity)
{
    *out = (ee_feature){.deviation = 1};
    if (capacity) name[0] = '\0';
    if (is_vw(self)) return 0;
    size_t names = (size_t)self->options.names;
    if (place < names && place >= self->names.count) return 0;
    out->count = place < names ? self->names.places[place].count : self->shared_counts[place - names];
    uint32_t number = *scale_of(self, (uint32_t)place);
    if (number) {
        const number_scale *scale = &self->scales[number - 1];
        number_scale_standard(scale, possible(self, scale), &out->mean, &out->deviation);
        out->limited = scale->limited;
    }
    return place < names ? names_format(&self->names, (uint32_t)place, name, capacity) : 0;
}

ee_status features_follow(features *self, const features *from, ee_error *error)
{
    if (is_vw(self)) return EE_OK;
    ee_status status =
        memory_grow(self->memory, &self->scales, &self->scale_capacity, from->scale_count, sizeof *self->scales, error);
    if (!status) status = names_follow(&self->names, &from->names, error);
    if (status) return status;
    if (from->scale_count) memcpy(self->scales, from->scales, from->scale_count * sizeof *self->scales);
    for (; self->scale_count < from->scale_count; self->scale_count++)
        *scale_of(self, self->scales[self->scale_count].place) = (uint32_t)self->scale_count + 1;
    self->contexts = from->contexts;
    self->actions = from->actions;
    return EE_OK;
}

static void archive_scale(features *self, size_t number, archive *a)
{
    number_scale *scale = &self->scales[number];
    number_scale_archive(scale, self->contexts, self->actions, a);
    if (!a->reading || a->status) return;
    size_t names = (size_t)self->options.names;
    bool taken = scale->place < self->dim && (scale->place >= names || scale->place < self->names.count);
    if (taken && !*scale_of(self, scale->place))
        *scale_of(self, scale->place) = (uint32_t)number + 1;
    else
        archive_fail(a, EE_BAD_MODEL, "model: invalid scale of a number");
}

void features_archive(features *self, archive *a)
{
    if (is_vw(self)) return;
    names_archive(&self->names, a);
    archive_u64(a, &self->contexts);
    archive_u64(a, &self->actions);
    size_t scales = self->scale_count;
    archive_size(a, &scales, 0, a->reading ? archive_remaining(a) / number_scale_bytes(a) : scales,
                 "numbers of the features");
    if (a->reading && !a->status)
        a->status =
            memory_grow(self->memory, &self->scales, &self->scale_capacity, scales, sizeof *self->scales, a->error);
    for (size_t i = 0; i < scales && !a->status; i++) archive_scale(self, i, a);
    self->scale_count = a->status ? 0 : scales;
    for (size_t i = 0; i < (size_t)self->options.hashes && !a->status; i++) archive_u64(a, &self->shared_counts[i]);
    if (a->version >= 11) new_ids_archive(&self->new_ids, self->memory, self->contexts, a);
}
