/* Importance: of a time, of a sample, by name; and what ends it. */
#define _XOPEN_SOURCE 700
#include "serve/model/importance.h"

#include "serve/served_play.h"

#define NAMED                                                                                                          \
    "{\"policy\":\"linucb\",\"features\":\"names=400,hashes=10\",\"options\":\"lambda=0.1\",\"propensity\":\"floor:0." \
    "5\"}"
#define LINEAR "{\"policy\":\"linucb\",\"dim\":5,\"propensity\":\"argmax\"}"

enum { HOUR = 3600 };

static int set_up(void **state)
{
    served_play *play = play_start();
    play_open(play);
    *state = play;
    return 0;
}

static int tear_down(void **state)
{
    play_close(*state, true);
    play_end(*state);
    return 0;
}

static importance measure(served_play *play, served_bandit *bandit, importance_request request)
{
    importance found;
    PLAY_OK(play, importance_measure(play->kept, bandit, &request, &found, &play->error));
    return found;
}

static const feature_importance *find(const importance *found, const char *name)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->features[i].name, name) == 0) return &found->features[i];
    return NULL;
}

TEST_WITH(features_come_by_their_name_the_largest_first, set_up, tear_down)
{
    served_play *play = *state;
    served_bandit *bandit = play_create(play, "named", NAMED);
    play_rounds(play, bandit, 1, 300, 3);
    play_catch_up(play, bandit);
    importance found = measure(play, bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX});
    assert_int_equal(found.decisions, 300);
    assert_true(found.first > 0 && found.first < found.last);
    for (size_t i = 1; i < found.count; i++)
        assert_true(found.features[i].importance <= found.features[i - 1].importance);
    const feature_importance *wants = find(&found, "user.wants"), *age = find(&found, "user.age");
    assert_string_equal(wants->space, "user");
    assert_string_equal(wants->feature, "wants");
    assert_null(find(&found, "user.wants=i1")); /* a name without its value */
    assert_null(find(&found, "constant"));
    assert_non_null(find(&found, "item.id"));
    assert_true(wants->importance > age->importance);
    importance_free(&found);
}

TEST_WITH(a_time_and_a_sample_are_kept_to, set_up, tear_down)
{
    served_play *play = *state;
    served_bandit *bandit = play_create(play, "named", NAMED);
    play_rounds(play, bandit, 1, 50, 0);
    play_pass(play, HOUR);
    int64_t from = atomic_load(&play->now);
    play_rounds(play, bandit, 51, 80, 0);
    int64_t until = atomic_load(&play->now);
    play_pass(play, HOUR);
    play_rounds(play, bandit, 81, 100, 0);
    play_catch_up(play, bandit);
    importance found = measure(play, bandit, (importance_request){.from = from, .until = until});
    assert_int_equal(found.decisions, 30);
    assert_true(found.first >= from && found.last < until);
    importance_free(&found);
    found = measure(play, bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX, .most = 10});
    assert_int_equal(found.decisions, 10);
    assert_true(found.first < from && found.last > until); /* spread over all of it */
    importance_free(&found);
    found = measure(play, bandit, (importance_request){.from = until + HOUR * 2000000LL, .until = INT64_MAX});
    assert_int_equal(found.decisions, 0);
    assert_int_equal(found.count, 0);
    assert_true(found.first == 0 && found.last == 0);
    importance_free(&found);
}

TEST_WITH(places_of_a_vector_have_numbers, set_up, tear_down)
{
    served_play *play = *state;
    served_bandit *bandit = play_create(play, "plain", LINEAR);
    play_rounds(play, bandit, 1, 100, 0);
    play_catch_up(play, bandit);
    importance found = measure(play, bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX});
    assert_int_equal(found.count, PLAY_DIM);
    assert_string_equal(found.features[0].name, "[0]"); /* which the best has */
    assert_string_equal(found.features[0].space, "");
    assert_string_equal(found.features[0].feature, "[0]");
    importance_free(&found);
}

TEST_WITH(it_ends_where_it_is_cancelled, set_up, tear_down)
{
    served_play *play = *state;
    served_bandit *bandit = play_create(play, "plain", LINEAR);
    atomic_bool cancel = true;
    importance found;
    ee_error error;
    play_rounds(play, bandit, 1, 10, 0);
    play_catch_up(play, bandit);
    importance_request request = {.from = INT64_MIN, .until = INT64_MAX, .cancel = &cancel};
    assert_int_equal(importance_measure(play->kept, bandit, &request, &found, &error), EE_FILE_ERROR);
    assert_string_equal(error.message, "importance: the server is stopping");
}
