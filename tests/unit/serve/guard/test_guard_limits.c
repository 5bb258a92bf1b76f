#include "serve/guard/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/store/event.h"
#include "support.h"

static const int64_t SECOND = 1000000, DAY = (int64_t)86400 * 1000000;
enum { ACTIONS = 3 };

static void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance)) fail_msg("got %g, expected %g", got, expected);
}

typedef struct play {
    guard_settings settings;
    limit_state *limits;
    uint8_t excluded[ACTIONS];
    float boosts[ACTIONS];
    uint32_t shares[ACTIONS];
    double low[GUARD_SHARES], high[GUARD_SHARES];
    bool any_boost, any_share;
    ee_error error;
} play;

static play start(const char *settings)
{
    play self = {.limits = NULL};
    if (guard_settings_read(&self.settings, settings, strlen(settings), &self.error))
        fail_msg("%s", self.error.message);
    return self;
}

static void begin(play *self)
{
    limits_free(self->limits);
    ok(limits_create(&self->settings, NULL, &self->limits, NULL));
}

static void end(play *self)
{
    limits_free(self->limits);
    guard_settings_release(&self->settings);
}

static ee_status apply(play *self, const limits_round *round)
{
    memset(self->excluded, 0, sizeof self->excluded);
    memset(self->boosts, 0, sizeof self->boosts);
    self->any_boost = self->any_share = false;
    return limits_apply(self->limits, round, self->excluded, self->boosts, &self->any_boost, self->shares, self->low,
                        self->high, &self->any_share, &self->error);
}

static const double certain[ACTIONS] = {0, 1, 0};
static const uint64_t second_matches[ACTIONS] = {0, 1, 0};

/* Whether action 1 may be chosen now; it then is. */
static bool choose(play *self, int64_t now, uint64_t key, bool has_key)
{
    limits_round round = {.now = now, .has_key = has_key, .key = key, .count = ACTIONS, .matches = second_matches};
    ok(apply(self, &round));
    assert_int_equal(self->excluded[0], 0);
    if (self->excluded[1]) {
        assert_int_equal(self->excluded[1], EXCLUDED_BY_CAP);
        return false;
    }
    ok(limits_decided(self->limits, &round, 1, certain, NULL));
    return true;
}

/* ---- caps ---- */

static const char two_a_minute[] = "{\"caps\":[{\"name\":\"a\",\"action\":{\"_id\":\"a\"},\"most\":2,\"per\":\"1m\"}]}";

TEST(a_cap_holds_in_any_span)
{
    play self = start(two_a_minute);
    begin(&self);
    assert_true(choose(&self, 10 * SECOND, 0, false));
    assert_true(choose(&self, 50 * SECOND, 0, false));
    assert_false(choose(&self, 70 * SECOND - 1, 0, false));
    assert_true(choose(&self, 70 * SECOND, 0, false)); /* the first is a minute ago */
    assert_false(choose(&self, 110 * SECOND - 1, 0, false));
    assert_true(choose(&self, 110 * SECOND, 0, false));
    end(&self);
}

TEST(a_time_that_goes_back_opens_no_cap)
{
    play self = start(two_a_minute);
    begin(&self);
    assert_true(choose(&self, 1000 * SECOND, 0, false));
    assert_true(choose(&self, 10 * SECOND, 0, false)); /* counts as 1000 s */
    assert_false(choose(&self, 1059 * SECOND, 0, false));
    assert_true(choose(&self, 1060 * SECOND, 0, false));
    assert_true(choose(&self, 1060 * SECOND, 0, false));
    assert_false(choose(&self, 1060 * SECOND, 0, false));
    end(&self);
}

