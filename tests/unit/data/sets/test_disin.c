/* The Disin rounds, on small files made here, and on the real one where EENET_DATA names its folder's folder. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <unistd.h>

#include "data/kind/pool.h"
#include "data/sets/environment.h"
#include "data/sets/text_features.h"
#include "data/support_sets.h"
#include "support_files.h"

enum { ARMS = 10, ARTICLES = 15, ROUNDS = 50, PATH_SIZE = 96, OPTIONS_SIZE = 128, TEXT_SIZE = 256 };

/* The first file in a folder; false where there is none. */
static bool first_file(const char *path, char *name)
{
    DIR *opened = opendir(path);
    bool found = false;
    for (struct dirent *entry; opened && !found && (entry = readdir(opened));) {
        found = entry->d_name[0] != '.';
        if (found) snprintf(name, PATH_SIZE + 256, "%s/%s", path, entry->d_name);
    }
    if (opened) closedir(opened);
    return found;
}

static bool is_fake(size_t article)
{
    return article % 5 == 2;
}

/* Each shares words with others, and has some more often than once. */
static void make_article(size_t article, char *text)
{
    snprintf(text, 128, "Own%zu the, the %s %s mod%zu mod%zu mod%zu", article, article % 2 ? "odd" : "even",
             article % 3 ? "" : "third", article % 7, article % 4, article % 4);
}

static void write_articles(const char *name)
{
    char csv[4096] = "fake,text\n", text[128];
    for (size_t i = 0; i < ARTICLES; i++) {
        make_article(i, text);
        size_t end = strlen(csv);
        snprintf(csv + end, sizeof csv - end, "%d,\"%s\"\n", is_fake(i), text);
    }
    folder_write(&here, name, csv, strlen(csv));
}

static text_features expected_features(void)
{
    static char texts[ARTICLES][128];
    field fields[ARTICLES];
    text_features features;
    for (size_t i = 0; i < ARTICLES; i++) {
        make_article(i, texts[i]);
        fields[i] = (field){texts[i], strlen(texts[i])};
    }
    ok(text_features_create(fields, ARTICLES, 1, 1000, &features, NULL));
    return features;
}

/* Row number row of the weights, as many as there are words. */
static void expand_row(const text_features *features, size_t row, float *out)
{
    memset(out, 0, features->words.count * sizeof *out);
    for (size_t e = features->starts[row]; e < features->starts[row + 1]; e++)
        out[features->indices[e]] = features->values[e];
}

/* Vectors of the words, each along an axis of its own: an article's mean is its row of weights. */
static size_t make_vectors(const text_features *features, bool binary, char *bytes, size_t capacity)
{
    size_t count = features->words.count;
    size_t size = (size_t)snprintf(bytes, capacity, "%zu %zu\n", count, count);
    for (size_t i = 0; i < count; i++) {
        const vocabulary_word *w = &features->words.words[i];
        size +=
            (size_t)snprintf(bytes + size, capacity - size, "%.*s", (int)w->length, features->words.letters + w->start);
        if (binary) bytes[size++] = ' ';
        for (size_t j = 0; j < count; j++) {
            if (!binary) size += (size_t)snprintf(bytes + size, capacity - size, " %d", i == j);
            if (binary) memcpy(bytes + size, i == j ? "\0\0\x80\x3f" : "\0\0\0\0", 4), size += 4;
        }
        bytes[size++] = '\n';
    }
    assert_true(size < capacity);
    return size;
}

static dataset *open_file(const char *name, const char *options, const char *cache)
{
    char text[TEXT_SIZE], cache_path[PATH_SIZE];
    dataset *data;
    snprintf(text, sizeof text, "disin:%s/%s%s", here.path, name, options);
    snprintf(cache_path, sizeof cache_path, "%s/%s", here.path, cache ? cache : "");
    ok(dataset_open(text, cache ? cache_path : NULL, &data, &last_error));
    return data;
}

static dataset *open_with_vectors(const char *vectors)
{
    return open_file("articles.csv", formatted(",min_df=1,vectors=%s/%s", here.path, vectors), NULL);
}

static void expect_same_rounds(const dataset *left, const dataset *right)
{
    assert_int_equal(dataset_dim(left), dataset_dim(right));
    auto_environment *one = start_rounds(left, 3), *two = start_rounds(right, 3);
    for (int t = 0; t < ROUNDS; t++) {
        environment_round a = next_round(one), b = next_round(two);
        assert_memory_equal(a.arms.values, b.arms.values, ARMS * dataset_dim(left) * sizeof(float));
        assert_memory_equal(a.rewards, b.rewards, ARMS * sizeof(double));
    }
}

