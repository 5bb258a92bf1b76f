/* Logs as CSV and the Open Bandit Dataset: columns by name or by guess, actions by number or name, features. */

#include "data/support_sets.h"
#include "data/values/text.h"
#include "open_log.h"
#include "support_files.h"

/* "csv:FOLDER/log.csv" and the options, valid until the next call. */
static const char *words_of(const char *options)
{
    static char words[200];
    snprintf(words, sizeof words, "csv:%s/log.csv%s", here.path, options);
    return words;
}

static void rows_are(const char *rows)
{
    folder_write_text(&here, "log.csv", rows);
}

static void open_rows(const char *rows, const char *options)
{
    rows_are(rows);
    open_log(words_of(options));
}

TEST_IN_FOLDER(columns_are_found_by_their_names)
{
    open_rows("\xef\xbb\xbf,Timestamp,item_id,click,propensity_score,age,town,id\n"
              "0,2020-01-01 00:00:01,2,1,0.25,3.50,\"New \"\"York\"\"\n2\",x1\n"
              "1,1577836802,0,0.5,1,,Rome,x2\n"
              "2,1577836803000,1,0,0.5,7,,\n",
              ",context=age+town");
    assert_true(next() && event.count == 3 && event.action == 2 && event.line == 2);
    assert_true(event.probability == 0.25 && event.reward == 1 && event.time == 1577836801 && event.copies == 1);
    assert_null(event.probabilities);
    assert_true(text_is(event.actions[2], "2") && text_is(event.id, "x1"));
    assert_true(text_is(event.context, "{\"age\":3.5,\"town\":\"New \\\"York\\\"\\n2\",\"_multi\":["
                                       "{\"_tag\":\"0\",\"i\":{\"constant\":1,\"id\":\"0\"}},"
                                       "{\"_tag\":\"1\",\"i\":{\"constant\":1,\"id\":\"1\"}},"
                                       "{\"_tag\":\"2\",\"i\":{\"constant\":1,\"id\":\"2\"}}]}"));
    assert_true(next() && event.line == 4 && event.time == 1577836802 && event.action == 0 && event.reward == 0.5);
    assert_true(next() && event.time == 1577836803 && event.id.length == 0 && !next());
    assert_int_equal(log_read(reader)->lines, 5);
    open_rows("what;how;why;where\nred;0.5;1;2\n\nblue;0.25;-1;3\n",
              ",action=what,probability=how,reward=why,context=all");
    assert_true(next() && event.count == 2 && event.action == 1 &&
                text_is(event.actions[0], "blue")); /* by the alphabet */
    assert_true(text_is(event.context,
                        "{\"where\":2,\"_multi\":[{\"_tag\":\"blue\",\"i\":{\"constant\":1,\"id\":\"blue\"}},"
                        "{\"_tag\":\"red\",\"i\":{\"constant\":1,\"id\":\"red\"}}]}"));
    assert_true(next() && event.action == 0 && event.reward == -1);
}

TEST_IN_FOLDER(names_of_columns_may_have_blanks_and_commas)
{
    static const char head[] = "{\"age\":3,\"last town\":\"Rome\",";
    static const char *const options[] = {
        ",action=the action,probability=p,reward=\"net, reward\",context=last town+age",
        ",action=\"the action\",probability=p,reward=\"net, reward\",context=\"last town\"+\"age\"",
    };
    rows_are("the action,p,\"net, reward\",last town,age\n0,0.5,1,Rome,3\n1,0.5,0,Rome,4\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        open_log(words_of(options[i]));
        assert_true(next() && event.action == 0 && event.probability == 0.5 && event.reward == 1);
        assert_true(strncmp(event.context.bytes, head, strlen(head)) == 0);
    }
}

TEST_IN_FOLDER(actions_can_be_given)
{
    open_rows("action,p,reward\nb,0.5,1\nc,0.5,1\n", ",actions=a+b");
    assert_true(next() && event.count == 2 && event.action == 1 && !next());
    assert_int_equal(log_read(reader)->invalid, 1);
    assert_message_has(log_read(reader)->first_reasons[0], "the action 'c' is not one of the 2 actions");
    open_rows("action,p,reward\n1,0.5,1\n3.0,0.5,1\n5,0.5,1\n", ",actions=5");
    assert_true(next() && event.count == 5 && event.action == 1 && next() && event.action == 3);
    assert_null(event.actions);
    assert_false(next());
    assert_message_has(log_read(reader)->first_reasons[0],
                       "the action '5' is not one of the 5 actions, numbered from 0");
}

