/* Lines of dsjson: what each field means, in any order, and what is wrong with a line. */
#include "data/logs/dsjson.h"

#include "data/logs/slot_context.h"
#include "data/support_sets.h"
#include "data/values/log_time.h"
#include "good_logs.h"
#include "support_files.h"

#define CONTEXT "{\"User\":{\"age\":3},\"_multi\":[{\"_tag\":\"a\"},{\"_tag\":\"b\\u00e9\"},{\"f\":[1,2]}]}"
#define ENDING "\"a\":[2,1,3],\"p\":[0.5,0.3,0.2],\"c\":" CONTEXT

typedef struct fixture {
    memory owner;
    dsjson *room;
    log_options options;
    log_event event;
    log_note note;
} fixture;

static fixture f;

static int start(void **state)
{
    (void)state;
    f = (fixture){.options = log_options_usual()};
    return dsjson_create(&f.owner, &f.room, NULL);
}

static int stop(void **state)
{
    (void)state;
    memory_release(&f.owner);
    return 0;
}

#define TEST_OF_LINES(name) TEST_WITH(name, start, stop)

static log_event *parse(const char *line)
{
    ok(dsjson_parse(f.room, line, strlen(line), &f.options, &f.event, &f.note, &last_error));
    return &f.event;
}

static const log_event *parse_good(const char *line)
{
    parse(line);
    if (f.note.verdict != LOG_EVENT) fail_msg("%s: %s", line, f.note.reason);
    return &f.event;
}

static void expect_passed(const char *line, log_verdict verdict, const char *reason)
{
    parse(line);
    if (f.note.verdict != verdict) fail_msg("%s: verdict %d: %s", line, (int)f.note.verdict, f.note.reason);
    assert_message_has(f.note.reason, reason);
}

TEST_OF_LINES(every_field_is_read)
{
    const log_event *event = parse_good(
        "{\"_label_cost\":-0.5,\"_label_probability\":0.5,\"_label_Action\":2,\"_labelIndex\":1,\"o\":[{\"v\":3}],"
        "\"Timestamp\":\"2021-05-18T13:28:29.6560000Z\",\"Version\":\"1\",\"EventId\":\"9\\\"1\"," ENDING
        ",\"VWState\":{\"m\":\"N/A\"},\"pdrop\":0.75,\"else\":[[{}]]}");
    assert_int_equal(event->count, 3);
    assert_int_equal(event->action, 1);
    assert_true(event->probability == 0.5);
    assert_true(event->probabilities[0] == 0.3 && event->probabilities[1] == 0.5 && event->probabilities[2] == 0.2);
    assert_true(event->reward == 0.5 && event->copies == 4 && event->time == 1621344509.656);
    assert_true(text_is(event->id, "9\"1") && text_is(event->context, CONTEXT));
    assert_true(text_is(event->actions[0], "a") && text_is(event->actions[1], "b\xc3\xa9") &&
                event->actions[2].length == 0);
    assert_false(event->skipped);
    assert_int_equal(event->baseline, 0);
    assert_int_equal(event->slot_count, 0);
    assert_int_equal(event->arms.count, 0);
}

/* The keys may come in any order, and what is missing may be told otherwise. */
TEST_OF_LINES(order_and_wording_are_free)
{
    const char *const same[] = {
        "{\"c\":" CONTEXT ",\"p\":[0.5,0.3,0.2],\"_label_cost\":-0.5,\"a\":[2,1,3],\"_labelIndex\":1}",
        "{" ENDING ",\"_label\":{\"Action\":2,\"Cost\":-0.5,\"Probability\":0.5}}",
        "{" ENDING ",\"_label_cost\":-0.5,\"_label_Action\":2}",
        "{" ENDING ",\"_label_cost\":-0.5}",                                              /* the first of a */
        "{\"a\":[1,0,2],\"p\":[0.5,0.3,0.2],\"c\":" CONTEXT ",\"_label_cost\":-0.5}",     /* from 0 */
        "{\"p\":[0.3,0.5,0.2],\"c\":" CONTEXT ",\"_label_cost\":-0.5,\"_labelIndex\":1}", /* p without a: in order */
        "  {" ENDING ", \"_label_cost\" : -0.5, \"_labelIndex\":1, \"_skipLearn\":false}\r",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const log_event *event = parse_good(same[i]);
        assert_int_equal(event->count, 3);
        assert_int_equal(event->action, 1);
        assert_true(event->probability == 0.5 && event->probabilities[0] == 0.3);
        assert_true(event->reward == 0.5 && event->copies == 1);
        assert_true(isnan(event->time));
    }
    const log_event *event =
        parse_good("{\"_label_cost\":0,\"_label_probability\":0.5,\"_labelIndex\":2,\"c\":" CONTEXT "}");
    assert_null(event->probabilities);
    assert_true(event->probability == 0.5 && event->action == 2);
    event = parse_good("{\"_label_cost\":0,\"a\":[3,1],\"p\":[0.9,0.1],\"c\":" CONTEXT "}");
    assert_true(event->probabilities[1] == 0); /* an action that was not possible */
}

