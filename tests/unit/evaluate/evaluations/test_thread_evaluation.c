/* An evaluation in any number of threads gives the same lines of JSON, byte by byte: in all modes, on logs of all
 * forms, where candidates or the log fail, and where rewards leave the assumed range. */
#include <stdatomic.h>

#include "base/random.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/evaluations/played_batch.h"
#include "evaluation_trial.h"
#include "support_files.h"

enum { ACTIONS = 4, SLOTS = 2, DIM = 3, EVENTS = 150, CANDIDATES = 6 };

static char log_path[120];

typedef enum log_content { VECTORS, NAMED, SLOTS_OF_VECTORS, SLOTS_OF_NAMED } log_content;

typedef struct made_log {
    const char *name;
    log_content content;
    size_t events, dim;
    double reward_low;
} made_log;

typedef struct made_event {
    float values[ACTIONS * DIM];
    double probabilities[ACTIONS];
    char context[400];
    log_slot slots[SLOTS];
    size_t actions[SLOTS][ACTIONS];
    double slot_probabilities[SLOTS][ACTIONS];
} made_event;

static void make_context(made_event *room, random_stream *stream)
{
    static const char *const plans[] = {"free", "pro", "team"};
    int length = snprintf(room->context, sizeof room->context, "{\"u\":{\"plan\":\"%s\",\"age\":%d},\"_multi\":[",
                          plans[random_below(stream, 3)], (int)(18 + random_below(stream, 60)));
    for (size_t i = 0; i < ACTIONS; i++)
        length +=
            snprintf(room->context + length, sizeof room->context - (size_t)length,
                     "%s{\"_tag\":\"item%zu\",\"i\":{\"size\":%d}}", i ? "," : "", i, (int)random_below(stream, 9));
    snprintf(room->context + length, sizeof room->context - (size_t)length, "]}");
}

/* The second slot has what the first left. The reward of some second slots is unknown. */
static void make_slots(made_event *room, const log_event *event, random_stream *stream, size_t number, bool named)
{
    static const json_text own = {"{\"s\":{\"at\":\"top\"}}", 18};
    for (size_t k = 0; k < SLOTS; k++) {
        size_t count = 0;
        if (k == 0) room->actions[k][count++] = event->action;
        for (size_t i = 0; i < ACTIONS; i++)
            if (i != event->action) room->actions[k][count++] = i;
        for (size_t i = 0; i < count; i++) room->slot_probabilities[k][i] = 1.0 / (double)count;
        bool unknown = k == 1 && number % 7 == 0;
        room->slots[k] = (log_slot){.id = {k ? "low" : "top", 3},
                                    .count = count,
                                    .actions = room->actions[k],
                                    .probabilities = room->slot_probabilities[k],
                                    .reward = unknown ? 0.0 : (double)random_below(stream, 2),
                                    .skipped = unknown,
                                    .baseline = k,
                                    .features = named && !k ? own : (json_text){0}};
    }
}

static log_event make_event(made_event *room, const made_log *how, random_stream *stream, size_t number)
{
    static const json_text names[ACTIONS] = {{"item0", 5}, {"item1", 5}, {"item2", 5}, {"item3", 5}};
    bool named = how->content == NAMED || how->content == SLOTS_OF_NAMED, slots = how->content >= SLOTS_OF_VECTORS;
    log_event event = {.time = 1e9 + (double)number,
                       .count = ACTIONS,
                       .action = (size_t)random_below(stream, ACTIONS),
                       .copies = number % 11 ? 1.0 : 2.0,
                       .skipped = number % 13 == 0 && !slots,
                       .actions = named ? NULL : names};
    for (size_t i = 0; i < ACTIONS; i++) room->probabilities[i] = i == number % ACTIONS ? 0.4 : 0.2;
    for (size_t i = 0; i < ACTIONS * DIM; i++) room->values[i] = (float)random_unit(stream);
    event.probability = slots ? 1.0 / ACTIONS : room->probabilities[event.action];
    event.probabilities = slots ? NULL : room->probabilities;
    bool good =
        random_unit(stream) < 0.2 + 0.15 * (double)event.action + 0.3 * (double)room->values[event.action * DIM];
    event.reward = good ? 1.0 : how->reward_low;
    if (named) make_context(room, stream);
    if (named) event.context = (json_text){room->context, strlen(room->context)};
    if (!named) event.arms = ee_arms_dense(room->values, ACTIONS, DIM);
    if (!slots) return event;
    make_slots(room, &event, stream, number, named);
    event.slots = room->slots;
    event.slot_count = SLOTS;
    event.reward = room->slots[0].reward;
    return event;
}