/* Fails unless the log has exactly these actions, joined by spaces, in this order. */
static void expect_actions(const char *options, const char *expected)
{
    open_log(words_of(options));
    char names[200] = "";
    assert_true(next());
    for (size_t i = 0; i < event.count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.*s", i ? " " : "",
                 (int)event.actions[i].length, event.actions[i].bytes);
    assert_string_equal(names, expected);
}

TEST_IN_FOLDER(numbers_are_names_of_actions)
{
    static const struct {
        const char *rows, *names;
    } cases[] = {
        {"5,.5,1\n3,.5,1\n1,.5,1\n2,.5,1\n4,.5,1\n", "1 2 3 4 5"},
        {"1002,.5,1\n1001,.5,1\n1005,.5,1\n", "1001 1002 1005"},
        {"10,.5,1\n2,.5,1\n1,.5,1\n-3,.5,1\n", "-3 1 2 10"}, /* as numbers */
        {"10,.5,1\n2,.5,1\nb,.5,1\n", "10 2 b"},             /* as text */
        {"2,.5,1\n2.0,.5,1\n1.0,.5,1\n 2 ,.5,1\n", "1 2"},   /* 2.0 is 2 */
        {"07,.5,1\n7,.5,1\n1.50,.5,1\n", "07 1.50 7"},       /* these are different */
        {"7,.5,1\n99999999999999999999,.5,1\n", "7 99999999999999999999"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rows_are(formatted("action,p,reward\n%s", cases[i].rows));
        expect_actions("", cases[i].names);
    }
    rows_are("action,p,reward\n2,.5,1\n");
    expect_actions(",actions=10+2+1", "1 2 10");
}

/* A row that is left out for any reason adds no action, and is reported with its own reason. */
TEST_IN_FOLDER(rejected_rows_have_no_actions)
{
    static const char *const reasons[] = {
        "above 0 and at most 1, got 0",   "above 0 and at most 1, got 60", "expected a number for the reward",
        "the reward must be -1e9 to 1e9", "duplicate event id 1",          "got 4 fields, expected 5",
        "copies must be 1 to 1e9, got 0"};
    rows_are("id,action,p,reward,copies\n"
             "1,a,0.5,1,1\n"
             "2,b,0.5,0,1\n"
             "3,c,0,1,1\n"
             "4,d,60,1,1\n"
             "5,e,0.5,,1\n"
             "6,f,0.5,1e10,1\n"
             "1,g,0.5,1,1\n"
             "8,h,0.5,1\n"
             "9,i,0.5,1,0\n"
             "10,b,0.5,1,1\n");
    expect_actions("", "a b");
    expect_actions(",id=none", "a b g");
    open_log(words_of(""));
    while (next()) assert_int_equal(event.count, 2);
    const log_counts *counts = log_read(reader);
    assert_int_equal(counts->events, 3);
    assert_int_equal(counts->first_count, 7);
    for (size_t i = 0; i < 7; i++) assert_message_has(counts->first_reasons[i], reasons[i]);
    rows_are("action,p,reward\na,0,1\nb,1e-310,1\n"); /* no actions at all */
    open_log(words_of(""));
    assert_false(next());
    assert_int_equal(log_read(reader)->invalid, 2);
}

/* Events outside the requested time have no actions either, and are no fault of the log. */
TEST_IN_FOLDER(actions_are_those_of_the_requested_time)
{
    rows_are("time,action,p,reward\n100,old,0.5,1\n200,a,0.5,1\n201,b,0.5,1\n300,new,0.5,1\n");
    log_options some = log_options_usual();
    some.from = 200;
    some.until = 300;
    some.strict = true;
    log_close(reader);
    ok(log_open(words_of(""), &some, &reader, NULL));
    assert_true(next() && event.count == 2 && event.action == 0 && next() && event.action == 1);
    assert_false(next());
    assert_int_equal(log_read(reader)->outside, 2);
    assert_int_equal(log_read(reader)->invalid, 0);
}

TEST_IN_FOLDER(a_file_that_grows_has_no_new_actions)
{
    open_rows("action,p,reward\na,0.5,1\nb,0.5,1\n", "");
    FILE *file = fopen(folder_path(&here, "log.csv"), "a");
    assert_non_null(file);
    for (size_t i = 0; i < 100000; i++) fputs("c,0.5,1\n", file); /* more than was read ahead */
    fclose(file);
    while (next()) assert_true(event.count == 2 && event.action < 2);
    assert_true(log_read(reader)->events == 2 && log_read(reader)->invalid > 0);
    assert_message_has(log_read(reader)->first_reasons[0], "the action is new: the file changed after it was opened");
}

TEST_IN_FOLDER(a_count_numbers_the_actions_of_a_row)
{
    open_rows("count,action,p,reward\n2,1,0.5,1\n3,2,0.5,1\n2,2,0.5,1\n0,0,0.5,1\n2,a,0.5,1\n2.5,1,0.5,1\n", "");
    assert_true(next() && event.count == 2 && event.action == 1 && !event.actions);
    assert_true(next() && event.count == 3 && event.action == 2 && !next());
    assert_int_equal(log_read(reader)->invalid, 4);
    assert_message_has(log_read(reader)->first_reasons[0],
                       "the action '2' is not one of the 2 actions, numbered from 0 (column count)");
    expect_actions(",count=none", "0 1 2 a");
}

/* What log_write makes is read without a word. */
TEST_IN_FOLDER(our_own_file_is_read)
{
    rows_are("id,time,count,action,name,probability,reward,copies,skipped\n"
             "a,2021-05-18T13:28:29.6560000Z,3,1,red,0.3,0.1,10,0\n"
             ",,20,19,,0.5,-3e-05,1,1\n");
    open_log(folder_path(&here, "log.csv")); /* the first bytes tell */
    assert_true(next() && event.count == 3 && event.action == 1 && event.copies == 10 && event.time == 1621344509.656);
    assert_true(next() && event.count == 20 && event.action == 19 && event.skipped && isnan(event.time));
    assert_false(next());
}

TEST_IN_FOLDER(a_row_with_too_many_fields_is_broken)
{
    open_rows("action,probability,reward\n0,0.5,1,9\n0,0.5,2\n", ",actions=2");
    assert_true(next() && event.reward == 2 && !next());
    assert_int_equal(log_read(reader)->broken, 1);
    assert_message_has(log_read(reader)->first_reasons[0], "got 4 fields, expected 3 as in the header");
}

TEST_IN_FOLDER(rows_that_are_wrong_are_told)
{
    rows_are("action,probability,reward\n"
             "0,0.5,1\n"
             "0,0.5\n"                /* 3 */
             "0,,1\n"                 /* 4 */
             "0,0.5,nan\n"            /* 5 */
             "-1,0.5,1\n"             /* 6 */
             "0,0,1\n"                /* 7 */
             "0,\xff,1\n"             /* 8 */
             "1,0.5 \"x,1\n"          /* 9: a quote within a field hides no row */
             "1,0.5,2\n"              /* 10 */
             "1,0.5,\"3\n1,0.5,4\n"); /* 11 */
    open_log(words_of(",actions=2"));
    double reward = 0;
    while (next()) reward += event.reward;
    const log_counts *counts = log_read(reader);
    static const size_t lines[] = {3, 4, 5, 6, 7, 8, 9, 11};
    static const char *const reasons[] = {"got 2 fields, expected 3 as in the header",
                                          "expected a number for the probability, got ''",
                                          "expected a number for the reward, got 'nan'",
                                          "the action '-1' is not one of the 2 actions",
                                          "above 0 and at most 1, got 0",
                                          "not UTF-8",
                                          "expected a number for the probability",
                                          "a quoted field is not closed"};
    assert_true(reward == 7);
    assert_int_equal(counts->events, 3);
    assert_int_equal(counts->broken, 3);
    assert_int_equal(counts->invalid, 5);
    assert_int_equal(counts->lines, 12);
    assert_int_equal(counts->first_bad, 0);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(counts->first_lines[i], lines[i]);
        assert_message_has(counts->first_reasons[i], reasons[i]);
    }
}

