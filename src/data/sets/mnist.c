/* MNIST and data sets in its format: images of 28 x 28 bytes, and their labels 0 to 9, in IDX files as LeCun names
 * them:
 *
 *     train-images-idx3-ubyte   train-labels-idx1-ubyte   60,000 of them
 *     t10k-images-idx3-ubyte    t10k-labels-idx1-ubyte    10,000
 *
 * An image is one row of 784 features, of ten classes (classes.h). Pixels that are zero are not stored. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "data/files/idx.h"
#include "data/tables/classes.h"

enum { SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, SHADES = 256, PARTS = 2 };

enum { SET_TRAIN, SET_TEST, SET_ALL };
enum { NORMALIZE_PIXEL, NORMALIZE_PAPER, NORMALIZE_UNIT };

typedef struct mnist_options {
    option_choice set;
    option_choice normalize;
} mnist_options;

static const option entries[] = {
    OPTION_ROW_CHOICE(mnist_options, set, "set", "train", "train|test|all", "which images"),
    OPTION_ROW_CHOICE(mnist_options, normalize, "normalize", "pixel", "pixel|paper|unit",
                      "pixel: scaled to 0 to 1; paper: (pixel - 0.1307) / 0.3081; unit: images of length 1"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema mnist_schema = OPTION_SCHEMA("mnist", groups, mnist_options, NULL);
static const option_schema fashion_schema = OPTION_SCHEMA("fashion-mnist", groups, mnist_options, NULL);

/* ---- the files ---- */

/* Images with their labels, as the files have them. */
typedef struct part {
    source files[2];
    idx_array images, labels;
} part;

static void part_release(part *from)
{
    for (int i = 0; i < 2; i++) source_release(&from->files[i]);
}

static ee_status check_part(const part *from, ee_error *error)
{
    const size_t *shape = from->images.shape, labels = from->labels.shape[0];
    if (shape[1] != SIDE || shape[2] != SIDE)
        return status_fail(error, EE_BAD_INPUT, "mnist: %s, byte 8: expected images of %d x %d, got %zu x %zu",
                           file_tail(from->files[0].path), SIDE, SIDE, shape[1], shape[2]);
    if (labels != shape[0])
        return status_fail(error, EE_BAD_INPUT, "mnist: %s, byte 4: expected %zu labels, one per image, got %zu",
                           file_tail(from->files[1].path), shape[0], labels);
    for (size_t i = 0; i < labels; i++)
        if (from->labels.data[i] >= CLASSES)
            return status_fail(error, EE_BAD_INPUT, "mnist: %s, byte %zu: expected a label of 0 to %d, got %d",
                               file_tail(from->files[1].path), from->labels.offset + i, CLASSES - 1,
                               from->labels.data[i]);
    return EE_OK;
}

static ee_status read_part(const char *folder, bool test, uint64_t *fingerprint, part *into, ee_error *error)
{
    static const char *const names[2][2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                            {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};
    enum { IMAGE_RANK = 3, LABEL_RANK = 1 };
    ee_status status = EE_OK;
    for (int i = 0; i < 2 && !status; i++)
        status = source_load(folder, names[test][i], fingerprint, &into->files[i], error);
    for (int i = 0; i < 2 && !status; i++) status = source_unpack(&into->files[i], error);
    if (!status) status = idx_parse(&into->files[0], IMAGE_RANK, &into->images, error);
    if (!status) status = idx_parse(&into->files[1], LABEL_RANK, &into->labels, error);
    if (!status) status = check_part(into, error);
    return status;
}

/* ---- the rows ---- */

/* The value of each shade; zeros are not stored. */
static void fill_shades(int normalize, float shades[SHADES])
{
    for (int i = 0; i < SHADES; i++) {
        double pixel = i / 255.0;
        /* The mean and the deviation of MNIST's pixels; the authors' code has them so. */
        shades[i] = (float)(normalize == NORMALIZE_PAPER ? (pixel - 0.1307) / 0.3081 : pixel);
    }
}

static size_t count_entries(const part *from, const float shades[SHADES])
{
    size_t count = from->images.shape[0] * PIXELS, blank = 0;
    if (shades[0] != 0.0f) return count;
    for (size_t i = 0; i < count; i++) blank += from->images.data[i] == 0;
    return count - blank;
}

/* Stores the pixels of one image from entry `at` on; returns where the next begins. A pixel that is not stored is
 * written too, and written over by the one after it: that is faster than asking. */
static size_t append_image(classes_dataset *data, const uint8_t *image, const float shades[SHADES], size_t at)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        data->indices[at] = i;
        data->values[at] = shades[image[i]];
        at += shades[image[i]] != 0.0f;
    }
    return at;
}

