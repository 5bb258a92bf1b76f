/* What an option needs: what is refused and with which sentence, what is listed, and what is described. */
#include "support.h"

#include "base/options.h"

typedef struct net {
    int64_t steps;
    option_choice training;
    double stop;
} net;

typedef struct made {
    option_choice kind;
    int64_t until;
    double gain, weight;
    bool scale;
    option_text front, image;
    net f1, f2;
} made;

static const option own_rows[] = {
    OPTION_ROW_NUMBERED(made, kind, "kind", "solved", "solved|network|lle:N", 1, 9, "which"),
    OPTION_ROW_INTEGER(made, until, "until", "0", 0, 100, "how long", .needs = "kind=network|lle"),
    OPTION_ROW_REAL(made, gain, "gain", "0.5", 0, 1, "how much", .needs = "until>0"),
    OPTION_ROW_FLAG(made, scale, "scale", "off", "whether"),
    OPTION_ROW_REAL(made, weight, "weight", "1", 0, 9, "of what", .needs = "scale=on or gain<0.5 and until<90"),
    OPTION_ROW_TEXT(made, front, "front", "none", "a text", "before"),
    OPTION_ROW_TEXT(made, image, "image", "none", "a text", "shape", .needs = "front!=none"),
};
static const option_table own_table = OPTION_TABLE(own_rows);

static const option net_rows[] = {
    OPTION_ROW_INTEGER(net, steps, "steps", "1", 1, 100, "of a training"),
    OPTION_ROW_CHOICE(net, training, "training", "sgd", "gd|sgd", "how"),
    OPTION_ROW_REAL(net, stop, "stop", "0", 0, 9, "where", .needs = "training=sgd and steps>1"),
};
static const option_table net_table = OPTION_TABLE(net_rows);

static const option_group groups[] = {
    OPTION_GROUP_OWN(own_table, "in general"),
    OPTION_GROUP(made, f1, net, net_table, "f1.", "the first net"),
    OPTION_GROUP(made, f2, net, net_table, "f2.", "the second net", .defaults = "steps=5 stop=2",
                 .needs = "kind=network"),
};
static const option_schema schema = OPTION_SCHEMA("made", groups, made, "until f2.stop");

/* Over what a preset set before. */
static ee_status read(const char *preset, const char *text, made *m, ee_error *error)
{
    options_set_defaults(&schema, m);
    ok(options_parse(&schema, preset, m, NULL));
    ok(options_parse(&schema, text, m, NULL));
    return options_settle(&schema, text, m, error);
}

static void assert_refused(const char *preset, const char *text, const char *sentence)
{
    made m;
    fails_with(read(preset, text, &m, &last_error), EE_BAD_OPTION, sentence);
    assert_int_equal(read(preset, text, &m, NULL), EE_BAD_OPTION);
}

static void assert_listed(const char *preset, const char *text, const char *expected)
{
    made m, again;
    char listed[512], listed_again[512];
    ok(read(preset, text, &m, &last_error));
    options_format(&schema, &m, listed, sizeof listed);
    assert_string_equal(listed, expected);
    ok(read(preset, listed, &again, NULL));
    options_format(&schema, &again, listed_again, sizeof listed_again);
    assert_string_equal(listed_again, listed);
}

TEST(what_cannot_act_is_refused)
{
    assert_refused("", "until=1", "options: made.until needs kind=network|lle, but it is solved");
    assert_refused("", "until=0", "options: made.until needs kind=network|lle, but it is solved"); /* any value */
    assert_refused("", "kind=network gain=1", "options: made.gain needs until>0, but it is 0");
    assert_refused("", "image=x", "options: made.image needs front!=none, but it is none");
    assert_refused("", "image=x front=none", "options: made.image needs front!=none, but it is none");
    assert_refused("", "weight=2", "options: made.weight needs scale=on or gain<0.5");
    assert_refused("", "kind=network until=95 scale=on weight=2", "options: made.weight needs until<90, but it is 95");
    assert_refused("", "f1.stop=1", "options: made.f1.stop needs f1.steps>1, but it is 1");
    assert_refused("", "f1.stop=1, f1.training=gd", "options: made.f1.stop needs f1.training=sgd, but it is gd");
    assert_refused("", "f2.steps=3", "options: made.f2.steps needs kind=network, but it is solved");
    assert_refused("", "kind=lle:2 f2.steps=3", "options: made.f2.steps needs kind=network, but it is lle:2");
    assert_refused("", "kind=network f2.stop=1 f2.steps=1", "options: made.f2.stop needs f2.steps>1, but it is 1");
}

