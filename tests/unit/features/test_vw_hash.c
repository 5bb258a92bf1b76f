/* Places by Vowpal Wabbit's hash, against numbers of its own: tests/golden/vw_hashes.json. */
#include "features/vw_hash.h"

#include "named_rounds.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(golden_member(object, key));
}

static uint32_t number_of(const json_t *object, const char *key)
{
    return (uint32_t)json_integer_value(golden_member(object, key));
}

static uint32_t hash_text(const char *text, uint32_t seed)
{
    return vw_hash(text, strlen(text), seed);
}

TEST(hashes_are_as_stored)
{
    json_auto_t *golden = golden_load("vw_hashes.json");
    const json_t *rows = golden_member(golden, "murmur3");
    assert_true(json_array_size(rows) >= 4);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *text = json_string_value(json_array_get(row, 0));
        uint32_t seed = (uint32_t)json_integer_value(json_array_get(row, 1));
        assert_int_equal(vw_murmur(text, strlen(text), seed), json_integer_value(json_array_get(row, 2)));
    }
    const json_t *chained = golden_member(golden, "chain");
    rows = golden_member(golden, "features");
    assert_true(json_array_size(rows) >= 14);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        uint32_t space = hash_text(text_of(row, "namespace"), 0), hash = hash_text(text_of(row, "feature"), space);
        assert_int_equal(space, number_of(row, "namespace_hash"));
        assert_int_equal(hash, number_of(row, "hash"));
        assert_int_equal(hash & ((1U << 18) - 1), number_of(row, "index_18_bits"));
    }
    for (size_t i = 0; i < json_array_size(chained); i++) {
        const json_t *row = json_array_get(chained, i);
        uint32_t space = hash_text(text_of(row, "namespace"), 0), key = hash_text(text_of(row, "key"), space);
        assert_int_equal(hash_text(text_of(row, "value"), key), number_of(row, "hash"));
    }
}

/* The place of the one feature that a JSON object has, beside the constant. */
static uint32_t place_of(const char *options, const char *json)
{
    RELEASED_BY(memory_release) memory owner = {0};
    features self;
    auto_round *round = round_make();
    char whole[256];
    snprintf(whole, sizeof whole, "{\"_multi\":[%s]}", json);
    features_start(&self, &owner, options);
    ee_arms arms = features_meet(&self, round, whole);
    assert_int_equal(arms.dim, 1 << 18);
    assert_int_equal(arms.starts[1], 2);
    uint32_t constant = 11650396 & ((1 << 18) - 1);
    uint32_t place = arms.indices[arms.indices[0] == constant];
    assert_int_equal(arms.indices[arms.indices[0] != constant], constant);
    return place;
}

TEST(json_has_the_places_of_its_features)
{
    const char *vw = "hashing=vw products=none", *chain = "hashing=vw products=none chain_hash=on";
    assert_int_equal(place_of(vw, "{\"User\":{\"age\":3}}"), 143891);
    assert_int_equal(place_of(vw, "{\"User\":{\"profile\":\"gamer\"}}"), 110423);
    assert_int_equal(place_of(vw, "{\"deeper\":{\"User\":{\"profile\":\"gamer\"}}}"), 110423);
    assert_int_equal(place_of(vw, "{\"j\":[{\"taste\":\"salty\"}]}"), 65745);
    assert_int_equal(place_of(vw, "{\"i\":{\"constant\":1}}"), 26051);
    assert_int_equal(place_of(vw, "{\"FromUrl\":[{\"_text\":\"weatherSunny\"}]}"), 159054);
    assert_int_equal(place_of(vw, "{\"Action\":{\"7\":true}}"), 225265);
    assert_int_equal(place_of(vw, "{\"features\":[0,0,0,0,0,0,0,0,0,0,0,0,0,1]}"), 13700);
    assert_int_equal(place_of(vw, "{\"Geo\":{\"\":\"M\\u00fcnchen\"}}"), 114941);
    assert_int_equal(place_of(vw, "{\"feature\":true}"), 118880);
    assert_int_equal(place_of(chain, "{\"User\":{\"profile\":\"gamer\"}}"), 1317203431 & ((1 << 18) - 1));
    assert_int_equal(place_of(chain, "{\"User\":{\"age\":3}}"), 143891);
    assert_int_equal(place_of(vw, "{\"features\":[null,0,0,0,null,0,0,0,0,0,0,0,0,0,0,1]}"), 13700);
    /* What separates features in the text format is read as _. */
    assert_int_equal(place_of(vw, "{\"n\":{\"k\":\"a b|c:d\\te\"}}"), place_of(vw, "{\"n\":{\"ka_b_c_d_e\":true}}"));
    assert_int_equal(place_of(vw, "{\"n\":{\"_text\":\"a|b:c\"}}"), place_of(vw, "{\"n\":{\"a_b_c\":true}}"));
}

TEST(products_are_by_the_hashes_of_both)
{
    RELEASED_BY(memory_release) memory owner = {0};
    features self;
    auto_round *round = round_make();
    const uint32_t mask = (1U << 18) - 1;
    features_start(&self, &owner, "hashing=vw");
    ee_arms arms = features_meet(&self, round, "{\"User\":{\"age\":3},\"_multi\":[{\"j\":{\"taste\":\"salty\"}}]}");
    uint32_t product = (16777619U * 4102959635U ^ 459604177U) & mask;
    assert_int_equal(arms.starts[1], 4);
    bool found = false;
    for (size_t i = 0; i < 4; i++) found = found || (arms.indices[i] == product && arms.values[i] == 3);
    assert_true(found);
}
