/* MNIST's files: small ones made here, the real ones where EENET_DATA names their folder's folder, and Fashion-MNIST
 * where Debian's package is installed. */
#include <unistd.h>

#include "data/sets/environment.h"
#include "data/support_sets.h"
#include "data/tables/classes.h"
#include "support_files.h"

enum { PIXELS = 784, IMAGES = 3, IMAGE_HEAD = 16, LABEL_HEAD = 8 };

static const char train_images[] = "train-images-idx3-ubyte", train_labels[] = "train-labels-idx1-ubyte";
static const char test_images[] = "t10k-images-idx3-ubyte", test_labels[] = "t10k-labels-idx1-ubyte";

/* The files' bytes. Image i has three pixels, of 255, 51 and 1 + i, at 5, 300 + i and 783; the last image is blank. */
typedef struct content {
    uint8_t images[IMAGE_HEAD + IMAGES * PIXELS];
    uint8_t labels[LABEL_HEAD + IMAGES];
} content;

static content usual_content(void)
{
    content made = {{0, 0, 8, 3, 0, 0, 0, IMAGES, 0, 0, 0, 28, 0, 0, 0, 28}, {0, 0, 8, 1, 0, 0, 0, IMAGES, 7, 0, 9}};
    for (size_t i = 0; i < IMAGES - 1; i++) {
        uint8_t *image = made.images + IMAGE_HEAD + i * PIXELS;
        image[5] = 255;
        image[300 + i] = 51;
        image[783] = (uint8_t)(1 + i);
    }
    return made;
}

static void write_train(const content *made)
{
    folder_write(&here, train_images, made->images, sizeof made->images);
    folder_write(&here, train_labels, made->labels, sizeof made->labels);
}

static const classes_dataset *open_set(const char *text)
{
    dataset *data = open_data(text);
    const classes_dataset *rows = (const classes_dataset *)data;
    assert_int_equal(dataset_dim(data), 7840);
    assert_int_equal(dataset_arms(data), 10);
    assert_int_equal(dataset_blocks(data), 10);
    assert_int_equal(dataset_rounds(data), 0);
    assert_int_equal(dataset_rows(data), rows->rows);
    assert_true(dataset_fingerprint(data) != 0);
    return rows;
}

static const classes_dataset *open_in(const char *options)
{
    return open_set(formatted("mnist:%s%s", here.path, options));
}

static void close_set(const classes_dataset *data)
{
    dataset_free((dataset *)(uintptr_t)data);
}

TEST_IN_FOLDER(pixels_become_features)
{
    content made = usual_content();
    write_train(&made);
    const classes_dataset *data = open_in("");
    assert_int_equal(data->rows, IMAGES);
    static const size_t starts[] = {0, 3, 6, 6};
    static const uint32_t indices[] = {5, 300, 783, 5, 301, 783}, labels[] = {7, 0, 9};
    static const float values[] = {1.0f, 0.2f, 1.0f / 255, 1.0f, 0.2f, 2.0f / 255};
    assert_memory_equal(data->starts, starts, sizeof starts);
    assert_memory_equal(data->indices, indices, sizeof indices);
    assert_memory_equal(data->labels, labels, sizeof labels);
    assert_floats_close(data->values, values, 6, 1e-7);
    assert_string_equal(dataset_name(&data->head), "mnist");
    close_set(data);

    data = open_in(",normalize=unit");
    double length = sqrt(1.0 + 0.04 + 1.0 / 65025);
    assert_int_equal(data->starts[3], 6);
    for (size_t i = 0; i < 3; i++) assert_close(data->values[i], values[i] / length, 1e-7);
    close_set(data);

    data = open_in(",normalize=paper");
    assert_int_equal(data->starts[IMAGES], IMAGES * PIXELS);
    for (size_t i = 0; i < IMAGES * PIXELS; i++) {
        assert_int_equal(data->indices[i], i % PIXELS);
        assert_close(data->values[i], (made.images[IMAGE_HEAD + i] / 255.0 - 0.1307) / 0.3081, 1e-6);
    }
    close_set(data);
}

