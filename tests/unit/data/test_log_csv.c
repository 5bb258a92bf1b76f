/* Logs as CSV and the Open Bandit Dataset: columns by name or by guess, actions by number or name, features. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "good_logs.h"
#include "support_files.h"

static bool text_is(json_text got, const char *expected)
{
    return got.length == strlen(expected) && memcmp(got.bytes, expected, got.length) == 0;
}

/* "csv:FOLDER/log.csv" and the options, valid until the next call. */
static const char *words_of(const test_folder *folder, const char *options)
{
    static char words[200];
    snprintf(words, sizeof words, "csv:%s/log.csv%s", folder->path, options);
    return words;
}

static void columns_are_found_by_their_names(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv",
                      "\xef\xbb\xbf,Timestamp,item_id,click,propensity_score,age,town,id\n"
                      "0,2020-01-01 00:00:01,2,1,0.25,3.50,\"New \"\"York\"\"\n2\",x1\n"
                      "1,1577836802,0,0.5,1,,Rome,x2\n"
                      "2,1577836803000,1,0,0.5,7,,\n");
    log_reader *log = open_good(words_of(&folder, ",context=age+town"));
    log_event event;
    assert_true(next_good(log, &event));
    assert_true(event.count == 3 && event.action == 2 && event.line == 2);
    assert_true(event.probability == 0.25 && event.reward == 1 && event.time == 1577836801 && event.copies == 1);
    assert_null(event.probabilities);
    assert_null(event.actions);
    assert_true(text_is(event.id, "x1"));
    assert_true(
        text_is(event.context,
                "{\"age\":3.5,\"town\":\"New \\\"York\\\"\\n2\",\"_multi\":[{\"i\":{\"constant\":1,\"id\":\"0\"}},"
                "{\"i\":{\"constant\":1,\"id\":\"1\"}},{\"i\":{\"constant\":1,\"id\":\"2\"}}]}"));
    assert_true(next_good(log, &event));
    assert_true(event.line == 4 && event.time == 1577836802 && event.action == 0 && event.reward == 0.5);
    assert_true(next_good(log, &event));
    assert_true(event.time == 1577836803 && event.id.length == 0);
    assert_false(next_good(log, &event));
    assert_int_equal(log_read(log)->lines, 5);
    log_close(log);

    folder_write_text(&folder, "log.csv", "what;how;why;where\nred;0.5;1;2\n\nblue;0.25;-1;3\n");
    log = open_good(words_of(&folder, ",action=what,probability=how,reward=why,context=all"));
    assert_true(next_good(log, &event));
    assert_true(event.count == 2 && event.action == 1 && text_is(event.actions[0], "blue")); /* by the alphabet */
    assert_true(text_is(event.context,
                        "{\"where\":2,\"_multi\":[{\"_tag\":\"blue\",\"i\":{\"constant\":1,\"id\":\"blue\"}},"
                        "{\"_tag\":\"red\",\"i\":{\"constant\":1,\"id\":\"red\"}}]}"));
    assert_true(next_good(log, &event));
    assert_true(event.action == 0 && event.reward == -1);
    log_close(log);
    folder_remove(&folder);
}

static void names_of_columns_may_have_blanks_and_commas(void **state)
{
    (void)state;
    static const char head[] = "{\"last town\":\"Rome\",\"age\":3,";
    static const char *const options[] = {
        ",action=the action,probability=p,reward=\"net, reward\",context=last town+age",
        ",action=\"the action\",probability=p,reward=\"net, reward\",context=\"last town\"+\"age\"",
    };
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv",
                      "the action,p,\"net, reward\",last town,age\n0,0.5,1,Rome,3\n1,0.5,0,Rome,4\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        log_reader *log = open_good(words_of(&folder, options[i]));
        log_event event;
        assert_true(next_good(log, &event));
        assert_true(event.action == 0 && event.probability == 0.5 && event.reward == 1);
        assert_true(strncmp(event.context.bytes, head, strlen(head)) == 0);
        log_close(log);
    }
    folder_remove(&folder);
}

static void actions_can_be_given(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv", "action,p,reward\nb,0.5,1\nc,0.5,1\n");
    log_reader *log = open_good(words_of(&folder, ",actions=a+b"));
    log_event event;
    assert_true(next_good(log, &event));
    assert_true(event.count == 2 && event.action == 1);
    assert_false(next_good(log, &event));
    assert_int_equal(log_read(log)->invalid, 1);
    assert_message_has(log_read(log)->first_reasons[0], "the action 'c' is not one of the 2 actions");
    log_close(log);
    folder_write_text(&folder, "log.csv", "action,p,reward\n1,0.5,1\n3.0,0.5,1\n5,0.5,1\n");
    log = open_good(words_of(&folder, ",actions=5"));
    assert_true(next_good(log, &event) && event.count == 5 && event.action == 1);
    assert_true(next_good(log, &event) && event.action == 3);
    assert_false(next_good(log, &event));
    log_close(log);
    folder_remove(&folder);
}