static size_t find_article(const text_features *features, const float *arm)
{
    float row[64];
    assert_true(features->words.count <= 64);
    for (size_t i = 0; i < ARTICLES; i++) {
        expand_row(features, i, row);
        if (close_first_wrong(arm, row, features->words.count, 1e-6) == features->words.count) return i;
    }
    fail_msg("an arm that is no article");
    return 0;
}

/* With the vectors of words along the axes an arm tells which article it is. The same seed deals the same articles
 * whatever their vectors: so it is known which rows of weights the projections belong to. As many dimensions as there
 * are articles lose nothing: the inner products are those of the weights. */
TEST_IN_FOLDER(nine_real_articles_and_a_fake_one)
{
    static char bytes[65536];
    RELEASED_BY(text_features_release) text_features features = expected_features();
    size_t dim = features.words.count;
    write_articles("articles.csv");
    folder_write(&here, "axes.vec", bytes, make_vectors(&features, false, bytes, sizeof bytes));
    auto_dataset *averaged = open_with_vectors("axes.vec"), *projected = open_file("articles.csv", ",min_df=1", NULL);
    assert_int_equal(dataset_dim(averaged), dim);
    assert_int_equal(dataset_dim(projected), ARTICLES); /* fewer than 300 */
    assert_int_equal(dataset_arms(averaged), ARMS);
    assert_string_equal(dataset_name(projected), "disin,min_df=1");
    auto_environment *one = start_rounds(averaged, 3), *two = start_rounds(projected, 3);
    for (int t = 0; t < ROUNDS; t++) {
        environment_round a = next_round(one), b = next_round(two);
        double all = 0;
        for (size_t i = 0; i < ARMS; i++) {
            assert_true(a.rewards[i] == (is_fake(find_article(&features, a.arms.values + i * dim)) ? 1.0 : 0.0));
            all += a.rewards[i];
            for (size_t j = 0; j <= i; j++) {
                double weights = 0, projections = 0;
                for (size_t k = 0; k < dim; k++)
                    weights += (double)a.arms.values[i * dim + k] * (double)a.arms.values[j * dim + k];
                for (size_t k = 0; k < ARTICLES; k++)
                    projections += (double)b.arms.values[i * ARTICLES + k] * (double)b.arms.values[j * ARTICLES + k];
                assert_close(projections, weights, 2e-6);
            }
        }
        assert_true(all == 1.0);
    }
}

TEST_IN_FOLDER(both_forms_of_vectors_packed_or_not)
{
    static char bytes[65536];
    static const char *const names[] = {"axes.vec.gz", "axes.bin", "axes.bin.gz"};
    RELEASED_BY(text_features_release) text_features features = expected_features();
    write_articles("articles.csv");
    size_t size = make_vectors(&features, false, bytes, sizeof bytes);
    folder_write(&here, "axes.vec", bytes, size);
    folder_write_packed(&here, names[0], bytes, size);
    size = make_vectors(&features, true, bytes, sizeof bytes);
    folder_write(&here, names[1], bytes, size);
    folder_write_packed(&here, names[2], bytes, size);
    auto_dataset *text = open_with_vectors("axes.vec");
    for (int i = 0; i < 3; i++) {
        auto_dataset *other = open_with_vectors(names[i]);
        expect_same_rounds(text, other);
        assert_true(dataset_fingerprint(text) != dataset_fingerprint(other));
    }
}

/* Lengths of vectors are 1, and 0 for the one article without a known word. */
TEST_IN_FOLDER(articles_without_words_are_zeros)
{
    char csv[1024] = "text,fake\n\"!?\",1\n";
    for (int i = 0; i < 9; i++) snprintf(csv + strlen(csv), 64, "same words %s,0\n", i % 2 ? "odd" : "even");
    folder_write(&here, "articles.csv", csv, strlen(csv));
    auto_dataset *data = open_file("articles.csv", "", NULL);
    size_t dim = dataset_dim(data);
    assert_int_equal(dim, 4);
    auto_environment *world = start_rounds(data, 3);
    environment_round round = next_round(world);
    for (size_t arm = 0; arm < ARMS; arm++) {
        double squares = 0;
        for (size_t i = 0; i < dim; i++) squares += pow((double)round.arms.values[arm * dim + i], 2);
        assert_close(squares, round.rewards[arm] == 1.0 ? 0.0 : 1.0, 1e-6);
    }
}

