/* The bytes of decisions, steps, checkpoints and metrics: they come back, never change, and may be damaged. */
#include "serve/store/event.h"

#include "base/archive.h"
#include "serve/store/metric_values.h"
#include "support.h"

enum { ACTIONS = 3, DIM = 2 };

static const double probabilities[ACTIONS] = {0.25, 0, 0.75};
static const float values[ACTIONS * DIM] = {1, -2.5f, 0, 1e-20f, 3e30f, 7};
static const uint8_t excluded[ACTIONS] = {0, 1, 0};
static const json_text names[ACTIONS] = {{"left", 4}, {"", 0}, {"r\303\244chts", 7}};

static decision_body vectors(void)
{
    return (decision_body){.request = {1, UINT64_MAX},
                           .version = 300,
                           .seed = 0x0123456789abcdef,
                           .count = ACTIONS,
                           .action = 2,
                           .choice = 0,
                           .baseline = 2,
                           .probabilities = probabilities,
                           .names = names,
                           .excluded = excluded,
                           .dim = DIM,
                           .values = values,
                           .record = "record",
                           .record_size = 6};
}

static decision_body named(void)
{
    return (decision_body){.count = ACTIONS,
                           .action = 1,
                           .choice = 1,
                           .baseline = 0,
                           .probabilities = probabilities,
                           .context = {"{\"_multi\":[{},{},{}]}", 21}};
}

/* The second of three slots, deferred: the first slot took an action. */
static decision_body slot(void)
{
    static const uint8_t taken[ACTIONS] = {0, EXCLUDED_BY_SLOT, EXCLUDED_BY_REQUEST};
    decision_body body = named();
    body.excluded = taken;
    body.deferred = true;
    body.slot = (json_text){"banner", 6};
    body.slot_index = 1;
    body.slot_count = 3;
    return body;
}

static decision_body guarded(void)
{
    static const float boosts[ACTIONS] = {0, 0.125f, -1};
    static const uint32_t shares[ACTIONS] = {0, 2, 1};
    static const double low[] = {0.1, 0}, high[] = {1, 0.5};
    decision_body body = named();
    body.guard = (decision_guard){.present = true,
                                  .group = GROUP_TREATED,
                                  .treated_share = 0.25,
                                  .baseline = 1,
                                  .key = {"u17", 3},
                                  .segment = {"DE", 2},
                                  .repeats = {"d1", 2},
                                  .rule_count = 2,
                                  .rules = {{"new items", 9}, {"x", 1}},
                                  .boosts = boosts,
                                  .price_count = 2,
                                  .prices = {{UINT64_MAX, 0.25}, {7, 1e9}},
                                  .share_count = 2,
                                  .shares = shares,
                                  .low = low,
                                  .high = high};
    return body;
}

