/* Options act or are refused. In each of the settings below every option of the policy is changed: where the library
 * takes it, a short run must score or decide otherwise (or hold other memory, for what reserves memory); where it does
 * not, it says what the option needs. And every option of every policy acts in one of the settings. */
#include "support.h"

#define SHALLOW "f1.width=10 f1.steps=2 f1.batch=4 "
#define F1 SHALLOW "f1.deep_width=12 "
#define NETWORK F1 "exploration=network f2.width=6 f2.steps=2 f2.batch=4 "
#define F3 "f3.width=4 f3.steps=2 f3.batch=4 "
#define LATE "train_every=2 train_late_after=15 train_late_every=3 "
#define PAPER "f1.width=10 f2.width=6 f3.width=4 f1.steps=3 f2.steps=3 f3.steps=3 hybrid_after=10 "
#define AUTHORS                                                                                                        \
    "f1.width=10 f2.width=6 f1.steps=20 f2.steps=20 features=pooled:1 f2.front=conv1d:1:20:10 w2_late_after=10 "       \
    "train_every=3 train_late_after=15 train_late_every=5 "

static const struct {
    const char *policy, *options;
} settings[] = {
    {"eenet", F1},
    {"eenet", F1 LATE "blocks=3 exclusive=on f1.optimizer=sgd w2_late_after=10 propensity=floor"},
    {"eenet", F1 "f1.heads=3 exclusive=on label=abs propensity=softmax f1.front=conv2d:2:2+relu f1.image=1x2x4"},
    {"eenet", F1 F3 "decision=neural propensity=igw f1.layers=3 f1.order=shuffle f3.decay=0.1"},
    {"eenet", F1 F3 "decision=hybrid hybrid_after=10 optimal=threshold f3.front=conv1d:2:1+relu f3.image=2x1x1"},
    {"eenet", "f1.training=gd f1.history=all f1.width=10 f1.steps=3"},
    {"eenet", NETWORK "extra_until=20 features=normalized"},
    {"eenet", NETWORK "extra_until=20 optimal=binary features=sketch:8 f2.front=conv2d:2:2+relu f2.image=1x2x4"},
    {"eenet", NETWORK F3 "decision=neural optimal=range features=lle:3 lle_window=16 lle_neighbors=6"},
    {"eenet", NETWORK "keep=reservoir:5 features=pooled:2 blocks=3 f2.optimizer=adam f2.keep_moments=off"},
    {"eenet:fast", SHALLOW},
    {"eenet:paper", PAPER},
    {"eenet:paper", PAPER "extra_until=20 keep=last"},
    {"eenet:authors", AUTHORS},
    {"eenet:authors", AUTHORS "decision=hybrid hybrid_after=12 f3.steps=20"},
    {"eenet:authors", "exploration=ridge f1.width=10 f1.steps=20 w2_late_after=10 train_late_after=15"},
    {"greedy", F1},
    {"neural-epsilon", F1},
    {"squarecb", F1},
    {"neural-fastcb", F1},
    {"neural-ensemble", F1 "members=3"},
    {"neural-ensemble", F1 "members=4 decision=thompson"},
    {"neural-ucb", F1},
    {"neural-ucb", F1 "covariance=full"},
    {"neural-ts", F1},
    {"neural-linear", F1 "rebuild=10"},
    {"neural-linucb", F1 "rebuild=10"},
    {"linucb", ""},
    {"lints", ""},
    {"kernelucb", ""},
    {"kernelts", ""},
    {"ucb1", ""},
    {"ucb1", "blocks=3"},
    {"thompson", ""},
    {"thompson", "blocks=3"},
    {"uniform", ""},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Each setting of a policy but EE-Net comes with these too, where they are taken. */
static const char *const additions[] = {
    "propensity=floor",
    "propensity=softmax",
    "propensity=igw",
    "f1.front=conv2d:2:2+relu f1.image=1x4x6",
    LATE "f1.heads=0 f1.others=1 blocks=3 exclusive=on f1.optimizer=sgd",
    "f1.heads=3 f1.training=gd",
};
enum { ADDITIONS = sizeof additions / sizeof *additions };

/* What no run shows, and why. */
static const char *const exceptions[] = {
    "memory_limit", /* refuses a matrix that is too large, and does nothing else */
    "kernel",       /* has one value */
    "rewards",      /* these two refuse or clip rewards that no run has: test_reward_range does */
    "outside",
    /* mends the rounding of doubles, which a score as a float does not show: test_ridge does */
    "linucb.refresh", "lints.refresh", NULL};

/* What may be silent in some settings, and why. */
static const char *const silent[] = {
    "f1.lazy",      /* with sgd and no decay the rows that it leaves alone would not move: it is faster, and the same */
    "f1.heads",     /* 0 is as 1 where there is one block */
    "exclusive",    /* says what the problem is like, though f1.others=0 may make nothing of it */
    "recall_width", /* the arms that a policy plays again may be those whose reward never varies: their width is 0 */
    "f1.recent",    "f2.recent",
    "f3.recent", /* of more samples than a short run has: see a_long_run_shows_the_recent */
    NULL,
};

/* What reserves memory, and says so in its meaning. */
static const char *const reservations[] = {"pending", "arms", "nonzeros", NULL};

/* names end with NULL; each is of one policy, as "linucb.refresh", or of all that have it. */
static bool is_one_of(const char *policy, const char *name, const char *const *names)
{
    char full[80];
    snprintf(full, sizeof full, "%.*s.%s", (int)strcspn(policy, ":"), policy, name);
    for (; *names; names++)
        if (strcmp(name, *names) == 0 || strcmp(full, *names) == 0) return true;
    return false;
}

enum { ROUNDS = 40, PENDING = 6, CONTEXTS = 9, BLOCK = 8, BLOCKS = 3, FILLED = 5, DIM = BLOCK * BLOCKS };

/* Arm b is the context in block b. Contexts come again, are sparse, and not of length 1. */
static ee_arms arms_of(size_t context)
{
    static size_t starts[BLOCKS + 1];
    static uint32_t indices[BLOCKS * FILLED];
    static float values[BLOCKS * FILLED];
    for (size_t i = 0; i < BLOCKS * FILLED; i++) {
        size_t place = i % FILLED;
        starts[i / FILLED + 1] = i + 1;
        indices[i] = (uint32_t)(i / FILLED * BLOCK + place + (place >= context % FILLED ? BLOCK - FILLED : 0));
        values[i] = (float)((context * 7 + place * 5) % 11) / 4 - 1;
    }
    return ee_arms_sparse(starts, indices, values, BLOCKS, DIM);
}

static double reward_of(size_t context, size_t arm, size_t round)
{
    if (context % BLOCKS == arm) return 1;
    return round % 3 ? 0 : 0.4;
}

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* More decisions than may wait, to which no reward comes while time goes by. */
static uint64_t play_without_rewards(ee_bandit *bandit, uint64_t sum)
{
    ee_score scores[BLOCKS];
    for (size_t round = 0; round < PENDING + 2; round++) {
        ee_arms arms = arms_of(round);
        ee_decision decision;
        ok(ee_bandit_set_time(bandit, (double)round, NULL));
        ee_status status = ee_bandit_decide(bandit, &arms, &decision, scores, NULL, NULL);
        if (status == EE_DIVERGED) return sum + 1;
        ok(status);
        sum = add_bytes(sum, scores, sizeof scores);
    }
    ee_info info = ee_bandit_info(bandit);
    const uint64_t counts[] = {info.rewards, info.pending, info.expired, info.defaulted};
    return add_bytes(sum, counts, sizeof counts);
}

/* A sum over all that the bandit says. */
static uint64_t play(ee_bandit *bandit)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t context = round * round % CONTEXTS + round % 2;
        ee_arms arms = arms_of(context);
        ee_decision decision;
        ee_score scores[BLOCKS];
        ee_status status = ee_bandit_decide(bandit, &arms, &decision, scores, NULL, NULL);
        if (status == EE_DIVERGED) return sum + 1; /* so much does a learning rate act */
        ok(status);
        sum = add_bytes(sum, scores, sizeof scores);
        sum = add_bytes(sum, &decision.arm, sizeof decision.arm);
        sum = add_bytes(sum, &decision.probability, sizeof decision.probability);
        double reward = reward_of(context, decision.arm, round);
        status = ee_bandit_learn(bandit, decision.id, reward, NULL);
        if (status == EE_DIVERGED) return sum + 1;
        ok(status);
    }
    return play_without_rewards(bandit, sum);
}

