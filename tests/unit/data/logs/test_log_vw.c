/* Logs in Vowpal Wabbit's text format: cb, cb_adf, ccb and slates. */

#include "data/support_sets.h"
#include "data/values/text.h"
#include "open_log.h"
#include "support_files.h"

/* Writes the file and opens it: "vw:FOLDER/log.txt" and the options; NULL: detected by its first bytes. */
static void open_text(const char *lines, const char *options)
{
    folder_write_text(&here, "log.txt", lines);
    open_log(formatted("%s%s/log.txt%s", options ? "vw:" : "", here.path, options ? options : ""));
}

TEST_IN_FOLDER(cb_has_an_event_in_each_line)
{
    open_text("\xef\xbb\xbf"
              "1:2:0.4 | a c\r\n"
              "3:0.5:0.2 |u b:2\n"
              "\n"
              "1 2:-1.5:0.25 3 | b\n"
              "| nothing was chosen\n"
              "3:0:1 'tag|",
              NULL);
    assert_true(next() && event.line == 1 && event.count == 3 && event.action == 0);
    assert_true(event.reward == -2 && event.probability == 0.4 && event.copies == 1 && isnan(event.time));
    assert_null(event.probabilities);
    assert_true(!event.id.length && text_is(event.actions[0], "1") && text_is(event.actions[2], "3"));
    assert_true(text_is(event.context, "{\"a\":true,\"c\":true,\"_multi\":["
                                       "{\"_tag\":\"1\",\"i\":{\"constant\":1,\"id\":\"1\"}},"
                                       "{\"_tag\":\"2\",\"i\":{\"constant\":1,\"id\":\"2\"}},"
                                       "{\"_tag\":\"3\",\"i\":{\"constant\":1,\"id\":\"3\"}}]}"));
    assert_true(next() && event.line == 2 && event.action == 2 && event.reward == -0.5 && event.probability == 0.2);
    assert_true(next() && event.line == 4 && event.count == 3 && event.action == 1 && event.reward == 1.5);
    assert_true(next() && event.line == 6 && event.action == 2 && event.reward == 0 && !signbit(event.reward));
    assert_false(next());
    assert_true(log_read(reader)->lines == 6 && log_read(reader)->foreign == 1 &&
                log_read(reader)->first_lines[0] == 5);
    assert_string_equal(log_read(reader)->first_reasons[0], "no label: nothing was chosen");
    assert_string_equal(log_remark(reader, 0), "Vowpal Wabbit text (cb): the reward is the negative cost.");
    assert_string_equal(log_remark(reader, 1), "3 actions, 1 to the largest in the file; otherwise add actions=N.");
}

/* Only what usable lines have counts; a list in a line says what was possible there. */
TEST_IN_FOLDER(the_actions_of_cb_are_those_of_usable_lines)
{
    static const char lines[] = "1001:1:0.5 | a\n1003:0:0.5 | a\n77:1:1.5 | a\n88:1 | a\n99:1:0.5 | a:1x\n";
    open_text(lines, "");
    assert_true(next() && event.count == 2 && event.action == 0);
    assert_true(next() && event.count == 2 && event.action == 1 && text_is(event.actions[1], "1003"));
    assert_false(next());
    assert_int_equal(log_read(reader)->invalid, 3);
    assert_message_has(log_remark(reader, 1),
                       "2 actions, the ones in the file, from 1001 to 1003; to count all others too, "
                       "add actions=1003.");
    open_text("2:1:0.5 | a\n1 3:0:0.5 | a\n6:0:0.5 | a\n1 6 2:1:0.3 | a\n", ",actions=5,reward=cost");
    assert_true(next() && event.count == 5 && event.action == 1 && event.reward == 1);
    assert_true(next() && event.count == 2 && event.action == 1 && text_is(event.actions[1], "3"));
    assert_false(next());
    assert_int_equal(log_read(reader)->invalid, 2);
    assert_string_equal(log_read(reader)->first_reasons[0], "action 6 is not one of the 5 actions");
    assert_string_equal(log_remark(reader, 0), "Vowpal Wabbit text (cb): the reward is the cost.");
}

