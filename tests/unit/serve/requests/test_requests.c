/* Bodies of decide and reward requests: what is read from them, and what is said of those that are wrong. */
#include <stdio.h>

#include "serve/requests/decide_request.h"
#include "serve/requests/reward_request.h"
#include "support.h"

static const decide_limits of_names = {.dim = 0, .actions = 4, .features = 6};
static const decide_limits of_vectors = {.dim = 3, .actions = 4, .features = 6};

static memory owner;
static decide_request request;
static ee_error error;

static int set_up(void **state)
{
    (void)state;
    request = (decide_request){.owner = &owner};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_release(&owner);
    return 0;
}

static void assert_text(json_text got, const char *words)
{
    assert_int_equal(got.length, strlen(words));
    assert_memory_equal(got.bytes, words, got.length);
}

static ee_status read_body(const decide_limits *limits, const char *body)
{
    json_token token;
    json_reader reader = decide_request_start(&request, words(body));
    ok(json_next(&reader, &token, &error));
    return decide_request_read(&request, &reader, limits, &error);
}

static void assert_refused(const decide_limits *limits, const char *body, const char *message)
{
    request = (decide_request){.owner = &owner};
    assert_int_equal(read_body(limits, body), EE_BAD_INPUT);
    assert_string_equal(error.message, message);
    memory_release(&owner);
}

TEST_WITH(named_features_are_read, set_up, tear_down)
{
    const char *body =
        " {\"exclude\": [\"b\"], \"id\": \"x\\u00e4\", \"context\": {\"user\": {\"age\": 31}},\n"
        "\"dry_run\": true, \"actions\": [{\"id\": \"a\", \"features\": {\"p\": 9.50}}, {\"features\": { }, \"id\": "
        "\"\\\"b\"}, {\"id\":\"b\",\"features\":{\"q\":[1,\n2]}}]} ";
    ok(read_body(&of_names, body));
    assert_text(request.id, "x\xc3\xa4");
    assert_text(request.context, "{\"user\": {\"age\": 31}}");
    assert_int_equal(request.count, 3);
    assert_true(request.named && request.dry_run && !request.deferred);
    assert_text(request.names[1], "\"b");
    assert_text(request.features[0], "{\"p\": 9.50}");
    assert_int_equal(request.excluded_count, 1);
    assert_memory_equal(request.excluded, "\0\0\1", 3);
    assert_true(request.bytes.bytes == body + 1 && request.bytes.length == strlen(body) - 2);

    char *context = NULL;
    size_t size = 0, capacity = 0;
    ok(decide_request_context(&request, NULL, &context, &size, &capacity, &error));
    assert_text((json_text){context, size}, "{\"user\": {\"age\": 31},\"_multi\":[{\"_tag\":\"a\",\"p\": 9.50},"
                                            "{\"_tag\":\"\\\"b\"},{\"_tag\":\"b\",\"q\":[1, 2]}]}");
    memory_free(context);

    /* the room serves the next, of which nothing of the last is left */
    ok(read_body(&of_names, "{\"actions\":[{\"id\":\"c\",\"features\":{}}]}"));
    assert_null(request.id.bytes);
    assert_null(request.context.bytes);
    assert_int_equal(request.excluded_count, 0);
    assert_false(request.dry_run);
    context = NULL;
    size = capacity = 0;
    ok(decide_request_context(&request, NULL, &context, &size, &capacity, &error));
    assert_text((json_text){context, size}, "{\"_multi\":[{\"_tag\":\"c\"}]}");
    memory_free(context);
}

TEST_WITH(vectors_are_read, set_up, tear_down)
{
    const float values[] = {1, 2.5F, -3e8F, 4, 5, 0.1F};
    ok(read_body(&of_vectors, "{\"actions\":[[1,2.5,-3e8],[4,5,0.1]],\"exclude\":[\"0\",\"0\"]}"));
    assert_false(request.named);
    assert_int_equal(request.count, 2);
    assert_memory_equal(request.values, values, sizeof values);
    assert_int_equal(request.excluded_count, 1);
    ok(read_body(&of_vectors, "{\"actions\":[{\"id\":\"a\",\"vector\":[1,2.5,-3e8]},{\"vector\":[4,5,0.1],"
                              "\"id\":\"b\"}],\"exclude\":null,\"context\":null}"));
    assert_true(request.named);
    assert_memory_equal(request.values, values, sizeof values);
    size_t bytes = memory_bytes(&owner);
    for (int i = 0; i < 100; i++) ok(read_body(&of_vectors, "{\"actions\":[[1,2,3],[4,5,6]]}"));
    assert_int_equal(memory_bytes(&owner), bytes);
}

