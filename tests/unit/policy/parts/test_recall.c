/* Recall against the plain sums over all that came, and what it must do with noise, with change and with little room.
 */
#include "policy/parts/recall.h"

#include "support.h"

enum { DIM = 5, ARMS = 30, ROOM = 512, ROUNDS = 600, MOST_TIMES = 64, MOST_AGAIN = 4096 };

static float features[ARMS][DIM];

static void draw_features(uint64_t seed)
{
    random_stream draw = random_named(seed, "features");
    for (size_t i = 0; i < ARMS; i++)
        for (size_t j = 0; j < DIM; j++) features[i][j] = random_below(&draw, 3) ? (float)random_normal(&draw) : 0;
}

static vector arm(size_t i)
{
    return vector_dense(features[i], DIM);
}

/* A memory, and the sums behind its weights. */
typedef struct past {
    size_t room;
    float *memory;
    slope weights[RECALL_CLASSES];
    double spread; /* of the rewards, as the test says */
} past;

static past make_past(size_t room)
{
    return (past){.room = room, .memory = calloc(recall_count(room) + 1, sizeof(float)), .spread = 1};
}

static void past_free(past *self)
{
    free(self->memory);
}

static const arm_id NO_ID = {0, false};

static size_t past_add(past *self, vector x, float expected, float reward)
{
    recall_sample sample = {x, NO_ID, expected, reward, self->spread};
    return recall_add(self->memory, self->room, &sample, self->weights);
}

/* The reward was certain, and what was expected is now too much and now too little: a past that says all. In units in
 * which these are far apart a few such samples make a weight near 1. */
static void past_add_certain(past *self, vector x, size_t turn, float reward)
{
    self->spread = 0.01;
    past_add(self, x, reward + (turn % 2 ? 1.0f : -1.0f), reward);
}

static float past_expect(const past *self, vector x, float expected)
{
    return recall_expect(self->memory, self->room, x, NO_ID, expected);
}

/* What recall.h says, by what is known of each arm by its number: the pairs (m - s, r - s) of each class, with what is
 * left of their weight, and the line of least squares through them. */
typedef struct plain {
    struct {
        int count;
        double x[ROUNDS], y[ROUNDS];
    } pairs[RECALL_CLASSES];
    double mean[ARMS], times[ARMS];
} plain;

static int plain_class(double times)
{
    int class = 0;
    for (; times >= 2; times /= 2) class ++;
    return class;
}

static double plain_weight(const plain *p, int class, double spread)
{
    int count = p->pairs[class].count;
    const double *x = p->pairs[class].x, *y = p->pairs[class].y;
    double total = 0, mean_x = 0, mean_y = 0, up = 0, down = spread * spread;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < count; k++) {
            double left = pow(1 - 1.0 / MOST_AGAIN, count - 1 - k);
            if (pass == 0)
                total += left, mean_x += left * x[k], mean_y += left * y[k];
            else
                up += left * (x[k] - mean_x) * (y[k] - mean_y), down += left * (x[k] - mean_x) * (x[k] - mean_x);
        }
        if (pass == 0 && total > 0) mean_x /= total, mean_y /= total;
    }
    return fmin(fmax(up / down, 0), 1);
}

static double plain_expect(const plain *p, size_t i, double expected, double spread)
{
    if (p->times[i] <= 0) return expected;
    return expected + plain_weight(p, plain_class(p->times[i]), spread) * (p->mean[i] - expected);
}

static void plain_mean(plain *p, size_t i, double reward)
{
    p->times[i] += p->times[i] < MOST_TIMES;
    p->mean[i] += (reward - p->mean[i]) / p->times[i];
}

static void plain_add(plain *p, size_t i, double expected, double reward)
{
    if (p->times[i] > 0) {
        int class = plain_class(p->times[i]), k = p->pairs[class].count++;
        p->pairs[class].x[k] = p->mean[i] - expected;
        p->pairs[class].y[k] = reward - expected;
    }
    plain_mean(p, i, reward);
}

