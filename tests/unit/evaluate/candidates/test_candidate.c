/* Candidates: what each would do in an event, and what it says of a file or a name that is wrong. */
#include "evaluate/candidates/candidate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/files/npy.h"
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

static candidate *make(const char *text, const candidate_class **class)
{
    candidate *self = NULL;
    ee_error error;
    candidate_setup setup = {.text = text, .dim = 3, .features = ""};
    if (candidate_find(text, class, &error) || (*class)->create(*class, &setup, &self, &error))
        fail_msg("%s", error.message);
    return self;
}

/* A name that no event had is told at the end. */
TEST(test_unknown_arm)
{
    const candidate_class *class;
    candidate *self = make("arm:gane", &class);
    log_event event = usual_event();
    event.actions = names;
    candidate_round round = {.event = &event};
    double pi[ACTIONS];
    ee_error error;
    ok(class->play(self, &round, true, pi, NULL));
    assert_int_equal(class->finish(self, 1, &error), EE_BAD_INPUT);
    assert_message_has(error.message, "no event has an action 'gane'");
    class->free(self);
    self = make("arm:game", &class);
    ok(class->play(self, &round, true, pi, NULL));
    ok(class->finish(self, 1, &error));
    class->free(self);
}

/* A remark names events that lack the action or have two actions of that name. */
TEST(test_arm_remarks)
{
    const candidate_class *class;
    json_text twins[] = {{"a", 1}, {"game", 4}, {"b", 1}, {"game", 4}}, without[] = {{"a", 1}, {"b", 1}};
    double pi[ACTIONS];
    log_event good = usual_event(), lacking = usual_event(), shared = usual_event();
    good.actions = names;
    lacking.actions = without;
    lacking.count = 2;
    shared.actions = twins;
    candidate *self = make("arm:game", &class);
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
    class->free(self);
}

/* What a candidate does in one event. */
static void expect_choice(const char *text, const log_event *event, const double *expected)
{
    const candidate_class *class;
    candidate *self = make(text, &class);
    candidate_round round = {.event = event};
    double pi[ACTIONS];
    ok(class->play(self, &round, true, pi, NULL));
    for (size_t i = 0; i < event->count; i++) assert_close(pi[i], expected[i], 1e-15);
    class->free(self);
}

TEST(test_fixed)
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

TEST(test_named_arm)
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

    const candidate_class *class; /* no name is 0, and 0 is not the first of them */
    candidate *self = make("arm:0", &class);
    double pi[4];
    ee_error error;
    ok(class->play(self, &(candidate_round){.event = &event}, false, pi, NULL));
    assert_int_equal(class->finish(self, 1, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "no event has an action '0'; 'eenet log' lists them");
    class->free(self);
}