static double reward_by(log_aggregation aggregation, const char *line)
{
    f.options.aggregation = aggregation;
    return parse_good(line)->reward;
}

TEST_OF_LINES(observations_are_aggregated)
{
    f.options.default_reward = -7;
    const char *several =
        "{\"_label_cost\":-9,\"_original_label_cost\":-8,\"o\":[{\"v\":2,\"ActionTaken\":false},"
        "{\"EventId\":\"x\",\"ActionTaken\":true},{\"v\":{\"click\":1}},{\"v\":5},3,{\"v\":-4}]," ENDING "}";
    const char *none = "{\"_label_cost\":-9,\"o\":[{\"ActionTaken\":true}]," ENDING "}";
    assert_true(reward_by(LOG_REWARD_LABEL, several) == 8); /* as it was before apprentice mode */
    assert_true(reward_by(LOG_REWARD_FIRST, several) == 2);
    assert_true(reward_by(LOG_REWARD_LAST, several) == -4);
    assert_true(reward_by(LOG_REWARD_SUM, several) == 3);
    assert_true(reward_by(LOG_REWARD_MEAN, several) == 1);
    assert_true(reward_by(LOG_REWARD_MAX, several) == 5 && reward_by(LOG_REWARD_LABEL, none) == 9);
    assert_true(reward_by(LOG_REWARD_MAX, none) == -7);
    assert_true(reward_by(LOG_REWARD_MAX, "{\"o\":[{\"v\":-2},{\"v\":-3}]," ENDING "}") == -2);
}

TEST_OF_LINES(deferred_events_are_skipped_unless_activated)
{
    assert_true(parse_good("{\"_label_cost\":0,\"_skipLearn\":true," ENDING "}")->skipped);
    assert_true(parse_good("{\"_label_cost\":0,\"_deferred\":true," ENDING "}")->skipped);
    assert_true(parse_good("{\"_label_cost\":0,\"DeferredAction\":true," ENDING "}")->skipped);
    assert_false(parse_good("{\"_label_cost\":0,\"DeferredAction\":false," ENDING "}")->skipped);
    assert_false(
        parse_good("{\"_label_cost\":0,\"_deferred\":true,\"o\":[{\"ActionTaken\":true}]," ENDING "}")->skipped);
    assert_false(parse_good("{\"_deferred\":true,\"_outcomes\":[{\"_label_cost\":0,\"_a\":[0],\"_p\":[1]},"
                            "{\"_label_cost\":0,\"_a\":[1],\"_p\":[1],\"_o\":[{\"ActionTaken\":true}]}],\"c\":" CONTEXT
                            "}")
                     ->skipped);
}