/* As in VW, a probability of 0 is not an observation. */
TEST_IN_FOLDER(cb_chose_the_action_with_a_probability_above_0)
{
    open_text("1:7:0 2:1:0.5 3:9:0 | a\n1:3:0.25 2:8:0 3:9 | a\n1:7:0 2:6:0 | a\n", NULL);
    assert_true(next() && event.count == 3 && event.action == 1);
    assert_true(event.reward == -1 && event.probability == 0.5);
    assert_true(next() && event.count == 3 && event.action == 0);
    assert_true(event.reward == -3 && event.probability == 0.25);
    assert_false(next());
    assert_message_has(log_read(reader)->first_reasons[0], "above 0 and at most 1, got 0");
}

/* Labels of --cb N --eval begin with the action of the policy to be evaluated. */
TEST_IN_FOLDER(cb_eval_has_another_action_first)
{
    open_text("2 1:1:0.5 | a\n2 2:0.5:0.25 | b\n3 | c\nx 1:1:0.5 | d\n", NULL);
    assert_true(next() && event.count == 2 && event.action == 0 && event.reward == -1);
    assert_true(next() && event.count == 2 && event.action == 1 && event.probability == 0.25);
    assert_false(next());
    assert_true(log_read(reader)->foreign == 1 && log_read(reader)->invalid == 1);
}

TEST_IN_FOLDER(cb_adf_has_an_example_of_several_lines)
{
    open_text("shared |u age:31 plan=free\r\n"
              "0:1.0:0.5 'red|i x:2\r\n"
              "'blue |i y\r\n"
              "\r\n"
              " | b_1\n"
              "7:-1.5:0.25 |i:2 c\n"
              " |\n"
              "\n\n"
              "shared |\n"
              "| a\n"
              "| b\n"
              "\n"
              "| a\n"
              "2:0:0.125 'same| b\n"
              "3 'same| c",
              NULL);
    assert_true(next() && event.line == 1 && event.count == 2 && event.action == 0 && event.reward == -1);
    assert_true(event.probability == 0.5 && text_is(event.actions[0], "red") && text_is(event.actions[1], "blue"));
    assert_true(text_is(event.context, "{\"u\":{\"age\":31,\"plan=free\":true},\"_multi\":["
                                       "{\"_tag\":\"red\",\"i\":{\"x\":2}},{\"_tag\":\"blue\",\"i\":{\"y\":true}}]}"));
    assert_true(next() && event.line == 5 && event.count == 3 && event.action == 1 && event.reward == 1.5);
    assert_null(event.actions);
    assert_true(text_is(event.context, "{\"_multi\":[{\"b_1\":true},{\"i\":{\"c\":2}},{}]}"));
    assert_true(next() && event.line == 14 && event.count == 3 && event.action == 1 && event.probability == 0.125);
    assert_null(event.actions); /* two of the tags are the same */
    assert_false(next());
    assert_true(log_read(reader)->foreign == 1 && log_read(reader)->first_lines[0] == 10);
    assert_string_equal(log_remark(reader, 0), "Vowpal Wabbit text (cb_adf): the reward is the negative cost.");
}

TEST_IN_FOLDER(ccb_has_slots)
{
    open_text("ccb shared |User b\n"
              "ccb action |Action d\n"
              "ccb action |Action e\n"
              "ccb action |Action f\n"
              "ccb slot 1:-2:0.2 0,1 'top|Slot h\n"
              "ccb slot 2:0:0.25 |\n"
              "\n"
              "ccb action |\n"
              "ccb action | e\n"
              "ccb slot 1:0.5:0.9,0:0.1 | j\n"
              "\n"
              "ccb shared |User b\n"
              "ccb action |Action d\n"
              "ccb slot |Slot h\n",
              NULL);
    assert_true(next());
    assert_true(event.line == 1 && event.count == 3 && event.action == 1 && event.slot_count == 2 && !event.slate);
    assert_true(event.reward == 2 && event.probability == 0.2 && !event.probabilities);
    const log_slot *slot = &event.slots[0];
    assert_true(text_is(slot->id, "top") && slot->count == 2 && slot->actions[0] == 1 && slot->actions[1] == 0);
    assert_true(slot->probabilities[0] == 0.2 && isnan(slot->probabilities[1]) && log_slot_is_partial(slot));
    assert_true(slot->allowed_count == 2 && slot->allowed[0] == 0 && slot->allowed[1] == 1);
    assert_true(text_is(slot->features, "{\"Slot\":{\"h\":true}}"));
    slot = &event.slots[1]; /* what the first one took is not possible */
    assert_true(slot->count == 2 && slot->actions[0] == 2 && slot->actions[1] == 0 && slot->reward == 0);
    assert_true(!slot->allowed && !slot->features.length);
    assert_true(text_is(event.context, "{\"User\":{\"b\":true},\"_multi\":[{\"Action\":{\"d\":true}},"
                                       "{\"Action\":{\"e\":true}},{\"Action\":{\"f\":true}}]}"));
    assert_true(next() && event.count == 2 && event.action == 1 && event.reward == -0.5 && event.slots[0].count == 2);
    assert_true(event.probabilities && event.probabilities[0] == 0.1 && event.probabilities[1] == 0.9);
    assert_true(text_is(event.context, "{\"_multi\":[{},{\"e\":true}]}"));
    assert_false(next());
    assert_true(log_read(reader)->foreign == 1 && log_read(reader)->first_lines[0] == 12);
}

