/* Places without a kind: what they are likely to be. */
#include "data/sets/kind_guess.h"

#include "data/sets/environment.h"
#include "data/support_sets.h"
#include "support_files.h"

static void expect(const char *text, const char *expected)
{
    char meant[256] = "";
    bool found = kind_guess(text, meant, sizeof meant);
    assert_int_equal(found, expected != NULL);
    if (expected) assert_string_equal(meant, expected);
}

TEST(names_tell)
{
    expect("no/iris.csv", "table:no/iris.csv");
    expect("iris.TSV.gz,label=kind,order=file", "table:iris.TSV.gz,label=kind,order=file");
    expect("a,b.csv", "table:a,b.csv");
    expect("csv:iris.csv", "table:iris.csv");
    expect("no/ratings.dat", "movielens:no/ratings.dat");
    expect("my-ratings.csv,users=10", "ratings:my-ratings.csv,users=10");
    expect("no/rewards.npy", "rounds:no");
    expect("rewards.npy", "rounds:.");
    expect("cosine,dim=5", "synthetic:cosine,dim=5");
    expect("iris", NULL);
    expect("", NULL);
    expect(".csv", NULL);
    char small[8];
    assert_false(kind_guess("iris.csv", small, sizeof small));
    char longest[5000];
    memset(longest, 'a', sizeof longest);
    strcpy(longest + sizeof longest - 5, ".csv");
    expect(longest, NULL);
}

/* The file makes its folder one of the kind. */
TEST(files_tell)
{
    static const char *const cases[][2] = {
        {"rewards.npy", "rounds"},
        {"ratings.csv.gz", "movielens"},
        {"u.data", "movielens"},
        {"train-images-idx3-ubyte.gz", "mnist"},
        {"t10k-images-idx3-ubyte", "mnist"},
        {"yelp_2000users_10000items_entry.npy", "yelp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_folder folder = folder_make();
        char place[256], expected[300];
        snprintf(place, sizeof place, "%s", folder_path(&folder, ""));
        snprintf(expected, sizeof expected, "%s:%s", cases[i][1], place);
        expect(place, NULL);
        folder_write_text(&folder, cases[i][0], "");
        expect(place, expected);
        folder_remove(&folder);
    }
    test_folder folder = folder_make();
    char place[256], expected[300];
    folder_write_text(&folder, "no:ending", "a,b\n");
    snprintf(place, sizeof place, "%s", folder_path(&folder, "no:ending"));
    snprintf(expected, sizeof expected, "table:%s", place);
    expect(place, expected);
    folder_remove(&folder);
}

TEST(openers_are_told)
{
    static const char *const cases[][2] = {
        {"iris.csv,label=a", "data set: expected KIND:PLACE; did you mean 'table:iris.csv,label=a'?"},
        {"csv:iris.csv", "data set: expected KIND:PLACE; did you mean 'table:iris.csv'?"},
        {"tabel:iris.csv", "data set: unknown kind 'tabel'; did you mean 'table'?"},
        {"tabel", "data set: unknown kind 'tabel'; did you mean 'table'?"},
        {"cosine", "data set: expected KIND:PLACE; did you mean 'synthetic:cosine'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset *data;
        fails_with(dataset_open(cases[i][0], NULL, &data, &last_error), EE_BAD_OPTION, cases[i][1]);
    }
}

/* text is "KIND:" and a name in the folder. */
static void expect_refused(const test_folder *folder, const char *kind, const char *name, const char *got,
                           const char *meant)
{
    char text[300];
    dataset *data;
    snprintf(text, sizeof text, "%s:%s", kind, folder_path(folder, name));
    fails_saying(dataset_open(text, NULL, &data, &last_error), EE_FILE_ERROR, got);
    if (meant) assert_message_has(last_error.message, formatted("; did you mean '%s:", meant ? meant : ""));
    assert_int_equal(strstr(last_error.message, "did you mean") != NULL, meant != NULL);
}

TEST_IN_FOLDER(places_of_other_kinds)
{
    folder_write_text(&here, "iris.csv", "a,b\n1,x\n2,y\n");
    expect_refused(&here, "rounds", "iris.csv", "iris.csv is a file, expected a folder", "table");
    expect_refused(&here, "mnist", "iris.csv", "iris.csv is a file, expected a folder", "table");
    expect_refused(&here, "table", "", " is a folder, expected a file", NULL);
    folder_write_text(&here, "rewards.npy", "");
    expect_refused(&here, "rounds", "rewards.npy", "rewards.npy is a file, expected a folder", "rounds");
    expect_refused(&here, "table", "", " is a folder, expected a file", "rounds");
}
