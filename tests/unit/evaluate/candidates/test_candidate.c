/* Candidates: what each would do in an event, and what it says of a file or a name that is wrong. */
#include "evaluate/candidates/candidate.h"

#include "data/files/npy.h"
#include "data/support_sets.h"
#include "support_files.h"
#include "support_logs.h"

enum { ACTIONS = 4 };

static const json_text names[ACTIONS] = {{"news", 4}, {"sport", 5}, {"2", 1}, {"game", 4}};
static const double logged[ACTIONS] = {0.1, 0.2, 0.3, 0.4};
static const float vectors[ACTIONS * 3] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

static log_event usual_event(void)
{
    return (log_event){.line = 1,
                       .count = ACTIONS,
                       .action = 3,
                       .probability = 0.4,
                       .probabilities = logged,
                       .reward = 1.0,
                       .copies = 1.0,
                       .baseline = 1,
                       .arms = ee_arms_dense(vectors, ACTIONS, 3)};
}

/* The last candidate that was made, until the next is or the test ends. */
static const candidate_class *class;
static candidate *self;

static int tear_down(void **state)
{
    (void)state;
    if (self) class->free(self);
    self = NULL;
    return 0;
}

static void make_by(const candidate_setup *setup)
{
    tear_down(NULL);
    if (candidate_find(setup->text, &class, &last_error) || class->create(class, setup, &self, &last_error))
        fail_msg("%s", last_error.message);
}

static void make(const char *text)
{
    make_by(&(candidate_setup){.text = text, .dim = 3, .features = ""});
}

static void make_of_file(const char *prefix, const char *name)
{
    make(formatted("%s:%s", prefix, folder_path(&here, name)));
}

static int leave(void **state)
{
    tear_down(state);
    return folder_leave(state);
}

#define TEST_OF_CANDIDATE(name) TEST_WITH(name, folder_enter, leave)

/* A name that no event had is told at the end. */
TEST_OF_CANDIDATE(test_unknown_arm)
{
    make("arm:gane");
    log_event event = usual_event();
    event.actions = names;
    candidate_round round = {.event = &event};
    double pi[ACTIONS];
    ok(class->play(self, &round, true, pi, NULL));
    fails_saying(class->finish(self, 1, &last_error), EE_BAD_INPUT, "no event has an action 'gane'");
    make("arm:game");
    ok(class->play(self, &round, true, pi, NULL));
    ok(class->finish(self, 1, &last_error));
}

/* A remark names events that lack the action or have two actions of that name. */
TEST_OF_CANDIDATE(test_arm_remarks)
{
    json_text twins[] = {{"a", 1}, {"game", 4}, {"b", 1}, {"game", 4}}, without[] = {{"a", 1}, {"b", 1}};
    double pi[ACTIONS];
    log_event good = usual_event(), lacking = usual_event(), shared = usual_event();
    good.actions = names;
    lacking.actions = without;
    lacking.count = 2;
    shared.actions = twins;
    make("arm:game");
    ok(class->play(self, &(candidate_round){.event = &good}, true, pi, NULL));
    ok(class->finish(self, 1, NULL));
    assert_string_equal(class->remark(self), "");
    ok(class->play(self, &(candidate_round){.event = &lacking}, true, pi, NULL));
    ok(class->finish(self, 2, NULL));
    assert_string_equal(class->remark(self), "50% of the events have no action 'game'; there arm:game takes the "
                                             "baseline, usually the first action.");
    ok(class->play(self, &(candidate_round){.event = &shared}, true, pi, NULL));
    ok(class->play(self, &(candidate_round){.event = &shared}, true, pi, NULL));
    ok(class->finish(self, 4, NULL));
    assert_string_equal(class->remark(self),
                        "In 50% of the events several actions are named 'game'; arm:game takes the first of them.");
}

/* What a candidate does in one event. */
static void expect_choice(const char *text, const log_event *event, const double *expected)
{
    make(text);
    candidate_round round = {.event = event};
    double pi[ACTIONS];
    ok(class->play(self, &round, true, pi, NULL));
    for (size_t i = 0; i < event->count; i++) assert_close(pi[i], expected[i], 1e-15);
}