TEST_OF_LINES(slots_have_rewards_of_their_own)
{
    const char *line =
        "{\"_ba\":[2,0],\"_outcomes\":[{\"_label_cost\":-1,\"_id\":\"top\",\"_a\":[1,2],\"_p\":[0.75,0.25],"
        "\"_o\":[{\"v\":4},{\"v\":2}]},{\"_a\":[2],\"_p\":[1],\"_label_cost\":-3,"
        "\"_original_label_cost\":-2}],\"c\":" CONTEXT "}";
    const log_event *event = parse_good(line);
    assert_int_equal(event->slot_count, 2);
    assert_false(event->slate);
    assert_int_equal(event->count, 3);
    assert_int_equal(event->action, 1);
    assert_int_equal(event->baseline, 2);
    assert_true(event->probability == 0.75 && event->reward == 1);
    assert_true(event->probabilities[0] == 0 && event->probabilities[1] == 0.75 && event->probabilities[2] == 0.25);
    assert_true(text_is(event->slots[0].id, "top") && event->slots[0].reward == 1);
    assert_int_equal(event->slots[0].count, 2);
    assert_int_equal(event->slots[0].actions[1], 2);
    assert_true(event->slots[1].actions[0] == 2 && event->slots[1].probabilities[0] == 1);
    assert_true(event->slots[1].reward == 2);
    f.options.aggregation = LOG_REWARD_MEAN;
    f.options.default_reward = -1;
    event = parse_good(line);
    assert_true(event->slots[0].reward == 3 && event->slots[1].reward == -1);
}

/* In the context: who may fill it, its features, its id where the outcome has none. */
TEST_OF_LINES(slots_have_features_of_their_own)
{
    const char *line =
        "{\"c\":{\"_slots\":[{\"size\":\"L\",\"_id\":\"t\\u00e9\", \"at\":[1,{\"_id\":2}],\"_inc\":[2,0]},{\"_id\":7}],"
        "\"u\":{\"b\\n\": 1} , \"_multi\":[{\"_tag\":\"b\\u00e9\"},{},{}]},\"_ba\":[0,1],\"_outcomes\":[{\"_a\":[2,0],"
        "\"_p\":[0.75,0.25],\"_label_cost\":-1},{\"_a\":[0,1],\"_p\":[0.5,0.5],\"_skipLearn\":true}]}";
    const log_event *event = parse_good(line);
    const log_slot *slots = event->slots;
    assert_true(text_is(event->context, "{\"u\":{\"b\\n\": 1} , \"_multi\":[{\"_tag\":\"b\\u00e9\"},{},{}]}"));
    assert_true(text_is(event->actions[0], "b\xc3\xa9") && text_is(slots[0].id, "t\xc3\xa9") &&
                text_is(slots[1].id, "7"));
    assert_true(text_is(slots[0].features, "{\"size\":\"L\", \"at\":[1,{\"_id\":2}]}") && !slots[1].features.length);
    assert_true(slots[0].allowed_count == 2 && slots[0].allowed[0] == 2 && slots[0].allowed[1] == 0);
    assert_true(!slots[1].allowed && slots[1].allowed_count == 0);
    assert_true(slots[0].baseline == 0 && slots[1].baseline == 1);
    assert_true(!slots[0].skipped && slots[1].skipped && slots[1].reward == 0 && !event->skipped);
    event = parse_good("{\"_outcomes\":[{\"_a\":[0],\"_p\":[1],\"_skipLearn\":true}],\"_ba\":[3,0],\"c\":" CONTEXT "}");
    assert_true(event->skipped && event->baseline == 0 && event->slots[0].baseline == SIZE_MAX);
    expect_passed("{\"_outcomes\":[{\"_a\":[0],\"_p\":[1],\"_label_cost\":0}],\"c\":{\"_slots\":[{\"_inc\":[3]}],"
                  "\"_multi\":[{},{},{}]}}",
                  LOG_INVALID, "slot 1: _inc has an unknown action");
}

