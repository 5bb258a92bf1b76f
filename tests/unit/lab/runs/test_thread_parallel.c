#include "lab/runs/parallel.h"

#include <stdatomic.h>

#include "support.h"

enum { PIECES = 200 };

static atomic_int times[PIECES]; /* that each was done */
static size_t bad_piece = PIECES;

static ee_status count_piece(void *context, size_t place, ee_error *error)
{
    assert_ptr_equal(context, times);
    if (place == bad_piece) return status_fail(error, EE_BAD_INPUT, "piece %zu is bad", place);
    atomic_fetch_add(&times[place], 1);
    return EE_OK;
}

static bool until_tenth(void *context, size_t done, size_t count)
{
    (void)context;
    assert_int_equal(count, PIECES);
    return done < 10;
}

static size_t count_done(void)
{
    size_t done = 0;
    for (size_t i = 0; i < PIECES; i++) {
        int of = atomic_exchange(&times[i], 0);
        assert_in_range(of, 0, 1);
        done += (size_t)of;
    }
    return done;
}

TEST(each_piece_is_done_once)
{
    const size_t threads[] = {0, 1, 4, 1000};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        bool finished = false;
        ok(parallel_each(PIECES, threads[i], count_piece, times, NULL, &finished, NULL));
        assert_true(finished);
        assert_int_equal(count_done(), PIECES);
    }
    bool finished = false;
    ok(parallel_each(0, 4, count_piece, times, NULL, &finished, NULL));
    assert_true(finished);
}

TEST(a_failure_is_told_and_ends_it)
{
    bad_piece = 5;
    for (size_t threads = 1; threads <= 3; threads++) {
        bool finished = true;
        ee_error error = {EE_OK, ""};
        assert_int_equal(parallel_each(PIECES, threads, count_piece, times, NULL, &finished, &error), EE_BAD_INPUT);
        assert_false(finished);
        assert_string_equal(error.message, "piece 5 is bad");
        assert_true(count_done() < PIECES);
    }
    bad_piece = PIECES;
}

TEST(the_watch_ends_it)
{
    parallel_watch watch = {until_tenth, NULL};
    bool finished = true;
    ok(parallel_each(PIECES, 1, count_piece, times, &watch, &finished, NULL));
    assert_false(finished);
    assert_int_equal(count_done(), 10);
}
