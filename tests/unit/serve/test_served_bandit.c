/* Bandits while they are served: they learn, sleep, wake, and are what they were after a restart. */
#define _POSIX_C_SOURCE 200809L
#include "served_play.h"

static int set_up(void **state)
{
    *state = play_start();
    play_open(*state);
    return 0;
}

static int tear_down(void **state)
{
    play_close(*state, false);
    play_end(*state);
    return 0;
}

static void learns_vectors(void **state)
{
    served_play *play = *state;
    served_bandit *bandit = play_create(play, "shop", "{\"policy\":\"linucb\",\"dim\":5}");
    play_rounds(play, bandit, 1, 200, 3);
    assert_true(play_rounds(play, bandit, 201, 300, 3) > 80);
    served_standing standing = play_catch_up(bandit);
    assert_true(standing.awake);
    assert_int_equal(standing.counts.decisions, 300);
    assert_int_equal(standing.counts.learned, 270);
    assert_int_equal(standing.counts.passed_over, 0);
    assert_true(standing.version > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(learns_vectors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
