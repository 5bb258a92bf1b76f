/* Files of word vectors, text and binary: what they hold, and what is said of those that are malformed. */
#include "data/sets/word_vectors.h"

#include "support.h"

enum { DIM = 3, WORDS = 4, MANY = 1000 };

/* "cat", "dog", "ox" and "yak" by their numbers. */
static text_features make_words(void)
{
    static const char text[] = "cat dog ox yak";
    field whole = {text, sizeof text - 1};
    text_features features;
    ok(text_features_create(&whole, 1, 1, MANY, &features, NULL));
    assert_int_equal(features.words.count, WORDS);
    return features;
}

/* The bytes end at a wall, after the zero that a source has. */
static ee_status read_bytes(const void *bytes, size_t size, word_vectors *out, ee_error *error)
{
    RELEASED_BY(guard_free) guard wall;
    RELEASED_BY(text_features_release) text_features features = make_words();
    source file = {"animals.vec", guard_end_bytes(&wall, size + 1), size};
    memcpy(file.bytes, bytes, size);
    file.bytes[size] = 0;
    ee_status status = word_vectors_read(&file, &features.words, out, error);
    return status;
}

/* What every good file here holds: the numbers of cat, ox and yak, and none of dog. */
static void expect_animals(const void *bytes, size_t size)
{
    static const float expected[WORDS * DIM] = {0.5f, -1, 2, 0, 0, 0, 3, 0.25f, -0.125f, 1e-3f, -4, 100};
    RELEASED_BY(word_vectors_release) word_vectors vectors;
    ok(read_bytes(bytes, size, &vectors, &last_error));
    assert_int_equal(vectors.dim, DIM);
    assert_memory_equal(vectors.values, expected, sizeof expected);
    assert_true(vectors.known[0] && !vectors.known[1] && vectors.known[2] && vectors.known[3]);
}

TEST(text_files)
{
    static const char *const files[] = {
        "4 3\ncat 0.5 -1 2\nox 3 .25 -0.125\nyak 1e-3 -4 100\nzebu 7 8 9\n",
        "cat 0.5 -1 2\nzebu 7 8 9\nox 3 .25 -0.125\nyak 1e-3 -4 100",                 /* no first line, no end */
        "3 3 \r\ncat 0.5 -1 2 \r\nox\t3\t.25\t-0.125\r\n\r\nyak  1e-3  -4  100\r\n",  /* blanks of every kind */
        "5 3\ncat 0.5 -1 2\nox 3 .25 -0.125\ncat 7 8 9\nyak 1e-3 -4 100\nox x y z\n", /* the first one counts */
        "4 3\ncat 0.5 -1 2\nox 3 .25 -0.125\nyak 1e-3 -4 100\nvachi\xc3\xa8re a b\xc3\xa9 c", /* no word of ours */
        "4 3\n\xc3\xa9 1 1 1\n\xc3\xa8\xc3\xa8 1 1 1\nDOG 1 1 1\ncat 0.5 -1 2\n",
    };
    for (size_t i = 0; i < 5; i++) expect_animals(files[i], strlen(files[i]));
    RELEASED_BY(word_vectors_release)
    word_vectors vectors; /* letters beyond ASCII right after a short first line are text still */
    ok(read_bytes(files[5], strlen(files[5]), &vectors, NULL));
    assert_true(vectors.known[0] && !vectors.known[1]);
}

typedef struct binary_file {
    uint8_t bytes[256];
    size_t size;
} binary_file;

