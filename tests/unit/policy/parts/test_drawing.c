/* The draw of parameters: uniform over what training has reached, theta1 and theta2 together, theta3 apart. */
#include "policy/parts/drawing.h"

#include "support.h"

enum { THETA12 = 3, THETA3 = 2, THETA = THETA12 + THETA3, MOST_TRAININGS = 32 };

typedef struct drawn {
    memory owner;
    drawing drawing;
} drawn;

static void make(drawn *self, drawing_kind kind, int64_t limit, uint64_t seed)
{
    drawing_options options = {{(int)kind, limit}};
    memset(self, 0, sizeof *self);
    ok(drawing_create(&self->drawing, &self->owner, &options, THETA12, THETA3, seed, &last_error));
}

static void release(drawn *self)
{
    memory_release(&self->owner);
}

/* Which training the parameters that lie from `first` on are of. All of them are of one. */
static size_t training_of(const float *theta, size_t first, size_t count)
{
    size_t training = (size_t)(theta[first] / 100);
    for (size_t i = first; i < first + count; i++) assert_true(theta[i] == (float)(100 * training + i));
    return training;
}

/* A draw: of (theta1, theta2), and of theta3. */
typedef struct pair {
    size_t first, third;
} pair;

static pair draw(drawn *self)
{
    float theta[THETA];
    drawing_draw(&self->drawing, theta);
    return (pair){training_of(theta, 0, THETA12), training_of(theta, THETA12, THETA3)};
}

/* Trainings from `first` on to one before `end` reach their parameters, and are stored. */
static void store(drawn *self, size_t first, size_t end)
{
    for (size_t training = first; training < end; training++) {
        for (size_t i = 0; i < THETA; i++) self->drawing.latest[i] = (float)(100 * training + i); /* says which one */
        drawing_store(&self->drawing);
    }
}

/* Chi-square of counts that should all be equal, in deviations from its mean: it has count - 1 degrees of freedom. */
static double unevenness(const size_t *counts, size_t count)
{
    double sum = 0, square = 0, freedom = (double)count - 1;
    for (size_t i = 0; i < count; i++) sum += (double)counts[i];
    for (size_t i = 0; i < count; i++) {
        double off = (double)counts[i] - sum / (double)count;
        square += off * off / (sum / (double)count);
    }
    return (square - freedom) / sqrt(2 * freedom);
}

/* Every training is as probable as any other, whether there is room for all of them or not. */
TEST(a_draw_is_uniform_over_all_that_was_stored)
{
    enum { RUNS = 8000 };
    const size_t limits[] = {1, 2, 5, 19, 20, 30}, trainings = 20;
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        size_t first[MOST_TRAININGS] = {0}, third[MOST_TRAININGS] = {0}, together = 0;
        for (uint64_t run = 0; run < RUNS; run++) {
            RELEASED_BY(release) drawn self;
            make(&self, DRAWING_RESERVOIR, (int64_t)limits[l], run);
            store(&self, 0, trainings);
            pair got = draw(&self);
            assert_true(got.first < trainings && got.third < trainings);
            first[got.first]++;
            third[got.third]++;
            together += got.first == got.third;
        }
        assert_true(unevenness(first, trainings) < 4);
        assert_true(unevenness(third, trainings) < 4);
        double mean = (double)RUNS / (double)trainings; /* of draws in which both happen to be of one training */
        assert_true(fabs((double)together - mean) < 4 * sqrt(mean));
    }
    /* keep=all draws a round, 0 to the last one; neither it nor keep=last stores anything. */
    enum { DRAWS = 20000 };
    float theta[THETA] = {0};
    drawn self;
    make(&self, DRAWING_LAST, 0, 1);
    drawing_start(&self.drawing, theta);
    assert_int_equal(memory_bytes(&self.owner), 0);
    make(&self, DRAWING_ALL, 0, 1);
    drawing_start(&self.drawing, theta);
    assert_int_equal(memory_bytes(&self.owner), 0);
    for (size_t rounds = 0; rounds < 12; rounds++) {
        size_t counts[MOST_TRAININGS] = {0};
        for (int i = 0; i < DRAWS; i++) {
            size_t round = drawing_round(&self.drawing, rounds);
            assert_true(round <= rounds);
            counts[round]++;
        }
        if (rounds) assert_true(unevenness(counts, rounds + 1) < 4);
    }
}

/* All stored, all can be drawn; once there is no room, as many as there is room for. */
TEST(a_reservoir_holds_as_many_as_it_says)
{
    for (size_t limit = 1; limit <= 8; limit++) {
        RELEASED_BY(release) drawn self;
        make(&self, DRAWING_RESERVOIR, (int64_t)limit, 3);
        for (size_t trainings = 1; trainings < 20; trainings++) {
            size_t seen[MOST_TRAININGS] = {0}, distinct = 0;
            store(&self, trainings - 1, trainings);
            for (int i = 0; i < 400; i++) seen[draw(&self).first]++;
            for (size_t i = 0; i < MOST_TRAININGS; i++) distinct += seen[i] > 0;
            assert_int_equal(distinct, trainings < limit ? trainings : limit);
        }
    }
    /* A model that says that it holds more than there is room for. */
    RELEASED_BY(release) drawn large, small;
    make(&large, DRAWING_RESERVOIR, 6, 5);
    make(&small, DRAWING_RESERVOIR, 5, 5);
    store(&large, 0, 6);
    auto_archive written = archive_writer(NULL);
    drawing_archive(&large.drawing, &written);
    ok(written.status);
    archive read = archive_reader(written.bytes, written.size, NULL);
    drawing_archive(&small.drawing, &read);
    assert_int_equal(read.status, EE_BAD_MODEL);
}