static void expect_refused(const char *options, const char *message)
{
    log_options usual = log_options_usual();
    log_reader *log;
    assert_int_not_equal(log_open(words_of(options), &usual, &log, &last_error), EE_OK);
    assert_message_has(last_error.message, message);
    assert_null(log);
}

TEST_IN_FOLDER(columns_that_are_missing_are_told)
{
    rows_are("which,odds,reward\n0,0.5,1\n");
    expect_refused("",
                   "log.csv: found no column for the action; name it: csv:FILE,action=COLUMN; the columns are: which, "
                   "odds, reward");
    expect_refused(",action=which", "found no column for the probability");
    expect_refused(",action=which,probability=od", "there is no column 'od' (option probability=)");
    expect_refused(",action=which,probability=odds,context=age", "there is no column 'age' (option context=)");
    expect_refused(",action=which,probability=odds,actions=0", "actions must be 1 to 100000");
    expect_refused(",acton=which", "acton");
    rows_are("");
    expect_refused("", "expected a header with column names");
    rows_are("\xff\xfe,x\n");
    expect_refused("", "not UTF-8");
    rows_are("a,0.5,1\nb,0.5,0\n");
    expect_refused("", "found no column for the probability; the first row must name the columns");
}

TEST_IN_FOLDER(lists_are_joined_by_plus)
{
    rows_are("action,probability,reward,age,plan\n0,0.5,1,30,pro\n");
    expect_refused(",context=age,plan", "expected name=value, got 'plan'; did you mean context=age+plan?");
    expect_refused(",actions=red,green,context=age",
                   "expected name=value, got 'green'; did you mean actions=red+green?");
}

