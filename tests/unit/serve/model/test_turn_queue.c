/* Which of the bandits that wait gets a training thread. A turn that took long is one whose beginning is moved back. */
#include "serve/model/turn_queue.h"

#include <math.h>

#include "support.h"

static turn_queue queue;

static int set_up(void **state)
{
    (void)state;
    turn_queue_init(&queue);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    turn_queue_destroy(&queue);
    return 0;
}

/* The one whose turn it is now; NULL: nobody's. */
static turn *take(void)
{
    return turn_queue_take(&queue, 0);
}

/* Ends a turn that took so many seconds; it goes on at once. */
static void spend(turn *of, double seconds)
{
    of->begun = turn_queue_thread_seconds() - seconds;
    turn_queue_end(&queue, of, 0);
}

static void ask(turn *of)
{
    turn_queue_ask(&queue, of, false);
}

TEST_WITH(the_longest_wait_goes_first, set_up, tear_down)
{
    turn turns[] = {{.since = 10}, {.since = 20}, {.since = 30}};
    for (size_t i = 0; i < 3; i++) ask(&turns[(i + 2) % 3]);
    for (size_t i = 0; i < 3; i++) assert_ptr_equal(take(), &turns[i]);
    assert_null(take());
}

/* However long it has waited, an expensive bandit leaves the others their share. */
TEST_WITH(an_expensive_one_gets_its_share, set_up, tear_down)
{
    turn expensive = {.since = 1}, cheap = {.since = 100};
    size_t turns[2] = {0};
    ask(&expensive);
    ask(&cheap);
    for (size_t i = 0; i < 1100; i++) {
        turn *now = take();
        turns[now == &cheap]++;
        spend(now, now == &cheap ? 0.05 : 0.5);
    }
    assert_in_range(turns[0], 90, 110); /* half of the time */
}

TEST_WITH(an_idle_one_has_a_small_credit, set_up, tear_down)
{
    turn busy = {.since = 1}, idle = {.since = 2};
    ask(&busy);
    for (size_t i = 0; i < 100; i++) spend(take(), 1);
    ask(&idle);
    size_t before = 0;
    for (turn *now; (now = take()) == &idle; before++) spend(now, 0.1);
    assert_in_range(before, 5, 16); /* the credit, and what the busy one used last */
}

TEST_WITH(long_turns_leave_a_thread, set_up, tear_down)
{
    turn huge = {.since = 1}, large = {.since = 2}, small = {.since = 3};
    turn_queue_set_threads(&queue, 3);
    ask(&huge);
    spend(take(), 5);
    ask(&large);
    spend(take(), 5);
    assert_non_null(take());
    assert_non_null(take()); /* two of three threads have long turns */
    turn third = {.since = 1, .longest = 5};
    ask(&third);
    assert_null(take());
    ask(&small);
    assert_ptr_equal(take(), &small);
    turn_queue_end(&queue, &huge, INFINITY);
    assert_ptr_equal(take(), &third);
    turn_queue_end(&queue, &small, INFINITY);
    turn_queue_end(&queue, &third, INFINITY);
    turn_queue_end(&queue, &large, INFINITY);
    turn_queue_set_threads(&queue, 1); /* one thread cannot be left */
    ask(&huge);
    assert_ptr_equal(take(), &huge);
}

/* Turns become short again: it is no longer long after some of these. */
TEST_WITH(long_turns_are_forgotten, set_up, tear_down)
{
    turn one = {.since = 1}, other = {.since = 2, .longest = 5};
    size_t turns = 0;
    turn_queue_set_threads(&queue, 2);
    ask(&one);
    spend(take(), 1);
    for (; one.longest > 0.1; turns++) spend(take(), 0.01);
    assert_in_range(turns, 10, 40);
    turn_queue_ask(&queue, &other, true);
    turn *first = take(), *second = take();
    assert_true((first == &one && second == &other) || (first == &other && second == &one));
}

TEST_WITH(asked_for_while_it_runs, set_up, tear_down)
{
    turn one = {.since = 1};
    double later = turn_queue_now() + 1000;
    ask(&one);
    assert_ptr_equal(take(), &one);
    ask(&one);
    assert_null(take()); /* one turn at a time */
    one.earliest = later;
    turn_queue_end(&queue, &one, INFINITY);
    assert_null(take()); /* it is asked for, but not due */
    ask(&one);
    assert_null(take());
    turn_queue_ask(&queue, &one, true);
    assert_ptr_equal(take(), &one);
    turn_queue_ask(&queue, &one, true);
    turn_queue_end(&queue, &one, later);
    assert_ptr_equal(take(), &one);
    turn_queue_end(&queue, &one, INFINITY);
    assert_null(take());
    turn_queue_ask(&queue, &one, true);
    turn_queue_stop(&queue);
    assert_null(take());
}