TEST_OF_LINES(a_served_line_tells_where_it_comes_from)
{
    const size_t actions[] = {1, 0, 2}, allowed[] = {0, 1};
    const double probabilities[] = {0.5, 0.25, 0.25}, learned[] = {0, 1};
    const log_slot slots[] = {{.id = {"top", 3},
                               .count = 3,
                               .actions = actions,
                               .probabilities = probabilities,
                               .reward = 0.5,
                               .baseline = 2,
                               .features = {"{ \"big\":true }", 14}},
                              {.count = 2,
                               .actions = actions + 1,
                               .probabilities = (const double[]){0.5, 0.5},
                               .reward = 2,
                               .baseline = 0,
                               .allowed = allowed,
                               .allowed_count = 2}};
    const log_event event = {.id = {"x", 1},
                             .time = (double)NAN,
                             .count = 3,
                             .action = 1,
                             .probability = 0.5,
                             .reward = 0.5,
                             .copies = 1,
                             .baseline = 2,
                             .slots = slots,
                             .slot_count = 2,
                             .context = {"{\"_multi\":[{},{},{}]}", 21}};
    const dsjson_source source = {learned, 12, 34};
    text line = text_start(NULL);
    dsjson_format_served(&line, &event, &source);
    assert_string_equal(
        line.bytes, "{\"Version\":\"1\",\"EventId\":\"x\",\"_outcomes\":[{\"_label_cost\":-0,\"_id\":\"top\",\"_a\":"
                    "[1,0,2],\"_p\":[0.5,0.25,0.25],\"_original_label_cost\":-0.5},{\"_label_cost\":-1,\"_a\":[0,2],"
                    "\"_p\":[0.5,0.5],\"_original_label_cost\":-2}],\"_ba\":[2,0],\"c\":{\"_multi\":[{},{},{}],"
                    "\"_slots\":[{\"_id\":\"top\",\"big\":true},{\"_inc\":[0,1]}]},\"VWState\":{\"m\":\"12\"},"
                    "\"_cursor\":34}\n");
    line.bytes[line.length - 1] = 0;
    const log_event *again = parse_good(line.bytes);
    assert_true(again->slots[0].reward == 0.5 && again->slots[1].reward == 2);
    memory_free(line.bytes);
}

/* The features of the slot and those that are shared, together and apart again. */
TEST(a_slot_sees_its_features_beside_the_shared_ones)
{
    static const struct {
        const char *context, *features, *joined, *shared, *own;
    } cases[] = {
        {"{\"u\":1}", "{ \"big\":true }", "{\"_slot\":10,\"big\":true,\"u\":1}", "\"u\":1", "\"big\":true"},
        {"{\"u\":\n1}", "", "{\"_slot\":0,\"u\": 1}", "\"u\": 1", ""},
        {"{\"_slot\":3}", "{}", "{\"_slot\":0,\"_slot\":3}", "\"_slot\":3", ""},
        {"{}", "{\"a\":2}", "{\"_slot\":5,\"a\":2}", "", "\"a\":2"},
        {"", "", "{\"_slot\":0}", "", ""},
    };
    json_text shared, own;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text joined = text_start(NULL);
        slot_context(&joined, (json_text){cases[i].context, strlen(cases[i].context)},
                     (json_text){cases[i].features, strlen(cases[i].features)});
        assert_string_equal(joined.bytes, cases[i].joined);
        assert_true(slot_context_split((json_text){joined.bytes, joined.length}, &shared, &own));
        assert_true(text_is(shared, cases[i].shared) && text_is(own, cases[i].own));
        memory_free(joined.bytes);
    }
    static const char *const others[] = {"{}", "{\"u\":1}", "{\"_slot\":99,\"u\":1}",
                                         "{\"_slot\":99999999999999999999,\"u\":1}", "{\"_slot\":3,}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(slot_context_split((json_text){others[i], strlen(others[i])}, &shared, &own));
}

TEST_OF_LINES(slates_have_one_reward)
{
    const log_event *event = parse_good(
        "{\"_label_cost\":-2,\"o\":[{\"v\":6}],\"_outcomes\":[{\"_a\":[1,0],\"_p\":[0.8,0.2]},{\"_a\":[2,0,1],"
        "\"_p\":[0.5,0.25,0.25]}],\"c\":{\"_multi\":[{\"_slot_id\":0},{\"_slot_id\":0},{\"_slot_id\":1},"
        "{\"_slot_id\":1},{\"_slot_id\":1}]}}");
    assert_true(event->slate && event->slot_count == 2);
    assert_int_equal(event->count, 2);
    assert_int_equal(event->action, 1);
    assert_true(event->reward == 2 && event->probability == 0.8 && event->probabilities[0] == 0.2);
    assert_true(isnan(event->slots[0].reward) && isnan(event->slots[1].reward));
    assert_int_equal(event->slots[1].actions[0], 2);
}