/* The order does not matter, nor that a preset names what does not act. */
TEST(what_can_act_is_taken)
{
    made m;
    ok(read("", "gain=1 until=3 kind=lle:2", &m, NULL));
    assert_true(m.gain == 1 && m.until == 3 && m.kind.number == 2);
    ok(read("", "image=x front=y weight=2 scale=on f1.steps=2 f1.stop=1", &m, NULL));
    assert_true(m.weight == 2 && m.f1.stop == 1);
    ok(read("until=7 f2.steps=9", "", &m, NULL));
    ok(read("until=7 f2.steps=9", "kind=network gain=0.25 weight=3", &m, NULL));
    assert_true(m.until == 7 && m.gain == 0.25 && m.weight == 3 && m.f2.steps == 9);
    /* What cannot act is as if it had never been set, and what needs it cannot act either. */
    ok(read("kind=network until=7 gain=0.25 f2.stop=4", "kind=solved", &m, NULL));
    assert_true(m.until == 0 && m.gain == 0.5 && m.f2.stop == 2);
    const char *preset = "kind=network until=7 gain=0.25";
    assert_refused(preset, "kind=solved gain=0.25", "options: made.gain needs until>0, but it is 0");
    assert_refused(preset, "kind=solved weight=3", "options: made.weight needs scale=on or gain<0.5");
}

TEST(what_acts_is_listed_and_read_back)
{
    assert_listed("", "", "kind=solved scale=off front=none f1.steps=1 f1.training=sgd");
    assert_listed("", "scale=on f1.steps=2 front=x",
                  "kind=solved scale=on weight=1 front=x image=none f1.steps=2 f1.training=sgd f1.stop=0");
    assert_listed("until=3 f2.training=gd", "kind=network f1.training=gd f1.steps=2",
                  "kind=network until=3 gain=0.5 scale=off front=none f1.steps=2 f1.training=gd f2.steps=5 "
                  "f2.training=gd");
    assert_listed("until=3 gain=0.25 kind=network", "kind=solved",
                  "kind=solved scale=off front=none f1.steps=1 f1.training=sgd");
}

TEST(what_it_needs_is_described)
{
    static const struct {
        const char *name, *part, *needs;
        int acts, first;
    } expected[] = {
        {"kind", "in general", "", 1, 0},
        {"until", "in general", "kind=network|lle", 0, 1},
        {"gain", "in general", "until>0", 0, 0},
        {"scale", "in general", "", 1, 0},
        {"weight", "in general", "scale=on or gain<0.5 and until<90", 1, 0},
        {"front", "in general", "", 1, 0},
        {"image", "in general", "front!=none", 0, 0},
        {"f1.steps", "the first net", "", 1, 0},
        {"f1.training", "the first net", "", 1, 0},
        {"f1.stop", "the first net", "f1.training=sgd and f1.steps>1", 0, 0},
        {"f2.steps", "the second net", "kind=network", 0, 0},
        {"f2.training", "the second net", "kind=network", 0, 0},
        {"f2.stop", "the second net", "kind=network and f2.training=sgd and f2.steps>1", 0, 1},
    };
    made m;
    ee_option reported;
    ok(read("", "scale=on", &m, NULL));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ok(options_describe(&schema, &m, i, &reported, NULL));
        assert_string_equal(reported.name, expected[i].name);
        assert_string_equal(reported.part, expected[i].part);
        assert_string_equal(reported.needs, expected[i].needs);
        assert_int_equal(reported.acts, expected[i].acts);
        assert_int_equal(reported.first, expected[i].first);
    }
    assert_int_equal(options_describe(&schema, &m, sizeof expected / sizeof *expected, &reported, NULL), EE_BAD_INPUT);
}