TEST_IN_FOLDER(slates_have_one_cost)
{
    open_text("slates shared 0.8 | s\n"
              "slates action 0 | a\n"
              "slates action 1 | b\n"
              "slates action 0 |\n"
              "slates action 0 | c\n"
              "slates slot 2:0.8,0:0.2 | x\n"
              "slates slot  0:0.6 |\n"
              "\n"
              "slates shared | s\n"
              "slates action 0 | a\n"
              "slates slot |\n",
              NULL);
    assert_true(next() && event.slate && event.slot_count == 2 && event.count == 3 && event.action == 2);
    assert_true(event.reward == -0.8 && event.probability == 0.8);
    assert_true(event.probabilities && event.probabilities[0] == 0.2 && event.probabilities[1] == 0);
    assert_true(event.slots[0].count == 3 && isnan(event.slots[0].reward));
    assert_true(event.slots[1].count == 1 && event.slots[1].probabilities[0] == 0.6);
    assert_true(text_is(event.context,
                        "{\"s\":true,\"_multi\":[{\"_slot_id\":0,\"a\":true},{\"_slot_id\":1,\"b\":true},"
                        "{\"_slot_id\":0},{\"_slot_id\":0,\"c\":true}]}"));
    assert_false(next());
    assert_int_equal(log_read(reader)->foreign, 1);
}