TEST(a_decision_comes_back)
{
    memory owner = {0};
    event_room room = {.owner = &owner};
    uint8_t *bytes = NULL, *again = NULL;
    size_t size = 0, capacity = 0, again_size = 0, again_capacity = 0;
    const decision_body bodies[] = {vectors(), named(), slot(), guarded()};
    for (size_t i = 0; i < 4; i++) { /* one after the other in the same bytes */
        const decision_body *expected = &bodies[i];
        size_t start = size;
        ok(decision_body_write(expected, &owner, &bytes, &size, &capacity, NULL));
        decision_body got;
        ok(decision_body_read(bytes + start, size - start, &room, &got, NULL));
        again_size = 0;
        ok(decision_body_write(&got, &owner, &again, &again_size, &again_capacity, NULL));
        assert_int_equal(again_size, size - start);
        assert_memory_equal(again, bytes + start, again_size);
        assert_memory_equal(got.request, expected->request, sizeof got.request);
        assert_true(got.version == expected->version && got.seed == expected->seed && got.count == expected->count);
        assert_true(got.action == expected->action && got.choice == expected->choice);
        assert_true(got.baseline == expected->baseline && got.dim == expected->dim);
        assert_memory_equal(got.probabilities, expected->probabilities, got.count * sizeof(double));
        assert_true(got.deferred == expected->deferred && got.slot_count == expected->slot_count);
        assert_int_equal(!got.names, !expected->names);
        assert_int_equal(!got.excluded, !expected->excluded);
        if (got.names) assert_memory_equal(got.names[2].bytes, names[2].bytes, names[2].length);
        if (got.dim) assert_memory_equal(got.values, values, sizeof values);
        const decision_guard *limits = &got.guard, *wanted = &expected->guard;
        assert_true(limits->present == wanted->present && limits->group == wanted->group);
        assert_true(limits->rule_count == wanted->rule_count && limits->price_count == wanted->price_count);
        if (!limits->present) continue;
        assert_memory_equal(limits->rules[0].bytes, "new items", 9);
        assert_memory_equal(limits->boosts, wanted->boosts, ACTIONS * sizeof *limits->boosts);
        assert_memory_equal(limits->shares, wanted->shares, ACTIONS * sizeof *limits->shares);
        assert_true(limits->prices[1].price == 1e9 && limits->low[0] == 0.1 && limits->high[1] == 0.5);
    }
    memory_release(&owner);
}

/* What is read of a damaged body may be wrong, but lies within it: each byte is touched. */
static void touch(const decision_body *body)
{
    volatile uint64_t sum = 0;
    assert_true(body->count && body->action < body->count && body->choice < body->count &&
                body->baseline < body->count);
    for (size_t i = 0; i < body->count; i++) {
        assert_true(body->probabilities[i] >= 0 && body->probabilities[i] <= 1);
        for (size_t k = 0; body->names && k < body->names[i].length; k++) sum += (uint8_t)body->names[i].bytes[k];
        if (body->excluded) assert_true(body->excluded[i] <= EXCLUDED_BY_BUDGET);
        for (size_t k = 0; k < body->dim; k++) sum += body->values[i * body->dim + k] > 0;
    }
    assert_true(!body->slot_count || body->slot_index < body->slot_count);
    for (size_t k = 0; k < body->slot.length; k++) sum += (uint8_t)body->slot.bytes[k];
    for (size_t k = 0; k < body->context.length; k++) sum += (uint8_t)body->context.bytes[k];
    for (size_t k = 0; k < body->record_size; k++) sum += ((const uint8_t *)body->record)[k];
    const decision_guard *limits = &body->guard;
    for (size_t k = 0; k < limits->key.length; k++) sum += (uint8_t)limits->key.bytes[k];
    for (size_t k = 0; k < limits->repeats.length; k++) sum += (uint8_t)limits->repeats.bytes[k];
    for (size_t i = 0; i < limits->rule_count; i++)
        for (size_t k = 0; k < limits->rules[i].length; k++) sum += (uint8_t)limits->rules[i].bytes[k];
    for (size_t i = 0; limits->boosts && i < body->count; i++) sum += limits->boosts[i] > 0;
    assert_true(limits->price_count <= MOST_PRICES);
    for (size_t i = 0; i < limits->price_count; i++) assert_true(limits->prices[i].price >= 0);
    for (size_t i = 0; limits->shares && i < body->count; i++) assert_true(limits->shares[i] <= limits->share_count);
    for (size_t i = 0; limits->shares && i < limits->share_count; i++) sum += limits->low[i] < limits->high[i];
}

/* Whether bytes that may be damaged are read; what was read is harmless. */
typedef bool read_bytes(void *context, const uint8_t *bytes, size_t size);