/* Fails unless the log has these remarks, joined by line ends. */
static void expect_remarks(const char *options, const char *expected)
{
    open_log(words_of(options));
    char all[1000] = "";
    for (size_t i = 0; log_remark(reader, i); i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? "\n" : "", log_remark(reader, i));
    assert_string_equal(all, expected);
}

static void expect_columns(const char *options, const char *expected)
{
    open_log(words_of(options));
    char got[LOG_COLUMNS_TEXT];
    log_columns_format(reader, got);
    assert_string_equal(got, expected);
}

/* 600 events with columns of every kind. */
enum { EVENTS = 600, KINDS = 18, ALL_KINDS = 22 };

static const char *const kind_names[ALL_KINDS] = {"action",  "p",       "reward",    "age",    "plan",  "income",
                                                  "session", "number",  "user_id",   "signup", "seen",  "day",
                                                  "bought",  "revenue", "item_name", "price",  "click", "prob_red",
                                                  "order",   "paid_at", "amount",    "balance"};

/* The cell of a column in an event, the same in every test. */
static void write_cell(FILE *into, size_t number, size_t kind)
{
    static const char *const plans[] = {"free", "pro", "team"}, *const items[] = {"desk", "lamp", "sofa"};
    size_t dice = (number * 7919 + 13) % 1009, action = dice % 3, reward = (dice / 3) % 4 == 0;
    char cells[ALL_KINDS][32] = {{0}};
    snprintf(cells[0], 32, "%s", items[action]);
    snprintf(cells[1], 32, "0.25");
    snprintf(cells[2], 32, "%zu", reward);
    snprintf(cells[3], 32, "%zu", 18 + number * 31 % 60);
    snprintf(cells[4], 32, "%s", plans[number * 17 % 3]);
    snprintf(cells[5], 32, "%zu.5", 1000 + number * 37);            /* a quantity, never the same */
    snprintf(cells[6], 32, "s%zx", number * 2654435761u % 1000003); /* text, almost unique */
    snprintf(cells[7], 32, "%zu", 500000 + number);                 /* numbers, almost unique */
    snprintf(cells[8], 32, "%zu", number % 30);                     /* a key by its name */
    snprintf(cells[9], 32, "2025-%02zu-01", 1 + number % 12);
    snprintf(cells[10], 32, "%zu", 1750000000 + number % 7);
    snprintf(cells[11], 32, "%zu", 20260101 + number % 28);
    snprintf(cells[12], 32, "%s", reward ? "yes" : "");
    snprintf(cells[13], 32, "%g", reward ? 5 + (double)(number % 97) / 7 : 0);
    snprintf(cells[14], 32, "the %s", items[action]);
    snprintf(cells[15], 32, "%zu", 10 * action);
    snprintf(cells[16], 32, "%zu", number % 2);
    snprintf(cells[17], 32, "0.%zu", 1 + number % 8);
    if (reward) snprintf(cells[18], 32, "o%zu", number); /* text, almost unique, if there is a reward */
    if (reward) snprintf(cells[19], 32, "2025-%02zu-01", 1 + number % 12);
    snprintf(cells[20], 32, "%g", reward ? 1 + (double)(number * number % 89) : 0); /* a reward that varies */
    snprintf(cells[21], 32, "NA"); /* a quantity that is unknown now and then */
    if (number % 10) snprintf(cells[21], 32, "%zu.5", 1000 + number * 37);
    fputs(cells[kind], into);
}