TEST(test_names)
{
    const candidate_class *class;
    ee_error error;
    static const struct {
        const char *text;
        const candidate_class *class;
    } known[] = {{"uniform", &candidate_uniform}, {"first", &candidate_first},
                 {"arm:1", &candidate_arm},       {"logged", &candidate_logged},
                 {"eenet", &candidate_policy},    {"eenet:paper", &candidate_policy},
                 {"model:a", &candidate_model},   {"learning:a", &candidate_learning_model},
                 {"file:a", &candidate_from_file}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ok(candidate_find(known[i].text, &class, &error));
        assert_ptr_equal(class, known[i].class);
    }
    static const char *const unknown[] = {"", "arm", "arm:", "uniform:3", "file:", "eenot", "model"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(candidate_find(unknown[i], &class, &error), EE_BAD_OPTION);
    assert_int_equal(candidate_find("eenett", &class, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, "unknown candidate 'eenett'; did you mean 'eenet'?");
    assert_int_equal(candidate_find("sofa", &class, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, "unknown candidate 'sofa'; to always choose the action 'sofa', write arm:sofa");
    assert_int_equal(candidate_find("sofa:x", &class, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, "unknown candidate 'sofa:x'");
}

/* ---- bandits ---- */

/* An event in which the last action gave the reward. */
static void play(const candidate_class *class, candidate *self, double reward, bool learn, double *pi)
{
    log_event event = usual_event();
    event.reward = reward;
    candidate_round round = {.event = &event};
    ok(class->play(self, &round, learn, pi, NULL));
}

/* A policy is scored before it learns, and learns from the action that was logged. */
TEST(test_policy)
{
    const candidate_class *class;
    candidate *self = make("linucb", &class);
    double before[ACTIONS], same[ACTIONS], after[ACTIONS];
    play(class, self, 0.0, false, before);
    play(class, self, 0.0, true, same);
    assert_memory_equal(before, same, sizeof before);
    for (int i = 0; i < 20; i++) play(class, self, i % 2, true, NULL);
    play(class, self, 0.0, false, after);
    double sum = 0.0;
    for (size_t i = 0; i < ACTIONS; i++) sum += after[i];
    assert_close(sum, 1.0, 1e-12);
    assert_true(memcmp(before, after, sizeof before) != 0);
    class->free(self);
}

TEST(test_saved_models)
{
    test_folder folder = folder_make();
    const candidate_class *class;
    char path[64], text[80];
    snprintf(path, sizeof path, "%s", folder_path(&folder, "model.ee"));
    candidate *trained = make("linucb", &class);
    for (int i = 0; i < 20; i++) play(class, trained, 0.0, true, NULL);
    double expected[ACTIONS], got[ACTIONS], later[ACTIONS];
    play(class, trained, 0.0, false, expected);
    ok(class->save(trained, path, NULL));
    class->free(trained);

    snprintf(text, sizeof text, "model:%s", path);
    candidate *frozen = make(text, &class);
    play(class, frozen, 1.0, true, got);
    assert_memory_equal(got, expected, sizeof got);
    for (int i = 0; i < 200; i++) play(class, frozen, 1.0, true, NULL);
    play(class, frozen, 1.0, true, later);
    assert_memory_equal(later, expected, sizeof later);
    class->free(frozen);

    snprintf(text, sizeof text, "learning:%s", path);
    candidate *learning = make(text, &class);
    play(class, learning, 1.0, true, got);
    assert_memory_equal(got, expected, sizeof got);
    for (int i = 0; i < 200; i++) play(class, learning, 1.0, true, NULL);
    play(class, learning, 1.0, true, later);
    assert_true(memcmp(later, expected, sizeof later) != 0);
    class->free(learning);
    folder_remove(&folder);
}

/* ---- named features ---- */

/* An event whose context is JSON; the round it is read into is to be freed. */
static log_event named_event(const char *json, ee_round **round)
{
    bool usable;
    ee_error error;
    log_event event = usual_event();
    event.arms = (ee_arms){0};
    event.context = (json_text){json, strlen(json)};
    event.count = 2;
    event.action = 1;
    ok(ee_round_create(NULL, round, NULL));
    if (candidate_read_features(*round, &event, &usable, &error) || !usable) fail_msg("%s", error.message);
    return event;
}

/* Once frozen it does not learn the names of what it meets, and says the same of the same event. */
TEST(test_named_features)
{
    const candidate_class *class;
    candidate *self = NULL;
    candidate_setup setup = {.text = "linucb", .features = "names=12 hashes=0"};
    ee_round *first, *second;
    log_event one = named_event("{\"U\":{\"plan\":\"a\"},\"_multi\":[{\"i\":\"x\"},{\"i\":\"y\"}]}", &first);
    log_event other = named_event("{\"U\":{\"plan\":\"b\"},\"_multi\":[{\"i\":\"z\"},{\"i\":\"w\"}]}", &second);
    candidate_round round = {.event = &one, .features = first},
                    another = {.event = &other, .number = 1, .features = second};
    double before[2], after[2];
    ok(candidate_find("linucb", &class, NULL));
    ok(class->create(class, &setup, &self, NULL));
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
    class->free(self);
    ee_round_free(first);
    ee_round_free(second);
}

TEST(test_unreadable_features)
{
    bool usable;
    ee_error error;
    ee_round *round;
    log_event event = usual_event();
    ok(ee_round_create(NULL, &round, NULL));
    assert_int_equal(candidate_read_features(round, &event, &usable, &error), EE_BAD_INPUT);
    assert_message_has(error.message, "line 1: the log has no vectors or features");
    event.context = (json_text){"{\"_multi\":[{}]}", 15};
    ok(candidate_read_features(round, &event, &usable, &error));
    assert_false(usable);
    assert_string_equal(error.message, "expected features for 4 actions, got 1");
    event.arms.count = 3;
    ok(candidate_read_features(NULL, &event, &usable, &error));
    assert_false(usable);
    assert_string_equal(error.message, "expected vectors for 4 actions, got 3");
    event.context = (json_text){"{\"a\":", 5};
    ok(candidate_read_features(round, &event, &usable, &error));
    assert_false(usable);
    ee_round_free(round);
}

/* Places of a policy for a log of many names. */
static size_t places_of(const char *policy, bool fixed)
{
    test_folder folder = folder_make();
    const candidate_class *class;
    candidate *self = NULL;
    candidate_setup setup = {.text = policy, .features = "names=5000 hashes=0", .fixed_names = fixed};
    ee_bandit *bandit;
    ok(candidate_find(policy, &class, NULL));
    ok(class->create(class, &setup, &self, NULL));
    ok(class->save(self, folder_path(&folder, "model.ee"), NULL));
    ok(ee_bandit_load(folder_path(&folder, "model.ee"), NULL, &bandit, NULL));
    size_t dim = ee_bandit_info(bandit).dim;
    ee_bandit_free(bandit);
    class->free(self);
    folder_remove(&folder);
    return dim;
}

/* Linear policies take time by the square of the places, and get as many as they have time for; others get all. */
TEST(test_places)
{
    assert_int_equal(places_of("greedy", false), 5000);
    assert_int_equal(places_of("linucb", true), 5000);
    assert_in_range(places_of("linucb", false), 1000, 2000);
}

/* ---- files ---- */

static void play_row(const candidate_class *class, candidate *self, uint64_t row, const double *expected)
{
    log_event event = usual_event();
    candidate_round round = {.event = &event, .number = row};
    double pi[ACTIONS];
    ok(class->play(self, &round, false, pi, NULL));
    assert_memory_equal(pi, expected, sizeof pi);
}

/* Without names, the columns are the actions in the order of the event. */
TEST(test_files)
{
    test_folder folder = folder_make();
    static const double rows[2][5] = {{0.5, 0.25, 0.125, 0.125, 0}, {0, 0, 1, 0, 0}};
    const candidate_class *class;
    char text[80];
    folder_write_text(&folder, "pi.csv", "0.5,0.25,0.125,0.125\n0,0,1,0,0\n");
    size_t shape[2] = {2, 5};
    ok(npy_write(folder_path(&folder, "pi.npy"), NPY_FLOAT64, shape, 2, rows, NULL));
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "file:%s", folder_path(&folder, i ? "pi.npy" : "pi.csv"));
        candidate *self = make(text, &class);
        play_row(class, self, 0, rows[0]);
        play_row(class, self, 1, rows[1]);
        play_row(class, self, 0, rows[0]);
        assert_message_has(class->remark(self), "taken as actions 0, 1, 2, ... in the order of each event.");
        ok(class->finish(self, 2, NULL));
        assert_int_equal(class->finish(self, 1, NULL), EE_BAD_INPUT);
        class->free(self);
    }
    folder_remove(&folder);
}

/* Plays a CSV file on events with these names (NULL: none), the first two rows; the message is "" if it is taken. */
typedef struct file_case {
    const char *content;
    const json_text *names;
    double expected[2][ACTIONS]; /* of each row, if it is taken */
    const char *message;
} file_case;

static ee_status play_file_case(const file_case *one, const candidate_class *class, candidate *self, ee_error *error)
{
    log_event event = usual_event();
    event.actions = one->names;
    double pi[ACTIONS];
    ee_status status = EE_OK;
    for (uint64_t i = 0; i < 2 && !status; i++) {
        candidate_round round = {.event = &event, .number = i};
        event.line = 7 + i;
        status = class->play(self, &round, false, pi, error);
        if (!status && !one->message[0]) assert_memory_equal(pi, one->expected[i], sizeof pi);
    }
    return status ? status : class->finish(self, 2, error);
}

static void check_file(const file_case *one)
{
    test_folder folder = folder_make();
    const candidate_class *class;
    candidate *self = NULL;
    ee_error error = {.message = ""};
    char text[80];
    folder_write_text(&folder, "pi.csv", one->content);
    snprintf(text, sizeof text, "file:%s", folder_path(&folder, "pi.csv"));
    candidate_setup setup = {.text = text, .dim = 3};
    ok(candidate_find(text, &class, &error));
    ee_status status = class->create(class, &setup, &self, &error);
    if (!status) status = play_file_case(one, class, self, &error);
    if (status && !one->message[0]) fail_msg("%s: %s", one->content, error.message);
    if (!status && !one->message[0]) assert_string_equal(class->remark(self), "");
    if (one->message[0]) {
        if (status != EE_BAD_INPUT) fail_msg("%s: taken; expected: %s", one->content, one->message);
        assert_message_has(error.message, one->message);
    }
    if (self) class->free(self);
    folder_remove(&folder);
}

TEST(test_wrong_files)
{
    static const file_case cases[] = {
        {.content = "0.5,0.5,0,0\n0.5,0.6,0,0\n", .message = "row 2: the probabilities must sum to 1, got 1.1"},
        {.content = "0.5,0.4,0,0\n0.5,0.5,0,0\n", .message = "row 1: the probabilities must sum to 1, got 0.9"},
        {.content = "0.5,0.5,0,0\n0.5,0.498,0,0\n", .message = "row 2: the probabilities must sum to 1, got 0.998"},
        {.content = "0.5,0.5,0,0\n-0.5,1.5,0,0\n", .message = "row 2: column 1: a probability must be 0 to 1"},
        {.content = "0.5,0.5,0,0\n0.5,x,0.5,0\n", .message = "row 2: column 2: a probability must be 0 to 1"},
        {.content = "0.5,0.5,0,0\n0.5,nan,0.5,0\n", .message = "row 2: column 2: a probability must be 0 to 1"},
        {.content = "0.5,0.5,0,0\n0.5,,0.5,0\n", .message = "row 2: column 2: a probability must be 0 to 1"},
        {.content = "0.5,0.5,0,0\n0.5,0.5,0\n",
         .message = "row 2: 3 columns, but the event in line 8 of the log has 4 actions"},
        {.content = "0.5,0.5,0,0\n0,0,0,0,1\n",
         .message = "row 2: column 5 has probability 1, but the event in line 8 of the log has 4 actions"},
        {.content = "0.5,0.5,0,0\n", .message = "row 2: missing; the log has more events"},
        {.content = "1,0,0,0\n1,0,0,0\n1,0,0,0\n", .message = "has 3 rows of probabilities; expected 2"},
        {.content = "", .message = "row 1: missing"},
        {.content = "a,b,c,d\n1,0,0,0\n1,0,0,0\n",
         .message = "has no column for action '0' (line 7 of the log); its columns include 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_file(&cases[i]);
}

/* Columns are matched by name. "2" is the name of the third action; numbers name the actions that have no name. */
TEST(test_file_columns)
{
    static const json_text digits[ACTIONS] = {{"1", 1}, {"0", 1}, {"10", 2}, {"2", 1}};
    static const json_text twice[ACTIONS] = {{"news", 4}, {"sport", 5}, {"news", 4}, {"game", 4}};
    static const json_text some[ACTIONS] = {{"news", 4}, {"", 0}, {"2", 1}, {"game", 4}};
    static const file_case cases[] = {
        {.content = "sport,game,news,2\n0.125,0.25,0.5,0.125\n0,1,0,0\n",
         .names = names,
         .expected = {{0.5, 0.125, 0.125, 0.25}, {0, 0, 0, 1}},
         .message = ""},
        {.content = "never,sport,game,news,2\n0,0.125,0.25,0.5,0.125\n0,0,1,0,0\n",
         .names = names,
         .expected = {{0.5, 0.125, 0.125, 0.25}, {0, 0, 0, 1}},
         .message = ""},
        {.content = "game,1,2,news\n0.125,0.25,0.5,0.125\n0,1,0,0\n",
         .names = some,
         .expected = {{0.125, 0.25, 0.5, 0.125}, {0, 1, 0, 0}},
         .message = ""},
        {.content = "3,2,1,0\n0.5,0.25,0.125,0.125\n0,1,0,0\n",
         .expected = {{0.125, 0.125, 0.25, 0.5}, {0, 0, 1, 0}},
         .message = ""},
        {.content = "0,1,2,10\n0.5,0.25,0.125,0.125\n0,1,0,0\n",
         .names = digits,
         .expected = {{0.25, 0.5, 0.125, 0.125}, {1, 0, 0, 0}},
         .message = ""},
        {.content = "never,sport,game,news,2\n0,0.125,0.25,0.5,0.125\n0.5,0,0.5,0,0\n",
         .names = names,
         .message = "row 2: column 'never' has probability 0.5, but the event in line 8 of the log has no such action"},
        {.content = "sport,game,News,2\n0.125,0.25,0.5,0.125\n0,1,0,0\n",
         .names = names,
         .message = "has no column for action 'news' (line 7 of the log); its columns include '2'"},
        {.content = "sport,game,2\n0.5,0.25,0.25\n0,1,0\n",
         .names = names,
         .message = "has no column for action 'news' (line 7 of the log)"},
        {.content = "0.5,0.25,0.125,0.125\n0,0,1,0\n",
         .names = names,
         .message = "has no column names, but the log's actions do (such as 'game'); write CSV with a header"},
        {.content = "sport,game,news,2,game\n0,0,1,0,0\n0,0,1,0,0\n",
         .names = names,
         .message = "two columns are named 'game'"},
        {.content = ",sport,game,news,2\n0,0,0,1,0\n1,0,0,1,0\n",
         .names = names,
         .message = "column 1 has no name; remove it if it is a row number (in pandas: index=False)"},
        {.content = "sport,game,news,2\n0,0,1\n0,0,1,0\n",
         .names = names,
         .message = "row 1: expected 4 fields, as in the header, got 3"},
        {.content = "sport,game,news,2\n0,0,1,0\n0,0.5,0.6,0\n",
         .names = names,
         .message = "row 2: the probabilities must sum to 1, got 1.1"},
        {.content = "sport,game,news,2\n0,0,1,0\n", .names = names, .message = "row 2: missing"},
        {.content = "sport,game,news,2\n0,0,1,0\n0,0,1,0\n0,0,1,0\n",
         .names = names,
         .message = "has 3 rows of probabilities; expected 2, one per shown event"},
        {.content = "sport,game,news,2\n0,0,1,0\n0,0,1,0\n",
         .names = twice,
         .message = "two actions of the event in line 7 of the log are named 'news'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_file(&cases[i]);
}

/* "0,1" is a header if the log's actions have names, otherwise probabilities. */
TEST(test_file_of_two)
{
    static const json_text digits[2] = {{"1", 1}, {"0", 1}};
    test_folder folder = folder_make();
    const candidate_class *class;
    char text[80];
    folder_write_text(&folder, "pi.csv", "0,1\n0.25,0.75\n");
    snprintf(text, sizeof text, "file:%s", folder_path(&folder, "pi.csv"));
    for (int named = 0; named < 2; named++) {
        candidate *self = make(text, &class);
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
        class->free(self);
    }
    folder_remove(&folder);
}

/* Names that appear after events without names, and any names with .npy, are refused. */
TEST(test_file_without_names)
{
    test_folder folder = folder_make();
    static const double rows[2][ACTIONS] = {{0, 0, 1, 0}, {0, 0, 1, 0}};
    size_t shape[2] = {2, ACTIONS};
    ok(npy_write(folder_path(&folder, "pi.npy"), NPY_FLOAT64, shape, 2, rows, NULL));
    folder_write_text(&folder, "pi.csv", "0,0,1,0\n0,0,1,0\n");
    for (size_t i = 0; i < 2; i++) {
        char text[80];
        const candidate_class *class;
        snprintf(text, sizeof text, "file:%s", folder_path(&folder, i ? "pi.npy" : "pi.csv"));
        candidate *self = make(text, &class);
        play_row(class, self, 0, rows[0]);
        log_event event = usual_event();
        event.actions = names;
        candidate_round round = {.event = &event, .number = 1};
        ee_error error;
        double pi[ACTIONS];
        assert_int_equal(class->play(self, &round, false, pi, &error), EE_BAD_INPUT);
        assert_message_has(error.message, "has no column names, but the log's actions do (such as 'game')");
        class->free(self);
    }
    folder_remove(&folder);
}

static char *describe_model(test_folder *folder, uint64_t seed)
{
    char text[80], *described;
    ee_bandit *bandit;
    ee_settings settings = {.policy = "greedy", .dim = 3, .seed = seed};
    snprintf(text, sizeof text, "model:%s", folder_path(folder, "model.ee"));
    candidate_setup setup = {.text = text, .dim = 3};
    ok(ee_bandit_create(&settings, &bandit, NULL));
    ok(ee_bandit_save(bandit, folder_path(folder, "model.ee"), NULL));
    ok(candidate_describe(&setup, &described, NULL));
    ee_bandit_free(bandit);
    return described;
}

/* Two models of the same settings are two candidates. */
TEST(test_description_of_models)
{
    test_folder folder = folder_make();
    char *first = describe_model(&folder, 1), *again = describe_model(&folder, 1), *other = describe_model(&folder, 2);
    assert_string_equal(first, again);
    assert_string_not_equal(strstr(first, "checksum="), strstr(other, "checksum="));
    memory_free(first);
    memory_free(again);
    memory_free(other);
    folder_remove(&folder);
}

/* What a candidate is: of a file, its bytes too. */
TEST(test_description)
{
    test_folder folder = folder_make();
    char text[80], *first, *second, *options;
    snprintf(text, sizeof text, "file:%s", folder_path(&folder, "pi.csv"));
    candidate_setup setup = {.text = text, .dim = 3};
    folder_write_text(&folder, "pi.csv", "0.5,0.5\n");
    ok(candidate_describe(&setup, &first, NULL));
    folder_write_text(&folder, "pi.csv", "0.4,0.6\n");
    ok(candidate_describe(&setup, &second, NULL));
    assert_int_equal(strncmp(first, "columns=name checksum=", 22), 0);
    assert_string_not_equal(first, second);
    setup = (candidate_setup){.text = "linucb", .options = "alpha=0.5", .dim = 3};
    ok(candidate_describe(&setup, &options, NULL));
    assert_non_null(strstr(options, "alpha=0.5"));
    memory_free(first);
    memory_free(second);
    memory_free(options);
    folder_remove(&folder);
}
