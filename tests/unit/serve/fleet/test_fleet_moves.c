/* To which servers of a fleet a server gives its bandits. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "serve/fleet/fleet_parts.h"
#include "serve/system/server_clock.h"
#include "support.h"

enum { ME = 1, OTHER = 2, THIRD = 3, BANDIT = 7 };

static struct small_fleet {
    fleet fleet;
    fleet_peer peers[3];
    holding held;
} small;

/* Three servers that are alive; this one holds a bandit. */
static void fleet_make(holding_state state, const char *mine, const char *others, const char *thirds)
{
    const char *versions[] = {mine, others, thirds};
    small = (struct small_fleet){.fleet = {.number = ME, .peer_count = 3, .holding_count = 1},
                                 .held = {.bandit = BANDIT, .state = state, .failures = 100}};
    small.fleet.peers = small.peers;
    small.fleet.holdings = &small.held;
    for (size_t i = 0; i < 3; i++) {
        small.peers[i].about.number = i + 1;
        snprintf(small.peers[i].about.version, sizeof small.peers[i].about.version, "%s", versions[i]);
    }
    pthread_cond_init(&small.fleet.work, NULL);
}

static void init_monotonic(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void ask_for(fleet_peer *peer, uint32_t bandit)
{
    peer->wishes.bandits[peer->wishes.count++] = bandit;
}

static uint64_t events_and_lag(void *context, uint32_t bandit, double *lag)
{
    const double *lags = context;
    *lag = lags[bandit];
    return 0;
}

static bool owns(void *context, uint32_t bandit)
{
    return context && bandit;
}

static bool is_owned(void *context, uint32_t bandit)
{
    const bool *is_known = context;
    return is_known[bandit];
}

TEST(a_server_reports_its_largest_lag)
{
    double lags[] = {9, 1, 3, 2};
    holding held[] = {{.state = HOLDING_HELD}, /* the leader's lease */
                      {.bandit = 1, .state = HOLDING_HELD},
                      {.bandit = 2, .state = HOLDING_HELD},
                      {.bandit = 3, .state = HOLDING_HELD}};
    fleet_make(HOLDING_HELD, "", "", "");
    small.fleet.holdings = held;
    small.fleet.holding_count = 4;
    small.fleet.options = (fleet_options){.events = events_and_lag, .owns = owns, .context = lags};
    small.fleet.measured = -10 * SECOND;
    fleet_measure_load(&small.fleet);
    assert_true(small.fleet.lag == 3);
    lags[2] = 0;
    fleet_measure_load(&small.fleet); /* too soon */
    assert_true(small.fleet.lag == 3);
    small.fleet.measured -= 2 * SECOND;
    fleet_measure_load(&small.fleet);
    assert_true(small.fleet.lag == 2);
}

TEST(bandits_that_fail_go_to_servers_that_are_not_older)
{
    fleet_make(HOLDING_FAILED, "1.10.0", "1.9.0", "1.10.0");
    fleet_give_failed(&small.fleet);
    assert_int_equal(small.held.state, HOLDING_LEFT);
    assert_int_equal(small.held.to, THIRD);
    fleet_make(HOLDING_FAILED, "1.10.0", "1.11.0", "1.9.0");
    fleet_give_failed(&small.fleet);
    assert_int_equal(small.held.to, OTHER);
    fleet_make(HOLDING_FAILED, "1.10.0", "1.9.0", "1.9.0");
    fleet_give_failed(&small.fleet);
    assert_int_equal(small.held.state, HOLDING_FAILED);
}

/* Perhaps another server removed it while this one was stopped: it must not go on with its model. */
TEST(a_bandit_that_was_removed_is_given_up)
{
    fleet_make(HOLDING_HELD, "", "", "");
    fleet_compare(&small.fleet);
    assert_int_equal(small.fleet.holding_count, 1);
    assert_int_equal(small.held.state, HOLDING_LOSE);
    assert_true(small.held.asked);
    fleet_make(HOLDING_FAILED, "", "", "");
    fleet_compare(&small.fleet);
    assert_int_equal(small.fleet.holding_count, 0);
}

/* It has created them, and other servers took or removed them before its next view. */
TEST(bandits_that_no_view_has_shown_are_given_up)
{
    fleet_bandit bandits[] = {{.owner = OTHER}, {.bandit = 1, .owner = OTHER}, {.bandit = 4, .owner = ME}};
    bool is_known[] = {false, true, false, true, true, true}; /* the fifth was created after the view */
    fleet_make(HOLDING_HELD, "", "", "");
    small.fleet.options = (fleet_options){.owns = is_owned, .context = is_known};
    small.fleet.holdings = NULL;
    small.fleet.bandits = bandits;
    small.fleet.bandit_count = 3;
    small.fleet.holding_count = 0;
    fleet_compare(&small.fleet);
    assert_int_equal(small.fleet.holding_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const holding *held = &small.fleet.holdings[i];
        assert_int_equal(held->bandit, i == 0 ? 1 : i + 2);
        assert_true(held->asked);
        assert_int_equal(held->state, held->bandit == 4 ? HOLDING_TAKE : HOLDING_LOSE);
    }
    assert_int_equal(small.fleet.status.lost, 2);
    memory_release(&small.fleet.memory);
}

/* The others take the bandits only after some silence: until then they can be handed over. */
TEST(a_short_failure_does_not_end_a_drain)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        int64_t start = server_clock_real(), until = is_long ? INT64_MAX : start + SECOND / 5;
        fleet_make(HOLDING_HELD, "", "", "");
        pthread_mutex_init(&small.fleet.lock, NULL);
        pthread_cond_init(&small.fleet.hurry, NULL);
        init_monotonic(&small.fleet.changed);
        small.fleet.failing = true;
        small.fleet.beaten = start - (is_long ? 10 * SECOND : 0);
        for (size_t i = 0; i < 3; i++) small.peers[i].about.changed = small.fleet.beaten;
        fleet_drain(&small.fleet, until, NULL); /* which ends the long one */
        assert_true(is_long || server_clock_real() >= until);
    }
}