static void make_log(const made_log *how)
{
    random_stream stream = random_named(5, "log");
    log_writer *log;
    bool named = how->content == NAMED || how->content == SLOTS_OF_NAMED;
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, how->name));
    ok(log_create(log_path, named ? 0 : DIM, &log, NULL));
    for (size_t i = 0; i < how->events; i++) {
        made_event room;
        log_event event = make_event(&room, how, &stream, i);
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
}

static void make_csv(void)
{
    random_stream stream = random_named(6, "csv");
    FILE *to = fopen(folder_path(&here, "log.csv"), "w");
    assert_non_null(to);
    fputs("action,probability,reward,plan,age\n", to);
    for (size_t i = 0; i < EVENTS; i++)
        fprintf(to, "item%d,0.25,%d,%s,%d\n", (int)random_below(&stream, ACTIONS), (int)random_below(&stream, 2),
                random_below(&stream, 2) ? "pro" : "free", (int)(18 + random_below(&stream, 60)));
    assert_int_equal(fclose(to), 0);
    snprintf(log_path, sizeof log_path, "csv:%s,action=action,probability=probability,reward=reward,context=plan+age",
             folder_path(&here, "log.csv"));
}

static trial t; /* nothing is left in it after a comparison */

static void ask(const char *estimators)
{
    trial_ask(&t, log_path, "uniform,first,arm:2,logged,linucb,thompson", estimators);
}

/* Runs it, and returns everything that it says except the seconds. To be freed with free. */
static char *run(size_t threads)
{
    enum { ROOM = 1 << 20 };
    char *all = calloc(ROOM, 1), *line;
    size_t used = 0, length;
    ee_error error = {EE_OK, ""};
    assert_non_null(all);
    t.request.threads = threads;
    ee_status status = evaluation_run(&t.request, NULL, t.results, &error);
    if (status) used += (size_t)snprintf(all, ROOM, "%d %s\n", (int)status, error.message);
    for (size_t i = 0; i < t.request.candidate_count && !status; i++) {
        evaluation_result *result = &t.results[i];
        result->seconds = 0.0;
        used += (size_t)snprintf(all + used, ROOM - used, "%d %s\n", (int)result->finished, result->failure.message);
        if (!result->finished) continue;
        ok(evaluations_format(&t.request, result, NULL, &line, &length, NULL));
        used += (size_t)snprintf(all + used, ROOM - used, "%.*s", (int)length, line);
        memory_free(line);
    }
    assert_true(used < ROOM - 1);
    evaluation_release(t.results, t.request.candidate_count);
    return all;
}

/* Checks that all numbers of threads say the same, and that it has this part. */
static void compare(const char *part)
{
    static const size_t threads[] = {3, 8, 2};
    auto_free char *expected = run(1);
    assert_message_has(expected, part);
    for (size_t i = 0; i < test_long(1, sizeof threads / sizeof *threads); i++) {
        auto_free char *found = run(threads[i]);
        assert_string_equal(expected, found);
    }
}

/* All modes in the long form, else the one that is the turn of the log. */
static void compare_modes(size_t turn)
{
    static const struct {
        evaluation_mode mode;
        double split;
    } modes[] = {
        {EVALUATION_PROGRESSIVE, 0.5}, {EVALUATION_SPLIT, 0.3}, {EVALUATION_SPLIT, 100}, {EVALUATION_CROSS, 0.5}};
    for (size_t k = 0; k < test_long(1, 4); k++) {
        size_t i = (turn + k) % 4;
        for (int kept = 0; kept < 2; kept++) {
            ask(kept ? "mrdr,switch-dr" : "dr,snips,ips");
            t.request.mode = modes[i].mode;
            t.request.split = modes[i].split;
            t.request.folds = 3;
            if (kept && !turn) t.request.interval = INTERVAL_BOOTSTRAP;
            compare("\"candidate\":\"thompson\"");
        }
    }
}

TEST_IN_FOLDER(logs_of_all_forms)
{
    static const made_log logs[] = {{"a.eelog", VECTORS, EVENTS, DIM, 0.0},
                                    {"b.dsjson", VECTORS, EVENTS, DIM, 0.0},
                                    {"c.dsjson", NAMED, EVENTS, 0, 0.0},
                                    {"d.eelog.zst", NAMED, EVENTS, 0, 0.0},
                                    {"e.dsjson", SLOTS_OF_VECTORS, EVENTS, DIM, 0.0},
                                    {"f.dsjson", SLOTS_OF_NAMED, EVENTS, 0, 0.0}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        make_log(&logs[i]);
        compare_modes(i);
    }
    make_csv();
    compare_modes(3);
}