TEST(is_the_least_squares_over_arms_that_came_again)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        draw_features(seed);
        random_stream draw = random_named(seed, "rewards");
        RELEASED_BY(past_free) past self = make_past(ROOM);
        static plain p;
        memset(&p, 0, sizeof p);
        self.spread = 0.5 + (double)seed;
        for (int t = 0; t < ROUNDS; t++) { /* a few arms come often */
            size_t i = (size_t)(random_below(&draw, 2) ? random_below(&draw, ARMS) : random_below(&draw, 3));
            float expected = (float)random_normal(&draw), reward = (float)random_normal(&draw) + (float)i / ARMS;
            assert_close(past_expect(&self, arm(i), expected), plain_expect(&p, i, expected, self.spread), 1e-4);
            past_add(&self, arm(i), expected, reward);
            plain_add(&p, i, expected, reward);
        }
        for (int class = 0; class < RECALL_CLASSES; class ++) assert_true(p.pairs[class].count > 10);
    }
}

/* ---- whatever comes, a prediction lies between what was expected and the mean of the arm's own rewards ---- */

/* What a sequence draws its rewards and expectations from. */
typedef struct regime {
    double reward, reward_spread; /* mean and deviation */
    double error, error_spread;   /* of the expectation: from the reward, or from 0 where there is `blind` */
    bool blind;
} regime;

static const regime regimes[] = {
    {0, 1, 0, 1, true},          /* noise */
    {0.5, 0, 0, 0, true},        /* always the same */
    {1, 0.1, -1, 0.1, false},    /* always too little is expected */
    {-3, 1, 2, 1, false},        /* always too much, of losses */
    {0, 1, 0, 0.01, false},      /* what is expected is nearly what comes: the past makes it worse */
    {0, 1, 30, 1, false},        /* far too much */
    {1e9, 0, 0, 1e9, true},      /* as large as rewards may be */
    {-1e9, 1e8, 1e9, 1e3, true}, /* and negative */
    {1, 1, 0, 1e15, true},       /* the sums grow large, */
    {1, 1, 0, 1e25, true},       /* overflow, */
    {1, 1, 3e38, 0, true},       /* and could not hold one sample */
};

static float as_float(double x)
{
    return (float)fmin(fmax(x, -3e38), 3e38);
}

/* Plays one sequence: an arm now and then gets what its regime does not draw. Returns in how many predictions the past
 * had a say. */
static int play_any(const regime *r, uint64_t seed, double surprises)
{
    draw_features(seed);
    random_stream draw = random_named(seed, "anything");
    RELEASED_BY(past_free) past self = make_past(ROOM);
    static plain p;
    memset(&p, 0, sizeof p);
    double largest = 0;
    int used = 0;
    for (int t = 0; t < ROUNDS; t++) {
        size_t i = (size_t)random_below(&draw, ARMS);
        const regime *now =
            random_unit(&draw) < surprises ? &regimes[random_below(&draw, sizeof regimes / sizeof *regimes)] : r;
        float reward = as_float(now->reward + now->reward_spread * random_normal(&draw));
        double error = now->error + now->error_spread * random_normal(&draw);
        float expected = as_float(now->blind ? error : error + (double)reward);
        double got = past_expect(&self, arm(i), expected), mean = p.times[i] > 0 ? p.mean[i] : expected;
        double low = fmin(expected, mean), high = fmax(expected, mean);
        double rounding = 1e-5 * fmax(largest, fmax(fabs(low), fabs(high)));
        assert_true(got >= low - rounding && got <= high + rounding);
        used += fabs(got - expected) > rounding;
        past_add(&self, arm(i), expected, reward);
        plain_mean(&p, i, reward);
        largest = fmax(largest, fabs(reward));
    }
    for (size_t k = 0; k < recall_count(ROOM); k++) assert_true(isfinite(self.memory[k]));
    return used;
}

TEST(a_prediction_lies_between_the_expected_and_the_mean)
{
    int used = 0;
    for (size_t r = 0; r < sizeof regimes / sizeof *regimes; r++) {
        for (uint64_t seed = 0; seed < 6; seed++) {
            used += play_any(&regimes[r], seed, 0);
            used += play_any(&regimes[r], seed, 0.05);
        }
    }
    assert_true(used > ROUNDS);
}

/* What is expected of an arm whose reward is 1, a coin's where there is noise, 0 after a change; 0.5 without its past.
 */
