/* Named features: which places and values the arms of a round have, and what is refused. */
#include "named_rounds.h"

#include "engine/arms.h"

typedef struct fixture {
    memory memory;
    features features;
    ee_round *round;
} fixture;

static void start(fixture *self, const char *options)
{
    self->memory = (memory){0};
    self->round = round_make();
    features_start(&self->features, &self->memory, options);
}

static void end(fixture *self)
{
    memory_release(&self->memory);
    ee_round_free(self->round);
}

/* The last arm of a round that is met for the first time. */
static void assert_arm(const char *options, const char *json, const char *expected)
{
    RELEASED_BY(end) fixture self;
    start(&self, options);
    ee_arms arms = features_meet(&self.features, self.round, json);
    ok(arms_check(&arms, self.features.dim, NULL));
    assert_string_equal(arm_text(&self.features, &arms, arms.count - 1), expected);
}

TEST(names_say_what_they_are)
{
    const char *options = "products=none standardize=off";
    assert_arm(options, "{\"_multi\":[{}]}", "constant:1");
    assert_arm(options,
               "{\"age\":31,\"user\":{\"plan\":\"free\",\"geo\":{\"city\":\"Bonn\"},\"new\":true},\"_multi\":[{}]}",
               "constant:1 age:31 user.plan=free:1 user.geo.city=Bonn:1 user.new:1");
    assert_arm(options, "{\"a\":false,\"b\":null,\"c\":0,\"_multi\":[{\"d\":\"\"}]}", "constant:1 d=:1");
    assert_arm(options, "{\"_multi\":[{\"v\":[1,0,true,null,2.5]}]}", "constant:1 v[0]:1 v[2]:1 v[4]:2.5");
    assert_arm(options, "{\"_multi\":[{\"n\":{\"tags\":[\"x\",\"y\"]}}]}", "constant:1 n.tags=x:1 n.tags=y:1");
    assert_arm(options, "{\"FromUrl\":[{\"w\":\"sun\"},{\"u\":{\"k\":2}}],\"_multi\":[{}]}",
               "constant:1 FromUrl.w=sun:1 FromUrl.u.k:2");
    assert_arm(options, "{\"_multi\":[{\"_tag\":\"id7\",\"_x\":{\"y\":[[1]]},\"i\":{\"constant\":1,\"id\":\"a\"}}]}",
               "constant:1 i.constant:1 i.id=a:1");
    assert_arm(options, "{\"_multi\":[{\"t\":{\"_text\":\" so it \\t is\"}}]}", "constant:1 t.so:1 t.it:1 t.is:1");
    assert_arm(options, "{\"a\\n\":\"\\u00fc\",\"_multi\":[{}]}", "constant:1 a\n=\xc3\xbc:1");
    /* What comes twice is summed. */
    assert_arm("products=none standardize=off", "{\"a\":1,\"b\":\"x\",\"a\":2,\"_multi\":[{\"a\":4,\"b\":\"x\"}]}",
               "constant:1 a:7 b=x:2");
    assert_arm("products=none standardize=off", "{\"a\":1,\"_multi\":[{\"a\":-1}]}", "constant:1");
}

TEST(products_are_those_asked_for)
{
    const char *json =
        "{\"u\":{\"a\":2,\"in\":{\"b\":true}},\"d\":{\"c\":3},\"_multi\":[{\"i\":{\"x\":5,\"y\":\"z\"}}]}";
    const char *single = "constant:1 u.a:2 u.in.b:1 d.c:3 i.x:5 i.y=z:1";
    const struct {
        const char *products, *expected;
    } cases[] = {
        {"none", ""},
        {"context*action", " u.a*i.x:10 u.a*i.y=z:2 u.in.b*i.x:5 u.in.b*i.y=z:1 d.c*i.x:15 d.c*i.y=z:3"},
        {"in*i", " u.in.b*i.x:5 u.in.b*i.y=z:1"},
        {"u*i+d*u", " u.a*i.x:10 u.a*i.y=z:2 u.in.b*i.x:5 u.in.b*i.y=z:1 d.c*u.a:6 d.c*u.in.b:3"},
        {"u*u", " u.a*u.in.b:2"},
        {"context*context", " u.a*u.in.b:2 u.a*d.c:6 u.in.b*d.c:3"},
        {"nothing*i", ""},
        {"u.in*d", " u.in.b*d.c:3"},
        {"e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+e*e+d*in", " d.c*u.in.b:3"}, /* as many as may be */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char options[160], expected[512];
        snprintf(options, sizeof options, "standardize=off products=%s", cases[i].products);
        snprintf(expected, sizeof expected, "%s%s", single, cases[i].expected);
        assert_arm(options, json, expected);
    }
}

