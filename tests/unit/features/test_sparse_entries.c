/* Entries of an arm: sorted, those of one place summed, zeros left out; few and many, in few and many places. */
#include "features/sparse_entries.h"

#include "support.h"

enum { MOST = 300 };

TEST(entries_are_gathered_by_place)
{
    static const size_t dims[] = {1, 2, 255, 256, 257, 65536, 65537, 16777217, UINT32_MAX};
    uint64_t entries[MOST], room[MOST];
    uint32_t places[MOST], indices[MOST];
    float numbers[MOST], values[MOST];
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        for (size_t count = 0; count <= MOST; count += count < 60 ? 1 : 60) {
            random_stream stream = random_named(count, "entries");
            for (size_t i = 0; i < count; i++) {
                /* Some twice, and some that cancel. */
                bool again = i && random_below(&stream, 4) == 0;
                places[i] = again ? places[i - 1] : (uint32_t)random_below(&stream, dims[d]);
                numbers[i] = again ? -numbers[i - 1] : (float)random_below(&stream, 7) - 3;
                entries[i] = entry_make(places[i], (double)numbers[i]);
            }
            size_t written = entries_gather(entries, room, count, dims[d], indices, values);
            double expected = 0, got = 0;
            for (size_t i = 0; i < written; i++) {
                double sum = 0;
                for (size_t k = 0; k < count; k++) sum += places[k] == indices[i] ? (double)numbers[k] : 0;
                assert_true(i == 0 || indices[i] > indices[i - 1]);
                assert_true(values[i] != 0 && (double)values[i] == sum);
                got += (double)values[i] * (double)(1 + indices[i] % 97);
            }
            for (size_t k = 0; k < count; k++) expected += (double)numbers[k] * (double)(1 + places[k] % 97);
            assert_true(got == expected); /* nothing is missing: all are whole numbers */
        }
    }
    /* Large values are cut. */
    uint64_t large[] = {entry_make(3, 1e18), entry_make(3, 1e9), entry_make(1, -1e30), entry_make(2, 1e-60)},
             own_room[4];
    uint32_t own[4];
    float cut[4];
    assert_int_equal(entries_gather(large, own_room, 4, 4, own, cut), 2);
    assert_true(own[0] == 1 && cut[0] == -1e9f && own[1] == 3 && cut[1] == 1e9f);
}