static const struct {
    const char *lines;
    size_t line;
    const char *reason;
} wrong[] = {
    {"1:1:0.5 | a\n2:1:1.5 | a\n", 2, "above 0 and at most 1, got 1.5"},
    {"1:1:0.5 | a\n2:1:-0.5 | a\n", 2, "above 0 and at most 1, got -0.5"},
    {"1:1:0.5 | a\n2:1:0 | a\n", 2, "above 0 and at most 1, got 0"},
    {"1:1:0.5 | a\n2:1 | a\n", 2, "the label has no probability: expected ACTION:COST:PROBABILITY"},
    {"1:1:0.5 | a\n2:x:0.5 | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got '2:x:0.5'"},
    {"1:1:0.5 | a\n2:nan:0.5 | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got '2:nan:0.5'"},
    {"1:1:0.5 | a\n2:1:0.5:7 | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got '2:1:0.5:7'"},
    {"1:1:0.5 | a\n2::0.5 | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got '2::0.5'"},
    {"1:1:0.5 | a\nred:1:0.5 | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got 'red:1:0.5'"},
    {"1:1:0.5 | a\n2:1e10:0.5 | a\n", 2, "the reward must be -1e9 to 1e9"},
    {"1:1:0.5 | a\n1:1:0.5 2:1:0.5 | a\n", 2, "2 actions have a probability; only one can be the chosen one"},
    {"1:1:0.5 2 | a\n1:1:0.5 1 | a\n", 2, "action 1 is listed twice"},
    {"1:1:0.5 2 | a\n0:1:0.5 | a\n", 2, "action 0: cb counts from 1"},
    {"1:1:0.5 2 | a\nshared | a\n", 2, "expected a label ACTION:COST:PROBABILITY, got 'shared'"},
    {"1:1:0.5 2 | a\nno bar\n", 2, "expected '|' between label and features, got 'no bar'"},
    {"shared | a\n0:1:0.5 | b\n0:1:0.5 | c\n", 1, "two actions have a label, on lines 2 and 3"},
    {"shared | a\n0:1:0.5 1 | b\n| c\n", 2, "two labels, '0:1:0.5' and '1'; if each line is an event, add format=cb"},
    {"shared | a\n0:1:0.5 | b\nshared | c\n", 3, "'shared' must be the first line of an example"},
    {"shared 0:1:0.5 | a\n| b\n| c\n", 1, "unexpected '0:1:0.5' after 'shared'"},
    {"shared | a\n0:1 | b\n| c\n", 2, "the label has no probability"},
    {"shared | a\n1:0 | b\n2:1 | c\n", 2, "the label has no probability"}, /* of --csoaa_ldf */
    {"shared | a\n\n", 1, "the example has no actions"},
    {"shared | a\n0:1:0.5 | b\n| c:1x\n", 3, "expected a number after 'c:', got '1x'"},
    {"shared | a\n0:1:0.5 | b\ncost | c\n", 3, "expected a label ACTION:COST:PROBABILITY, got 'cost'"},
    {"ccb shared | a\nccb action | b\nccb slot 1:0:0.5 |\n", 3, "action 1 is not one of the 1 actions of the slot"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0 |\n", 3, "expected ACTION:COST:PROBABILITY, got '0:0'"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0:1.5 |\n", 1, "above 0 and at most 1, got 1.5"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0:0.5,0:0.5 |\n", 3, "action 0 is listed twice in the slot"},
    {"ccb shared | a\nccb action | b\nccb action |\nccb slot 0:0:1 |\nccb slot 0:0:1 |\n", 5,
     "action 0 was taken by an earlier slot"},
    {"ccb shared | a\nccb action | b\nccb action |\nccb slot 0:0:1 1 |\n", 4, "action 0 is not allowed in the slot"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0:1 3 |\n", 3, "allowed action 3 is not one of the 1 actions"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0:1 x |\n", 3, "expected the allowed actions of the slot"},
    {"ccb shared | a\nccb action | b\nccb slot 0:0:1 0 0 |\n", 3, "unexpected '0' after the label of the slot"},
    {"ccb shared | a\nccb action | b\nccb action |\nccb slot 0:0:1 |\nccb slot |\n", 5, "slot 1 has no label"},
    {"ccb shared | a\nccb action 1 | b\nccb slot 0:0:1 |\n", 2, "unexpected '1' after 'ccb action'"},
    {"ccb shared 1 | a\nccb action | b\nccb slot 0:0:1 |\n", 1, "unexpected '1' after 'shared'"},
    {"ccb shared | a\nccb slot 0:0:1 |\n", 1, "the example has no actions"},
    {"ccb shared | a\nccb action |\n", 1, "the example has no slots"},
    {"ccb shared | a\nccb actoin |\n", 2, "expected 'ccb shared', 'ccb action' or 'ccb slot', got 'ccb actoin'"},
    {"slates shared 1 | a\nslates action | b\nslates slot 0:1 |\n", 2, "expected 'slates action SLOT'"},
    {"slates shared 1 | a\nslates action 1 | b\nslates slot 0:1 |\n", 2, "slot 1 of the action is not one of the 1"},
    {"slates shared | a\nslates action 0 | b\nslates slot 0:1 |\n", 1, "'slates shared' has no cost"},
    {"slates shared 1 | a\nslates action 0 | b\nslates slot 0:1:1 |\n", 3, "expected ACTION:PROBABILITY, got '0:1:1'"},
};

TEST_IN_FOLDER(what_is_wrong_is_named_with_its_line)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        open_text(wrong[i].lines, NULL);
        while (next()) continue;
        const log_counts *counts = log_read(reader);
        if (counts->invalid != 1)
            fail_msg("%s: %zu invalid: %s", wrong[i].lines, counts->invalid, counts->first_reasons[0]);
        if (!strstr(counts->first_reasons[0], wrong[i].reason) || counts->first_lines[0] != wrong[i].line)
            fail_msg("%s: line %zu: %s", wrong[i].lines, counts->first_lines[0], counts->first_reasons[0]);
    }
}