TEST(bandits_that_are_asked_for_go_to_servers_that_are_not_older)
{
    fleet_make(HOLDING_HELD, "1.10.0", "1.9.0", "1.10.0");
    ask_for(&small.peers[1], BANDIT);
    fleet_give_wanted(&small.fleet);
    assert_int_equal(small.held.state, HOLDING_HELD);
    ask_for(&small.peers[2], BANDIT + 1);
    fleet_give_wanted(&small.fleet);
    assert_int_equal(small.held.state, HOLDING_HELD);
    ask_for(&small.peers[2], BANDIT);
    fleet_give_wanted(&small.fleet);
    assert_int_equal(small.held.state, HOLDING_LEAVE);
    assert_int_equal(small.held.to, THIRD);
}

/* Both need it: otherwise two servers that need bandits of each other would wait forever. */
TEST(of_two_servers_that_need_a_bandit_the_first_gets_it)
{
    uint32_t needed[] = {BANDIT + 1, BANDIT};
    for (uint64_t number = ME; number <= OTHER; number++) {
        fleet_make(HOLDING_HELD, "1.9.0", "1.9.0", "1.9.0");
        small.fleet.number = number;
        ask_for(&small.peers[number == ME ? 1 : 0], BANDIT);
        small.fleet.needed = needed;
        small.fleet.needed_count = 2;
        fleet_give_wanted(&small.fleet);
        assert_int_equal(small.held.state, number == ME ? HOLDING_HELD : HOLDING_LEAVE);
        if (number == OTHER) assert_int_equal(small.held.to, ME);
    }
}

/* The list is always that of the events to deliver next: of more bandits than it has room for, the rest follows. */
TEST(a_server_asks_for_the_bandits_that_it_needs_now)
{
    enum { MANY = MOST_WANTED + 4, FIRST = 100 };
    uint32_t needed[MANY];
    bool is_known[BANDIT + 1] = {0};
    fleet_make(HOLDING_HELD, "", "", "");
    pthread_mutex_init(&small.fleet.lock, NULL);
    pthread_cond_init(&small.fleet.hurry, NULL);
    small.fleet.options = (fleet_options){.owns = is_owned, .context = is_known};
    is_known[BANDIT] = true;
    for (uint32_t i = 0; i < MANY; i++) needed[i] = FIRST + i;
    fleet_need(&small.fleet, needed, MANY);
    assert_int_equal(small.fleet.needed_count, MANY);
    assert_int_equal(small.fleet.wishes.count, MOST_WANTED);
    needed[0] = BANDIT; /* it has that one */
    needed[1] = FIRST + MANY;
    fleet_need(&small.fleet, needed, 2);
    assert_int_equal(small.fleet.needed_count, 2);
    assert_int_equal(small.fleet.wishes.count, 1);
    assert_int_equal(small.fleet.wishes.bandits[0], FIRST + MANY);
    assert_int_equal(small.held.state, HOLDING_HELD);
    is_known[BANDIT] = false; /* the store lost it: it is to be taken again */
    fleet_need(&small.fleet, needed, 2);
    assert_int_equal(small.held.state, HOLDING_LOSE);
    assert_int_equal(small.fleet.wishes.count, 2);
    memory_release(&small.fleet.memory);
}