TEST(numbers_are_standardised_as_they_were_seen)
{
    RELEASED_BY(end) fixture self;
    const double x[] = {1000, 1010, 970, 1000, 1020, 0, 1e7};
    double sum = 0, squares = 0;
    start(&self, "products=none");
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"x\":%g,\"_multi\":[{}]}", x[i]);
        ee_arms arms = features_meet(&self.features, self.round, json);
        sum += x[i];
        squares += x[i] * x[i];
        double count = (double)i + 1, mean = sum / count, deviation = sqrt(squares / count - mean * mean);
        if (i == 0) assert_int_equal(arms.starts[1], 1); /* all so far are equal */
        if (i == 0 || i == 3) continue;                  /* the fourth may be at the mean */
        assert_int_equal(arms.starts[1], 2);
        assert_close((double)arms.values[1], (x[i] - mean) / deviation, 1e-5);
        ee_feature feature;
        features_describe(&self.features, 1, &feature, NULL, 0);
        assert_int_equal(feature.count, i + 1);
        assert_close(feature.mean, mean, 1e-9);
        assert_close(feature.deviation, deviation, 1e-6);
    }
}

/* A number that is seldom there counts as 0 where it is missing, and is of size 1 where it is there. */
TEST(rare_numbers_are_indicators_and_others_cut_and_multiplied)
{
    RELEASED_BY(end) fixture self;
    start(&self, "products=none");
    for (int i = 0; i < 99; i++) features_meet(&self.features, self.round, "{\"_multi\":[{}]}");
    ee_arms arms = features_meet(&self.features, self.round, "{\"x\":40,\"_multi\":[{\"y\":-3},{}]}");
    assert_string_equal(arm_text(&self.features, &arms, 0), "constant:1 x:1 y:-1");
    ee_feature feature;
    features_describe(&self.features, 1, &feature, NULL, 0);
    assert_close(feature.mean, 0.4, 1e-12);
    assert_close(feature.deviation, 39.6, 1e-12);
    /* Others are cut, and multiplied as standardised. */
    RELEASED_BY(end) fixture often;
    start(&often, "");
    for (int i = 0; i < 1000; i++)
        features_meet(&often.features, often.round,
                      i % 2 ? "{\"x\":1,\"_multi\":[{\"p\":4}]}" : "{\"x\":3,\"_multi\":[{\"p\":8}]}");
    round_set(often.round, "{\"x\":100,\"_multi\":[{\"p\":4},{\"p\":-1e99}]}");
    ee_arms multiplied;
    ok(features_encode(&often.features, often.round, &multiplied, NULL));
    assert_string_equal(arm_text(&often.features, &multiplied, 0), "constant:1 x:5 p:-1 x*p:-5");
    assert_string_equal(arm_text(&often.features, &multiplied, 1), "constant:1 x:5 p:-5 x*p:-25");
}

TEST(later_and_long_names_share_places)
{
    RELEASED_BY(end) fixture self;
    start(&self, "names=3 hashes=4 standardize=off");
    ee_arms arms = features_meet(&self.features, self.round, "{\"a\":1,\"_multi\":[{\"b\":2,\"c\":3}]}");
    ok(arms_check(&arms, 7, NULL));
    assert_memory_equal(arms.indices, ((uint32_t[]){0, 1, 2}), 3 * sizeof(uint32_t));
    double sum = 0;
    for (size_t i = 3; i < arms.starts[1]; i++) sum += (double)arms.values[i];
    assert_close(sum, 3 + 2 + 3, 1e-6); /* c, a*b, a*c */
    assert_arm("names=3 hashes=0 standardize=off", "{\"a\":1,\"_multi\":[{\"b\":2,\"c\":3}]}", "constant:1 a:1 b:2");
    /* A long text is a feature as any other, but it is not kept. */
    char json[8192];
    RELEASED_BY(end) fixture of_long;
    start(&of_long, "names=9 hashes=4 products=none");
    snprintf(json, sizeof json, "{\"_multi\":[{\"k\":\"%01023d\",\"l\":\"%01022d\"},{\"m\":\"%05000d\"}]}", 0, 0, 0);
    ee_arms long_arms = features_meet(&of_long.features, of_long.round, json);
    assert_int_equal(features_count(&of_long.features), 2); /* l=0...0 has 1024 bytes */
    for (size_t arm = 0; arm < 2; arm++) assert_true(long_arms.indices[long_arms.starts[arm + 1] - 1] >= 9);
    assert_int_equal(long_arms.indices[1], 1);
    assert_true(of_long.features.names.text_capacity < 9 * 1024);
}

