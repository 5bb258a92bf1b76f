/* Slots: usual rows side by side, long ones in blocks of their own, which go when the row goes. */
#include "support.h"

#include "base/slots.h"

enum { SLOTS = 6, STRIDE = 10, LONG = 1000 };

static void make(slots *self, memory *owner)
{
    ok(slots_create(self, owner, SLOTS, STRIDE, false, NULL));
}

static void put(slots *self, size_t slot, size_t words, uint32_t value)
{
    ok(slots_reserve(self, 1, words, NULL));
    uint32_t *row = slots_take(self, slot, words);
    assert_ptr_equal(row, slots_at(self, slot));
    for (size_t i = 0; i < words; i++) row[i] = value;
}

static void assert_row(const slots *self, size_t slot, size_t words, uint32_t value)
{
    for (size_t i = 0; i < words; i++) assert_int_equal(slots_at(self, slot)[i], value);
}

TEST(usual_rows_take_nothing_more)
{
    RELEASED_BY(memory_release) memory owner = {0};
    slots s;
    make(&s, &owner);
    size_t before = memory_bytes(&owner);
    for (uint32_t slot = 0; slot < SLOTS; slot++) put(&s, slot, slot == 0 ? 0 : STRIDE, slot + 1);
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        assert_row(&s, slot, STRIDE, slot + 1);
        assert_ptr_equal(slots_at(&s, slot), slots_at(&s, 0) + slot * STRIDE);
    }
    assert_int_equal(memory_bytes(&owner), before);
    /* Several may be reserved. */
    RELEASED_BY(memory_release) memory other = {0};
    slots several;
    make(&several, &other);
    ok(slots_reserve(&several, 3, LONG, NULL));
    size_t reserved = memory_bytes(&other);
    for (uint32_t slot = 0; slot < 3; slot++) memset(slots_take(&several, slot, LONG - slot), (int)slot + 1, LONG);
    for (uint32_t slot = 0; slot < 3; slot++) assert_row(&several, slot, LONG / 4, 0x01010101 * (slot + 1));
    assert_int_equal(memory_bytes(&other), reserved);
}

TEST(a_long_row_takes_its_own_length_while_it_is_there)
{
    RELEASED_BY(memory_release) memory owner = {0};
    slots s;
    make(&s, &owner);
    put(&s, 3, STRIDE + 1, 1); /* the table of long rows is there from now on */
    put(&s, 3, STRIDE, 2);
    put(&s, 4, STRIDE, 3);
    size_t before = memory_bytes(&owner);
    put(&s, 2, LONG, 4);
    size_t with = memory_bytes(&owner);
    assert_true(with >= before + LONG * 4 && with <= before + LONG * 4 + 256);
    assert_row(&s, 2, LONG, 4);
    assert_row(&s, 3, STRIDE, 2);
    put(&s, 2, STRIDE, 5);
    assert_row(&s, 2, STRIDE, 5);
    put(&s, 1, 1, 6); /* with the next reserve what is left is given back */
    assert_int_equal(memory_bytes(&owner), before);
    put(&s, 1, LONG, 7);
    slots_free(&s, 1);
    slots_free(&s, 2); /* has none */
    put(&s, 1, 1, 8);
    assert_int_equal(memory_bytes(&owner), before);
}

/* As dense rows are: after the first of them nothing is allocated. */
TEST(long_rows_of_one_length_use_the_same_blocks)
{
    RELEASED_BY(memory_release) memory owner = {0};
    slots s;
    make(&s, &owner);
    for (uint32_t slot = 0; slot < SLOTS; slot++) put(&s, slot, LONG, slot);
    put(&s, 0, LONG, 0);
    size_t before = memory_bytes(&owner);
    for (uint32_t turn = 1; turn < 5 * SLOTS; turn++) {
        put(&s, turn % SLOTS, LONG, turn);
        assert_int_equal(memory_bytes(&owner), before);
        assert_row(&s, turn % SLOTS, LONG, turn);
        if (turn >= SLOTS) assert_row(&s, (turn + 1) % SLOTS, LONG, turn + 1 - SLOTS);
    }
}

TEST(more_slots_keep_what_the_others_hold)
{
    RELEASED_BY(memory_release) memory owner = {0};
    slots s;
    make(&s, &owner);
    for (uint32_t slot = 0; slot < SLOTS; slot++) put(&s, slot, slot % 2 ? LONG : STRIDE, slot);
    ok(slots_grow(&s, 4 * SLOTS, NULL));
    for (uint32_t slot = SLOTS; slot < 4 * SLOTS; slot++) put(&s, slot, slot % 2 ? LONG : STRIDE, slot);
    for (uint32_t slot = 0; slot < 4 * SLOTS; slot++) assert_row(&s, slot, slot % 2 ? LONG : STRIDE, slot);
    /* What no memory holds is refused. */
    RELEASED_BY(memory_release) memory other = {0};
    slots refused;
    assert_int_equal(slots_create(&refused, &other, SIZE_MAX / 4, 8, false, NULL), EE_NO_MEMORY);
    make(&refused, &other);
    assert_int_equal(slots_reserve(&refused, 1, SIZE_MAX / 4, NULL), EE_NO_MEMORY);
    assert_int_equal(slots_grow(&refused, SIZE_MAX / 8, NULL), EE_NO_MEMORY);
    put(&refused, SLOTS - 1, LONG, 9);
    assert_row(&refused, SLOTS - 1, LONG, 9);
}

TEST(rows_that_start_short_grow_to_what_is_usual)
{
    RELEASED_BY(memory_release) memory owner = {0}, reserved = {0};
    slots s, moved, all;
    ok(slots_create(&all, &reserved, SLOTS, LONG, false, NULL));
    ok(slots_create(&s, &owner, SLOTS, LONG, true, NULL));
    ok(slots_create(&moved, &owner, 1, LONG, true, NULL));
    assert_true(10 * memory_bytes(&owner) < memory_bytes(&reserved));
    put(&s, 1, 5, 1);
    put(&s, 2, 100, 2); /* all rows are longer now, and the others hold what they held */
    assert_row(&s, 1, 5, 1);
    put(&s, 3, LONG, 3);
    put(&s, 4, LONG + 1, 4); /* which has a block of its own */
    size_t before = memory_bytes(&owner);
    for (uint32_t i = 0; i < 3; i++) put(&s, 5, LONG - i, 5);
    assert_int_equal(memory_bytes(&owner), before);
    assert_row(&s, 1, 5, 1);
    assert_row(&s, 2, 100, 2);
    assert_row(&s, 4, LONG + 1, 4);
    ok(slots_follow(&moved, &s, NULL));
    slots_move(&s, 3, &moved, 0, LONG);
    assert_row(&moved, 0, LONG, 3);
}
