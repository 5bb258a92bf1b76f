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
    play_start();
    play_open();
    (void)state;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    play_close(true);
    play_end();
    return 0;
}

static importance measure(served_bandit *bandit, importance_request request)
{
    importance found;
    PLAY_OK(importance_measure(play.kept, bandit, &request, &found, &play.error));
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
    served_bandit *bandit = play_create("named", NAMED);
    play_learn(bandit, 1, 300, 3);
    importance found = measure(bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX});
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
    served_bandit *bandit = play_create("named", NAMED);
    play_rounds(bandit, 1, 50, 0);
    play_pass(HOUR);
    int64_t from = atomic_load(&play.now);
    play_rounds(bandit, 51, 80, 0);
    int64_t until = atomic_load(&play.now);
    play_pass(HOUR);
    play_learn(bandit, 81, 100, 0);
    importance found = measure(bandit, (importance_request){.from = from, .until = until});
    assert_int_equal(found.decisions, 30);
    assert_true(found.first >= from && found.last < until);
    importance_free(&found);
    found = measure(bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX, .most = 10});
    assert_int_equal(found.decisions, 10);
    assert_true(found.first < from && found.last > until); /* spread over all of it */
    importance_free(&found);
    found = measure(bandit, (importance_request){.from = until + HOUR * 2000000LL, .until = INT64_MAX});
    assert_int_equal(found.decisions, 0);
    assert_int_equal(found.count, 0);
    assert_true(found.first == 0 && found.last == 0);
    importance_free(&found);
}

TEST_WITH(places_of_a_vector_have_numbers, set_up, tear_down)
{
    served_bandit *bandit = play_create("plain", LINEAR);
    play_learn(bandit, 1, 100, 0);
    importance found = measure(bandit, (importance_request){.from = INT64_MIN, .until = INT64_MAX});
    assert_int_equal(found.count, PLAY_DIM);
    assert_string_equal(found.features[0].name, "[0]"); /* which the best has */
    assert_string_equal(found.features[0].space, "");
    assert_string_equal(found.features[0].feature, "[0]");
    importance_free(&found);
}

TEST_WITH(it_ends_where_it_is_cancelled, set_up, tear_down)
{
    served_bandit *bandit = play_create("plain", LINEAR);
    atomic_bool cancel = true;
    importance found;
    play_learn(bandit, 1, 10, 0);
    importance_request request = {.from = INT64_MIN, .until = INT64_MAX, .cancel = &cancel};
    assert_int_equal(importance_measure(play.kept, bandit, &request, &found, &last_error), EE_FILE_ERROR);
    assert_string_equal(last_error.message, "importance: the server is stopping");
}