TEST_IN_FOLDER(sets_are_train_test_and_both)
{
    content made = usual_content();
    write_train(&made);
    size_t size;
    made.images[7] = made.labels[7] = 2;
    made.labels[LABEL_HEAD] = 4;
    auto_free uint8_t *packed = gzip_pack(made.images, IMAGE_HEAD + 2 * PIXELS, &size);
    folder_write(&here, "t10k-images-idx3-ubyte.gz", packed, size);
    folder_write(&here, test_labels, made.labels, LABEL_HEAD + 2);
    static const struct {
        const char *options;
        size_t rows;
        uint32_t labels[5];
    } cases[] = {
        {"", 3, {7, 0, 9}}, {",set=train", 3, {7, 0, 9}}, {",set=test", 2, {4, 0}}, {",set=all", 5, {7, 0, 9, 4, 0}}};
    uint64_t fingerprints[4];
    for (size_t i = 0; i < 4; i++) {
        const classes_dataset *data = open_in(cases[i].options);
        assert_int_equal(data->rows, cases[i].rows);
        assert_memory_equal(data->labels, cases[i].labels, cases[i].rows * sizeof(uint32_t));
        fingerprints[i] = dataset_fingerprint(&data->head);
        const survey *seen = dataset_survey(&data->head);
        assert_int_equal(seen->class_count, 10);
        assert_string_equal(seen->classes[9].name, "9");
        assert_int_equal(seen->classes[0].count, i == 3 ? 2 : 1);
        close_set(data);
    }
    assert_true(fingerprints[0] == fingerprints[1]);
    assert_true(fingerprints[0] != fingerprints[2] && fingerprints[0] != fingerprints[3]);
}

static void expect_refusal(const char *options, ee_status status, const char *part)
{
    dataset *data;
    fails_saying(dataset_open(formatted("mnist:%s%s", here.path, options), NULL, &data, &last_error), status, part);
    assert_null(data);
}

TEST_IN_FOLDER(missing_files_are_named)
{
    content made = usual_content();
    write_train(&made);
    expect_refusal(",set=test", EE_FILE_ERROR, test_images);
    write_train(&made);
    assert_int_equal(unlink(folder_path(&here, train_labels)), 0);
    expect_refusal("", EE_FILE_ERROR, train_labels);
    write_train(&made);
    expect_refusal(",set=dev", EE_BAD_OPTION, "mnist.set must be train|test|all, got dev");
}

/* One byte of the images, or of the labels, is another. */
static void expect_wrong_byte(bool labels, size_t place, uint8_t value, const char *part)
{
    content made = usual_content();
    (labels ? made.labels : made.images)[place] = value;
    write_train(&made);
    expect_refusal("", EE_BAD_INPUT, part);
}

TEST_IN_FOLDER(wrong_bytes_are_named)
{
    expect_wrong_byte(false, 0, 1, "images-idx3-ubyte, byte 0: expected the magic number 00000803, got 01000803");
    expect_wrong_byte(false, 2, 13, "images-idx3-ubyte, byte 0: expected the magic number 00000803, got 00000d03");
    expect_wrong_byte(true, 3, 3, "labels-idx1-ubyte, byte 0: expected the magic number 00000801, got 00000803");
    expect_wrong_byte(false, 7, 4, "images-idx3-ubyte, byte 16: expected at least 3136 bytes of data, got 2352");
    expect_wrong_byte(false, 7, 2, "images-idx3-ubyte, byte 16: expected 1568 bytes of data, got 2352");
    expect_wrong_byte(false, 7, 0, "images-idx3-ubyte, byte 4: expected a dimension of 1 to 2352, got 0");
    expect_wrong_byte(false, 4, 255, "images-idx3-ubyte, byte 4: expected a dimension of 1 to 2352, got 4278190083");
    expect_wrong_byte(false, 13, 1, "images-idx3-ubyte, byte 12: expected a dimension of 1 to 2352, got 65564");
    expect_wrong_byte(true, 7, 2, "labels-idx1-ubyte, byte 8: expected 2 bytes of data, got 3");
    expect_wrong_byte(true, LABEL_HEAD + 1, 10, "labels-idx1-ubyte, byte 9: expected a label of 0 to 9, got 10");
    content made = usual_content();
    made.images[11] = 14;
    made.images[15] = 56;
    write_train(&made);
    expect_refusal("", EE_BAD_INPUT, "images-idx3-ubyte, byte 8: expected images of 28 x 28, got 14 x 56");
}