typedef struct outcome {
    ee_error error;     /* of the creation */
    char options[8192]; /* of the bandit */
    uint64_t sum;
    size_t memory;
} outcome;

static outcome try_options(const char *policy, const char *options)
{
    outcome out = {0};
    char text[4200];
    snprintf(text, sizeof text, "pending=%d %s", PENDING, options);
    ee_settings asked = {.policy = policy, .dim = DIM, .seed = 3, .options = text};
    ee_bandit *bandit;
    if (ee_bandit_create(&asked, &bandit, &out.error)) return out;
    snprintf(out.options, sizeof out.options, " %s ", ee_bandit_info(bandit).options);
    out.memory = ee_bandit_memory(bandit);
    out.sum = play(bandit);
    ee_bandit_free(bandit);
    return out;
}

enum { VALUES = 24, VALUE_SIZE = 112 };

static size_t add_value(char (*values)[VALUE_SIZE], size_t count, const char *value)
{
    assert_true(count < VALUES);
    snprintf(values[count], VALUE_SIZE, "%s", value);
    return count + 1;
}

static size_t add_numbers(char (*values)[VALUE_SIZE], const ee_option *option)
{
    double low, high, now = strtod(option->value, NULL);
    const char *range = option->range + (strncmp(option->range, "none or ", 8) == 0 ? 8 : 0);
    assert_int_equal(sscanf(range, "%lf to %lf", &low, &high), 2);
    const double tried[] = {low, now * 2 + 1, now / 2 + 0.25, 2, 3, 12, 50};
    size_t count = 0;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        char value[VALUE_SIZE];
        if (tried[i] < low || tried[i] > high) continue;
        snprintf(value, sizeof value, "%.12g", tried[i]);
        count = add_value(values, count, value);
    }
    return count;
}