TEST(a_cap_of_each_person)
{
    play self = start("{\"caps\":[{\"name\":\"mails\",\"action\":{\"_id\":\"a\"},\"most\":1,\"per\":\"1m\","
                      "\"each\":\"key\"}]}");
    begin(&self);
    for (uint64_t key = 0; key < 1000; key++) assert_true(choose(&self, SECOND, key, true));
    for (uint64_t key = 0; key < 1000; key++) assert_false(choose(&self, 30 * SECOND, key, true));
    for (int i = 0; i < 5; i++) assert_true(choose(&self, 30 * SECOND, 0, false)); /* nobody's */
    for (uint64_t key = 0; key < 1000; key++) assert_true(choose(&self, 61 * SECOND, key, true));
    assert_false(choose(&self, 62 * SECOND, 7, true));

    text shown = text_start(NULL);
    limits_write(self.limits, 62 * SECOND, &shown);
    assert_string_equal(shown.bytes, "\"caps\":[{\"name\":\"mails\",\"count\":null,\"most\":1,\"persons\":1000}],"
                                     "\"budgets\":[],\"shares\":[]");
    memory_free(shown.bytes);
    /* Persons of old decisions are forgotten, a few with each new one. */
    for (uint64_t key = 5000; key < 5500; key++) assert_true(choose(&self, 200 * SECOND, key, true));
    shown = text_start(NULL);
    limits_write(self.limits, 200 * SECOND, &shown);
    assert_non_null(strstr(shown.bytes, "\"persons\":500}"));
    memory_free(shown.bytes);
    end(&self);
}

TEST(an_undone_decision_does_not_count)
{
    play self = start(two_a_minute);
    limits_round round = {.now = 12 * SECOND, .count = ACTIONS, .matches = second_matches};
    begin(&self);
    assert_true(choose(&self, 10 * SECOND, 0, false));
    ok(limits_decided(self.limits, &round, 1, certain, NULL));
    assert_false(choose(&self, 13 * SECOND, 0, false));
    limits_undo(self.limits, &round, 1, certain);
    assert_true(choose(&self, 14 * SECOND, 0, false));
    assert_false(choose(&self, 73 * SECOND, 0, false) && choose(&self, 73 * SECOND, 0, false)); /* 14 s is left */
    limits_undo(self.limits, &round, 1, certain); /* it left the span long ago */
    assert_false(choose(&self, 73 * SECOND, 0, false));
    end(&self);
}

TEST(every_action_capped_is_an_error)
{
    static const uint64_t all[ACTIONS] = {1, 1, 1};
    play self = start("{\"caps\":[{\"name\":\"a\",\"action\":{\"_id\":\"a\"},\"most\":1,\"per\":\"1m\"}]}");
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = all};
    begin(&self);
    ok(apply(&self, &round));
    ok(limits_decided(self.limits, &round, 1, certain, NULL));
    assert_int_equal(apply(&self, &round), EE_BAD_INPUT);
    assert_string_equal(self.error.message,
                        "every action has reached a limit, such as the cap 'a'; add one that has none");
    round.now += 60 * SECOND;
    ok(apply(&self, &round));
    end(&self);
}

/* ---- budgets ---- */

static const uint64_t none[ACTIONS] = {0, 0, 0};

TEST(first_come_first_served)
{
    static const double costs[ACTIONS] = {0, 0.1, 2};
    play self = start("{\"budgets\":[{\"name\":\"b\",\"cost\":\"cost\",\"limit\":1,\"pace\":\"first\"}]}");
    limits_round round = {.now = DAY - SECOND, .count = ACTIONS, .matches = none, .costs = costs};
    begin(&self);
    for (int i = 0; i < 10; i++) {
        ok(apply(&self, &round));
        assert_int_equal(self.excluded[1], 0);
        assert_int_equal(self.excluded[2], EXCLUDED_BY_BUDGET);
        assert_false(self.any_boost);
        ok(limits_decided(self.limits, &round, 1, certain, NULL));
    }
    ok(apply(&self, &round));
    assert_int_equal(self.excluded[1], EXCLUDED_BY_BUDGET);
    limits_undo(self.limits, &round, 1, certain);
    ok(apply(&self, &round));
    assert_int_equal(self.excluded[1], 0);
    ok(limits_decided(self.limits, &round, 1, certain, NULL));
    round.now = DAY; /* another day, another budget */
    ok(apply(&self, &round));
    assert_int_equal(self.excluded[1], 0);
    end(&self);
}

/* The price of a budget in limits_write; NaN: it has none. */
static double price_of(const play *self, const char *name)
{
    char before[64];
    text shown = text_start(NULL);
    limits_write(self->limits, SECOND, &shown);
    snprintf(before, sizeof before, "{\"name\":\"%s\"", name);
    const char *at = strstr(shown.bytes, before);
    if (at) at = strstr(at, "\"price\":");
    double price = at ? strtod(at + strlen("\"price\":"), NULL) : NAN;
    memory_free(shown.bytes);
    return price;
}

static const double two_costs[2 * ACTIONS] = {0, 1, 3, 0, 0, 5};

