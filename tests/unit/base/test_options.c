/* Options as tables: defaults, reading, printing, and the sentence for every mistake. */
#include "support.h"
#include "support_locale.h"

#include <float.h>

#include "base/options.h"

typedef struct layers {
    int64_t width;
    double rate;
    bool bias;
    option_choice history;
} layers;

typedef struct made {
    int64_t whole;
    double any;
    double weight;
    option_choice label;
    char schedule[OPTION_TEXT_SIZE];
    double limit;
    int unnamed; /* no option sets it */
    layers f1, f2;
} made;

static const option general_table[] = {
    OPTION_ROW_INTEGER(made, whole, "whole", "-7", -0x1p63, 0x1p63, "any whole number"),
    OPTION_ROW_REAL(made, any, "any", "0", -DBL_MAX, DBL_MAX, "any number"),
    OPTION_ROW_REAL(made, weight, "weight", "0.25", -1, 1.5, "how much"),
    OPTION_ROW_CHOICE(made, label, "label", "gain", "gain|abs|relu", "which one"),
    OPTION_ROW_TEXT(made, schedule, "schedule", "10x100", "steps, as 10x100", "when"),
    OPTION_ROW_REAL_OR(made, limit, "limit", "none", "none", -2, 2, "if any"),
};

static const option layers_table[] = {
    OPTION_ROW_INTEGER(layers, width, "width", "100", 1, 65536, "units of a layer"),
    OPTION_ROW_REAL(layers, rate, "rate", "0.001", 0, 10, "learning rate"),
    OPTION_ROW_FLAG(layers, bias, "bias", "on", "whether there are biases"),
    OPTION_ROW_NUMBERED(layers, history, "history", "all", "all|ring:N|reservoir:N", 1, 1000, "what is kept"),
};

static const option_table general = OPTION_TABLE(general_table);
static const option_table layered = OPTION_TABLE(layers_table);
enum { ALL = sizeof general_table / sizeof *general_table + 2 * (sizeof layers_table / sizeof *layers_table) };

static const option_group made_groups[] = {
    OPTION_GROUP_OWN(general, "in general"),
    OPTION_GROUP(made, f1, layers, layered, "f1.", "the first"),
    OPTION_GROUP(made, f2, layers, layered, "f2.", "the second", .defaults = "width=20 bias=off, history=ring:50"),
};

static const option_schema schema = OPTION_SCHEMA("made", made_groups, made, "weight f2.rate");

static const char default_text[] = "whole=-7 any=0 weight=0.25 label=gain schedule=10x100 limit=none "
                                   "f1.width=100 f1.rate=0.001 f1.bias=on f1.history=all "
                                   "f2.width=20 f2.rate=0.001 f2.bias=off f2.history=ring:50";

static made made_default(void)
{
    made m;
    memset(&m, 0xaa, sizeof m);
    options_set_defaults(&schema, &m);
    return m;
}

static made made_parse(const char *text)
{
    made m = made_default();
    ok(options_parse(&schema, text, &m, &last_error));
    return m;
}

static void assert_rejected(const char *text, const char *sentence)
{
    made m = made_default();
    fails_with(options_parse(&schema, text, &m, &last_error), EE_BAD_OPTION, sentence);
    assert_int_equal(options_parse(&schema, text, &m, NULL), EE_BAD_OPTION);
}

/* What the options text says of the defaults with this text. */
static const char *formatted(const char *text)
{
    static char whole[1024];
    made m = made_parse(text);
    assert_true(options_format(&schema, &m, whole, sizeof whole) < sizeof whole);
    return whole;
}