/* "all|ring:N, N 1 to 9": every word, with a small number. */
static size_t add_words(char (*values)[VALUE_SIZE], const ee_option *option)
{
    size_t count = 0;
    for (const char *word = option->range; *word && *word != ','; word += *word == '|') {
        char value[VALUE_SIZE];
        size_t length = strcspn(word, "|,");
        bool numbered = length > 2 && strncmp(word + length - 2, ":N", 2) == 0;
        snprintf(value, sizeof value, "%.*s%s", (int)(numbered ? length - 1 : length), word, numbered ? "4" : "");
        count = add_value(values, count, value);
        word += length;
    }
    return count;
}

static size_t other_values(char (*values)[VALUE_SIZE], const ee_option *option)
{
    static const char *const texts[] = {"none", "conv1d:2:3+relu", "conv1d:2:1+relu", "1x4x2", "1x2x4", "2x1x1",
                                        "1x6x4"};
    if (strstr(option->range, " to ") && !strchr(option->range, '|')) return add_numbers(values, option);
    if (strncmp(option->range, "none or ", 8) != 0) return add_words(values, option);
    size_t count = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) count = add_value(values, count, texts[i]);
    return count;
}

typedef enum effect { REFUSED, NOT_TRIED, ACTS, NO_EFFECT } effect;

/* Takes the option's words out of the text; whether there were any. */
static bool take_out(char *text, const char *name)
{
    char word[80];
    bool found = false;
    snprintf(word, sizeof word, " %s=", name);
    for (char *at; (at = strstr(text, word)); found = true) {
        size_t length = 1 + strcspn(at + 1, " ");
        memmove(at, at + length, strlen(at + length) + 1);
    }
    return found;
}