/* What log_write makes is read without a word. */
static void our_own_file_is_read(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv",
                      "id,time,count,action,name,probability,reward,copies,skipped\n"
                      "a,2021-05-18T13:28:29.6560000Z,3,1,red,0.3,0.1,10,0\n"
                      ",,20,19,,0.5,-3e-05,1,1\n");
    log_reader *log = open_good(folder_path(&folder, "log.csv")); /* the first bytes tell */
    log_event event;
    assert_true(next_good(log, &event));
    assert_true(event.count == 3 && event.action == 1 && event.copies == 10 && event.time == 1621344509.656);
    assert_true(next_good(log, &event));
    assert_true(event.count == 20 && event.action == 19 && event.skipped && isnan(event.time));
    assert_false(next_good(log, &event));
    log_close(log);
    folder_remove(&folder);
}

static void rows_that_are_wrong_are_told(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv",
                      "action,probability,reward\n"
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
    log_reader *log = open_good(words_of(&folder, ",actions=2"));
    log_event event;
    double reward = 0;
    while (next_good(log, &event)) reward += event.reward;
    const log_counts *counts = log_read(log);
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
    log_close(log);
    folder_remove(&folder);
}

static void expect_refused(const test_folder *folder, const char *options, const char *message)
{
    log_options usual = log_options_usual();
    log_reader *log;
    ee_error error;
    assert_int_not_equal(log_open(words_of(folder, options), &usual, &log, &error), EE_OK);
    assert_message_has(error.message, message);
    assert_null(log);
}

static void columns_that_are_missing_are_told(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv", "which,odds,reward\n0,0.5,1\n");
    expect_refused(&folder, "",
                   "log.csv: found no column for the action; name it: csv:FILE,action=COLUMN; the columns are: which, "
                   "odds, reward");
    expect_refused(&folder, ",action=which", "found no column for the probability");
    expect_refused(&folder, ",action=which,probability=od", "there is no column 'od' (option probability=)");
    expect_refused(&folder, ",action=which,probability=odds,context=age", "there is no column 'age' (option context=)");
    expect_refused(&folder, ",action=which,probability=odds,actions=0", "actions must be 1 to 100000");
    expect_refused(&folder, ",acton=which", "acton");
    folder_write_text(&folder, "log.csv", "");
    expect_refused(&folder, "", "expected a header with column names");
    folder_write_text(&folder, "log.csv", "\xff\xfe,x\n");
    expect_refused(&folder, "", "not UTF-8");
    folder_remove(&folder);
}

static void lists_are_joined_by_plus(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv", "action,probability,reward,age,plan\n0,0.5,1,30,pro\n");
    expect_refused(&folder, ",context=age,plan", "expected name=value, got 'plan'; did you mean context=age+plan?");
    expect_refused(&folder, ",actions=red,green,context=age",
                   "expected name=value, got 'green'; did you mean actions=red+green?");
    folder_remove(&folder);
}

static void expect_remark(const test_folder *folder, const char *options, const char *remark)
{
    log_reader *log = open_good(words_of(folder, options));
    assert_string_equal(log_remark(log), remark);
    log_close(log);
}

static void columns_that_could_be_context_are_named(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "log.csv", "age,action,probability,plan,reward\n30,0,0.5,pro,1\n");
    expect_remark(&folder, "", "No context columns are used (unused columns: age, plan); add context=age+plan.");
    expect_remark(&folder, ",context=age", "");
    expect_remark(&folder, ",context=none", "");
    expect_remark(&folder, ",id=age,time=plan", "");
    folder_write_text(&folder, "log.csv", "count,action,name,probability,reward\n2,0,red,0.5,1\n"); /* from eenet */
    expect_remark(&folder, "", "");
    folder_write_text(&folder, "log.csv",
                      "action,probability,reward,a_long_name_of_a_column_1,a_long_name_of_a_column_2,"
                      "a_long_name_of_a_column_3,a_long_name_of_a_column_4\n0,0.5,1,1,2,3,4\n");
    expect_remark(&folder, "",
                  "No context columns are used (4 columns are unused); add context=all, or context=COLUMN+COLUMN.");
    folder_remove(&folder);
}

/* ---- Open Bandit ---- */

static const char items[] = ",item_id,item_feature_0,item_feature_1\n0,0,-0.5,ab\n1,1,0.25,cd\n";
static const char shown[] = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,"
                            "user-item_affinity_0,user-item_affinity_1\n"
                            "0,2019-11-24 00:03:13.442536+00:00,1,3,1,0.125,u,v,0.0,2.0\n"
                            "1,2019-11-24 00:03:14+00:00,2,3,1,0.125,u,v,0.0,2.0\n";

