/* The table of ids: every id that has a place is found, also after many others took places and gave them up. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "policy/parts/id_tallies.h"

enum { IDS = 60, STEPS = 4000 };

static float *table_make(size_t places)
{
    float *table = NULL;
    size_t count = id_tallies_count(places);
    assert_int_equal(count % 2, 0);
    assert_int_equal(posix_memalign((void **)&table, 64, count * sizeof *table), 0);
    memset(table, 0, count * sizeof *table);
    return table;
}

/* Numbers in a row, or spread: both must be told apart. */
static uint64_t id_of(size_t number, bool spread)
{
    return spread ? number * UINT64_C(0xd6e8feb86659fd93) : number;
}

static void check_all(const float *table, size_t places, const double *plays, size_t seen, bool spread)
{
    size_t found = 0;
    for (size_t i = 0; i < IDS; i++) {
        const tally *own = id_tallies_find(table, places, id_of(i, spread));
        found += own != NULL;
        if (own) assert_true(own->count == plays[i]);
    }
    assert_int_equal(found, seen < places ? seen : places);
}

TEST(every_id_with_a_place_is_found)
{
    static const size_t sizes[] = {1, 2, 7, 16, 33, IDS};
    for (size_t s = 0; s < 2 * sizeof sizes / sizeof *sizes; s++) {
        size_t places = sizes[s / 2], seen = 0;
        bool spread = s % 2, came[IDS] = {false};
        double plays[IDS] = {0}; /* since the id has its place */
        auto_free float *table = table_make(places), *copy = table_make(places);
        random_stream stream = random_named(s, "ids");
        for (size_t t = 0; t < STEPS; t++) {
            size_t number = (size_t)random_below(&stream, 1 + random_below(&stream, IDS)); /* some often */
            if (!id_tallies_find(table, places, id_of(number, spread))) plays[number] = 0;
            tally *own = id_tallies_play(table, places, id_of(number, spread));
            assert_true(own->count == plays[number]);
            own->count = ++plays[number];
            seen += !came[number];
            came[number] = true;
            check_all(table, places, plays, seen, spread);
            if (t % 5) continue;
            id_tallies_copy(table, places, copy);
            check_all(copy, places, plays, seen, spread);
        }
        id_tallies_copy(table, places, copy);
        size_t again = id_tallies_copy(table, places, copy); /* nothing is new: the slots need not be copied */
        assert_true(again < id_tallies_count(places));
    }
    /* What was played since the hand came by keeps its place. */
    auto_free float *table = table_make(4);
    id_tallies_play(table, 4, 1000)->count = 1;
    for (uint64_t id = 0; id < 200; id++) {
        id_tallies_play(table, 4, id);
        tally *own = id_tallies_play(table, 4, 1000);
        assert_true(own->count == (double)(id + 1));
        own->count++;
    }
    assert_null(id_tallies_find(table, 4, 190));
}