/* Ten articles: the label of the second is fake, those of the others are real. */
static void write_labels(const char *header, const char *row, const char *real, const char *fake)
{
    char csv[1024];
    snprintf(csv, sizeof csv, "%s\n", header);
    for (int i = 0; i < 10; i++)
        snprintf(csv + strlen(csv), 128, row, i == 1 ? fake : real, formatted("words of %d and %d", i, i + 1));
    folder_write(&here, "other.csv", csv, strlen(csv));
}

TEST_IN_FOLDER(columns_and_labels)
{
    static const char *const cases[][5] = {
        {"label,text", "%s,%s\n", "0", "1", ""},
        {"id,LABEL,title,text", "7,%s,\"a, b\",\"%s\"\n", "REAL", "Fake", ""},
        {"fake,text", "%s,%s\n", "False", "True", ""},
        {"label,text", "%s,%s\n", "TRUE", "FALSE", ""},
        {"verdict,body", "%s,%s\n", "true", "false", ",label=verdict,text=body"},
        {"label\tfake\ttext", "x\t%s\t%s\r\n", "real", "fake", ""},
        {"id, fake , body", "7, %s,%s\n", "real", "fake", ",text=3"},
        {"Verdict,Body", "%s,%s\n", "true", "false", ",label=1,text=BODY"},
    };
    write_labels("fake,text", "%s,%s\n", "0", "1");
    auto_dataset *usual = open_file("other.csv", "", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_labels(cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
        auto_dataset *data = open_file("other.csv", cases[i][4], NULL);
        expect_same_rounds(usual, data);
    }
}

static void expect_refusal(const char *options, ee_status status, const char *part)
{
    dataset *data;
    assert_int_equal(dataset_open(formatted("disin:%s/bad.csv%s", here.path, options), NULL, &data, &last_error),
                     status);
    assert_null(data);
    if (!strstr(last_error.message, part)) fail_msg("'%s' is not in '%s'", part, last_error.message);
}

TEST_IN_FOLDER(wrong_files_are_named)
{
    static const char *const cases[][3] = {
        {"", "", "bad.csv: expected a header and rows, got an empty file"},
        {"x,text\n", "", "line 1: expected a header with a column 'fake' or 'label'; use label=COLUMN for another"},
        {"fake,text\n", ",label=x", "bad.csv has no column 'x' (option label=); it has 2 columns: fake, text"},
        {"fake,text\n", ",label=3", "bad.csv has no column '3' (option label=); it has 2 columns: fake, text"},
        {"fake,body\n", "", "bad.csv has no column 'text' (option text=); it has 2 columns: fake, body"},
        {"fake,text\n", ",label=2", "disin: label and text are both column 2"},
        {"fake,text\n\n", "", "bad.csv: expected articles below the header, got none"},
        {"fake,text\n0,a\n\n2,b\n", "",
         "bad.csv, line 4: expected the label 0 or real, 1 or fake, true or false, got '2'"},
        {"fake,text\n0,\"a\nb\"\n,b\n", "", "line 4: expected the label 0 or real, 1 or fake, true or false, got ''"},
        {"fake,text\n0,a\n0,b,c\n", "", "bad.csv, line 3: expected 2 fields as in the header, got 3"},
        {"fake,text\n0,\"a\n", "", "bad.csv, line 2: a quoted field is not closed"},
        {"fake,text\n0,a\n1,b\n", "", "bad.csv: no word occurs in 2 articles or more; lower min_df=N"},
        {"fake,text\n0,a\n1,a\n", "", "bad.csv"}, /* too few to deal a round */
        {"fake,text\n", ",dim=0", "disin.dim must be 1 to 65536, got 0"},
        {"fake,text\n", ",vectors=missing.vec", "missing.vec"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_status status = strstr(cases[i][2], "has no column") || strncmp(cases[i][2], "disin", 5) == 0 ? EE_BAD_OPTION
                           : strstr(cases[i][1], "missing")                                              ? EE_FILE_ERROR
                                                                                                         : EE_BAD_INPUT;
        folder_write(&here, "bad.csv", cases[i][0], strlen(cases[i][0]));
        expect_refusal(cases[i][1], status, cases[i][2]);
    }
    folder_write_packed(&here, "bad.csv", "fake,text\n0,a\n1,a\n", 18);
    const char *path = formatted("%s/bad.csv", here.path);
    assert_int_equal(truncate(path, 25), 0);
    expect_refusal("", EE_BAD_INPUT, "bad.csv, byte 25: the file ends inside its compressed data");
    assert_int_equal(unlink(path), 0);
    expect_refusal("", EE_FILE_ERROR, "bad.csv");
}

TEST_IN_FOLDER(wrong_vectors_are_named)
{
    write_articles("bad.csv");
    folder_write(&here, "bad.vec", "1 2\nthe 1 x\n", 12);
    expect_refusal(formatted(",vectors=%s/bad.vec", here.path), EE_BAD_INPUT,
                   "bad.vec, line 2: expected a finite number, got 'x'");
}

/* The one file of a cache; to be freed with memory_free. */
static uint8_t *read_cache(const char *cache, char *path, size_t *size)
{
    uint8_t *bytes;
    assert_true(first_file(formatted("%s/%s", here.path, cache), path));
    ok(file_read(path, &bytes, size, NULL));
    return bytes;
}

static void expect_survey(const survey *seen, size_t dim)
{
    assert_int_equal(seen->column_count, 2);
    assert_string_equal(seen->columns[0].name, "fake");
    assert_int_equal(seen->columns[0].kind, SURVEY_LABEL);
    assert_int_equal(seen->columns[1].kind, SURVEY_TEXT);
    assert_int_equal(seen->columns[1].features, dim);
    assert_int_equal(seen->number_count, 2);
    assert_string_equal(seen->numbers[0].name, "articles");
    assert_int_equal(seen->class_count, 2);
    assert_string_equal(seen->classes[1].name, "fake, the reward");
    assert_true(seen->numbers[0].value == (double)(seen->classes[0].count + seen->classes[1].count));
}

TEST_IN_FOLDER(prepared_vectors_are_kept)
{
    char path[PATH_SIZE + 256], other_path[PATH_SIZE + 256];
    size_t size;
    write_articles("articles.csv");
    write_labels("fake,text", "%s,%s\n", "0", "1");
    auto_dataset *fresh = open_file("articles.csv", "", NULL), *other = open_file("other.csv", "", "second");
    for (int i = 0; i < 2; i++) { /* written, then read */
        auto_dataset *kept = open_file("articles.csv", "", "first");
        expect_same_rounds(fresh, kept);
        assert_true(dataset_fingerprint(fresh) == dataset_fingerprint(kept));
        expect_survey(dataset_survey(kept), dataset_dim(kept));
    }
    auto_dataset *narrow = open_file("articles.csv", ",dim=2", "first"); /* other options, other vectors */
    assert_int_equal(dataset_dim(narrow), 2);
    auto_dataset *again = open_file("other.csv", "", "first"); /* another file too */
    expect_same_rounds(other, again);
    dataset_free(again);

    /* What is there is taken: with the prepared vectors of another file in its place, those come. */
    again = open_file("articles.csv", "", "third");
    dataset_free(again);
    memory_free(read_cache("third", path, &size));
    auto_memory uint8_t *bytes = read_cache("second", other_path, &size);
    ok(file_write(path, bytes, size, NULL));
    again = open_file("articles.csv", "", "third");
    expect_same_rounds(other, again);
    dataset_free(again);

    bytes[size / 2] ^= 1; /* what is damaged is prepared anew */
    ok(file_write(path, bytes, size, NULL));
    again = open_file("articles.csv", "", "third");
    expect_same_rounds(fresh, again);
}

TEST(the_real_file)
{
    enum { DIM = 20 };
    const char *root = real_data();
    auto_dataset *data = open_data(formatted("disin:%s/disin/articles.csv.gz,dim=%d", root, DIM));
    const pool_dataset *pool = (const pool_dataset *)data;
    assert_int_equal(pool->ordinary_count, 6272);
    assert_int_equal(pool->wanted_count, 2022);
    assert_int_equal(dataset_dim(data), DIM);
    for (size_t row = 0; row < pool->tables[0].rows; row++) {
        double squares = 0;
        for (size_t i = 0; i < DIM; i++) squares += pow((double)pool->tables[0].values[row * DIM + i], 2);
        assert_close(squares, 1.0, 1e-5);
    }
}