/* Prices that two budgets get, and the decision that has them. */
static size_t learn_prices(play *self, decision_price *prices)
{
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = none, .costs = two_costs};
    for (int i = 0; i < 5000; i++, round.now += DAY / 20000)
        ok(limits_decided(self->limits, &round, 0, (double[]){0.1, 0.1, 0.8}, NULL));
    ok(apply(self, &round));
    assert_true(self->any_boost);
    return limits_prices(self->limits, prices);
}

static const char two_budgets[] = "{\"budgets\":[{\"name\":\"b\",\"cost\":\"x\",\"limit\":100},"
                                  "{\"name\":\"c\",\"cost\":\"y\",\"limit\":100}]}";

/* Each budget gets its own, whatever boosts there were. */
TEST(prices_come_back_from_the_log)
{
    play self = start(two_budgets), other;
    decision_price prices[GUARD_BUDGETS];
    begin(&self);
    assert_int_equal(learn_prices(&self, prices), 2);
    double b = price_of(&self, "b"), c = price_of(&self, "c");
    assert_true(b > 0 && c > 0 && b != c);
    begin(&self);
    assert_true(limits_span(self.limits) == 2 * DAY);
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = none, .costs = two_costs, .prices = prices};
    round.price_count = 2;
    ok(limits_decided(self.limits, &round, 0, (double[]){1, 0, 0}, NULL));
    assert_near(price_of(&self, "b"), b, 1e-9 * b);
    assert_near(price_of(&self, "c"), c, 1e-9 * c);
    end(&self);
    /* One is gone, and the other has a new limit and place. */
    other =
        start("{\"budgets\":[{\"name\":\"c\",\"cost\":\"y\",\"limit\":900},{\"name\":\"b\",\"cost\":\"z\",\"limit\":"
              "100}]}");
    begin(&other);
    ok(limits_decided(other.limits, &round, 0, (double[]){1, 0, 0}, NULL));
    assert_near(price_of(&other, "c"), c, 1e-9 * c);
    assert_near(price_of(&other, "b"), 0, 0); /* of another cost */
    end(&other);
}

/* Limits that two settings have keep their state; the log is counted for the others. */
TEST(the_same_limits_keep_their_state)
{
    /* A bit for the share, then one for each cap. */
    static const uint64_t old_matches[ACTIONS] = {0, 3, 0}, both[ACTIONS] = {0, 7, 0}, capped[ACTIONS] = {0, 4, 0};
    play old = start("{\"caps\":[{\"name\":\"a\",\"action\":{\"_id\":\"a\"},\"most\":2,\"per\":\"1m\"}],"
                     "\"budgets\":[{\"name\":\"b\",\"cost\":\"x\",\"limit\":100}],"
                     "\"shares\":[{\"name\":\"s\",\"action\":{\"_id\":\"a\"},\"low\":0.2,\"window\":\"64s\"}]}");
    play next = start("{\"caps\":[{\"name\":\"new\",\"action\":{\"_id\":\"b\"},\"most\":3,\"per\":\"30s\"},"
                      "{\"name\":\"a\",\"action\":{\"_id\":\"a\"},\"most\":2,\"per\":\"1m\"}],"
                      "\"budgets\":[{\"name\":\"b\",\"cost\":\"x\",\"limit\":100}],"
                      "\"shares\":[{\"name\":\"t\",\"action\":{\"_id\":\"a\"},\"low\":0.3,\"window\":\"64s\"}]}");
    limits_round round = {.now = DAY / 2 + 9 * SECOND, .count = ACTIONS, .matches = old_matches, .costs = two_costs};
    decision_price prices[GUARD_BUDGETS];
    begin(&old);
    assert_int_equal(learn_prices(&old, prices), 1);
    ok(limits_decided(old.limits, &round, 1, certain, NULL));
    double price = price_of(&old, "b");
    ok(limits_create(&next.settings, old.limits, &next.limits, NULL));
    assert_true(limits_span(next.limits) == 30 * SECOND);
    round.matches = both;
    for (int i = 0; i < 2; i++) ok(limits_decided(next.limits, &round, 1, certain, NULL));
    limits_take_over(next.limits, old.limits);
    end(&old);
    assert_near(price_of(&next, "b"), price, 0);
    ok(apply(&next, &round));
    assert_int_equal(next.excluded[1], 0); /* one of two, and two of three */
    assert_near(next.low[0], 0, 0);        /* the mean is 1 */
    ok(limits_decided(next.limits, &round, 1, certain, NULL));
    round.matches = capped;
    ok(apply(&next, &round));
    assert_int_equal(next.excluded[1], EXCLUDED_BY_CAP);
    end(&next);
}

