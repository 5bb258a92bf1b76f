/* The Yelp rounds, on small files made here, and on the real ones where EENET_DATA names their folder's folder. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "data/files/npy.h"
#include "data/kind/survey.h"
#include "data/sets/environment.h"
#include "data/support_sets.h"
#include "support_files.h"

static const char entry_file[] = "yelp_2000users_10000items_entry.npy";
static const char user_file[] = "yelp_2000users_10000items_features.npy";
static const char item_file[] = "yelp_10000items_2000users_features.npy";

enum { USERS = 4, ITEMS = 5, ENTRIES = 15, GOOD = 12, COLUMNS = 3 };

/* What the files hold. A feature tells whose it is: 1 + user, -1 - item; the second column is half of it. */
typedef struct content {
    double users[USERS][2];
    double items[ITEMS][2];
    int64_t entries[ENTRIES][COLUMNS];
} content;

static content usual_content(void)
{
    content made;
    for (int i = 0; i < USERS; i++) made.users[i][0] = 1 + i, made.users[i][1] = 0.5 * (1 + i);
    for (int i = 0; i < ITEMS; i++) made.items[i][0] = -1 - i, made.items[i][1] = -0.5 * (1 + i);
    for (int i = 0; i < ENTRIES; i++) { /* every pair of a user and an item is another one */
        made.entries[i][0] = i % USERS;
        made.entries[i][1] = i % ITEMS;
        made.entries[i][2] = i % 5 == 2 ? -1 : 1;
    }
    return made;
}

static void write_array(const char *name, const char *descr, size_t rows, size_t columns, const void *data, size_t size)
{
    uint8_t bytes[1024];
    int header = snprintf((char *)bytes + 10, sizeof bytes - 10,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, %zu), }\n", descr, rows, columns);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (uint8_t)header;
    bytes[9] = 0;
    memcpy(bytes + 10 + header, data, size);
    folder_write(&here, name, bytes, 10 + (size_t)header + size);
}

static void write_files(const content *made)
{
    write_array(user_file, "<f8", USERS, 2, made->users, sizeof made->users);
    write_array(item_file, "<f8", ITEMS, 2, made->items, sizeof made->items);
    write_array(entry_file, "<i8", ENTRIES, COLUMNS, made->entries, sizeof made->entries);
}

/* The entry whose arm this is. */
static size_t find_entry(const content *made, const float *arm)
{
    assert_true(arm[1] == 0.5f * arm[0] && arm[3] == 0.5f * arm[2]);
    int64_t user = (int64_t)arm[0] - 1, item = -(int64_t)arm[2] - 1;
    for (size_t i = 0; i < ENTRIES; i++)
        if (made->entries[i][0] == user && made->entries[i][1] == item) return i;
    fail_msg("an arm of user %d and item %d, who have no entry", (int)user, (int)item);
    return 0;
}

TEST_IN_FOLDER(rounds_are_nine_good_and_one_bad)
{
    enum { ROUNDS = 2000 };
    content made = usual_content();
    write_files(&made);
    auto_dataset *data = open_data(formatted("yelp:%s", here.path));
    assert_int_equal(dataset_dim(data), 4);
    assert_int_equal(dataset_blocks(data), 1);
    const survey *told = dataset_survey(data);
    assert_int_equal(told->class_count, 2);
    assert_int_equal(told->classes[0].count, GOOD);
    assert_string_equal(told->classes[1].name, "rated badly, the reward");
    assert_int_equal(told->classes[1].count, ENTRIES - GOOD);
    auto_environment *world = start_rounds(data, 1);
    size_t positions[10] = {0}, drawn[ENTRIES] = {0};
    for (int t = 0; t < ROUNDS; t++) {
        environment_round round = next_round(world);
        assert_int_equal(round.arms.count, 10);
        bool seen[ENTRIES] = {false};
        for (size_t arm = 0; arm < 10; arm++) {
            size_t entry = find_entry(&made, round.arms.values + 4 * arm);
            assert_false(seen[entry]);
            seen[entry] = true;
            drawn[entry]++;
            assert_true(round.rewards[arm] == (made.entries[entry][2] < 0 ? 1.0 : 0.0));
            assert_true(round.expected[arm] == round.rewards[arm]);
            if (round.rewards[arm] == 1.0) positions[arm]++;
        }
    }
    size_t all = 0;
    for (int i = 0; i < 10; i++) {
        all += positions[i];
        assert_true(positions[i] > 140 && positions[i] < 260); /* 200, and four and a half deviations */
    }
    assert_int_equal(all, ROUNDS); /* one bad arm a round */
    for (int i = 0; i < ENTRIES; i++) {
        double expected = made.entries[i][2] < 0 ? ROUNDS / 3.0 : ROUNDS * 9.0 / GOOD;
        assert_true(fabs((double)drawn[i] - expected) < 100.0);
    }
}