TEST_IN_FOLDER(options_are_checked)
{
    static const char *const refused[][2] = {
        {",actions=0", "log.txt: actions must be 1 to 100000, got '0'"},
        {",actions=red", "log.txt: actions must be 1 to 100000, got 'red'"},
        {",format=cb_adf,actions=3", "log.txt: actions= is for cb; the examples of cb_adf list their actions"},
        {",format=oaa", "format"},
        {",colour=red", "colour"},
    };
    log_options options = log_options_usual();
    folder_write_text(&here, "log.txt", "1:1:0.5 | a\n2:1:0.5 | b\n");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        log_reader *log;
        fails_saying(log_open(formatted("vw:%s/log.txt%s", here.path, refused[i][0]), &options, &log, &last_error),
                     EE_BAD_OPTION, refused[i][1]);
    }
}

TEST_IN_FOLDER(the_first_lines_tell_the_format)
{
    static const char *const forms[][2] = {
        {"1:1:0.5 | a\n2:1:0.5 | b\n", "(cb)"},
        {"1:1:0.5 | a\n", "(cb)"},
        {"1:1:0.5 | a\n\n2:1:0.5 | b\n\n", "(cb)"},
        {"1:1:0.5 | a\n| b\n2:1:0.5 | c\n", "(cb)"},
        {"1:1:0.5 2 | a\n| b\n", "(cb)"},
        {"1:-1:0.5 | a:1\n| b:1\n\n2:0:0.5 | a:1\n| b:1\n", "(cb_adf)"},
        {"| a\n1:-1:0.5 | b", "(cb_adf)"},
        {"0:-1:0.5 | b\n", "(cb_adf)"},
        {"2 1:1:0.5 | a\n2 1:0:0.5 | b\n1 2:0:0.5 | b\n", "(cb)"},
        {"2 1:1:0.5 | a\n2 1:0:0.5 | b\n2 2:0:0.5 | b\n", "(cb_eval)"},
        {"\n\nshared | b\n", "(cb_adf)"},
        {"ccb shared | b\n", "(ccb)"},
        {"ccb action | b\n", "(ccb)"},
        {"slates shared 1 | b\n", "(slates)"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        open_text(forms[i][0], NULL);
        if (!strstr(log_remark(reader, 0), forms[i][1])) fail_msg("%s: %s", forms[i][0], log_remark(reader, 0));
    }
    /* A table is none. */
    open_text("action,probability,reward,a|b\n1,0.5,1,2\n", NULL);
    assert_true(!log_remark(reader, 0) || !strstr(log_remark(reader, 0), "Vowpal"));
}

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 16) % below;
}

/* The same random features in both forms: some without a namespace, some in "u" and "i". */
static void add_features(unsigned *state, text *lines, text *json)
{
    static const char *const spaces[] = {"", "u", "i"};
    static const char *const names[] = {"age", "plan=free", "7", "a_1", "x.y", "\xc3\xbc"};
    const char *between = "";
    for (size_t space = 0; space < 3; space++) {
        unsigned count = draw(state, 4);
        if (!count) continue;
        text_add(lines, "|%s", spaces[space]);
        if (space) text_add(json, "%s\"%s\":{", between, spaces[space]);
        for (unsigned i = 0; i < count; i++) {
            const char *name = names[draw(state, 6)], *comma = space && !i ? "" : between;
            unsigned kind = draw(state, 3), number = draw(state, 100);
            static const char *const in_text[] = {" %s%u", " %s%u:%u.5", " %s%u:w%u"};
            static const char *const in_json[] = {"%s\"%s%u\":true", "%s\"%s%u\":%u.5", "%s\"%s%u\":\"w%u\""};
            text_add(lines, in_text[kind], name, i, number);
            text_add(json, in_json[kind], comma, name, i, number);
            between = ",";
        }
        if (space) text_add(json, "}");
        text_add(lines, " ");
    }
    if (!between[0]) text_add(lines, "|");
}

/* An example of cb_adf, and the line of dsjson. */
static void add_event(unsigned *state, text *lines, text *json)
{
    unsigned count = 1 + draw(state, 5), chosen = draw(state, count), cost = draw(state, 100), p = 1 + draw(state, 8);
    size_t start;
    text_add(json, "{\"_label_cost\":%u.25,\"_label_probability\":0.%u,\"_label_Action\":%u,\"_labelIndex\":%u,", cost,
             p, chosen + 1, chosen);
    text_add(json, "\"a\":[%u", chosen + 1);
    for (unsigned i = 0; i < count; i++)
        if (i != chosen) text_add(json, ",%u", i + 1);
    text_add(json, "],\"c\":{");
    start = json->length;
    text_add(lines, "shared ");
    add_features(state, lines, json);
    text_add(json, "%s\"_multi\":[", json->length > start ? "," : "");
    for (unsigned i = 0; i < count; i++) {
        if (i == chosen)
            text_add(lines, "\n0:%u.25:0.%u ", cost, p);
        else
            text_add(lines, "\n");
        text_add(json, i ? ",{" : "{");
        add_features(state, lines, json);
        text_add(json, "}");
    }
    text_add(lines, "\n\n");
    text_add(json, "]}}\n");
}