/* The id says which action it is. */
TEST_WITH(features_are_optional, set_up, tear_down)
{
    char *bytes = NULL;
    size_t size = 0, capacity = 0;
    ok(read_body(&of_names, "{\"actions\":[{\"id\":\"a\"},{\"id\":\"b\",\"features\":{}}]}"));
    ok(decide_request_context(&request, &owner, &bytes, &size, &capacity, &error));
    static const char expected[] = "{\"_multi\":[{\"_tag\":\"a\"},{\"_tag\":\"b\"}]}";
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
}

TEST(what_is_wrong_is_said_with_its_place)
{
    const decide_limits *names = &of_names, *vectors = &of_vectors;
    assert_refused(vectors, "{\"actions\":[[1,2,3],[1,2]]}", "actions[1] has 2 numbers, but the bandit takes 3");
    assert_refused(vectors, "{\"actions\":[{\"id\":\"a\",\"vector\":[1,2,3,4]}]}",
                   "actions[0].vector has 4 numbers, but the bandit takes 3");
    assert_refused(vectors, "{\"actions\":[[1,2,1e10]]}", "actions[0][2] must be -1e9 to 1e9, got 1e+10");
    assert_refused(vectors, "{\"actions\":[[1,2,\"3\"]]}", "actions[0][2] must be a number");
    assert_refused(vectors, "{\"actions\":[[1,2,3],{\"id\":\"a\",\"vector\":[1,2,3]}]}",
                   "actions[1] is an object, but the actions before it are not");
    assert_refused(vectors, "{\"actions\":[{\"id\":\"a\",\"features\":{}}]}",
                   "actions[0].features: the bandit takes vectors of 3 numbers, not named features");
    assert_refused(vectors, "{\"actions\":[[1,2,3]],\"context\":{}}",
                   "context: the bandit takes vectors only; put the context into each action's vector");
    assert_refused(vectors, "{\"actions\":[[1,2,3]],\"exclude\":[\"1\"]}", "exclude[0]: no action has the id \"1\"");
    assert_refused(vectors, "{\"actions\":[[1,2,3]],\"exclude\":[\"0\"]}", "no action is left: all 1 are excluded");
    assert_refused(names, "{\"actions\":[\"red\"]}", "actions[0] must be an object: write {\"id\": \"red\"}");
    assert_refused(vectors, "{\"actions\":[7]}", "actions[0] must be an object, or an array of numbers");
    assert_refused(vectors, "{\"actions\":[[1,2,3]],\"actions\":[]}", "duplicate key \"actions\"");
    assert_refused(names, "{\"actions\":[[1]]}",
                   "actions[0] is a vector, but the bandit takes named features; expected "
                   "{\"id\": ..., \"features\": {...}}");
    assert_refused(names, "{\"dry_run\":1}", "dry_run must be true or false");
    assert_refused(names, "{}", "actions: expected at least one");
    assert_refused(names, "{\"action\":[]}", "unknown key \"action\"; did you mean \"actions\"?");
    assert_refused(
        names, "{\"zzzzzzzz\":[]}",
        "unknown key \"zzzzzzzz\"; expected \"id\", \"key\", \"context\", \"actions\", \"exclude\", \"slots\", "
        "\"defer\" or \"dry_run\"");
    assert_refused(names, "{\"actions\":[{\"id\":\"a\",\"feature\":{}}]}",
                   "actions[0]: unknown key \"feature\"; did you mean \"features\"?");
    assert_refused(names, "{\"actions\":[{\"features\":{}}]}", "actions[0]: missing \"id\"");
    assert_refused(names, "{\"actions\":[{\"id\":\"\",\"features\":{}}]}",
                   "actions[0].id must have 1 to 256 bytes, got 0");
    assert_refused(names, "{\"actions\":[{\"id\":\"a\\u0007\",\"features\":{}}]}",
                   "actions[0].id has a control character at byte 2");
    assert_refused(names, "{\"actions\":[{\"id\":\"a\",\"features\":{}},{\"id\":\"\\u0061\",\"features\":{}}]}",
                   "actions[1] and actions[0] have the same id, \"a\"");
    assert_refused(names, "{\"context\":{\"\\u005fmulti\":[]}}", "context: the key \"_multi\" is reserved");
    assert_refused(names, "{\"actions\":[{\"id\":\"a\",\"features\":{\"_tag\":\"b\"}}]}",
                   "actions[0].features: the key \"_tag\" is reserved");
    assert_refused(names, "{\"id\":7}", "id must be a string");
    assert_refused(names, "{\"id\":\"a\" 7}", "invalid JSON at byte 11: expected ',' or '}'");
}