/* The option that a bandit was refused for; "" where it was refused for something else. */
static void name_refused(const ee_error *error, char *name, size_t capacity)
{
    const char *dot = strchr(error->message, '.'), *needs = strstr(error->message, " needs ");
    name[0] = '\0';
    if (!dot || !needs || needs < dot || memchr(dot, ' ', (size_t)(needs - dot))) return;
    snprintf(name, capacity, "%.*s", (int)(needs - dot - 1), dot + 1);
}

/* The setting with another value of the option, and without what then no longer acts. */
static outcome try_value(const char *policy, const char *options, const char *name, const char *value, char *refused)
{
    char text[4096];
    outcome out;
    snprintf(text, sizeof text, " %s %s=%s", options, name, value);
    do {
        out = try_options(policy, text);
        name_refused(&out.error, refused, 64);
    } while (refused[0] && strcmp(refused, name) != 0 && take_out(text, refused));
    return out;
}

/* What changing the option does, beside the setting. */
static effect change(const char *policy, const char *options, const ee_option *option, const outcome *before)
{
    char values[VALUES][VALUE_SIZE];
    char refused[64];
    bool reserves = is_one_of(policy, option->name, reservations);
    bool is_refused = false;
    size_t count = other_values(values, option), taken = 0;
    for (size_t i = 0; i < count; i++) {
        char now[40 + VALUE_SIZE];
        snprintf(now, sizeof now, " %s=%.*s ", option->name, VALUE_SIZE - 1, values[i]);
        if (strstr(before->options, now)) continue;
        outcome after = try_value(policy, options, option->name, values[i], refused);
        is_refused = is_refused || strcmp(refused, option->name) == 0;
        if (after.error.status) continue;
        taken++;
        if (reserves ? after.memory != before->memory : after.sum != before->sum) return ACTS;
    }
    return taken ? NO_EFFECT : is_refused ? REFUSED : NOT_TRIED;
}

/* The names that have acted, "eenet.f1.width ", of all policies. */
static char acted[16384];

static bool has_acted(const char *policy, const char *name)
{
    char full[80];
    snprintf(full, sizeof full, "%.*s.%s ", (int)strcspn(policy, ":"), policy, name);
    return strstr(acted, full) != NULL;
}

static void note_acted(const char *policy, const char *name)
{
    size_t end = strlen(acted);
    if (has_acted(policy, name)) return;
    snprintf(acted + end, sizeof acted - end, "%.*s.%s ", (int)strcspn(policy, ":"), policy, name);
    assert_true(has_acted(policy, name));
}

/* Returns how many options have no effect, after naming them. In the usual form one in 60 of those that have acted
 * before is tried again. */
static size_t check_setting(const char *policy, const char *options, bool may_be_refused)
{
    static size_t setting;
    setting++;
    outcome before = try_options(policy, options);
    if (before.error.status && may_be_refused) return 0;
    if (before.error.status) fail_msg("%s: %s", policy, before.error.message);
    size_t idle = 0;
    ee_option option;
    for (size_t i = 0; ee_option_describe(policy, i, &option, NULL) == EE_OK; i++) {
        if (is_one_of(policy, option.name, exceptions)) continue;
        if ((setting + i) % test_long(60, 1) != 0 && has_acted(policy, option.name)) continue;
        effect found = change(policy, options, &option, &before);
        if (found == ACTS) note_acted(policy, option.name);
        if (found != NO_EFFECT || is_one_of(policy, option.name, silent)) continue;
        print_error("%s has no effect in %s %s\n", option.name, policy, options);
        idle++;
    }
    return idle;
}

TEST(options_act_or_are_refused)
{
    size_t idle = 0;
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *policy = settings[i].policy, *options = settings[i].options;
        idle += check_setting(policy, options, false);
        for (size_t k = 0; k < ADDITIONS && strncmp(policy, "eenet", 5) != 0; k++) {
            char text[512];
            snprintf(text, sizeof text, "%s %s", options, additions[k]);
            idle += check_setting(policy, text, true);
        }
    }
    assert_int_equal(idle, 0);
}