/* The ends of a range belong to it; whole numbers are written as people do; numbers print short. */
TEST(every_type_is_read_and_printed)
{
    static const char *const same[] = {
        "any=-0",   "weight=-1",  "f1.width=1", "f1.bias=off",       "schedule=every:10",
        "any=0.1",  "any=1e+06",  "f2.bias=on", "f1.width=65536",    "whole=9223372036854775807",
        "any=0.3",  "any=1e-05",  "label=relu", "f2.history=all",    "f1.history=reservoir:1000",
        "limit=-2", "weight=1.5", "any=0.0001", "any=123456.789",    "whole=-9223372036854775808",
        "any=-2.5", "limit=none", "any=100000", "f1.history=ring:1", "any=-1.7976931348623157e+308"};
    static const char *const other[][2] = {{"limit=1 limit=none", " limit=none "},
                                           {"f1.width=1e3", " f1.width=1000 "},
                                           {"f1.width=2.5e1", " f1.width=25 "},
                                           {"whole=-1e3", "whole=-1000 "},
                                           {"f1.history=ring:1e2", " f1.history=ring:100 "}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_non_null(strstr(formatted(same[i]), same[i]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_non_null(strstr(formatted(other[i][0]), other[i][1]));
    made m = made_parse("whole=12 weight=-0.5 label=relu f1.history=reservoir:1000 f2.bias=on limit=none");
    assert_true(m.whole == 12 && m.weight == -0.5 && m.label.pick == 2 && m.f1.history.pick == 2 && isnan(m.limit));
    assert_true(m.f1.history.number == 1000 && m.f1.bias && m.f2.bias && m.unnamed == 0);
    assert_string_equal(formatted(""), default_text);
    made usual = made_default();
    assert_true(usual.f2.width == 20 && usual.f1.width == 100 && usual.f2.history.number == 50 && !usual.f2.bias);
}

TEST(commas_and_white_space_separate_but_not_within_quotes)
{
    static const char *const texts[] = {
        "whole=1,weight=1,f1.width=5",
        "whole=1 weight=1 f1.width=5",
        ",, \t\r\nwhole=1\t,\r\n weight=1,\nf1.width=5 ,",
        "f1.width=5 weight=1 whole=1",
        "whole=9 f1.width=6 weight=1 whole=1 f1.width=5", /* the last word on it counts */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        made m = made_parse(texts[i]);
        assert_int_equal(m.whole, 1);
        assert_true(m.weight == 1);
        assert_int_equal(m.f1.width, 5);
    }
    static const char *const empty[] = {"", " ", ",", "\r\n\t, ,"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) assert_int_equal(made_parse(empty[i]).whole, -7);
    static const char *const cases[][2] = {
        {"schedule=\"a b\" whole=3", "a b"},     {"schedule=\"a, b\",whole=3", "a, b"},
        {"schedule=a b,whole=3", "a b"},         {"schedule=a  b c whole=3", "a  b c"},
        {"schedule=\"a\"\"b\" whole=3", "a\"b"}, {"schedule=x\"a,b\"y+\" \" whole=3", "xa,by+ "},
        {"schedule=\"\" whole=3", ""},           {"schedule=\"whole=9\" whole=3", "whole=9"},
        {"schedule=a , whole=3", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made read = made_parse(cases[i][0]), again;
        char text[2000];
        assert_string_equal(read.schedule, cases[i][1]);
        assert_int_equal(read.whole, 3);
        options_format(&schema, &read, text, sizeof text);
        again = made_parse(text);
        assert_string_equal(again.schedule, cases[i][1]);
        assert_int_equal(again.whole, 3);
    }
    assert_rejected("schedule=\"a b", "options: missing closing quote: schedule=\"a b");
    assert_rejected("whole=1 schedule a=2", "options: expected name=value, got 'schedule'");
    assert_rejected("schedule b", "options: expected name=value, got 'schedule'");
}

TEST(a_text_may_be_anything_that_fits_its_field)
{
    assert_string_equal(made_parse("schedule=").schedule, "");
    assert_string_equal(made_parse("schedule=a=b").schedule, "a=b");
    char text[128] = "schedule=", value[OPTION_TEXT_SIZE + 1], sentence[252];
    memset(value, 'x', OPTION_TEXT_SIZE);
    value[OPTION_TEXT_SIZE - 1] = '\0';
    strcat(text, value);
    assert_string_equal(made_parse(text).schedule, value);
    strcat(text, "x");
    snprintf(sentence, sizeof sentence, "options: made.schedule must be steps, as 10x100, got %sx", value);
    assert_rejected(text, sentence);
}

/* A schema with a list, as data sets have. */
typedef struct listed {
    int64_t whole;
    char title[OPTION_TEXT_SIZE], skipped[OPTION_TEXT_SIZE];
} listed;

static const option listed_rows[] = {
    OPTION_ROW_INTEGER(listed, whole, "whole", "1", 0, 9, "any digit"),
    OPTION_ROW_TEXT(listed, title, "title", "none", "none|TEXT", "a text"),
    OPTION_ROW_TEXT(listed, skipped, "skipped", "none", "none|COLUMN+...", "columns to skip"),
};
static const option_table listed_table = OPTION_TABLE(listed_rows);
static const option_group listed_groups[] = {OPTION_GROUP_OWN(listed_table, NULL)};
static const option_schema listed_schema = OPTION_SCHEMA("listed", listed_groups, listed, NULL);

/* A comma in a list was meant as a plus; an option given twice is refused on request. */
TEST(lists_repetitions_and_unknown_names_are_named)
{
    static const char *const cases[][2] = {
        {"skipped=a+b,whole=1", NULL},
        {"skipped=a,b", "options: expected name=value, got 'b'; did you mean skipped=a+b?"},
        {"skipped=a, b,c,whole=1", "options: expected name=value, got 'b'; did you mean skipped=a+b+c?"},
        {"skipped=\"a, x\",b c", "options: expected name=value, got 'b'; did you mean skipped=\"a, x\"+b c?"},
        {"skipped=a,whole=1,b", "options: expected name=value, got 'b'"},
        {"title=a,b", "options: expected name=value, got 'b'"},
        {"skipped=a,whole=1,skipped=b", "options: listed.skipped is given twice; join columns with +"},
        {"whole=1 whole=1", "options: listed.whole is given twice"},
        {"title=a b, title=c", "options: listed.title is given twice"},
        {"title=\"whole=1\",whole=3", NULL},
        {"wohle=1,wohle=1", "options: listed has no option 'wohle'; did you mean 'whole'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        listed read;
        options_set_defaults(&listed_schema, &read);
        ee_status status = options_parse_once(&listed_schema, cases[i][0], &read, &last_error);
        assert_int_equal(status, cases[i][1] ? EE_BAD_OPTION : EE_OK);
        if (status) assert_string_equal(last_error.message, cases[i][1]);
    }
    assert_int_equal(made_parse("whole=1 whole=2").whole, 2); /* otherwise the last one counts */
    /* An unknown name gets the nearest, and a name needs a value. */
    assert_rejected("f1.widht=5", "options: made has no option 'f1.widht'; did you mean 'f1.width'?");
    assert_rejected("f2.widht=5", "options: made has no option 'f2.widht'; did you mean 'f2.width'?");
    assert_rejected("wieght=5", "options: made has no option 'wieght'; did you mean 'weight'?");
    assert_rejected("Whole=5", "options: made has no option 'Whole'; did you mean 'whole'?");
    assert_rejected("f3.history=all", "options: made has no option 'f3.history'; did you mean 'f1.history'?");
    assert_rejected("made.whole=5", "options: made has no option 'made.whole'; did you mean 'whole'?");
    assert_rejected("weight=1 zzzzzzzz=5", "options: made has no option 'zzzzzzzz'");
    assert_rejected("=5", "options: made has no option ''");
    assert_rejected("=", "options: made has no option ''");
    assert_rejected("f1.width", "options: expected name=value, got 'f1.width'");
    assert_rejected("whole=1 weight = 1", "options: expected name=value, got 'weight'");
}

/* Each value, and none, is refused with the range. */
TEST(values_out_of_range_are_mistakes)
{
    static const char *const cases[][3] = {
        {"f1.width", "1 to 65536", "-3 0 65537 x 5x 5.5 1e5 0x10 99999999999999999999 -"},
        {"whole", "-9.22337203685e+18 to 9.22337203685e+18", "9223372036854775808"},
        {"weight", "-1 to 1.5", "2 1.5000000000000002 -1.0000000000000002 nan -nan inf 1e999 x 0.5. 1e --1 none"},
        {"any", "-1.79769313486e+308 to 1.79769313486e+308", "nan 1e999"},
        {"limit", "none or -2 to 2", "nan non 3"},
        {"f2.bias", "on|off", "yes On onn"},
        {"label", "gain|abs|relu", "gai gains gain|abs gain:3 | :"},
        {"f1.history", "all|ring:N|reservoir:N, N 1 to 1000",
         "ring ring: ring:0 ring:1001 ring:x ring:5x ring:5:5 ring:N all:5 all: rin:5 ring:1.5 rings:5 reservoir: "
         "ring:-1 :5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *row = cases[i], *at = row[2];
        for (bool is_last = false; !is_last;) {
            char text[64], sentence[160];
            int length = (int)strcspn(at, " ");
            is_last = !length;
            snprintf(text, sizeof text, "%s=%.*s", row[0], length, at);
            snprintf(sentence, sizeof sentence, "options: made.%s must be %s, got %.*s", row[0], row[1],
                     is_last ? 7 : length, is_last ? "nothing" : at);
            assert_rejected(text, sentence);
            at += length + (at[length] == ' ');
        }
    }
    assert_rejected("f1.width=,5", "options: made.f1.width must be 1 to 65536, got nothing");
}

TEST(a_word_too_long_is_a_mistake)
{
    char word[300], sentence[252];
    memset(word, 'a', sizeof word);
    word[127] = '\0'; /* the longest that is looked at */
    snprintf(sentence, sizeof sentence, "options: expected name=value, got '%.127s'", word);
    assert_rejected(word, sentence);
    word[127] = 'a';
    word[128] = '\0';
    assert_rejected(word,
                    "options: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is too long: 128 characters, at most 127");
    word[128] = 'a';
    word[200] = ' ';
    word[299] = '\0';
    assert_rejected(word,
                    "options: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is too long: 200 characters, at most 127");
}

/* The text ends where memory does. */
TEST(nothing_is_read_past_the_end)
{
    static const char *const texts[] = {
        "", " ", "f1.width", "f1.width=", "f1.width=5", "f1.history=ring:", "label=gain"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        RELEASED_BY(guard_free) guard g;
        char *text = guard_end_bytes(&g, strlen(texts[i]) + 1);
        strcpy(text, texts[i]);
        made m = made_default();
        options_parse(&schema, text, &m, NULL);
    }
    /* And nothing after the first mistake. */
    made m = made_default();
    assert_int_equal(options_parse(&schema, "whole=1 label=x f1.width=5", &m, NULL), EE_BAD_OPTION);
    assert_int_equal(m.whole, 1);
    assert_int_equal(m.label.pick, 0);
    assert_int_equal(m.f1.width, 100);
    options_parse(&schema, "f1.width=70000 f1.bias=x f1.history=ring:0 weight=9", &m, NULL);
    assert_int_equal(m.f1.width, 100); /* a value that is refused is not half stored */
}

static void assert_same(const made *a, const made *b)
{
    assert_true(a->whole == b->whole);
    assert_memory_equal(&a->any, &b->any, sizeof a->any);
    assert_memory_equal(&a->weight, &b->weight, sizeof a->weight);
    assert_int_equal(a->label.pick, b->label.pick);
    assert_memory_equal(a->schedule, b->schedule, sizeof a->schedule);
    const layers *pairs[2][2] = {{&a->f1, &b->f1}, {&a->f2, &b->f2}};
    for (size_t i = 0; i < 2; i++) {
        const layers *x = pairs[i][0], *y = pairs[i][1];
        assert_true(x->width == y->width && x->bias == y->bias);
        assert_memory_equal(&x->rate, &y->rate, sizeof x->rate);
        assert_int_equal(x->history.pick, y->history.pick);
        assert_int_equal(x->history.number, y->history.number);
    }
}

static void assert_round_trip(const made *m)
{
    char text[1024];
    assert_true(options_format(&schema, m, text, sizeof text) < sizeof text);
    made back = made_parse(text);
    assert_same(m, &back);
}

static void assert_removed(const char *text, const char *expected, double value)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    assert_true(options_remove(copy, "alpha") == value);
    assert_string_equal(copy, expected);
}

TEST(an_option_is_removed_from_a_text)
{
    assert_removed("", "", 0);
    assert_removed("alpha=0.3", "", 0.3);
    assert_removed("a=1 alpha=2,b=3", "a=1 ,b=3", 2);
    assert_removed("alpha=1 alpha=5", " ", 5);
    assert_removed("alphabet=1 f1.alpha=2 alpha", "alphabet=1 f1.alpha=2 alpha", 0);
    assert_removed("text=\"b, alpha=1\" alpha= alpha=x", "text=\"b, alpha=1\"  ", 0);
    char long_one[300] = "alpha=";
    memset(long_one + 6, '1', sizeof long_one - 7);
    assert_removed(long_one, long_one, 0);
}

TEST(awkward_numbers_come_back_to_the_bit)
{
    const char *at = "0 -0 0.1 0.2 0.30000000000000004 0.3333333333333333 0.6666666666666666 1e-5 1e22 1e23 "
                     "123456789012345678 5e-324 2.5e-323 0x1p-1022 0x1p-1023 -0x1p-1022 0x1.fffffffffffffp1023 "
                     "-0x1.fffffffffffffp1023 0x1p-52 0x1.0000000000001p0 0x1.fffffffffffffp-1 9007199254740993 0x1p63 "
                     "4.35 2.2250738585072011e-308 8.41e21 9.5e-3";
    made m = made_default();
    for (char *end; *at; at = end) {
        m.any = strtod(at, &end);
        assert_round_trip(&m);
    }
    random_stream stream = random_named(1, "options");
    for (size_t i = 0; i < test_long(1000, 20000); i++) {
        uint64_t bits = random_bits(&stream);
        memcpy(&m.any, &bits, sizeof bits);
        if (isfinite(m.any)) assert_round_trip(&m);
    }
}

TEST(printing_stops_where_the_room_ends)
{
    made m = made_default();
    size_t whole = strlen(default_text);
    assert_int_equal(options_format(&schema, &m, NULL, 0), whole);
    for (size_t capacity = 1; capacity <= whole + 1; capacity++) {
        RELEASED_BY(guard_free) guard g;
        char *text = guard_end_bytes(&g, capacity);
        assert_int_equal(options_format(&schema, &m, text, capacity), whole);
        assert_int_equal(strlen(text), capacity - 1);
        assert_memory_equal(text, default_text, capacity - 1);
    }
}

TEST(a_decimal_point_is_a_point_in_every_locale)
{
    char folder[] = "/tmp/eenet-test-XXXXXX", text[1024] = "", printed[16];
    bool entered = comma_locale_enter(folder);
    made m = made_default();
    ee_status status = options_parse(&schema, "any=0.125", &m, NULL);
    options_format(&schema, &m, text, sizeof text);
    ee_option described;
    options_describe(&schema, &m, 2, &described, NULL);
    snprintf(printed, sizeof printed, "%g", 0.5);
    comma_locale_leave(folder);
    if (!entered) skip();
    assert_string_equal(printed, "0,5"); /* the caller's locale is as it was */
    ok(status);
    assert_true(m.any == 0.125 && m.weight == 0.25 && m.f1.rate == 0.001);
    assert_non_null(strstr(text, " any=0.125 weight=0.25 "));
    assert_string_equal(described.value, "0.25");
    assert_string_equal(described.range, "-1 to 1.5");
}

TEST(every_option_is_described)
{
    static const char *const expected[ALL][4] = {
        {"whole", "-9.22337203685e+18 to 9.22337203685e+18", "-7", "any whole number"},
        {"any", "-1.79769313486e+308 to 1.79769313486e+308", "0", "any number"},
        {"weight", "-1 to 1.5", "0.25", "how much"},
        {"label", "gain|abs|relu", "gain", "which one"},
        {"schedule", "steps, as 10x100", "10x100", "when"},
        {"limit", "none or -2 to 2", "none", "if any"},
        {"f1.width", "1 to 65536", "7", "units of a layer"},
        {"f1.rate", "0 to 10", "0.001", "learning rate"},
        {"f1.bias", "on|off", "on", "whether there are biases"},
        {"f1.history", "all|ring:N|reservoir:N, N 1 to 1000", "all", "what is kept"},
        {"f2.width", "1 to 65536", "20", "units of a layer"},
        {"f2.rate", "0 to 10", "0.001", "learning rate"},
        {"f2.bias", "on|off", "off", "whether there are biases"},
        {"f2.history", "all|ring:N|reservoir:N, N 1 to 1000", "ring:50", "what is kept"},
    };
    made m = made_parse("f1.width=7"); /* the value is the target's, not the default */
    for (size_t i = 0; i < ALL; i++) {
        ee_option described;
        memset(&described, 0xaa, sizeof described);
        ok(options_describe(&schema, &m, i, &described, NULL));
        assert_string_equal(described.name, expected[i][0]);
        assert_string_equal(described.range, expected[i][1]);
        assert_string_equal(described.value, expected[i][2]);
        assert_string_equal(described.meaning, expected[i][3]);
    }
    /* Past the last there is nothing to describe. */
    ee_option none;
    char sentence[80];
    snprintf(sentence, sizeof sentence, "made has 14 options, asked for number %zu", SIZE_MAX);
    refuses(options_describe(&schema, &m, ALL, &none, &last_error), "made has 14 options, asked for number 14");
    refuses(options_describe(&schema, &m, SIZE_MAX, &none, &last_error), sentence);
    option_schema empty = {.owner = "none", .size = sizeof m};
    assert_int_equal(options_describe(&empty, &m, 0, &none, NULL), EE_BAD_INPUT);
}

/* Of two as near the first; at most half of a word may be wrong. */
TEST(the_nearest_name_is_found)
{
    static const char *const names[] = {"eenet", "greedy", "uniform", "eenet:paper", "linucb", "lints", "abcdef"};
    static const char *const cases[] = {" ",         "eent eenet",  "gredy greedy",  "greeedy greedy",
                                        "x ",        "enet eenet",  "greddy greedy", "unifrom uniform",
                                        "e ",        "lint lints",  "linucp linucb", "eenet-paper eenet:paper",
                                        "abwxyz ",   "eenet eenet", "LinUCB linucb", "eenet:papper eenet:paper",
                                        "thompson ", "EENET eenet", "abcxyz abcdef"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[32];
        const char *nearest = strchr(cases[i], ' ') + 1;
        snprintf(word, sizeof word, "%.*s", (int)(nearest - cases[i]) - 1, cases[i]);
        const char *got = options_nearest(word, names, sizeof names / sizeof *names);
        assert_string_equal(got ? got : "", nearest);
    }
    assert_null(options_nearest("eenet", names, 0));
    assert_string_equal(options_nearest("f3.width", (const char *[]){"f1.width", "f2.width"}, 2), "f1.width");
    char word[128] = "", name[128] = ""; /* long words are compared too */
    memset(word, 'a', 127);
    memset(name, 'a', 127);
    word[60] = 'b';
    assert_ptr_equal(options_nearest(word, (const char *[]){"short", name}, 2), name);
}
