#include "serve/guard/sticky.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static const int64_t HOUR = (int64_t)3600 * 1000000;

static void set(sticky *self, uint64_t key, uint64_t slot, const char *id, const char *action, int64_t time)
{
    sticky_decision drawn = {words(id), words(action), time, 0.25};
    ok(sticky_set(self, key, slot, &drawn, NULL));
}

TEST(a_person_keeps_an_action_for_a_time)
{
    sticky *self;
    sticky_decision found;
    ok(sticky_create(HOUR, 0, &self, NULL));
    assert_false(sticky_find(self, 5, 1, 0, &found));
    set(self, 1, 0, "d1", "red", 10);
    set(self, 1, 9, "d2", "", 10); /* another slot */
    assert_true(sticky_find(self, HOUR + 9, 1, 0, &found));
    assert_true(json_is(found.id, "d1") && json_is(found.action, "red"));
    assert_true(found.time == 10 && found.probability == 0.25);
    assert_true(sticky_find(self, HOUR + 9, 1, 9, &found));
    assert_true(json_is(found.id, "d2"));
    assert_int_equal(found.action.length, 0);
    assert_false(sticky_find(self, HOUR + 9, 2, 0, &found));
    assert_false(sticky_find(self, HOUR + 10, 1, 0, &found));
    assert_int_equal(sticky_count(self), 0);
    set(self, 1, 0, "d3", "blue", HOUR + 10);
    set(self, 1, 0, "d4", "green", HOUR + 11);
    assert_true(sticky_find(self, HOUR + 12, 1, 0, &found));
    assert_true(json_is(found.id, "d4"));
    sticky_forget(self, 1, 0);
    sticky_forget(self, 1, 0);
    assert_false(sticky_find(self, HOUR + 12, 1, 0, &found));
    sticky_free(self);
}

TEST(the_oldest_are_forgotten_if_there_are_too_many)
{
    sticky *self;
    sticky_decision found;
    char id[20];
    ok(sticky_create(HOUR, 200000, &self, NULL));
    for (uint64_t key = 0; key < 5000; key++) {
        snprintf(id, sizeof id, "d%llu", (unsigned long long)key);
        set(self, key, 0, id, "a", (int64_t)key);
    }
    size_t count = sticky_count(self);
    assert_in_range(count, 100, 4000);
    for (uint64_t key = 0; key < 5000; key++) {
        bool kept = sticky_find(self, 5000, key, 0, &found);
        assert_true(kept == (key >= 5000 - count));
        snprintf(id, sizeof id, "d%llu", (unsigned long long)key);
        if (kept) assert_true(json_is(found.id, id));
    }
    sticky_free(self);
}