TEST_OF_LINES(vectors_become_arms)
{
    /* _dim before and after them */
    const char *const dense[] = {"{\"_label_cost\":0,\"_dim\":2,\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":[{\"x\":["
                                 "1,2]},{\"x\":[3,-4.5]}]}}",
                                 "{\"_label_cost\":0,\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":[{\"x\":[1,2]},{"
                                 "\"x\":[3,-4.5]}]},\"_dim\":2}"};
    for (size_t i = 0; i < 2; i++) {
        const ee_arms *arms = &parse_good(dense[i])->arms;
        assert_true(arms->count == 2 && arms->dim == 2 && !arms->starts);
        assert_true(arms->values[1] == 2 && arms->values[3] == -4.5f);
        assert_int_equal(f.event.context.length, 0);
    }
    const ee_arms *arms = &parse_good("{\"_label_cost\":0,\"_dim\":9,\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":["
                                      "{\"x\":{}},{\"x\":{\"0\":3,\"8\":0.5}}]}}")
                               ->arms;
    assert_true(arms->count == 2 && arms->dim == 9 && arms->starts[0] == 0 && arms->starts[1] == 0);
    assert_true(arms->starts[2] == 2 && arms->indices[1] == 8 && arms->values[1] == 0.5f);
    const char *const head = "{\"_label_cost\":0,\"_dim\":2,\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{\"_multi\":[";
    const char *const wrong[] = {"{\"x\":[1]},{\"x\":[3,4]}]}}",    "{\"x\":[1,2]},{}]}}",
                                 "{\"x\":{\"2\":1}},{\"x\":{}}]}}", "{\"x\":{\"1\":1,\"0\":1}},{\"x\":{}}]}}",
                                 "{\"x\":[1,2]},{\"x\":{}}]}}",     "{\"x\":[1,\"\"]},{\"x\":[1,2]}]}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_passed(formatted("%s%s", head, wrong[i]), LOG_INVALID, "vector");
    }
}

TEST_OF_LINES(what_is_no_event_is_told)
{
    static const struct {
        log_verdict verdict;
        const char *line, *reason;
    } cases[] = {
        {LOG_BLANK, "", ""},
        {LOG_BLANK, " \t\r", ""},
        {LOG_BROKEN, "{\"_label_cost\":0", "invalid JSON at byte"},
        {LOG_BROKEN, "{" ENDING "}}", "invalid JSON"},
        {LOG_BROKEN, "{" ENDING ",\"_label_cost\":1e999}", "invalid JSON"},
        {LOG_BROKEN, "{" ENDING ",\"_label_cost\":NaN}", "invalid JSON"},
        {LOG_BROKEN, "nonsense", "invalid JSON"},
        {LOG_FOREIGN, "[CHECKPOINT INFO LINE]", "a checkpoint"},
        {LOG_FOREIGN, "[1,2]", "expected a JSON object"},
        {LOG_FOREIGN, "{}", "not a decision"},
        {LOG_FOREIGN, "{\"RewardValue\":1.0,\"EventId\":\"x\"}", "a reward without its decision"},
        {LOG_FOREIGN, "{\"_label_ca\":{\"cost\":1},\"c\":{}}", "continuous"},
        {LOG_FOREIGN, "{\"_label\":1,\"happiness\":1}", "not a decision"},
        {LOG_FOREIGN, "{\"_label_Cost\":1,\"_labelIndex\":0,\"_multi\":[{}]}", "neither c nor a"},
        {LOG_INVALID, "{" ENDING "}", "_label_cost is missing"},
        {LOG_INVALID, "{\"_label_cost\":\"1\"," ENDING "}", "_label_cost must be a number"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_labelIndex\":3," ENDING "}", "not one of the 3 actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_labelIndex\":-1," ENDING "}", "not one of the 3 actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_label_Action\":0," ENDING "}", "not one of the 3 actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_labelIndex\":0.5," ENDING "}", "not one of the 3 actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_labelIndex\":1,\"_label_Action\":1," ENDING "}", "but _label_Action"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_label_probability\":0.4," ENDING "}", "0.5 in p, but 0.4"},
        {LOG_INVALID, "{\"_label_cost\":0,\"_labelIndex\":0,\"c\":" CONTEXT "}",
         "probability of the chosen action is missing"},
        {LOG_INVALID, "{\"_label_cost\":0,\"a\":[1,1,2],\"p\":[0.5,0.3,0.2],\"c\":" CONTEXT "}", "different actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"a\":[4,1,2],\"p\":[0.5,0.3,0.2],\"c\":" CONTEXT "}",
         "not one of the 3 actions"},
        {LOG_INVALID, "{\"_label_cost\":0,\"a\":[3,1,2],\"p\":[0.5,0.5],\"c\":" CONTEXT "}",
         "expected 3 probabilities in p, one per action, got 2"},
        {LOG_INVALID, "{\"_label_cost\":0,\"a\":[\"1\"],\"p\":[1],\"c\":" CONTEXT "}", "a must be an array of numbers"},
        {LOG_INVALID, "{\"_label_cost\":0,\"pdrop\":1," ENDING "}", "pdrop"},
        {LOG_INVALID, "{\"_label_cost\":0,\"pdrop\":-0.5," ENDING "}", "pdrop"},
        {LOG_INVALID, "{\"_outcomes\":[{\"_a\":[0],\"_p\":[1]}],\"c\":" CONTEXT "}", "slot 1: _label_cost"},
        {LOG_INVALID, "{\"_outcomes\":[{\"_a\":[3],\"_p\":[1],\"_label_cost\":0}],\"c\":" CONTEXT "}", "slot 1"},
        {LOG_INVALID, "{\"_outcomes\":[{\"_a\":[0],\"_p\":[],\"_label_cost\":0}],\"c\":" CONTEXT "}", "slot 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_passed(cases[i].line, cases[i].verdict, cases[i].reason);
}

TEST_OF_LINES(a_bomb_of_nesting_is_refused)
{
    enum { DEPTH = 100000 };
    static char line[DEPTH + 40];
    size_t at = (size_t)snprintf(line, sizeof line, "{\"_label_cost\":0,\"c\":");
    memset(line + at, '[', DEPTH);
    expect_passed(line, LOG_BROKEN, "invalid JSON");
}

static void expect_time(const char *words, double seconds)
{
    double got;
    if (!log_time_parse((json_text){words, strlen(words)}, &got)) fail_msg("%s is no time", words);
    if (got != seconds) fail_msg("%s: %.9f", words, got);
}

TEST(times_are_read_and_written)
{
    expect_time("1970-01-01T00:00:00Z", 0);
    expect_time("2021-05-18T13:28:29.6560000Z", 1621344509.656);
    expect_time("2021-04-26T17:23:28.1726275", 1619457808.1726275);
    expect_time("2019-11-24 00:03:13.442536+00:00", 1574553793.442536);
    expect_time("2000-02-29", 951782400);
    expect_time("2000-02-29T01:30+02:00", 951780600);
    expect_time("2000-02-29T01:30:05-0130", 951793205);
    expect_time("1969-12-31T23:59:59.5Z", -0.5);
    static const char *const wrong[] = {"",           "2021-01-01T",           "2021",       "2021-01-01T24:00",
                                        "2021-13-01", "2021-01-01T10:00:00.",  "2021-02-29", "2021-01-01T10:00:00+",
                                        "2021-01-32", "2021-01-01T10:00:00Zx", "18/05/2021"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double got;
        assert_false(log_time_parse((json_text){wrong[i], strlen(wrong[i])}, &got));
    }
    for (double time = 5.4e8; time < 8e9; time += 12345678.7654321) {
        char words[LOG_TIME_SIZE];
        log_time_format(time, words);
        expect_time(words, time);
    }
    char words[LOG_TIME_SIZE];
    log_time_format(1621344509.656, words);
    assert_string_equal(words, "2021-05-18T13:28:29.6560000Z");
    log_time_format(0.99999999, words);
    assert_string_equal(words, "1970-01-01T00:00:01.0000000Z");
}