/* Writes the columns in this order, which repeats none. */
static void write_kinds(const size_t *kinds, size_t count)
{
    FILE *file = fopen(folder_path(&here, "log.csv"), "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) fprintf(file, "%s%s", i ? "," : "", kind_names[kinds[i]]);
    fputs("\n", file);
    for (size_t number = 0; number < EVENTS; number++) {
        for (size_t i = 0; i < count; i++) {
            if (i) fputs(",", file);
            write_cell(file, number, kinds[i]);
        }
        fputs("\n", file);
    }
    fclose(file);
}

TEST_IN_FOLDER(columns_without_a_role_are_context)
{
    size_t all[KINDS];
    for (size_t i = 0; i < KINDS; i++) all[i] = i;
    write_kinds(all, KINDS);
    expect_columns("",
                   "Columns: action (3 names), probability=p, reward; context: age, plan, income; left out: session "
                   "(almost unique), number (almost unique), user_id (a key), signup (a time), seen (a time), day (a "
                   "time), bought (predicts the reward almost perfectly), revenue (predicts the reward almost "
                   "perfectly) and 4 more. Change with context=COLUMN+COLUMN or ignore=COLUMN.");
    expect_columns(",ignore=income+session+number+user_id+signup+seen+day+bought",
                   "Columns: action (3 names), probability=p, reward; context: age, plan; left out: income (ignored), "
                   "session (ignored), number (ignored), user_id (ignored), signup (ignored), seen (ignored), day "
                   "(ignored), bought (ignored), revenue (predicts the reward almost perfectly), item_name (follows "
                   "from the action) and 3 more. Change with context=COLUMN+COLUMN or ignore=COLUMN.");
    size_t consequences[] = {0, 1, 2, 3, 14, 15, 16, 17};
    write_kinds(consequences, 8);
    expect_columns("",
                   "Columns: action (3 names), probability=p, reward; context: age; left out: item_name (follows from "
                   "the action), price (follows from the action), click (named like a reward), prob_red (named like a "
                   "probability). Change with context=COLUMN+COLUMN or ignore=COLUMN.");
    expect_columns(",context=price",
                   "Columns: action (3 names), probability=p, reward; context: price; left out: age, item_name, click, "
                   "prob_red. Change with context=COLUMN+COLUMN or ignore=COLUMN.");
    write_kinds(all, 3);
    expect_columns(",actions=lamp+desk+sofa", "Columns: action (3 names), probability=p, reward; context: none.");
}

/* What only some rows have; a reward that is more than yes or no. */
TEST_IN_FOLDER(traces_of_the_reward_are_found)
{
    size_t kinds[] = {0, 1, 2, 18, 19, 21};
    write_kinds(kinds, 6);
    static const char found[] =
        "context: balance; left out: order (predicts the reward almost perfectly), paid_at (predicts the reward almost "
        "perfectly). Change with context=COLUMN+COLUMN or ignore=COLUMN.";
    expect_columns("", formatted("Columns: action (3 names), probability=p, reward; %s", found));
    kinds[2] = 20;
    write_kinds(kinds, 6);
    expect_columns(",reward=amount", formatted("Columns: action (3 names), probability=p, reward=amount; %s", found));
    kinds[3] = 12;
    kinds[4] = 3;
    write_kinds(kinds, 6);
    expect_columns(",reward=amount",
                   "Columns: action (3 names), probability=p, reward=amount; context: age, balance; left out: bought "
                   "(predicts the reward almost perfectly). Change with context=COLUMN+COLUMN or ignore=COLUMN.");
}

/* The events that are read from a file, as text to compare. */
static char *read_contexts(const char *options)
{
    open_log(words_of(options));
    text all = text_start(NULL);
    while (next()) {
        text_add(&all, "%zu %g %g ", event.action, event.reward, event.probability);
        text_bytes(&all, event.context.bytes, event.context.length);
    }
    ok(all.status);
    return all.bytes;
}

TEST_IN_FOLDER(the_order_of_columns_does_not_matter)
{
    size_t kinds[KINDS];
    for (size_t i = 0; i < KINDS; i++) kinds[i] = i;
    write_kinds(kinds, KINDS);
    auto_memory char *found = read_contexts(""), *named = read_contexts(",context=plan+income+age");
    assert_string_equal(found, named);
    for (size_t shift = 1; shift < KINDS; shift += 4) {
        for (size_t i = 0; i < KINDS; i++) kinds[i] = (i * 5 + shift) % KINDS;
        write_kinds(kinds, KINDS);
        auto_memory char *moved = read_contexts("");
        assert_string_equal(moved, found);
    }
}

TEST_IN_FOLDER(few_rows_decide_nothing)
{
    rows_are("age,action,probability,plan,reward\n30,0,0.5,pro,1\n40,1,0.5,free,0\n");
    expect_columns("", "Columns: action (2 names), probability, reward; context: age, plan. Change with "
                       "context=COLUMN+COLUMN or ignore=COLUMN.");
    expect_remarks("", "");
    rows_are("count,action,name,probability,reward\n2,0,red,0.5,1\n"); /* from eenet */
    expect_columns("",
                   "Columns: count, action (numbers from 0, below the count), probability, reward; context: none; left "
                   "out: name (name of the action). Change with context=COLUMN+COLUMN or ignore=COLUMN.");
    expect_remarks("", "");
}

/* Features ignore names that start with _, and add up those of one name. */
TEST_IN_FOLDER(names_of_context_are_different)
{
    rows_are("action,p,reward,_multi,age,_text,age,Age\n0,0.5,1,5,30,so it is,40,50\n");
    static const char columns[] =
        "Columns: action (1 name), probability=p, reward; context: age, _text, Age; left out: _multi (name starts with "
        "_), age (same name as another column). Change with context=COLUMN+COLUMN or ignore=COLUMN.";
    expect_columns("", columns);
    expect_columns(",context=all", columns);
    expect_refused(",context=age+_multi", "column '_multi' cannot be context: remove _ from its start");
    open_log(words_of(""));
    assert_true(next());
    assert_true(text_is(event.context, "{\"Age\":50,\"_text\":\"so it is\",\"age\":30,\"_multi\":["
                                       "{\"_tag\":\"0\",\"i\":{\"constant\":1,\"id\":\"0\"}}]}"));
}

TEST_IN_FOLDER(doubtful_columns_are_named)
{
    size_t kinds[] = {0, 1, 2, 3, 12, 13, 15, 16};
    write_kinds(kinds, 8);
    static const char several[] =
        "The reward is read from column 'reward', but it could also be click; choose with reward=COLUMN.";
    static const char named[] =
        "Context column 'bought' (and 1 other column) predicts the reward almost perfectly. Was it known when the "
        "decision was made? If not, leave it out: otherwise the numbers are too good.\n"
        "Context column 'price' has one value per chosen action. Was it known when the decision was made? If not, "
        "leave it out: otherwise the numbers are too good.";
    expect_remarks("", several);
    expect_remarks(",reward=reward", "");
    expect_remarks(",reward=reward,context=all", named);
    expect_remarks(",reward=reward,context=age+bought+revenue+price,actions=desk+lamp+sofa", named);
    expect_remarks(",reward=reward,context=none", "");
    expect_remarks(",reward=reward,ignore=age",
                   "No column is used as context, so policies cannot personalise; choose some with "
                   "context=COLUMN+COLUMN.");
    rows_are("arm,item,p,prob,reward\n1,2,0.5,0.25,1\n");
    expect_remarks("", "The action is read from column 'arm', but it could also be item; choose with action=COLUMN.\n"
                       "The probability is read from column 'prob', but it could also be p; choose with "
                       "probability=COLUMN.\n"
                       "No column is used as context, so policies cannot personalise; choose some with "
                       "context=COLUMN+COLUMN.");
}

/* Columns that change every number if they mean something else. */
TEST_IN_FOLDER(guessed_columns_are_named)
{
    rows_are("action,p,reward,skipped,copies\n1,0.5,1,0,2\n");
    expect_remarks("",
                   "Column 'copies' is read as the number of events that a row represents. If it means something "
                   "else, rename it or add copies=none.\n"
                   "Column 'skipped' is read as a mark of decisions that were never shown: rows with 1 are left out. "
                   "If it means something else, rename it or add skipped=none.");
    expect_remarks(",copies=copies,skipped=skipped", "");
    rows_are("count,action,p,reward,skipped,copies\n2,1,0.5,1,0,2\n");
    expect_remarks("", "");
}

/* The same name in another case is another column; the options choose by the exact name. */
TEST_IN_FOLDER(twins_are_named)
{
    static const char twins[] = "2 columns are named 'reward'; the reward is read from column 3 of the file. If that "
                                "is the wrong one, every number is wrong: rename the others.";
    rows_are("action,p,reward,reward\n1,0.5,1,0\n");
    expect_remarks(",context=none", twins);
    expect_remarks(",context=none,reward=reward", twins);
    rows_are("action,p,reward,Reward\n1,0.5,1,7\n");
    expect_remarks(",context=none", twins);
    expect_remarks(",context=none,reward=Reward", "");
    open_log(words_of(",reward=Reward"));
    assert_true(next() && event.reward == 7);
}

TEST_IN_FOLDER(actions_that_differ_in_case_are_named)
{
    static const char one[] = "Actions 'Red' and 'red' differ only in case and count as different actions. If they are "
                              "the same, every number is wrong: write the names in one way.";
    rows_are("action,p,reward\nRed,0.5,1\nredo,0.5,0\nred,0.5,1\nblue,0.5,1\n");
    expect_remarks("", one);
    expect_remarks(",actions=Red+red+redo+blue", "");
}

/* pandas writes times as nanoseconds. */
TEST_IN_FOLDER(times_have_any_unit)
{
    open_rows("action,p,reward,time\n1,0.5,1,1577836803\n1,0.5,1,1577836803000\n1,0.5,1,1577836803000000\n"
              "1,0.5,1,1577836803000000000\n1,0.5,1,31/12/2025\n",
              "");
    for (size_t i = 0; i < 4; i++) {
        assert_true(next() && event.time == 1577836803);
    }
    assert_true(next() && isnan(event.time));
    assert_int_equal(log_read(reader)->timeless, 1);
    assert_string_equal(log_remark(reader, 0), "In line 6 the time '31/12/2025' cannot be read, so the order of such "
                                               "events is not checked. Expected ISO 8601, or seconds since 1970.");
}

/* A long list, and names that are long or hold control characters. */
TEST_IN_FOLDER(long_lists_are_shortened)
{
    FILE *file = fopen(folder_path(&here, "log.csv"), "w");
    assert_non_null(file);
    fputs("action,p,reward,\"tab\there\",", file);
    for (size_t i = 0; i < 30; i++) fputs("\xc3\xa9", file);
    for (size_t i = 0; i < 300; i++) fprintf(file, ",column%zu", i);
    fputs("\n1,0.5,1,a,b", file);
    for (size_t i = 0; i < 300; i++) fprintf(file, ",%zu", i);
    fputs("\n", file);
    fclose(file);
    open_log(words_of(""));
    char got[LOG_COLUMNS_TEXT];
    log_columns_format(reader, got);
    assert_message_has(got, "context: tab?here, \xc3\xa9\xc3\xa9");
    assert_message_has(got, "\xc3\xa9..., column0, column1,");
    assert_message_has(got, " more. Change with");
    assert_true(json_is_utf8((json_text){got, strlen(got)}));
}

static const char items[] = ",item_id,item_feature_0,item_feature_1\n0,0,-0.5,ab\n1,1,0.25,cd\n";
static const char shown[] = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,"
                            "user-item_affinity_0,user-item_affinity_1\n"
                            "0,2019-11-24 00:03:13.442536+00:00,1,3,1,0.125,u,v,0.0,2.0\n"
                            "1,2019-11-24 00:03:14+00:00,2,3,1,0.125,u,v,0.0,2.0\n";

static const char *bandit_words(void)
{
    static char words[100];
    snprintf(words, sizeof words, "open-bandit:%s", here.path);
    return words;
}

TEST_IN_FOLDER(the_open_bandit_dataset_is_read)
{
    folder_write_text(&here, "item_context.csv", items);
    folder_write_packed(&here, "men.csv.gz", shown, sizeof shown - 1);
    open_log(bandit_words());
    assert_true(next() && event.count == 2 && event.action == 1 && event.reward == 1 && event.probability == 0.125);
    assert_true(event.time == 1574553793.442536);
    assert_null(event.probabilities);
    assert_true(text_is(event.context,
                        "{\"u\":{\"user_feature_0\":\"u\",\"user_feature_1\":\"v\",\"position\":\"3\"},\"_multi\":["
                        "{\"i\":{\"id\":\"0\",\"item_feature_0\":-0.5,\"item_feature_1\":\"ab\"}},"
                        "{\"i\":{\"id\":\"1\",\"item_feature_0\":0.25,\"item_feature_1\":\"cd\",\"affinity\":2}}]}"));
    assert_false(next()); /* there is no item 2 */
    assert_int_equal(log_read(reader)->invalid, 1);
    log_options bare = log_options_usual();
    bare.bare = true;
    log_close(reader);
    ok(log_open(bandit_words(), &bare, &reader, NULL));
    assert_true(next() && event.action == 1 && event.context.length == 0);
    uint64_t print = log_fingerprint(reader);
    folder_write_text(&here, "item_context.csv", ",item_id\n0,0\n1,1\n2,2\n"); /* another one */
    open_log(bandit_words());
    assert_true(log_fingerprint(reader) != print);
    assert_true(next() && next() && event.action == 2);
}

static void expect_no_bandit(const char *message)
{
    log_options usual = log_options_usual();
    log_reader *log;
    assert_int_not_equal(log_open(bandit_words(), &usual, &log, &last_error), EE_OK);
    assert_message_has(last_error.message, message);
}

TEST_IN_FOLDER(folders_that_are_no_open_bandit_are_told)
{
    expect_no_bandit("could not open");
    folder_write_text(&here, "item_context.csv", ",item_id\n1,1\n");
    expect_no_bandit("item_id must be 0, counting from 0");
    folder_write_text(&here, "item_context.csv", items);
    expect_no_bandit("one .csv file next to item_context.csv, got 0");
    folder_write_text(&here, "men.csv", "timestamp,item_id,position,click\n");
    expect_no_bandit("no column 'propensity_score'; the columns are: timestamp,");
    folder_write_text(&here, "women.csv", shown);
    expect_no_bandit("got 2");
}

/* Sums over the columns, as another program has them. */
TEST(the_real_one_is_read)
{
    static const struct {
        const char *name;
        size_t count;
        double clicks, probabilities;
        size_t items;
    } real[] = {{"random/men", 34, 46, 294.117647, 164803},
                {"random/women", 46, 46, 217.391304, 223182},
                {"bts/men", 34, 69, 1635.944032, 151350},
                {"bts/women", 46, 46, 1355.041783, 240295}};
    const char *data = real_data();
    for (size_t i = 0; i < 4; i++) {
        open_log(formatted("open-bandit:%s/open-bandit/%s", data, real[i].name));
        double clicks = 0, probabilities = 0;
        size_t sum = 0;
        while (next()) {
            assert_int_equal(event.count, real[i].count);
            clicks += event.reward;
            probabilities += event.probability;
            sum += event.action;
        }
        assert_int_equal(log_read(reader)->events, 10000);
        assert_true(clicks == real[i].clicks);
        assert_close(probabilities, real[i].probabilities, 1e-8);
        assert_int_equal(sum, real[i].items);
    }
}