static void expect_refusal(ee_status status, const char *part)
{
    dataset *data;
    fails_saying(dataset_open(formatted("yelp:%s", here.path), NULL, &data, &last_error), status, part);
    assert_null(data);
}

TEST_IN_FOLDER(wrong_numbers_are_named)
{
    static const char *const messages[] = {
        "entry.npy, row 7: the user must be 0 to 3, got 4",
        "entry.npy, row 0: the item must be 0 to 4, got -1",
        "entry.npy, row 14: the rating must be 1 or -1, got 0",
        "2000users_10000items_features.npy, row 2, column 1: expected a finite number",
        "10000items_2000users_features.npy, row 4, column 0: expected a finite number",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        content made = usual_content();
        if (i == 0) made.entries[7][0] = USERS;
        if (i == 1) made.entries[0][1] = -1;
        if (i == 2) made.entries[14][2] = 0;
        if (i == 3) made.users[2][1] = NAN;
        if (i == 4) made.items[4][0] = 1e300; /* finite, but no float */
        write_files(&made);
        expect_refusal(EE_BAD_INPUT, messages[i]);
    }
}

TEST_IN_FOLDER(too_few_entries)
{
    content made = usual_content();
    for (int i = 0; i < ENTRIES; i++) made.entries[i][2] = 1;
    write_files(&made);
    expect_refusal(EE_BAD_INPUT, "expected at least 9 entries rated 1 and one rated -1, got 15 and 0");
    for (int i = 8; i < ENTRIES; i++) made.entries[i][2] = -1;
    write_files(&made);
    expect_refusal(EE_BAD_INPUT, "expected at least 9 entries rated 1 and one rated -1, got 8 and 7");
}

TEST_IN_FOLDER(wrong_files_are_named)
{
    content made = usual_content();
    write_files(&made);
    write_array(entry_file, "<i8", ENTRIES * COLUMNS / 5, 5, made.entries, sizeof made.entries);
    expect_refusal(EE_BAD_INPUT, "entry.npy: expected 3 columns, got 5");

    write_files(&made);
    write_array(entry_file, "<f8", ENTRIES, COLUMNS, made.entries, sizeof made.entries);
    expect_refusal(EE_BAD_INPUT, "entry.npy: expected whole numbers");

    write_files(&made);
    write_array(user_file, "<f8", USERS, 2, made.users, sizeof made.users - 1);
    expect_refusal(EE_BAD_INPUT, "2000users_10000items_features.npy is truncated: expected 64 bytes");

    static const char *const names[] = {entry_file, user_file, item_file};
    for (int i = 0; i < 3; i++) {
        write_files(&made);
        assert_int_equal(unlink(folder_path(&here, names[i])), 0);
        expect_refusal(EE_FILE_ERROR, names[i]);
    }
}

TEST_IN_FOLDER(each_file_may_be_packed_and_counts_for_the_fingerprint)
{
    static const char *const names[] = {entry_file, user_file, item_file};
    content made = usual_content();
    write_files(&made);
    uint64_t last = 0;
    for (int i = 0; i < 4; i++) { /* with i of them packed */
        auto_dataset *data = open_data(formatted("yelp:%s", here.path));
        assert_true(dataset_fingerprint(data) != last);
        last = dataset_fingerprint(data);
        uint8_t *bytes;
        size_t size;
        if (i == 3) continue;
        ok(file_read(folder_path(&here, names[i]), &bytes, &size, NULL));
        unlink(folder_path(&here, names[i]));
        folder_write_packed(&here, formatted("%s.gz", names[i]), bytes, size);
        memory_free(bytes);
    }
}

TEST(the_real_files)
{
    const char *root = real_data();
    RELEASED_BY(npy_release) npy_array entries;
    ok(npy_read(formatted("%s/yelp/%s", root, entry_file), &entries, &last_error));
    assert_int_equal(entries.shape[0], 117907);
    size_t bad = 0;
    for (size_t row = 0; row < entries.shape[0]; row++) bad += npy_whole(&entries, row * COLUMNS + 2) == -1;
    assert_int_equal(bad, 11324);

    auto_dataset *data = open_data(formatted("yelp:%s/yelp", root));
    assert_int_equal(dataset_dim(data), 20);
    auto_environment *world = start_rounds(data, 0);
    for (int t = 0; t < 1000; t++) {
        double sum = 0.0;
        environment_round round = next_round(world);
        for (size_t arm = 0; arm < round.arms.count; arm++) sum += round.rewards[arm];
        assert_true(sum == 1.0);
    }
}