/* No proper prefix is read. Returns how many changes of one byte are. */
static size_t read_damaged(const uint8_t *bytes, size_t size, read_bytes *is_read, void *context)
{
    size_t harmless = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        guard wall;
        uint8_t *copy = guard_end_bytes(&wall, cut);
        memcpy(copy, bytes, cut);
        assert_true(is_read(context, copy, cut) == (cut == size));
        for (size_t at = 0; at < cut && cut == size; at++) {
            for (unsigned flip = 1; flip < 256; flip++) {
                copy[at] = (uint8_t)(bytes[at] ^ flip);
                harmless += is_read(context, copy, size);
            }
            copy[at] = bytes[at];
        }
        guard_free(&wall);
    }
    return harmless;
}

static bool read_decision(void *context, const uint8_t *bytes, size_t size)
{
    decision_body got;
    ee_error error;
    ee_status status = decision_body_read(bytes, size, context, &got, &error);
    if (!status) touch(&got);
    assert_true(!status || status == EE_BAD_INPUT);
    return !status;
}

TEST(a_damaged_decision_is_refused_or_harmless)
{
    memory owner = {0};
    event_room room = {.owner = &owner};
    const decision_body bodies[] = {vectors(), named(), slot(), guarded()};
    for (size_t b = 0; b < 4; b++) {
        uint8_t *bytes = NULL;
        size_t size = 0, capacity = 0;
        ok(decision_body_write(&bodies[b], &owner, &bytes, &size, &capacity, NULL));
        read_damaged(bytes, size, read_decision, &room);
    }
    assert_true(memory_bytes(&owner) < 1 << 16); /* no count of a damaged body was believed */
    memory_release(&owner);
}

static bool read_metrics(void *context, const uint8_t *bytes, size_t size)
{
    uint8_t again[METRIC_VALUES_SIZE];
    metric_values got;
    ee_error error;
    (void)context;
    if (metric_values_read(bytes, size, &got, &error)) {
        assert_int_equal(got.count, 0);
        assert_string_equal(error.message, "log: the metrics of a reward or a decision are damaged");
        return false;
    }
    assert_int_equal(metric_values_write(&got, again), size);
    ok(metric_values_read(again, size, &got, &error));
    return true;
}

TEST(bytes_of_metrics_never_change)
{
    static const uint8_t expected[] = "\1\2\0\0\0\0\0\0\340\77\7latency\1\0\0\0\131\363\370\302\37\156\245\1"
                                      "\6refund\3\0\0\0\0\0\0\0\0\0\0\300";
    const metric_values totals = {
        .reward = 0.5, .count = 2, .list = {{.name = "refund", .count = 3, .value = -2}, {"latency", 1, 1e-300}}};
    uint8_t bytes[METRIC_VALUES_SIZE];
    assert_int_equal(metric_values_write(&totals, bytes), sizeof expected - 1);
    assert_memory_equal(bytes, expected, sizeof expected - 1);
    assert_true(read_damaged(bytes, sizeof expected - 1, read_metrics, NULL) > 1000); /* other numbers and letters */
}

/* As the first version of the store has it: a body without slots has never had other bytes. */
TEST(old_bodies_stay_as_they_are)
{
    static const uint8_t old[] = {1,   3, /* format, flags: names, excluded */
                                  1,   0,   0,   0,   0,  0,   0, 0, 2, 0, 0, 0, 0, 0, 0,    0, /* request */
                                  3,   0,   0,   0,   0,  0,   0, 0, 4, 0, 0, 0, 0, 0, 0,    0, /* version, seed */
                                  2,   1,   1,   1,   0,  2,   3, /* count, action, own, baseline, dim, sizes */
                                  0,   0,   0,   0,   0,  0,   0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, /* probabilities */
                                  1,   0,   1,   'a', 1,  'b',                                     /* excluded, names */
                                  '{', '}', 'r', 'e', 'c'};
    memory owner = {0};
    event_room room = {.owner = &owner};
    decision_body got;
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    ok(decision_body_read(old, sizeof old, &room, &got, NULL));
    assert_false(got.deferred);
    assert_int_equal(got.slot_count, 0);
    assert_int_equal(got.seed, 4);
    assert_int_equal(got.excluded[0], EXCLUDED_BY_REQUEST);
    ok(decision_body_write(&got, &owner, &bytes, &size, &capacity, NULL));
    assert_int_equal(size, sizeof old);
    assert_memory_equal(bytes, old, size);
    memory_release(&owner);
}