/* What encode does not know is shared, or left out, and nothing is learned from it. */
TEST(encoding_learns_nothing)
{
    for (int hashes = 0; hashes < 2; hashes++) {
        RELEASED_BY(end) fixture self;
        ee_arms arms;
        start(&self, hashes ? "hashes=8" : "hashes=0");
        features_meet(&self.features, self.round, "{\"a\":\"x\",\"_multi\":[{\"b\":true}]}");
        size_t count = features_count(&self.features);
        round_set(self.round, "{\"a\":\"y\",\"_multi\":[{\"b\":true}]}");
        ok(features_encode(&self.features, self.round, &arms, NULL));
        assert_int_equal(features_count(&self.features), count);
        assert_true(strncmp(arm_text(&self.features, &arms, 0), "constant:1 b:1", 14) == 0);
        assert_int_equal(arms.starts[1] > 2, hashes);
    }
}

TEST(a_round_that_fails_is_as_before)
{
    const struct {
        const char *json, *sentence;
    } cases[] = {
        {"{\"z\":1,\"v\":[[1]],\"_multi\":[{}]}", "features: v is an array within an array; flatten it into one array"},
        {"{\"z\":1,\"_multi\":[{\"q\":1},3]}", "features: _multi must hold objects, one per action"},
        {"{\"z\":1,\"_multi\":7}", "features: _multi must be an array of objects, one per action"},
        {"[1]", "round: expected a JSON object like {\"user\": {\"age\": 31}}"},
        {"{\"z\":1e101}", "features: z is 1e+101; expected -1e100 to 1e100"},
        {"{\"z\":1,", "round: "},
        {"{\"z\":1 \"y\":2}", "round: invalid JSON at byte 8: "},
        {"{\"_z\":[1 2]}", "round: invalid JSON at byte 10: "},
        {"", "round: "},
        {"{} {}", "round: invalid JSON at byte 4: "},
    };
    RELEASED_BY(end) fixture self;
    start(&self, "products=none");
    round_set(self.round, "{\"a\":true,\"_multi\":[{\"b\":true}]}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ee_round_read(self.round, cases[i].json, strlen(cases[i].json), &last_error), EE_BAD_INPUT);
        assert_memory_equal(last_error.message, cases[i].sentence, strlen(cases[i].sentence));
    }
    ee_arms arms;
    assert_int_equal(ee_round_count(self.round), 1);
    ok(features_learn(&self.features, self.round, NULL));
    ok(features_encode(&self.features, self.round, &arms, NULL));
    assert_int_equal(arms.count, 1);
    assert_string_equal(arm_text(&self.features, &arms, 0), "constant:1 a:1 b:1");
    /* What cannot be encoded changes nothing. */
    RELEASED_BY(end) fixture other;
    start(&other, "standardize=off");
    round_set(other.round, "{\"a\":1}");
    assert_int_equal(ee_round_count(other.round), 0);
    refuses(features_learn(&other.features, other.round, &last_error), "features: a round needs at least one action");
    round_set(other.round, "{\"_multi\":[{\"a\":{\"b\":2e9}}]}");
    refuses(features_learn(&other.features, other.round, &last_error),
            "features: a.b is 2e+09; expected -1e9 to 1e9: scale it");
    assert_int_equal(features_count(&other.features), 1);
}

TEST(names_are_not_endless)
{
    enum { LONG = 600 };
    char json[LONG + 64];
    auto_round *round = round_make();
    snprintf(json, sizeof json, "{\"%0*d\":1}", LONG, 0);
    refuses(ee_round_context(round, json, strlen(json), &last_error),
            "features: a name that begins with '' is longer than 512 bytes");
    snprintf(json, sizeof json, "{\"u\":{\"%0*d\":{}}}", LONG, 0);
    refuses(ee_round_context(round, json, strlen(json), &last_error),
            "features: a name that begins with 'u' is longer than 512 bytes");
    snprintf(json, sizeof json, "{\"%0512d\":{\"v\":{}}}", 0); /* the path is as long as it may be */
    assert_int_equal(ee_round_context(round, json, strlen(json), &last_error), EE_BAD_INPUT);
    snprintf(json, sizeof json, "{\"%0511d\":{\"\":{}}}", 0);
    ok(ee_round_context(round, json, strlen(json), &last_error));
    snprintf(json, sizeof json, "{\"u\":\"%0*d\"}", LONG, 0); /* a value may be */
    ok(ee_round_context(round, json, strlen(json), &last_error));
}