TEST_IN_FOLDER(a_text_has_the_events_of_its_dsjson)
{
    enum { EVENTS = 2000 };
    unsigned seed = 1;
    text lines = text_start(NULL), json = text_start(NULL);
    for (size_t i = 0; i < EVENTS; i++) add_event(&seed, &lines, &json);
    folder_write_text(&here, "log.dsjson", json.bytes);
    open_text(lines.bytes, "");
    auto_log_reader *other = open_good(folder_path(&here, "log.dsjson"));
    log_event b;
    for (size_t i = 0; i < EVENTS; i++) {
        assert_true(next() && next_good(other, &b) && event.count == b.count && event.action == b.action);
        assert_true(event.probability == b.probability && event.reward == b.reward && event.copies == b.copies);
        assert_true(!event.probabilities && !b.probabilities && event.baseline == b.baseline);
        assert_true(event.skipped == b.skipped && json_compare(event.context, b.context) == 0);
    }
    assert_false(next() || next_good(other, &b));
    memory_free(lines.bytes);
    memory_free(json.bytes);
}

/* Examples, those with a label and their actions, and the sums of the first label in each, counted without this reader.
 */
static const struct {
    const char *name;
    size_t examples, labelled, actions;
    double costs, probabilities;
} files[] = {
    {"cb_adf_sm.data", 4, 4, 13, -0.5, 1.5},
    {"cb_eval", 8, 8, 0, 4, 4}, /* it does not list its actions */
    {"cb_features_w_zero_vals.dat", 3, 2, 5, 1, 1},
    {"cb_load.dat", 113, 113, 791, -41, 53.746496097236168},
    {"cb_test.ldf", 3, 2, 5, 1, 1},
    {"cb_test_medium.ldf", 15, 10, 25, 5, 5},
    {"cb_test_small.ldf", 6, 4, 10, 2, 2},
    {"cb_test_with_empty_shared_feature.ldf", 3, 2, 5, 1, 1},
    {"ccb_reuse_small.data", 4, 4, 8, 0, 0.85},
    {"ccb_test.dat", 24, 15, 75, -2, 9.24},
    {"slates_simple.txt", 3, 2, 6, 1.6, 1.6},
};

TEST(files_of_vw_are_read)
{
    const char *data = real_data();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        double costs = 0, probabilities = 0;
        size_t labelled = 0, actions = 0;
        open_log(formatted("%s/vw-text/%s", data, files[i].name));
        while (next()) {
            labelled++;
            actions += event.count;
            costs -= event.reward;
            probabilities += event.probability;
        }
        if (labelled != files[i].labelled) fail_msg("%s: %zu events", files[i].name, labelled);
        if (files[i].actions) assert_int_equal(actions, files[i].actions);
        assert_close(costs, files[i].costs, 1e-12);
        assert_close(probabilities, files[i].probabilities, 1e-12);
        assert_int_equal(log_read(reader)->foreign, files[i].examples - labelled);
        assert_true(!log_read(reader)->invalid && !log_read(reader)->broken);
    }
}

/* VW prints the average loss of the policy that it learns: -IPS of its choices. In cb_test.ldf, --cb_explore_adf begins
 * with equal probabilities and --cb_adf with the first action; the second cost is 0, whatever they do. The numbers are
 * in VW's test/train-sets/ref/cbe_adf_epsilon.stderr and cb_adf_mtr.stderr. */
TEST(the_average_loss_is_that_of_vw)
{
    const char *data = real_data();
    open_log(formatted("%s/vw-text/cb_test.ldf", data));
    double uniform = 0, first = 0, events = 0;
    for (; next(); events++) {
        uniform -= event.reward / event.probability / (double)event.count;
        first -= event.action == 0 ? event.reward / event.probability : 0;
    }
    assert_close(uniform / events, 0.333333, 1e-6);
    assert_close(first / events, 1.000000, 1e-6);
}