static void append(binary_file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

/* As word2vec writes it with a line end after each word, as gensim does without. The numbers as bytes: little-endian,
 * whatever the machine. */
static binary_file make_binary(const char *header, const char *line_end)
{
    static const uint8_t cat[] = "\0\0\0\x3f\0\0\x80\xbf\0\0\0\x40", zebu[] = "\n\n\n\nAAAA    ",
                         ox[] = "\0\0\x40\x40\0\0\x80\x3e\0\0\0\xbe",
                         yak[] = "\x6f\x12\x83\x3a\0\0\x80\xc0\0\0\xc8\x42";
    static const struct {
        const char *name;
        const uint8_t *numbers;
    } words[] = {{"cat ", cat}, {"zebu ", zebu}, {"ox ", ox}, {"yak ", yak}};
    binary_file made = {.size = 0};
    append(&made, header, strlen(header));
    for (size_t i = 0; i < 4; i++) {
        append(&made, words[i].name, strlen(words[i].name));
        append(&made, words[i].numbers, 4 * DIM);
        append(&made, line_end, strlen(line_end));
    }
    return made;
}

TEST(binary_files)
{
    static const char *const line_ends[] = {"", "\n"};
    for (int i = 0; i < 2; i++) {
        binary_file made = make_binary("4 3\n", line_ends[i]);
        expect_animals(made.bytes, made.size);
    }
}

static void expect_refusal(const void *bytes, size_t size, const char *message)
{
    word_vectors vectors;
    refuses(read_bytes(bytes, size, &vectors, &last_error), message);
    assert_null(vectors.values);
}

TEST(malformed_text)
{
    static const char *const cases[][2] = {
        {"", "animals.vec, line 1: expected a word and 1 to 65536 numbers, or the number of words and the dimension"},
        {"cat\n",
         "animals.vec, line 1: expected a word and 1 to 65536 numbers, or the number of words and the dimension"},
        {"2 0\ncat\nox\n",
         "animals.vec, line 1: expected a word and 1 to 65536 numbers, or the number of words and the dimension"},
        {"2 65537\n",
         "animals.vec, line 1: expected a word and 1 to 65536 numbers, or the number of words and the dimension"},
        {"2 3\ncat 1 2 3\nzebu 1 2\n", "animals.vec, line 3: expected a word and 3 numbers, got 2"},
        {"cat 1 2 3\n\nzebu 1 2 3 4\n", "animals.vec, line 3: expected a word and 3 numbers, got 4"},
        {"2 3\ncat 1 2 x3\n", "animals.vec, line 2: expected a finite number, got 'x3'"},
        {"2 3\ncat 1 2,5 3\n", "animals.vec, line 2: expected a finite number, got '2,5'"},
        {"2 3\ncat 1 nan 3\n", "animals.vec, line 2: expected a finite number, got 'nan'"},
        {"2 3\ncat 1 1e39 3\n", "animals.vec, line 2: expected a finite number, got '1e39'"},
        {"2 3\ncat 1 2 3\n", "animals.vec, line 3: expected 2 words as in the first line, got 1"},
        {"1 3\ncat 1 2 3\nox 1 2 3\n", "animals.vec, line 4: expected 1 words as in the first line, got 2"},
        {"2 3\nzebu 1 2 3\nzho 1 2 3\n", "animals.vec: none of its 2 words occurs in the texts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refusal(cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

TEST(malformed_binary)
{
    binary_file made = make_binary("4 3\n", "");
    expect_refusal(made.bytes, made.size - 1,
                   "animals.vec, byte 56: expected 12 bytes of numbers for word 4 of 4, got 11");
    expect_refusal(made.bytes, made.size - 13, "animals.vec, byte 52: expected word 4 of 4 and a space");
    append(&made, "\nx", 2);
    expect_refusal(made.bytes, made.size, "animals.vec, byte 69: expected the end of the file after 4 words");
    made = make_binary("5 3\n", "\n");
    expect_refusal(made.bytes, made.size, "animals.vec, byte 72: expected word 5 of 5 and a space");
    made = make_binary("4 3\n", "");
    memset(made.bytes + 12, 0xff, 4);
    expect_refusal(made.bytes, made.size, "animals.vec, byte 12: expected a finite number");
}

/* Cut anywhere, a file is refused or is a whole one without its last line end. */
TEST(cut_files)
{
    binary_file made = make_binary("4 3\n", "\n");
    for (size_t size = 0; size < made.size; size++) {
        RELEASED_BY(word_vectors_release) word_vectors vectors;
        assert_int_equal(read_bytes(made.bytes, size, &vectors, NULL), size == made.size - 1 ? EE_OK : EE_BAD_INPUT);
    }
}