/* Names go to the same shared places in every process, now and later: a saved model relies on it. */
TEST(hashes_never_change)
{
    const struct {
        const char *name;
        uint64_t hash;
    } cases[] = {
        {"", 0x9ca066f1a4ab2eeaU},
        {"a", 0xacc00acd0b4d6a1fU},
        {"user.age", 0xfe12c2a4dcb7191eU},
        {"item.id=a7", 0x98987969987f5a2aU},
        {"FromUrl.timeOfDay=afternoon", 0x04909976590142a2U},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(names_hash(cases[i].name, strlen(cases[i].name)) == cases[i].hash);
    assert_true(names_product_hash(cases[2].hash, cases[3].hash) == 0x2bb7a6332045cb2cU);
}

/* Returns the beginning, `times` pieces of three bytes, and "]}". Release it with free. */
static char *repeat(const char *beginning, const char *piece, size_t times)
{
    char *json = malloc(strlen(beginning) + 3 * times + 3), *at = json + strlen(beginning);
    assert_non_null(json);
    strcpy(json, beginning);
    for (size_t i = 0; i < times; i++, at += 3) memcpy(at, piece, 3);
    strcpy(at, "]}");
    return json;
}

/* A few kilobytes that ask for a hundred million products; and as many actions without features as there are features
 * that they share: seen by the numbers alone, not by a look at each for each, which would not end. */
TEST(bombs_of_products_and_actions_are_refused)
{
    static const size_t times[] = {9000, 400000};
    for (int actions = 0; actions < 2; actions++) {
        RELEASED_BY(end) fixture self;
        auto_free char *shared = repeat("{\"v\":[1", ", 1", times[actions]),
                       *many = repeat("{\"_multi\":[{}", ",{}", times[actions]);
        start(&self, "");
        ok(ee_round_context(self.round, shared, strlen(shared), NULL));
        ok(actions ? ee_round_read(self.round, many, strlen(many), NULL)
                   : ee_round_action(self.round, shared, strlen(shared), NULL));
        refuses(features_learn(&self.features, self.round, &last_error),
                "features: more than 16777216 features and products in one round");
    }
}

/* A model of the constant alone that has more text than that. */
TEST(text_of_no_name_is_refused)
{
    RELEASED_BY(end) fixture self;
    uint64_t places = 1, bytes = 5000;
    char text[5000] = "constant";
    auto_archive saved = archive_writer(NULL);
    archive_u64(&saved, &places);
    archive_u64(&saved, &bytes);
    archive_bytes(&saved, text, sizeof text);
    archive_bytes(&saved, (uint8_t[100]){0}, 100);
    archive loaded = archive_reader(saved.bytes, saved.size, &last_error);
    start(&self, "hashes=0");
    features_archive(&self.features, &loaded);
    fails_with(loaded.status, EE_BAD_MODEL, "model: more text than feature names");
}

TEST(options_say_what_they_want)
{
    const struct {
        const char *options, *sentence;
    } cases[] = {
        {"names=1", "options: features.names must be 2 to 16777216, got 1"},
        {"name=1", "options: features has no option 'name'; did you mean 'names'?"},
        {"bits=4", "options: features.bits needs hashing=vw, but it is dictionary"},
        {"hashing=vw standardize=on", "options: features.standardize needs hashing=dictionary, but it is vw"},
        {"products=user", "options: features.products must be none, or at most 16 terms like context*action or "
                          "user*item+device*item, got user"},
    };
    static const char *const bad_products[] = {"a*", "*a", "a*b+", "+", "a*b*c", "a+b", "a*b++c*d"};
    features_options options;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        fails_with(features_read_options(&options, cases[i].options, &last_error), EE_BAD_OPTION, cases[i].sentence);
    for (size_t i = 0; i < sizeof bad_products / sizeof *bad_products; i++) {
        char text[64];
        snprintf(text, sizeof text, "products=%s", bad_products[i]);
        assert_int_equal(features_read_options(&options, text, &last_error), EE_BAD_OPTION);
    }
    char text[512];
    ok(features_read_options(&options, "", &last_error));
    features_format_options(&options, text, sizeof text);
    assert_string_equal(text,
                        "hashing=dictionary names=8192 hashes=4096 products=context*action standardize=on ids=on");
    assert_int_equal(features_dim(&options), 8192 + 4096);
}
