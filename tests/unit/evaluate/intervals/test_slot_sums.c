/* Slots and slates against the numbers of Open Bandit Pipeline and Vowpal Wabbit. */
#include "evaluate/intervals/slot_sums.h"

#include "support_rounds.h"

enum { SLOTS = 3 };

static const value_range unit = {0, 1, INFINITY};

static double *ratios_of(const json_t *root, const char *evaluated, const char *logged, size_t *count)
{
    double *ratios = golden_doubles(golden_member(root, evaluated), count);
    auto_free double *p = golden_doubles(golden_member(root, logged), NULL);
    for (size_t i = 0; i < *count; i++) ratios[i] /= p[i];
    return ratios;
}

/* The stored probabilities of a slate are products already: each slot's weight is given as its own. */
static void check_slates(const char *evaluated, const char *logged, const char *plain, const char *normalised)
{
    json_auto_t *root = golden_load("ope/slate.json");
    json_t *expect = golden_member(root, "expect");
    size_t count;
    auto_free double *weights = ratios_of(root, evaluated, logged, &count);
    auto_free double *rewards = golden_doubles(golden_member(root, "reward"), NULL);
    RELEASED_BY(memory_release) memory room = {0};
    slot_sums sums = {.owner = &room};
    for (size_t i = 0; i < count; i += SLOTS)
        ok(slot_sums_add(&sums, SLOT_OWN, weights + i, rewards + i, SLOTS, 1, NULL));
    assert_relative(slot_sums_value(&sums, ESTIMATOR_IPS), golden_number(golden_member(expect, plain)), 1e-9);
    assert_relative(slot_sums_value(&sums, ESTIMATOR_SNIPS), golden_number(golden_member(expect, normalised)), 1e-9);
    assert_relative(rounds_sums_value(&sums.rounds, ESTIMATOR_IPS), golden_number(golden_member(expect, plain)), 1e-9);
}

TEST(slates)
{
    check_slates("evaluated_pscore", "pscore", "sips", "snsips");
    check_slates("evaluated_pscore_item_position", "pscore_item_position", "iips", "sniips");
    check_slates("evaluated_pscore_cascade", "pscore_cascade", "rips", "snrips");
}

/* The product of the ratios up to a slot is what the log of cascades has stored, and up to the last that of slates. */
TEST(products_of_ratios)
{
    json_auto_t *root = golden_load("ope/slate.json");
    json_t *expect = golden_member(root, "expect");
    size_t count;
    auto_free double *cascade = ratios_of(root, "evaluated_pscore_cascade", "pscore_cascade", &count);
    auto_free double *rewards = golden_doubles(golden_member(root, "reward"), NULL);
    RELEASED_BY(memory_release) memory room = {0};
    slot_sums whole = {.owner = &room}, partly = {.owner = &room};
    for (size_t i = 0; i < count; i += SLOTS) {
        double ratios[SLOTS] = {cascade[i], cascade[i + 1] / cascade[i], cascade[i + 2] / cascade[i + 1]};
        ok(slot_sums_add(&whole, SLOT_WHOLE, ratios, rewards + i, SLOTS, 1, NULL));
        ok(slot_sums_add(&partly, SLOT_CASCADE, ratios, rewards + i, SLOTS, 1, NULL));
    }
    assert_relative(slot_sums_value(&whole, ESTIMATOR_IPS), golden_number(golden_member(expect, "sips")), 1e-9);
    assert_relative(slot_sums_value(&partly, ESTIMATOR_IPS), golden_number(golden_member(expect, "rips")), 1e-9);
}

static void check_slots(const slot_sums *sums, const json_t *stored)
{
    double r = 0.0;
    for (size_t k = 0; k < SLOTS; k++) {
        double shown = golden_number(json_array_get(golden_member(stored, "impression"), k));
        double value = golden_number(json_array_get(golden_member(stored, "r_given_impression"), k));
        assert_relative(slot_sums_shown(sums, k), shown, 1e-9);
        assert_relative(rounds_sums_value(&sums->slots[k], ESTIMATOR_CRESSIE_READ), value, 1e-9);
        assert_interval(slot_sums_shown_interval(sums, k, 0.05),
                        json_array_get(golden_member(stored, "interval_impression"), k), 1e-7);
        /* Theirs spends alpha twice. */
        assert_interval(slot_sums_interval(sums, k, unit, 0.1), json_array_get(golden_member(stored, "interval_r"), k),
                        1e-7);
        r += golden_number(json_array_get(golden_member(stored, "r"), k));
    }
    assert_relative(slot_sums_value(sums, ESTIMATOR_CRESSIE_READ), r, 1e-9);
    rounds_sums together = slot_sums_together(sums);
    assert_relative(rounds_sums_value(&together, ESTIMATOR_CRESSIE_READ),
                    golden_number(golden_member(stored, "r_overall")), 1e-9);
    assert_interval(interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_CRESSIE_READ, &together, unit, 0.05),
                    golden_member(stored, "interval_r_overall"), 1e-7);
}

TEST(equal_to_vowpal_wabbit)
{
    json_auto_t *root = golden_load("ope/vw_slots.json");
    json_t *expect = golden_member(root, "expect");
    size_t count;
    auto_free double *ratios = ratios_of(root, "p_pred", "p_log", &count);
    auto_free double *rewards = golden_doubles(golden_member(root, "reward"), NULL);
    auto_free double *shown = golden_doubles(golden_member(root, "shown"), NULL);
    auto_free double *once = golden_doubles(golden_member(root, "slate_reward"), NULL);
    RELEASED_BY(memory_release) memory room = {0};
    slot_sums sums = {.owner = &room};
    rounds_sums slate = {0};
    for (size_t i = 0; i < count / SLOTS; i++) {
        const double *row = ratios + i * SLOTS;
        ok(slot_sums_add(&sums, SLOT_CASCADE, row, rewards + i * SLOTS, (size_t)shown[i], 1, NULL));
        rounds_sums_add(&slate, slot_pseudo_inverse(row, SLOTS), once[i], 0, 0, 1);
    }
    check_slots(&sums, golden_member(expect, "ccb_pdis_cressieread"));
    const json_t *first = golden_member(expect, "ccb_first_slot_cressieread");
    assert_relative(rounds_sums_value(&sums.slots[0], ESTIMATOR_CRESSIE_READ),
                    golden_number(golden_member(first, "r_overall")), 1e-9);
    assert_interval(interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_CRESSIE_READ, &sums.slots[0], unit, 0.05),
                    golden_member(first, "interval"), 1e-7);
    const json_t *inverse = golden_member(expect, "slates_pseudo_inverse");
    assert_relative(rounds_sums_value(&slate, ESTIMATOR_IPS), golden_number(golden_member(inverse, "value")), 1e-9);
    assert_interval(interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_IPS, &slate, unit, 0.05),
                    golden_member(inverse, "gaussian_interval"), 1e-9);
}
