/* Words, vocabulary and TF-IDF, against numbers computed by hand. */
#include "data/sets/text_features.h"

#include "support.h"

enum { MANY = 1000000 };

static text_features make(const char *const *texts, size_t count, size_t min_texts, size_t most_words)
{
    field fields[8];
    text_features features;
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) fields[i] = (field){texts[i], strlen(texts[i])};
    ok(text_features_create(fields, count, min_texts, most_words, &features, &last_error));
    return features;
}

static void expect_word(const text_features *features, size_t number, const char *letters, size_t texts)
{
    const vocabulary_word *w = &features->words.words[number];
    assert_int_equal(w->length, strlen(letters));
    assert_memory_equal(features->words.letters + w->start, letters, w->length);
    assert_int_equal(w->uses, texts);
    assert_int_equal(vocabulary_find(&features->words, letters, strlen(letters)), number);
}

TEST(words_are_runs_of_letters_and_digits)
{
    static const char *const texts[] = {"Caf\xc3\xa9, CAF\xc3\xa9;U.S.A 2017-x", "", "--!?"};
    RELEASED_BY(text_features_release) text_features features = make(texts, 3, 1, MANY);
    assert_int_equal(features.words.count, 6);
    static const char *const expected[] = {"2017", "a", "caf\xc3\xa9", "s", "u", "x"};
    for (size_t i = 0; i < 6; i++) expect_word(&features, i, expected[i], 1);
    assert_int_equal(vocabulary_find(&features.words, "CAF\xc3\xa9", 5), 6); /* spelled exactly so */
    assert_int_equal(vocabulary_find(&features.words, "ca", 2), 6);
    assert_int_equal(features.starts[1], 6);
    assert_int_equal(features.starts[3], 6); /* the others have no word */
}

/* Three texts: "b" is in all of them, "a" and "c" in two, "d" in one. */
static const char *const three[] = {"a b a a", "b c", "C b A b d"};

TEST(weights_are_those_of_the_formula)
{
    RELEASED_BY(text_features_release) text_features features = make(three, 3, 1, MANY);
    assert_int_equal(features.words.count, 4);
    expect_word(&features, 0, "b", 3);
    expect_word(&features, 1, "a", 2);
    expect_word(&features, 2, "c", 2);
    expect_word(&features, 3, "d", 1);
    static const size_t starts[] = {0, 2, 4, 8};
    static const uint32_t indices[] = {0, 1, 0, 2, 0, 1, 2, 3};
    assert_memory_equal(features.starts, starts, sizeof starts);
    assert_memory_equal(features.indices, indices, sizeof indices);
    /* idf: b 1, a and c 1 + ln(4/3) = 1.2876821, d 1 + ln 2 = 1.6931472.
     * Row 0: b 1, a (1 + ln 3) 1.2876821 = 2.7023454; length 2.8814355.
     * Row 1: b 1, c 1.2876821; length 1.6303758.
     * Row 2: b 1 + ln 2 = 1.6931472, a and c 1.2876821, d 1.6931472; length 3.0082794. */
    static const float values[] = {0.34704923f, 0.93784691f, 0.61335554f, 0.78980693f,
                                   0.56282910f, 0.42804604f, 0.42804604f, 0.56282910f};
    assert_floats_close(features.values, values, 8, 1e-7);
}

TEST(rare_words_are_left_out)
{
    RELEASED_BY(text_features_release) text_features features = make(three, 3, 2, MANY);
    assert_int_equal(features.words.count, 3);
    assert_int_equal(features.starts[3], 7);
    text_features_release(&features);
    features = make(three, 3, 1, 2); /* of "a" and "c", as frequent as each other, the first in the alphabet */
    assert_int_equal(features.words.count, 2);
    expect_word(&features, 1, "a", 2);
    assert_int_equal(vocabulary_find(&features.words, "c", 1), 2);
    assert_int_equal(features.starts[2] - features.starts[1], 1);
    assert_close((double)features.values[features.starts[1]], 1.0, 1e-7); /* the length is that of what stays */
    text_features_release(&features);
    features = make(three, 3, 4, MANY);
    assert_int_equal(features.words.count, 0);
    assert_int_equal(features.starts[3], 0);
    assert_int_equal(vocabulary_find(&features.words, "a", 1), 0);
}

/* More words than the first table of slots holds, each found again. */
TEST(large_vocabularies)
{
    enum { WORDS = 26 * 26 * 26 };
    static char text[4 * WORDS];
    for (int i = 0; i < WORDS; i++) {
        char name[4] = {(char)('a' + i / 676), (char)('a' + i / 26 % 26), (char)('a' + i % 26), ' '};
        memcpy(text + 4 * i, name, 4);
    }
    field whole = {text, sizeof text};
    RELEASED_BY(text_features_release) text_features features;
    ok(text_features_create(&whole, 1, 1, MANY, &features, NULL));
    assert_int_equal(features.words.count, WORDS);
    for (size_t i = 0; i < WORDS; i++) {
        assert_int_equal(vocabulary_find(&features.words, text + 4 * i, 3), i); /* alphabetical as they were made */
        assert_int_equal(features.indices[i], i);
    }
}

TEST(texts_end_at_their_length)
{
    RELEASED_BY(guard_free) guard wall;
    char *bytes = guard_end_bytes(&wall, 7);
    memcpy(bytes, "one two", 7);
    field whole = {bytes, 7};
    RELEASED_BY(text_features_release) text_features features;
    ok(text_features_create(&whole, 1, 1, MANY, &features, NULL));
    expect_word(&features, 0, "one", 1);
    expect_word(&features, 1, "two", 1);
}