TEST_OF_CANDIDATE(test_fixed)
{
    log_event event = usual_event();
    expect_choice("uniform", &event, (double[]){0.25, 0.25, 0.25, 0.25});
    expect_choice("first", &event, (double[]){0, 1, 0, 0});
    expect_choice("arm:2", &event, (double[]){0, 0, 1, 0});
    expect_choice("logged", &event, logged);
    event.probabilities = NULL;
    expect_choice("logged", &event, (double[]){0, 0, 0, 1});
    event.count = 2;
    expect_choice("uniform", &event, (double[]){0.5, 0.5});
    expect_choice("arm:2", &event, (double[]){0, 1}); /* there is none: the baseline */
}

TEST_OF_CANDIDATE(test_named_arm)
{
    log_event event = usual_event();
    event.actions = names;
    expect_choice("arm:game", &event, (double[]){0, 0, 0, 1});
    expect_choice("arm:0", &event, (double[]){1, 0, 0, 0});
    expect_choice("arm:2", &event, (double[]){0, 0, 1, 0}); /* the name goes before the number */
    expect_choice("arm:music", &event, (double[]){0, 1, 0, 0});
    event.actions = (json_text[]){{"1001", 4}, {"1002", 4}, {"1003", 4}, {"2", 1}};
    expect_choice("arm:1002", &event, (double[]){0, 1, 0, 0});
    expect_choice("arm:2", &event, (double[]){0, 0, 0, 1});

    make("arm:0");
    double pi[4];
    ok(class->play(self, &(candidate_round){.event = &event}, false, pi, NULL));
    refuses(class->finish(self, 1, &last_error), "no event has an action '0'; 'eenet log' lists them");
}