static const char *bandit_words(const test_folder *folder)
{
    static char words[100];
    snprintf(words, sizeof words, "open-bandit:%s", folder->path);
    return words;
}

static void the_open_bandit_dataset_is_read(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    folder_write_text(&folder, "item_context.csv", items);
    folder_write_packed(&folder, "men.csv.gz", shown, sizeof shown - 1);
    log_reader *log = open_good(bandit_words(&folder));
    log_event event;
    assert_true(next_good(log, &event));
    assert_true(event.count == 2 && event.action == 1 && event.reward == 1 && event.probability == 0.125);
    assert_true(event.time == 1574553793.442536);
    assert_null(event.probabilities);
    assert_true(text_is(event.context,
                        "{\"u\":{\"user_feature_0\":\"u\",\"user_feature_1\":\"v\",\"position\":\"3\"},\"_multi\":["
                        "{\"i\":{\"id\":\"0\",\"item_feature_0\":-0.5,\"item_feature_1\":\"ab\"}},"
                        "{\"i\":{\"id\":\"1\",\"item_feature_0\":0.25,\"item_feature_1\":\"cd\",\"affinity\":2}}]}"));
    assert_false(next_good(log, &event)); /* there is no item 2 */
    assert_int_equal(log_read(log)->invalid, 1);
    log_close(log);

    log_options bare = log_options_usual();
    bare.bare = true;
    assert_int_equal(log_open(bandit_words(&folder), &bare, &log, NULL), EE_OK);
    assert_true(next_good(log, &event) && event.action == 1 && event.context.length == 0);
    uint64_t print = log_fingerprint(log);
    log_close(log);
    folder_write_text(&folder, "item_context.csv", ",item_id\n0,0\n1,1\n2,2\n"); /* another one */
    log = open_good(bandit_words(&folder));
    assert_true(log_fingerprint(log) != print);
    assert_true(next_good(log, &event) && next_good(log, &event) && event.action == 2);
    log_close(log);
    folder_remove(&folder);
}

static void expect_no_bandit(const test_folder *folder, const char *message)
{
    log_options usual = log_options_usual();
    log_reader *log;
    ee_error error;
    assert_int_not_equal(log_open(bandit_words(folder), &usual, &log, &error), EE_OK);
    assert_message_has(error.message, message);
}

static void folders_that_are_no_open_bandit_are_told(void **state)
{
    (void)state;
    test_folder folder = folder_make();
    expect_no_bandit(&folder, "could not open");
    folder_write_text(&folder, "item_context.csv", ",item_id\n1,1\n");
    expect_no_bandit(&folder, "item_id must be 0, counting from 0");
    folder_write_text(&folder, "item_context.csv", items);
    expect_no_bandit(&folder, "one .csv file next to item_context.csv, got 0");
    folder_write_text(&folder, "men.csv", "timestamp,item_id,position,click\n");
    expect_no_bandit(&folder, "no column 'propensity_score'; the columns are: timestamp,");
    folder_write_text(&folder, "women.csv", shown);
    expect_no_bandit(&folder, "got 2");
    folder_remove(&folder);
}

/* Sums over the columns, as another program has them. */
static void the_real_one_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count;
        double clicks, probabilities;
        size_t items;
    } real[] = {{"random/men", 34, 46, 294.117647, 164803},
                {"random/women", 46, 46, 217.391304, 223182},
                {"bts/men", 34, 69, 1635.944032, 151350},
                {"bts/women", 46, 46, 1355.041783, 240295}};
    const char *data = getenv("EENET_DATA");
    if (!data) skip();
    for (size_t i = 0; i < 4; i++) {
        char words[1000];
        snprintf(words, sizeof words, "open-bandit:%s/open-bandit/%s", data, real[i].name);
        log_reader *log = open_good(words);
        log_event event;
        double clicks = 0, probabilities = 0;
        size_t sum = 0;
        while (next_good(log, &event)) {
            assert_int_equal(event.count, real[i].count);
            clicks += event.reward;
            probabilities += event.probability;
            sum += event.action;
        }
        assert_int_equal(log_read(log)->events, 10000);
        assert_true(clicks == real[i].clicks);
        assert_close(probabilities, real[i].probabilities, 1e-8);
        assert_int_equal(sum, real[i].items);
        log_close(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_their_names),
        cmocka_unit_test(names_of_columns_may_have_blanks_and_commas),
        cmocka_unit_test(actions_can_be_given),
        cmocka_unit_test(our_own_file_is_read),
        cmocka_unit_test(rows_that_are_wrong_are_told),
        cmocka_unit_test(columns_that_are_missing_are_told),
        cmocka_unit_test(lists_are_joined_by_plus),
        cmocka_unit_test(columns_that_could_be_context_are_named),
        cmocka_unit_test(the_open_bandit_dataset_is_read),
        cmocka_unit_test(folders_that_are_no_open_bandit_are_told),
        cmocka_unit_test(the_real_one_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