/* The scores after more rewards than there are recent samples. */
static uint64_t play_long(const char *policy, const char *options)
{
    enum { LONG = 1050 };
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    ee_settings asked = {.policy = policy, .dim = DIM, .seed = 3, .options = options};
    ee_error error = {EE_OK, ""};
    auto_bandit *bandit;
    ee_score scores[BLOCKS];
    if (ee_bandit_create(&asked, &bandit, &error)) fail_msg("%s: %s", policy, error.message);
    for (size_t round = 0; round < LONG; round++) {
        ee_arms arms = arms_of(round % CONTEXTS);
        size_t arm = round / 4 % BLOCKS;
        double reward = reward_of(round % CONTEXTS, arm, round);
        ok(ee_bandit_learn_from(bandit, &arms, arm, reward, NULL));
    }
    ee_arms arms = arms_of(1);
    ok(ee_bandit_score(bandit, &arms, scores, NULL));
    return add_bytes(sum, scores, sizeof scores);
}

TEST(a_long_run_shows_the_recent)
{
    static const struct {
        const char *network, *options;
    } cases[] = {
        {"f1", F1 "train_every=50"},
        {"f2", NETWORK "features=sketch:8 train_every=50 f2.history=all"},
        {"f3", F1 F3 "decision=neural train_every=50 f3.history=all"},
    };
    ee_policy policy;
    for (size_t i = 0; ee_policy_describe(i, &policy, NULL) == EE_OK; i++) {
        if (strchr(policy.name, ':')) continue;
        ee_option option;
        for (size_t k = 0; ee_option_describe(policy.name, k, &option, NULL) == EE_OK; k++) {
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                char name[16], before[256], after[256];
                snprintf(name, sizeof name, "%s.recent", cases[c].network);
                if (strcmp(option.name, name) != 0) continue;
                snprintf(before, sizeof before, "%s %s=0", cases[c].options, name);
                snprintf(after, sizeof after, "%s %s=0.5", cases[c].options, name);
                if (play_long(policy.name, before) == play_long(policy.name, after))
                    fail_msg("%s.%s has no effect", policy.name, name);
                note_acted(policy.name, name);
            }
        }
    }
}

TEST(every_option_acts_somewhere)
{
    ee_policy policy;
    for (size_t i = 0; ee_policy_describe(i, &policy, NULL) == EE_OK; i++) {
        ee_option option;
        for (size_t k = 0; ee_option_describe(policy.name, k, &option, NULL) == EE_OK; k++) {
            if (is_one_of(policy.name, option.name, exceptions)) continue;
            if (!has_acted(policy.name, option.name))
                fail_msg("%s.%s acts in none of the settings", policy.name, option.name);
        }
    }
}

/* Setting an option to what it is anyway is taken where it is said to act, and refused where not. The
 * usual form tries each third. */
TEST(what_is_said_to_act_is_taken)
{
    const size_t step = test_long(3, 1);
    ee_policy policy;
    for (size_t i = 0; ee_policy_describe(i, &policy, NULL) == EE_OK; i++) {
        ee_option option;
        for (size_t k = i % step; ee_option_describe(policy.name, k, &option, NULL) == EE_OK; k += step) {
            char text[160], refusal[128];
            snprintf(text, sizeof text, "pending=6 %s=%s", option.name, option.value);
            snprintf(refusal, sizeof refusal, "options: %.*s.%s needs ", (int)strcspn(policy.name, ":"), policy.name,
                     option.name);
            ee_settings asked = {.policy = policy.name, .dim = DIM, .seed = 3, .options = text};
            auto_bandit *bandit;
            ee_error error = {EE_OK, ""};
            ee_status status = ee_bandit_create(&asked, &bandit, &error);
            if (status != (option.acts ? EE_OK : EE_BAD_OPTION))
                fail_msg("%s %s: %s", policy.name, text, error.message);
            if (status) assert_memory_equal(error.message, refusal, strlen(refusal));
        }
    }
}