TEST_OF_CANDIDATE(test_names)
{
    static const struct {
        const char *text;
        const candidate_class *class;
    } known[] = {{"uniform", &candidate_uniform}, {"first", &candidate_first},
                 {"arm:1", &candidate_arm},       {"logged", &candidate_logged},
                 {"eenet", &candidate_policy},    {"eenet:paper", &candidate_policy},
                 {"model:a", &candidate_model},   {"learning:a", &candidate_learning_model},
                 {"file:a", &candidate_from_file}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ok(candidate_find(known[i].text, &class, &last_error));
        assert_ptr_equal(class, known[i].class);
    }
    static const char *const unknown[] = {"", "arm", "arm:", "uniform:3", "file:", "eenot", "model"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(candidate_find(unknown[i], &class, &last_error), EE_BAD_OPTION);
    fails_with(candidate_find("eenett", &class, &last_error), EE_BAD_OPTION,
               "unknown candidate 'eenett'; did you mean 'eenet'?");
    fails_with(candidate_find("sofa", &class, &last_error), EE_BAD_OPTION,
               "unknown candidate 'sofa'; to always choose the action 'sofa', write arm:sofa");
    fails_with(candidate_find("sofa:x", &class, &last_error), EE_BAD_OPTION, "unknown candidate 'sofa:x'");
}

/* An event in which the last action gave the reward. */
static void play(double reward, bool learn, double *pi)
{
    log_event event = usual_event();
    event.reward = reward;
    candidate_round round = {.event = &event};
    ok(class->play(self, &round, learn, pi, NULL));
}

/* A policy is scored before it learns, and learns from the action that was logged. */
TEST_OF_CANDIDATE(test_policy)
{
    make("linucb");
    double before[ACTIONS], same[ACTIONS], after[ACTIONS];
    play(0.0, false, before);
    play(0.0, true, same);
    assert_memory_equal(before, same, sizeof before);
    for (int i = 0; i < 20; i++) play(i % 2, true, NULL);
    play(0.0, false, after);
    double sum = 0.0;
    for (size_t i = 0; i < ACTIONS; i++) sum += after[i];
    assert_close(sum, 1.0, 1e-12);
    assert_true(memcmp(before, after, sizeof before) != 0);
}

TEST_OF_CANDIDATE(test_saved_models)
{
    make("linucb");
    for (int i = 0; i < 20; i++) play(0.0, true, NULL);
    double expected[ACTIONS], got[ACTIONS];
    play(0.0, false, expected);
    ok(class->save(self, folder_path(&here, "model.ee"), NULL));
    for (int learning = 0; learning < 2; learning++) {
        make_of_file(learning ? "learning" : "model", "model.ee");
        play(1.0, true, got);
        assert_memory_equal(got, expected, sizeof got);
        for (int i = 0; i < 200; i++) play(1.0, true, NULL);
        play(1.0, true, got);
        assert_int_equal(memcmp(got, expected, sizeof got) != 0, learning);
    }
}

/* An event whose context is JSON; the round it is read into is to be freed. */
static log_event named_event(const char *json, ee_round **round)
{
    bool usable;
    log_event event = usual_event();
    event.arms = (ee_arms){0};
    event.context = (json_text){json, strlen(json)};
    event.count = 2;
    event.action = 1;
    ok(ee_round_create(NULL, round, NULL));
    if (candidate_read_features(*round, &event, &usable, &last_error) || !usable) fail_msg("%s", last_error.message);
    return event;
}

/* Once frozen it does not learn the names of what it meets, and says the same of the same event. */
TEST_OF_CANDIDATE(test_named_features)
{
    auto_round *first, *second;
    log_event one = named_event("{\"U\":{\"plan\":\"a\"},\"_multi\":[{\"i\":\"x\"},{\"i\":\"y\"}]}", &first);
    log_event other = named_event("{\"U\":{\"plan\":\"b\"},\"_multi\":[{\"i\":\"z\"},{\"i\":\"w\"}]}", &second);
    candidate_round round = {.event = &one, .features = first},
                    another = {.event = &other, .number = 1, .features = second};
    double before[2], after[2];
    make_by(&(candidate_setup){.text = "linucb", .features = "names=12 hashes=0"});
    for (int i = 0; i < 20; i++) {
        one.action = (size_t)i % 2;
        one.reward = (double)one.action;
        ok(class->play(self, &round, true, before, NULL));
    }
    assert_true(before[1] > 0.99); /* the action that is rewarded */
    ok(class->freeze(self, NULL));
    for (int i = 0; i < 10; i++) ok(class->play(self, &another, true, after, NULL));
    ok(class->play(self, &round, true, after, NULL));
    assert_memory_equal(before, after, sizeof before);
}

TEST_OF_CANDIDATE(test_unreadable_features)
{
    bool usable;
    auto_round *round;
    log_event event = usual_event();
    ok(ee_round_create(NULL, &round, NULL));
    fails_saying(candidate_read_features(round, &event, &usable, &last_error), EE_BAD_INPUT,
                 "line 1: the log has no vectors or features");
    event.context = (json_text){"{\"_multi\":[{}]}", 15};
    ok(candidate_read_features(round, &event, &usable, &last_error));
    assert_false(usable);
    assert_string_equal(last_error.message, "expected features for 4 actions, got 1");
    event.arms.count = 3;
    ok(candidate_read_features(NULL, &event, &usable, &last_error));
    assert_false(usable);
    assert_string_equal(last_error.message, "expected vectors for 4 actions, got 3");
    event.context = (json_text){"{\"a\":", 5};
    ok(candidate_read_features(round, &event, &usable, &last_error));
    assert_false(usable);
}

/* Places of a policy for a log of many names. */
static size_t places_of(const char *policy, bool fixed)
{
    make_by(&(candidate_setup){.text = policy, .features = "names=5000 hashes=0", .fixed_names = fixed});
    auto_bandit *bandit;
    ok(class->save(self, folder_path(&here, "model.ee"), NULL));
    ok(ee_bandit_load(folder_path(&here, "model.ee"), NULL, &bandit, NULL));
    size_t dim = ee_bandit_info(bandit).dim;
    return dim;
}

/* Linear policies take time by the square of the places, and get as many as they have time for; others get all. */
TEST_OF_CANDIDATE(test_places)
{
    assert_int_equal(places_of("greedy", false), 5000);
    assert_int_equal(places_of("linucb", true), 5000);
    assert_in_range(places_of("linucb", false), 1000, 2000);
}

static void play_row(uint64_t row, const double *expected)
{
    log_event event = usual_event();
    candidate_round round = {.event = &event, .number = row};
    double pi[ACTIONS];
    ok(class->play(self, &round, false, pi, NULL));
    assert_memory_equal(pi, expected, sizeof pi);
}

/* Without names, the columns are the actions in the order of the event. */
TEST_OF_CANDIDATE(test_files)
{
    static const double rows[2][5] = {{0.5, 0.25, 0.125, 0.125, 0}, {0, 0, 1, 0, 0}};
    folder_write_text(&here, "pi.csv", "0.5,0.25,0.125,0.125\n0,0,1,0,0\n");
    size_t shape[2] = {2, 5};
    ok(npy_write(folder_path(&here, "pi.npy"), NPY_FLOAT64, shape, 2, rows, NULL));
    for (size_t i = 0; i < 2; i++) {
        make_of_file("file", i ? "pi.npy" : "pi.csv");
        play_row(0, rows[0]);
        play_row(1, rows[1]);
        play_row(0, rows[0]);
        assert_message_has(class->remark(self), "taken as actions 0, 1, 2, ... in the order of each event.");
        ok(class->finish(self, 2, NULL));
        assert_int_equal(class->finish(self, 1, NULL), EE_BAD_INPUT);
    }
}

/* Plays a CSV file, the first two rows, on events with these names (NULL: none). */
static ee_status play_file(const char *content, const json_text *actions, double pi[2][ACTIONS])
{
    folder_write_text(&here, "pi.csv", content);
    const char *text = formatted("file:%s", folder_path(&here, "pi.csv"));
    candidate_setup setup = {.text = text, .dim = 3};
    tear_down(NULL);
    ok(candidate_find(text, &class, NULL));
    ee_status status = class->create(class, &setup, &self, &last_error);
    log_event event = usual_event();
    event.actions = actions;
    for (uint64_t i = 0; i < 2 && !status; i++) {
        event.line = 7 + i;
        status = class->play(self, &(candidate_round){.event = &event, .number = i}, false, pi[i], &last_error);
    }
    return status ? status : class->finish(self, 2, &last_error);
}

static void expect_refused(const char *content, const char *message, const json_text *actions)
{
    double pi[2][ACTIONS];
    if (play_file(content, actions, pi) != EE_BAD_INPUT) fail_msg("%s: taken; expected: %s", content, message);
    assert_message_has(last_error.message, message);
}

TEST_OF_CANDIDATE(test_wrong_files)
{
    static const char *const cases[][2] = {
        {"0.5,0.5,0,0\n0.5,0.6,0,0\n", "row 2: the probabilities must sum to 1, got 1.1"},
        {"0.5,0.4,0,0\n0.5,0.5,0,0\n", "row 1: the probabilities must sum to 1, got 0.9"},
        {"0.5,0.5,0,0\n0.5,0.498,0,0\n", "row 2: the probabilities must sum to 1, got 0.998"},
        {"0.5,0.5,0,0\n-0.5,1.5,0,0\n", "row 2: column 1: a probability must be 0 to 1"},
        {"0.5,0.5,0,0\n0.5,x,0.5,0\n", "row 2: column 2: a probability must be 0 to 1"},
        {"0.5,0.5,0,0\n0.5,nan,0.5,0\n", "row 2: column 2: a probability must be 0 to 1"},
        {"0.5,0.5,0,0\n0.5,,0.5,0\n", "row 2: column 2: a probability must be 0 to 1"},
        {"0.5,0.5,0,0\n0.5,0.5,0\n", "row 2: 3 columns, but the event in line 8 of the log has 4 actions"},
        {"0.5,0.5,0,0\n0,0,0,0,1\n",
         "row 2: column 5 has probability 1, but the event in line 8 of the log has 4 actions"},
        {"0.5,0.5,0,0\n", "row 2: missing; the log has more events"},
        {"1,0,0,0\n1,0,0,0\n1,0,0,0\n", "has 3 rows of probabilities; expected 2"},
        {"", "row 1: missing"},
        {"a,b,c,d\n1,0,0,0\n1,0,0,0\n", "has no column for action '0' (line 7 of the log); its columns include 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_refused(cases[i][0], cases[i][1], NULL);
}

/* Columns are matched by name. "2" is the name of the third action; numbers name the actions that have no name. */
TEST_OF_CANDIDATE(test_file_columns)
{
    static const json_text digits[ACTIONS] = {{"1", 1}, {"0", 1}, {"10", 2}, {"2", 1}};
    static const json_text twice[ACTIONS] = {{"news", 4}, {"sport", 5}, {"news", 4}, {"game", 4}};
    static const json_text some[ACTIONS] = {{"news", 4}, {"", 0}, {"2", 1}, {"game", 4}};
    static const struct {
        const char *content;
        const json_text *names;
        double expected[2][ACTIONS];
    } good[] = {
        {"sport,game,news,2\n0.125,0.25,0.5,0.125\n0,1,0,0\n", names, {{0.5, 0.125, 0.125, 0.25}, {0, 0, 0, 1}}},
        {"never,sport,game,news,2\n0,0.125,0.25,0.5,0.125\n0,0,1,0,0\n",
         names,
         {{0.5, 0.125, 0.125, 0.25}, {0, 0, 0, 1}}},
        {"game,1,2,news\n0.125,0.25,0.5,0.125\n0,1,0,0\n", some, {{0.125, 0.25, 0.5, 0.125}, {0, 1, 0, 0}}},
        {"3,2,1,0\n0.5,0.25,0.125,0.125\n0,1,0,0\n", NULL, {{0.125, 0.125, 0.25, 0.5}, {0, 0, 1, 0}}},
        {"0,1,2,10\n0.5,0.25,0.125,0.125\n0,1,0,0\n", digits, {{0.25, 0.5, 0.125, 0.125}, {1, 0, 0, 0}}},
    };
    static const struct {
        const char *content, *message;
        const json_text *names;
    } wrong[] = {
        {"never,sport,game,news,2\n0,0.125,0.25,0.5,0.125\n0.5,0,0.5,0,0\n",
         "row 2: column 'never' has probability 0.5, but the event in line 8 of the log has no such action", names},
        {"sport,game,News,2\n0.125,0.25,0.5,0.125\n0,1,0,0\n",
         "has no column for action 'news' (line 7 of the log); its columns include '2'", names},
        {"sport,game,2\n0.5,0.25,0.25\n0,1,0\n", "has no column for action 'news' (line 7 of the log)", names},
        {"0.5,0.25,0.125,0.125\n0,0,1,0\n",
         "has no column names, but the log's actions do (such as 'game'); write CSV with a header", names},
        {"sport,game,news,2,game\n0,0,1,0,0\n0,0,1,0,0\n", "two columns are named 'game'", names},
        {",sport,game,news,2\n0,0,0,1,0\n1,0,0,1,0\n",
         "column 1 has no name; remove it if it is a row number (in pandas: index=False)", names},
        {"sport,game,news,2\n0,0,1\n0,0,1,0\n", "row 1: expected 4 fields, as in the header, got 3", names},
        {"sport,game,news,2\n0,0,1,0\n0,0.5,0.6,0\n", "row 2: the probabilities must sum to 1, got 1.1", names},
        {"sport,game,news,2\n0,0,1,0\n", "row 2: missing", names},
        {"sport,game,news,2\n0,0,1,0\n0,0,1,0\n0,0,1,0\n",
         "has 3 rows of probabilities; expected 2, one per shown event", names},
        {"sport,game,news,2\n0,0,1,0\n0,0,1,0\n", "two actions of the event in line 7 of the log are named 'news'",
         twice},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double pi[2][ACTIONS];
        if (play_file(good[i].content, good[i].names, pi)) fail_msg("%s: %s", good[i].content, last_error.message);
        assert_string_equal(class->remark(self), "");
        assert_memory_equal(pi, good[i].expected, sizeof pi);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i].content, wrong[i].message, wrong[i].names);
}

/* "0,1" is a header if the log's actions have names, otherwise probabilities. */
TEST_OF_CANDIDATE(test_file_of_two)
{
    static const json_text digits[2] = {{"1", 1}, {"0", 1}};
    folder_write_text(&here, "pi.csv", "0,1\n0.25,0.75\n");
    for (int named = 0; named < 2; named++) {
        make_of_file("file", "pi.csv");
        log_event event = usual_event();
        event.count = 2;
        event.action = 1;
        event.actions = named ? digits : NULL;
        double pi[ACTIONS];
        candidate_round round = {.event = &event};
        ok(class->play(self, &round, false, pi, NULL));
        assert_true(pi[0] == (named ? 0.75 : 0.0) && pi[1] == (named ? 0.25 : 1.0));
        ok(class->finish(self, named ? 1 : 2, NULL));
        assert_int_equal(class->finish(self, named ? 2 : 1, NULL), EE_BAD_INPUT);
    }
}

/* Names that appear after events without names, and any names with .npy, are refused. */
TEST_OF_CANDIDATE(test_file_without_names)
{
    static const double rows[2][ACTIONS] = {{0, 0, 1, 0}, {0, 0, 1, 0}};
    size_t shape[2] = {2, ACTIONS};
    ok(npy_write(folder_path(&here, "pi.npy"), NPY_FLOAT64, shape, 2, rows, NULL));
    folder_write_text(&here, "pi.csv", "0,0,1,0\n0,0,1,0\n");
    for (size_t i = 0; i < 2; i++) {
        make_of_file("file", i ? "pi.npy" : "pi.csv");
        play_row(0, rows[0]);
        log_event event = usual_event();
        event.actions = names;
        candidate_round round = {.event = &event, .number = 1};
        double pi[ACTIONS];
        fails_saying(class->play(self, &round, false, pi, &last_error), EE_BAD_INPUT,
                     "has no column names, but the log's actions do (such as 'game')");
    }
}

static char *describe_model(uint64_t seed)
{
    char text[80], *described;
    auto_bandit *bandit;
    ee_settings settings = {.policy = "greedy", .dim = 3, .seed = seed};
    snprintf(text, sizeof text, "model:%s", folder_path(&here, "model.ee"));
    candidate_setup setup = {.text = text, .dim = 3};
    ok(ee_bandit_create(&settings, &bandit, NULL));
    ok(ee_bandit_save(bandit, folder_path(&here, "model.ee"), NULL));
    ok(candidate_describe(&setup, &described, NULL));
    return described;
}

/* Two models of the same settings are two candidates. */
TEST_OF_CANDIDATE(test_description_of_models)
{
    auto_memory char *first = describe_model(1), *again = describe_model(1), *other = describe_model(2);
    assert_string_equal(first, again);
    assert_string_not_equal(strstr(first, "checksum="), strstr(other, "checksum="));
}

/* What a candidate is: of a file, its bytes too. */
TEST_OF_CANDIDATE(test_description)
{
    char text[80], *first, *second, *options;
    snprintf(text, sizeof text, "file:%s", folder_path(&here, "pi.csv"));
    candidate_setup setup = {.text = text, .dim = 3};
    folder_write_text(&here, "pi.csv", "0.5,0.5\n");
    ok(candidate_describe(&setup, &first, NULL));
    folder_write_text(&here, "pi.csv", "0.4,0.6\n");
    ok(candidate_describe(&setup, &second, NULL));
    assert_int_equal(strncmp(first, "columns=name checksum=", 22), 0);
    assert_string_not_equal(first, second);
    setup = (candidate_setup){.text = "linucb", .options = "alpha=0.5", .dim = 3};
    ok(candidate_describe(&setup, &options, NULL));
    assert_non_null(strstr(options, "alpha=0.5"));
    memory_free(first);
    memory_free(second);
    memory_free(options);
}