TEST_IN_FOLDER(cut_files_are_named)
{
    static const struct {
        size_t images, labels;
        const char *part;
    } cases[] = {
        {0, 11, "images-idx3-ubyte, byte 0: the file ends inside its magic number"},
        {3, 11, "images-idx3-ubyte, byte 3: the file ends inside its magic number"},
        {15, 11, "images-idx3-ubyte, byte 15: the file ends inside its header of 16 bytes"},
        {16, 11, "images-idx3-ubyte, byte 4: expected a dimension of 1 to 0, got 3"},
        {IMAGE_HEAD + IMAGES * PIXELS - 1, 11, "byte 16: expected at least 2352 bytes of data, got 2351"},
        {IMAGE_HEAD + IMAGES * PIXELS, 7, "labels-idx1-ubyte, byte 7: the file ends inside its header of 8 bytes"},
        {IMAGE_HEAD + IMAGES * PIXELS, 10, "labels-idx1-ubyte, byte 4: expected a dimension of 1 to 2, got 3"},
    };
    content made = usual_content();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_train(&made);
        folder_write(&here, train_images, made.images, cases[i].images);
        folder_write(&here, train_labels, made.labels, cases[i].labels);
        expect_refusal("", EE_BAD_INPUT, cases[i].part);
    }
    write_train(&made);
    made.labels[7] = 2;
    folder_write(&here, train_labels, made.labels, LABEL_HEAD + 2);
    expect_refusal("", EE_BAD_INPUT, "labels-idx1-ubyte, byte 4: expected 3 labels, one per image, got 2");

    size_t size;
    auto_free uint8_t *packed = gzip_pack(made.images, sizeof made.images, &size);
    write_train(&made);
    folder_write(&here, train_images, packed, size - 20);
    expect_refusal("", EE_BAD_INPUT, "images-idx3-ubyte, byte ");
}

/* Dimensions that the file could each have, and whose product no number holds. */
TEST_IN_FOLDER(sizes_do_not_overflow)
{
    enum { SIDE = 1 << 22 };
    static uint8_t large[IMAGE_HEAD + SIDE] = {0, 0, 8, 3, 0, 64, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0};
    content made = usual_content();
    write_train(&made);
    folder_write(&here, train_images, large, sizeof large);
    expect_refusal("", EE_BAD_INPUT,
                   "images-idx3-ubyte, byte 16: expected at least 17592186044416 bytes of data, got 4194304");
}

TEST(fashion_needs_its_package)
{
    dataset *data;
    ee_status status = dataset_open("fashion-mnist,set=test", NULL, &data, &last_error);
    if (access("/usr/share/datasets/fashion-mnist", F_OK) != 0) {
        fails_saying(status, EE_FILE_ERROR, "the Debian package dataset-fashion-mnist");
        return;
    }
    ok(status);
    const classes_dataset *rows = (const classes_dataset *)data;
    assert_string_equal(dataset_name(data), "fashion-mnist,set=test");
    assert_int_equal(rows->rows, 10000);
    size_t counts[10] = {0};
    for (size_t i = 0; i < rows->rows; i++) counts[rows->labels[i]]++;
    for (int i = 0; i < 10; i++) assert_int_equal(counts[i], 1000);
    dataset_free(data);
    status = dataset_open("fashion-mnist:nowhere", NULL, &data, &last_error);
    fails_saying(status, EE_FILE_ERROR, "nowhere/train-images-idx3-ubyte");
}

TEST(the_real_files)
{
    const char *root = real_data();
    const classes_dataset *data = open_set(formatted("mnist:%s/mnist,set=all", root));
    assert_int_equal(data->rows, 70000);
    static const size_t expected[10] = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
    size_t counts[10] = {0};
    for (size_t i = 0; i < 60000; i++) counts[data->labels[i]]++;
    assert_memory_equal(counts, expected, sizeof counts);
    /* The mean and the deviation that the paper's normalisation takes are those of the 60,000. */
    double sum = 0.0, squares = 0.0, all = 60000.0 * PIXELS;
    for (size_t i = 0; i < data->starts[60000]; i++) {
        sum += data->values[i];
        squares += (double)data->values[i] * data->values[i];
    }
    assert_close(sum / all, 0.1307, 1e-4);
    assert_close(sqrt(squares / all - sum / all * sum / all), 0.3081, 1e-4);
    close_set(data);
}
