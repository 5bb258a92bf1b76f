/* A JSON document as a tree: its values, what is not there, and what is refused. */
#include "support.h"

#include "data/values/json_tree.h"

static json_tree read_tree(const char *document)
{
    json_tree tree;
    if (json_tree_read(&tree, document, strlen(document), &last_error))
        fail_msg("%s: %s", document, last_error.message);
    return tree;
}

TEST(members_and_elements_are_found)
{
    RELEASED_BY(json_tree_release)
    json_tree tree = read_tree("{\"a\": [1, \"two\", null], \"b\": {\"c\": true}, \"d\\u00e9\": -0.5e1}");
    const json_value *list = json_member(tree.root, "a");
    assert_int_equal(json_count(list), 3);
    assert_true(json_element(list, 0)->number == 1.0);
    assert_string_equal(json_text_of(json_element(list, 1)), "two");
    assert_true(json_has_kind(json_element(list, 2), JSON_KIND_NULL));
    assert_true(json_has_kind(json_member(json_member(tree.root, "b"), "c"), JSON_KIND_TRUE));
    assert_true(json_member(tree.root, "d\xc3\xa9")->number == -5.0);
}

TEST(what_is_not_there_is_null)
{
    RELEASED_BY(json_tree_release) json_tree tree = read_tree("{\"a\": [], \"b\": 1}");
    assert_null(json_member(tree.root, "c"));
    assert_null(json_member(json_member(tree.root, "b"), "c"));
    assert_null(json_member(json_member(tree.root, "a"), "c"));
    assert_null(json_element(json_member(tree.root, "a"), 0));
    assert_null(json_member(NULL, "a"));
    assert_null(json_element(NULL, 0));
    assert_null(json_text_of(json_member(tree.root, "b")));
    assert_int_equal(json_count(tree.root), 0); /* an object has members, not elements */
    assert_false(json_is_flag(NULL));
}

TEST(whole_numbers_are_exact)
{
    static const struct {
        const char *text;
        bool whole;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"9007199254740993", true, 9007199254740993}, /* 2^53 + 1 is not a double */
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-1", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        RELEASED_BY(json_tree_release) json_tree tree = read_tree(cases[i].text);
        if (json_whole(tree.root, &value) != cases[i].whole) fail_msg("%s", cases[i].text);
        if (cases[i].whole) assert_true(value == cases[i].value);
    }
}

TEST(what_is_wrong_is_refused)
{
    static const char *const cases[][2] = {
        {"", "invalid JSON at byte 1"},
        {"{\"a\": 1,}", "invalid JSON at byte 9"},
        {"{} {}", "invalid JSON at byte 4"},
        {"{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}", "the key \"a\" occurs twice"},
        {"[\"\\u0000\"]", "a string contains a zero byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RELEASED_BY(json_tree_release) json_tree tree;
        assert_int_equal(json_tree_read(&tree, cases[i][0], strlen(cases[i][0]), &last_error), EE_BAD_INPUT);
        if (!strstr(last_error.message, cases[i][1])) fail_msg("%s: %s", cases[i][0], last_error.message);
        assert_null(tree.root);
    }
}