static double recalled(double noise, double change, uint64_t seed)
{
    draw_features(seed);
    random_stream draw = random_named(seed, "rewards");
    RELEASED_BY(past_free) past self = make_past(ROOM);
    for (int t = 0; t < 20 * ROUNDS; t++) {
        size_t i = (size_t)random_below(&draw, ARMS);
        bool coin = random_unit(&draw) < 0.5, odd = i % 2 == 1;
        double reward = noise > 0 ? coin : odd;
        if (t >= 10 * ROUNDS && change > 0) reward = 1 - reward;
        past_add(&self, arm(i), 0.5f, (float)reward);
    }
    return past_expect(&self, arm(1), 0.5f);
}

TEST(certain_rewards_are_believed_and_noise_is_not)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        assert_true(recalled(0, 0, seed) > 0.99);
        assert_true(fabs(recalled(1, 0, seed) - 0.5) < 0.02);
        assert_true(recalled(0, 1, seed) < 0.1); /* what was true of an arm is not true any more */
    }
    /* Rewards of normal noise: the deviation of a mean of n is that of the noise over sqrt(n), also beyond MOST_TIMES.
     */
    draw_features(1);
    RELEASED_BY(past_free) past self = make_past(ROOM);
    random_stream draw = random_named(4, "noise");
    assert_true(recall_find(self.memory, ROOM, arm(1), NO_ID).deviation == 0);
    for (int t = 0; t < 400; t++)
        for (size_t i = 1; i < ARMS; i++)
            if (i > 1 || t < 100) past_add(&self, arm(i), 0, (float)i + 2 * (float)random_normal(&draw));
    assert_close(recall_find(self.memory, ROOM, arm(2), NO_ID).deviation, 2 / sqrt(400), 0.01);
    assert_close(recall_find(self.memory, ROOM, arm(1), NO_ID).deviation, 2 / sqrt(100), 0.02);
    assert_true(recall_find(self.memory, ROOM, arm(0), NO_ID).deviation == 0);
    assert_true(recall_is_sound(self.memory, ROOM));
}

/* Ten thousand arms in little room: the last one is known, none of those that never came, and nothing is written beyond
 * the room. */
TEST(a_full_memory_forgets_the_older_arm)
{
    for (size_t room = 1; room <= 40; room += 13) {
        RELEASED_BY(past_free) past self = make_past(room);
        float x[2];
        for (size_t t = 0; t < 10000; t++) {
            x[0] = (float)(t + 1), x[1] = 1;
            for (size_t again = 0; again < 3; again++) past_add_certain(&self, vector_dense(x, 2), t + again, 1);
            assert_true(t == 0 || past_expect(&self, vector_dense(x, 2), 0) > 0.9f);
        }
        int known = 0;
        for (int t = 0; t < 10000; t++) {
            x[0] = (float)(t + 1), x[1] = 1;
            known += past_expect(&self, vector_dense(x, 2), 0) != 0;
            x[1] = -1;
            assert_true(past_expect(&self, vector_dense(x, 2), 0) == 0);
        }
        assert_true(known >= 1 && known <= (int)room);
        assert_true(self.memory[recall_count(room)] == 0);
    }
    /* An arm is the same however it is written, and another one if a single feature is. */
    float dense[4] = {0, 2, -0.0f, -1}, sparse[2] = {2, -1}, named[3] = {2, 0, -1}, other[4] = {0, 2, 0, -1.0000001f};
    uint32_t indices[2] = {1, 3}, named_indices[3] = {1, 2, 3}, shifted[2] = {0, 3};
    RELEASED_BY(past_free) past self = make_past(ROOM);
    for (size_t t = 0; t < 12; t++) past_add_certain(&self, vector_dense(dense, 4), t, 1);
    float known = past_expect(&self, vector_dense(dense, 4), 0);
    assert_true(known > 0.8f);
    assert_true(past_expect(&self, (vector){sparse, indices, 2}, 0) == known);
    assert_true(past_expect(&self, (vector){named, named_indices, 3}, 0) == known);
    assert_true(past_expect(&self, (vector){sparse, shifted, 2}, 0) == 0);
    assert_true(past_expect(&self, vector_dense(other, 4), 0) == 0);
}
