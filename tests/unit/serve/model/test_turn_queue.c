/* Which of the bandits that wait gets a training thread. A turn that took long is one whose beginning is moved back. */
#include "serve/model/turn_queue.h"

#include <math.h>

#include "support.h"

static int set_up(void **state)
{
    turn_queue *queue = malloc(sizeof *queue);
    turn_queue_init(queue);
    *state = queue;
    return 0;
}

static int tear_down(void **state)
{
    turn_queue_destroy(*state);
    free(*state);
    return 0;
}

/* The one whose turn it is now; NULL: nobody's. */
static turn *take(turn_queue *queue)
{
    return turn_queue_take(queue, 0);
}

/* Ends a turn that took so many seconds; it goes on at once. */
static void spend(turn_queue *queue, turn *of, double seconds)
{
    of->begun = turn_queue_thread_seconds() - seconds;
    turn_queue_end(queue, of, 0);
}

TEST_WITH(the_longest_wait_goes_first, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn young = {.since = 30}, old = {.since = 10}, middle = {.since = 20};
    turn_queue_ask(queue, &young, false);
    turn_queue_ask(queue, &old, false);
    turn_queue_ask(queue, &middle, false);
    assert_ptr_equal(take(queue), &old);
    assert_ptr_equal(take(queue), &middle);
    assert_ptr_equal(take(queue), &young);
    assert_null(take(queue));
}

/* However long it has waited, an expensive bandit leaves the others their share. */
TEST_WITH(an_expensive_one_gets_its_share, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn expensive = {.since = 1}, cheap = {.since = 100};
    size_t turns[2] = {0};
    turn_queue_ask(queue, &expensive, false);
    turn_queue_ask(queue, &cheap, false);
    for (size_t i = 0; i < 1100; i++) {
        turn *now = take(queue);
        turns[now == &cheap]++;
        spend(queue, now, now == &cheap ? 0.05 : 0.5);
    }
    assert_in_range(turns[0], 90, 110); /* half of the time */
}

TEST_WITH(an_idle_one_has_a_small_credit, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn busy = {.since = 1}, idle = {.since = 2};
    turn_queue_ask(queue, &busy, false);
    for (size_t i = 0; i < 100; i++) spend(queue, take(queue), 1);
    turn_queue_ask(queue, &idle, false);
    size_t before = 0;
    for (turn *now; (now = take(queue)) == &idle; before++) spend(queue, now, 0.1);
    assert_in_range(before, 5, 16); /* the credit, and what the busy one used last */
}

TEST_WITH(long_turns_leave_a_thread, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn huge = {.since = 1}, large = {.since = 2}, small = {.since = 3};
    turn_queue_set_threads(queue, 3);
    turn_queue_ask(queue, &huge, false);
    spend(queue, take(queue), 5);
    turn_queue_ask(queue, &large, false);
    spend(queue, take(queue), 5);
    assert_non_null(take(queue));
    assert_non_null(take(queue)); /* two of three threads have long turns */
    turn third = {.since = 1, .longest = 5};
    turn_queue_ask(queue, &third, false);
    assert_null(take(queue));
    turn_queue_ask(queue, &small, false);
    assert_ptr_equal(take(queue), &small);
    turn_queue_end(queue, &huge, INFINITY);
    assert_ptr_equal(take(queue), &third);
    turn_queue_end(queue, &small, INFINITY);
    turn_queue_end(queue, &third, INFINITY);
    turn_queue_end(queue, &large, INFINITY);
    turn_queue_set_threads(queue, 1); /* one thread cannot be left */
    turn_queue_ask(queue, &huge, false);
    assert_ptr_equal(take(queue), &huge);
}

/* Turns become short again: it is no longer long after some of these. */
TEST_WITH(long_turns_are_forgotten, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn one = {.since = 1}, other = {.since = 2, .longest = 5};
    size_t turns = 0;
    turn_queue_set_threads(queue, 2);
    turn_queue_ask(queue, &one, false);
    spend(queue, take(queue), 1);
    for (; one.longest > 0.1; turns++) spend(queue, take(queue), 0.01);
    assert_in_range(turns, 10, 40);
    turn_queue_ask(queue, &other, true);
    turn *first = take(queue), *second = take(queue);
    assert_true((first == &one && second == &other) || (first == &other && second == &one));
}

TEST_WITH(asked_for_while_it_runs, set_up, tear_down)
{
    turn_queue *queue = *state;
    turn one = {.since = 1};
    double later = turn_queue_now() + 1000;
    turn_queue_ask(queue, &one, false);
    assert_ptr_equal(take(queue), &one);
    turn_queue_ask(queue, &one, false);
    assert_null(take(queue)); /* one turn at a time */
    one.earliest = later;
    turn_queue_end(queue, &one, INFINITY);
    assert_null(take(queue)); /* it is asked for, but not due */
    turn_queue_ask(queue, &one, false);
    assert_null(take(queue));
    turn_queue_ask(queue, &one, true);
    assert_ptr_equal(take(queue), &one);
    turn_queue_ask(queue, &one, true);
    turn_queue_end(queue, &one, later);
    assert_ptr_equal(take(queue), &one);
    turn_queue_end(queue, &one, INFINITY);
    assert_null(take(queue));
    turn_queue_ask(queue, &one, true);
    turn_queue_stop(queue);
    assert_null(take(queue));
}