TEST_WITH(limits_are_marked, set_up, tear_down)
{
    assert_int_equal(read_body(&of_vectors, "{\"actions\":[[1,2,3],[1,2,3],[1,2,3],[1,2,3],[1]]}"), EE_BAD_INPUT);
    assert_string_equal(error.message, "more than 4 actions in one decision (setting 'actions')");
    assert_true(request.too_large);
    assert_int_equal(read_body(&of_names, "{\"context\":{\"a\":[1,2,3,4,5,6,7]}}"), EE_BAD_INPUT);
    assert_true(request.too_large);
    assert_int_equal(read_body(&of_names, "{\"context\":7}"), EE_BAD_INPUT);
    assert_false(request.too_large);
}

TEST_WITH(many_actions_have_their_places, set_up, tear_down)
{
    enum { COUNT = 1000 };
    static char body[COUNT * 40];
    decide_limits limits = {.dim = 0, .actions = COUNT, .features = 10};
    int length = sprintf(body, "{\"exclude\":[\"name 777\",\"name 3\"],\"actions\":[");
    for (int i = 0; i < COUNT; i++)
        length += sprintf(body + length, "%s{\"id\":\"name %d\",\"features\":{}}", i ? "," : "", i);
    sprintf(body + length, "]}");
    ok(read_body(&limits, body));
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(request.excluded[i], i == 3 || i == 777);
}

static ee_status read_reward(const char *body, reward_request *out)
{
    static char room_bytes[256];
    kept_texts texts = {.bytes = room_bytes, .capacity = sizeof room_bytes};
    json_room room = {.owner = &owner};
    json_token token;
    json_reader reader = json_start(body, strlen(body), &room);
    ok(json_next(&reader, &token, &error));
    ee_status status = reward_request_read(out, &reader, &texts, &error);
    memory_release(&owner);
    return status;
}

TEST(rewards_are_read)
{
    reward_request reward;
    ok(read_reward("{\"value\":0.25,\"id\":\"a\\u0031\",\"reward_id\":\"r\"}", &reward));
    assert_text(reward.id, "a1");
    assert_text(reward.reward_id, "r");
    assert_true(reward.value == 0.25);
    ok(read_reward("{\"value\":-1e9,\"id\":\"a\",\"reward_id\":null}", &reward));
    assert_null(reward.reward_id.bytes);
    static const char *const wrong[][2] = {
        {"{\"value\":1}", "missing \"id\""},
        {"{\"id\":\"a\"}", "missing \"value\""},
        {"{\"id\":\"a\",\"value\":1.1e9}", "value must be -1e9 to 1e9, got 1.1e+09"},
        {"{\"id\":\"a\",\"value\":true}", "value must be a number"},
        {"{\"id\":\"a\",\"reward\":1}", "unknown key \"reward\"; did you mean \"value\"?"},
        {"{\"id\":\"a\",\"valu\":1}", "unknown key \"valu\"; did you mean \"value\"?"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_reward(wrong[i][0], &reward), EE_BAD_INPUT);
        assert_string_equal(error.message, wrong[i][1]);
    }
}