/* The default reward model, and a policy of two networks. */
TEST_IN_FOLDER(networks)
{
    static const made_log how = {"a.eelog", VECTORS, 120, DIM, 0.0};
    make_log(&how);
    ask("dr");
    t.candidates[1].text = "eenet";
    t.request.model = REWARD_MODEL_F1;
    compare("\"candidate\":\"eenet\"");
}

TEST_IN_FOLDER(rewards_leave_the_assumed_range)
{
    static const made_log how = {"a.eelog", VECTORS, EVENTS, DIM, -2.0};
    make_log(&how);
    ask("dr,snips");
    compare("\"range_low\":-2,");
    ask("dr,snips");
    t.request.reward_low = 0.0;
    t.request.reward_high = 1.0;
    compare("is outside [0, 1]");
}

/* A candidate that fails on the way ends alone. */
TEST_IN_FOLDER(candidates_fail)
{
    static const made_log how = {"a.eelog", VECTORS, EVENTS, DIM, 0.0};
    char candidate_text[200] = "file:", rows[8192] = "";
    make_log(&how);
    for (size_t i = 0; i < 150; i++) strcat(rows, "0.25,0.25,0.25,0.25\n");
    folder_write_text(&here, "rows.csv", rows);
    strcat(candidate_text, folder_path(&here, "rows.csv"));
    ask("ips");
    t.candidates[0].text = candidate_text;
    t.candidates[1].text = "arm:none";
    compare("0 no event has an action 'none'");
}

/* Lines before the bad one are read in the same batch. */
TEST_IN_FOLDER(bad_lines)
{
    static const made_log how = {"c.dsjson", NAMED, EVENTS, 0, 0.0};
    make_log(&how);
    FILE *to = fopen(log_path, "a");
    assert_non_null(to);
    fputs("{\"c\":{\n", to);
    assert_int_equal(fclose(to), 0);
    ask("dr");
    compare("\"passed\":1,");
    ask("dr");
    t.request.reading.strict = true;
    t.request.features = "names=100"; /* no survey, which would find the line first */
    compare("line 151: ");
    ask("dr");
    t.request.least_probability = 0.3;
    compare("is below --least-probability 0.3");
}

/* One event is larger than a batch; most are not. */
TEST_IN_FOLDER(large_events)
{
    enum { LARGE_DIM = 20000, LARGE_EVENTS = 40 };
    auto_free float *values = calloc((size_t)ACTIONS * LARGE_DIM, sizeof *values);
    size_t starts[ACTIONS + 1];
    auto_free uint32_t *indices = calloc((size_t)ACTIONS * LARGE_DIM, sizeof *indices);
    log_writer *log;
    assert_true(values && indices);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "large.eelog"));
    ok(log_create(log_path, LARGE_DIM, &log, NULL));
    for (size_t e = 0; e < LARGE_EVENTS; e++) {
        size_t entries = e % 9 == 4 ? LARGE_DIM : 3;
        for (size_t i = 0; i <= ACTIONS; i++) starts[i] = i * entries;
        for (size_t i = 0; i < ACTIONS * entries; i++) {
            values[i] = 1.0f;
            indices[i] = (uint32_t)(i % entries);
        }
        log_event event = {.time = (double)NAN,
                           .count = ACTIONS,
                           .action = e % ACTIONS,
                           .probability = 0.25,
                           .reward = (double)(e % 3 == 0),
                           .copies = 1.0,
                           .arms = ee_arms_sparse(starts, indices, values, ACTIONS, LARGE_DIM)};
        assert_true(e % 9 != 4 || ACTIONS * entries * 8 > PLAYED_BATCH_BYTES);
        ok(log_write(log, &event, NULL));
    }
    ok(log_end(log, true, NULL));
    ask("snips");
    t.candidates[4].text = "ucb1";
    compare("\"events\":40,");
}

typedef struct counter {
    atomic_size_t asked;
    size_t most;
} counter;

static bool is_wanted(void *context)
{
    counter *self = context;
    return atomic_fetch_add(&self->asked, 1) < self->most;
}

TEST_IN_FOLDER(stopped_on_the_way)
{
    static const made_log how = {"a.eelog", VECTORS, 2000, DIM, 0.0};
    make_log(&how);
    for (size_t threads = 1; threads <= 3; threads++) {
        counter counted = {.most = 500};
        evaluation_watch watch = {.wanted = is_wanted, .context = &counted};
        ask("dr");
        t.request.threads = threads;
        ok(evaluation_run(&t.request, &watch, t.results, NULL));
        for (size_t i = 0; i < CANDIDATES; i++) assert_false(t.results[i].finished);
        assert_true(atomic_load(&counted.asked) < 2000);
        evaluation_release(t.results, CANDIDATES);
    }
}