static size_t append_part(classes_dataset *data, const part *from, const float shades[SHADES], size_t row)
{
    for (size_t i = 0; i < from->images.shape[0]; i++, row++) {
        data->starts[row + 1] = append_image(data, from->images.data + i * PIXELS, shades, data->starts[row]);
        data->labels[row] = from->labels.data[i];
    }
    return row;
}

static ee_status make_rows(const part *parts, int normalize, classes_dataset **out, ee_error *error)
{
    float shades[SHADES];
    size_t images = 0, stored = 0, row = 0;
    fill_shades(normalize, shades);
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i].images.data) continue;
        images += parts[i].images.shape[0];
        stored += count_entries(&parts[i], shades);
    }
    ee_status status = classes_create(images, stored + 1, out, error); /* one is written and not kept */
    if (status) return status;
    for (int i = 0; i < PARTS; i++)
        if (parts[i].images.data) row = append_part(*out, &parts[i], shades, row);
    if (normalize == NORMALIZE_UNIT) classes_scale_rows(*out);
    (*out)->features = PIXELS;
    (*out)->classes = CLASSES;
    return EE_OK;
}

static ee_status open_images(const option_schema *schema, const dataset_request *request, dataset **out,
                             ee_error *error)
{
    mnist_options options;
    options_set_defaults(schema, &options);
    ee_status status = options_parse_once(schema, request->options, &options, error);
    if (status) return status;
    part parts[PARTS] = {0};
    classes_dataset *data = NULL;
    uint64_t fingerprint = 0;
    if (options.set.pick != SET_TEST) status = read_part(request->place, false, &fingerprint, &parts[0], error);
    if (!status && options.set.pick != SET_TRAIN)
        status = read_part(request->place, true, &fingerprint, &parts[1], error);
    if (!status) status = make_rows(parts, options.normalize.pick, &data, error);
    if (!status) status = classes_finish(data, file_tail(request->place), error);
    if (!status) status = classes_report(data, NULL, request->survey, error);
    for (int i = 0; i < PARTS; i++) part_release(&parts[i]);
    if (data) data->head.fingerprint = fingerprint;
    *out = (dataset *)data;
    return status;
}

static ee_status mnist_open(const dataset_request *request, dataset **out, ee_error *error)
{
    return open_images(&mnist_schema, request, out, error);
}

static ee_status fashion_open(const dataset_request *request, dataset **out, ee_error *error)
{
    if (strcmp(request->place, dataset_fashion_mnist.default_place) == 0 && access(request->place, F_OK) != 0)
        return status_fail(error, EE_FILE_ERROR,
                           "fashion-mnist: %s not found; install the Debian package dataset-fashion-mnist or give a "
                           "folder: fashion-mnist:DIR",
                           request->place);
    return open_images(&fashion_schema, request, out, error);
}

const dataset_kind dataset_mnist = {
    .name = "mnist",
    .form = "mnist:DIR[,OPTION=VALUE...]",
    .summary = "MNIST's IDX files, plain or .gz; an image is a round of ten arms, and its digit has the reward",
    .options = &mnist_schema,
    .open = mnist_open,
    .close = classes_close,
    .start = classes_start,
    .next = classes_next,
};

const dataset_kind dataset_fashion_mnist = {
    .name = "fashion-mnist",
    .form = "fashion-mnist[:DIR][,OPTION=VALUE...]",
    .summary = "Fashion-MNIST, same format; default folder: Debian's dataset-fashion-mnist",
    .options = &fashion_schema,
    .default_place = "/usr/share/datasets/fashion-mnist",
    .open = fashion_open,
    .close = classes_close,
    .start = classes_start,
    .next = classes_next,
};