/* ---- shares ---- */

TEST(a_share_in_every_decision)
{
    play self = start("{\"shares\":[{\"name\":\"s\",\"action\":{\"_id\":\"a\"},\"low\":0.2,\"high\":0.4},"
                      "{\"name\":\"t\",\"action\":{\"_id\":\"b\"},\"high\":0.5}]}");
    static const uint64_t two[ACTIONS] = {2, 3, 0}; /* an action belongs to the first that it matches */
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = two};
    begin(&self);
    ok(apply(&self, &round));
    assert_true(self.any_share);
    assert_int_equal(self.shares[0], 1);
    assert_int_equal(self.shares[1], 0);
    assert_int_equal(self.shares[2], 2);
    assert_near(self.low[0], 0.2, 0);
    assert_near(self.high[0], 0.4, 0);
    assert_near(self.high[1], 0.5, 0);
    /* No action is outside: the highs are raised until probabilities can reach 1. */
    round.count = 2;
    ok(apply(&self, &round));
    assert_near(self.high[0] + self.high[1], 1, 1e-12);
    end(&self);
}

TEST(the_bounds_follow_the_mean_of_the_window)
{
    play self = start("{\"shares\":[{\"name\":\"s\",\"action\":{\"_id\":\"a\"},\"low\":0.2,\"high\":0.4,"
                      "\"window\":\"64s\"}]}");
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = second_matches};
    begin(&self);
    ok(limits_decided(self.limits, &round, 0, (double[]){0.81, 0.19, 0}, NULL));
    ok(apply(&self, &round));
    assert_near(self.low[0], 0.3, 1e-9);
    assert_near(self.high[0], 1, 0);
    ok(limits_decided(self.limits, &round, 0, (double[]){0, 0.65, 0.35}, NULL)); /* mean: 0.42 */
    ok(apply(&self, &round));
    assert_near(self.low[0], 0, 0);
    assert_near(self.high[0], 0.2, 1e-9);
    limits_undo(self.limits, &round, 0, (double[]){0, 0.65, 0.35});
    ok(apply(&self, &round));
    assert_near(self.low[0], 0.3, 1e-9);
    /* A decision in which it could not be chosen does not count. */
    static const uint8_t excluded[ACTIONS] = {0, 1, 0};
    round.excluded = excluded;
    ok(limits_decided(self.limits, &round, 0, (double[]){1, 0, 0}, NULL));
    round.excluded = NULL;
    ok(apply(&self, &round));
    assert_near(self.low[0], 0.3, 1e-9);
    /* Nor does one of the baseline: the bandit does not make up for people whom it does not decide for. */
    round.is_baseline = true;
    ok(limits_decided(self.limits, &round, 0, (double[]){1, 0, 0}, NULL));
    limits_undo(self.limits, &round, 0, (double[]){0, 1, 0});
    round.is_baseline = false;
    ok(apply(&self, &round));
    assert_near(self.low[0], 0.3, 1e-9);
    round.now += 64 * SECOND; /* all have left */
    ok(apply(&self, &round));
    assert_near(self.low[0], 0.2, 0);
    end(&self);
}

/* Three shares that miss their windows want more than there is. */
TEST(lows_leave_room_for_each_other)
{
    play self = start("{\"shares\":[{\"name\":\"r\",\"action\":{\"_id\":\"a\"},\"low\":0.3,\"window\":\"1d\"},"
                      "{\"name\":\"s\",\"action\":{\"_id\":\"b\"},\"low\":0.2,\"window\":\"1d\"}]}");
    static const uint64_t two[ACTIONS] = {1, 2, 0};
    limits_round round = {.now = SECOND, .count = ACTIONS, .matches = two};
    begin(&self);
    ok(limits_decided(self.limits, &round, 2, (double[]){0, 0, 1}, NULL));
    ok(apply(&self, &round));
    assert_near(self.low[0] + self.low[1], 1, 1e-12);
    assert_true(self.low[0] > 0.3 && self.low[1] > 0.2);
    end(&self);
}