TEST(ids_of_slots_tell_their_round)
{
    json_text id = {"round-1", 7}, place = {"banner", 6}, slot_id;
    char out[14];
    assert_int_equal(slot_decision_id_size(id, place), sizeof out);
    json_text made = slot_decision_id(id, place, out);
    assert_int_equal(made.length, sizeof out);
    assert_memory_equal(made.bytes, "round-1\037banner", sizeof out);
    json_text round_id = slot_round_id(made, &slot_id);
    assert_int_equal(round_id.length, 7);
    assert_int_equal(slot_id.length, 6);
    assert_memory_equal(slot_id.bytes, "banner", 6);
    assert_int_equal(slot_round_id(id, &slot_id).length, 7);
    assert_int_equal(slot_id.length, 0);
}

TEST(steps_and_checkpoints_come_back)
{
    uint8_t bytes[STEP_BODY_SIZE];
    step_body step = {UINT64_MAX - 1, 8}, got_step;
    step_body_write(&step, bytes);
    ok(step_body_read(bytes, sizeof bytes, &got_step, NULL));
    assert_memory_equal(&got_step, &step, sizeof step);
    assert_int_equal(step_body_read(bytes, sizeof bytes - 1, &got_step, NULL), EE_BAD_INPUT);
    step_body_write(&(step_body){7, 0}, bytes);
    assert_int_equal(step_body_read(bytes, sizeof bytes, &got_step, NULL), EE_BAD_INPUT);

    checkpoint_body checkpoint = {1, 2, UINT64_MAX, 4, "state", 5}, got;
    uint8_t *written;
    size_t size;
    ok(checkpoint_body_write(&checkpoint, NULL, &written, &size, NULL));
    ok(checkpoint_body_read(written, size, &got, NULL));
    assert_int_equal(got.version, 1);
    assert_int_equal(got.upto, 2);
    assert_true(got.checksum == UINT64_MAX);
    assert_int_equal(got.size, 4);
    assert_int_equal(got.state_size, 5);
    assert_memory_equal(got.state, "state", 5);
    assert_int_equal(checkpoint_body_read(written, CHECKPOINT_HEAD_SIZE - 1, &got, NULL), EE_BAD_INPUT);
    ok(checkpoint_body_read(written, CHECKPOINT_HEAD_SIZE, &got, NULL));
    assert_int_equal(got.state_size, 0);
    memory_free(written);
}

/* Models end with a checksum of their own: one over the whole would be the same for all of them. */
TEST(models_have_their_own_checksums)
{
    uint64_t checksums[2];
    for (int i = 0; i < 2; i++) {
        uint8_t model[1000];
        memset(model, i, sizeof model);
        uint64_t own = archive_checksum(model, sizeof model - sizeof own);
        memcpy(model + sizeof model - sizeof own, &own, sizeof own);
        checksums[i] = checkpoint_checksum(model, sizeof model);
    }
    assert_true(checksums[0] != checksums[1]);
    assert_true(checkpoint_checksum("short", 5) != checkpoint_checksum("other", 5));
}

/* A log that is replayed years later asks for the same seeds. */
TEST(seeds_never_change)
{
    assert_true(event_seed(1, (json_text){"a", 1}) != event_seed(1, (json_text){"b", 1}));
    assert_true(event_seed(1, (json_text){"a", 1}) != event_seed(2, (json_text){"a", 1}));
    assert_true(event_seed(0, (json_text){"0190a5b2c3d4e5f60718293a4b5c6d7e", 32}) == 0x1b1f548f9c8244b7);
}
