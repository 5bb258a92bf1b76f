/* The rules by which decisions and rewards become one event: each case is a script, and the log and the answers that
 * must follow. Some run again with the store opened anew after every step. Afterwards the tables are those that follow
 * from the log. */
#include "support_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "serve/shown_log.h"
#include "serve/store/places/database_check.h"
#include "serve/store/places/store_repair.h"
#include "serve/store_writer.h"

static const int64_t SECOND = 1000000;

static struct play {
    test_place place;
    store *store;
    int64_t now;
    store_counts counts;
    text told; /* answers of entries that were not simply written */
} play;

static bandit_state *bandit_of(void)
{
    return state_of(play.store, 1);
}

static void open_play(void)
{
    ok(store_open(play.place.where, &play.store, NULL));
    skip_syncs(play.store);
}

/* A bandit of vectors of one number whose decisions wait ten seconds, with these settings beside. */
static void start(const char *settings)
{
    char json[1000];
    play = (struct play){.place = test_place_make(), .now = 1000 * SECOND, .told = text_start(NULL)};
    open_play();
    snprintf(json, sizeof json, "{\"dim\":1,\"wait\":10%s%s}", settings[0] ? "," : "", settings);
    assert_int_equal(write_bandit(play.store, "shop", json, play.now), 1);
    text_add(&play.told, "%s", "");
}

static check_result check(void)
{
    check_request request = {.folder = play.place.where};
    check_result found;
    ok((place_is_database(play.place.where) ? database_check : store_check_folder)(&request, &found, NULL));
    return found;
}

static int stop(void **state)
{
    (void)state;
    store_close(play.store);
    test_place_remove(&play.place);
    memory_free(play.told.bytes);
    return 0;
}

/* Writes a group now, and counts. Returns how many events bandit 1 has got. */
static size_t write_counted(store_group group)
{
    uint64_t before = bandit_of()->events;
    group.now = play.now;
    ok(store_write(play.store, &group, NULL));
    uint64_t *into = (uint64_t *)&play.counts;
    const uint64_t *from = (const uint64_t *)&group.counts;
    for (size_t i = 0; i < sizeof group.counts / sizeof *from; i++) into[i] += from[i];
    return (size_t)(bandit_of()->events - before);
}

static void write_group(store_entry *first)
{
    write_counted((store_group){.first = first});
}

static size_t settle(size_t limit)
{
    return write_counted(
        (store_group){.due = (const uint32_t[]){1}, .due_count = 1, .settle_each = limit, .settle_total = limit});
}

/* ---- scripts: steps separated by "; "
 *
 *     d ID [REQUEST]              a decision; f: deferred, x: refused by guardrails
 *     q ID SLOTS [REQUEST]        a round, with a slot for each letter; Q: deferred
 *     r ID VALUE [REWARD] [LIST]  a reward, with its own id (-: none) and metrics as a=1,b=2; VALUE -: metrics alone
 *     a ID                        an activation
 *     p                           a step of the model
 *     s [LIMIT]                   settles what is due
 *     = SETTINGS                  changes the settings
 *     +SECONDS                    time passes ---- */

enum { MOST_SLOTS = 3 };
typedef struct step {
    char what, id[32], words[3][200];
} step;

static step read_step(const char *from, size_t length)
{
    char line[400];
    step self = {0};
    snprintf(line, sizeof line, "%.*s", (int)length, from);
    sscanf(line, " %c%31s %199s %199s %199s", &self.what, self.id, self.words[0], self.words[1], self.words[2]);
    for (char *at = self.id; (at = strchr(at, '/'));) *at = '\x1f';
    return self;
}

/* What became of the entries, where they were not simply written. */
static void tell(const step *from, const store_entry *entry)
{
    static const char *const verdicts[] = {"", "repeated", "conflict", "failed", "refused", "moved", "spooled"};
    if (!entry->verdict) return;
    text_add(&play.told, "%c %s %s", from->what, from->id, verdicts[entry->verdict]);
    if (entry->verdict == ENTRY_REPEATED) text_add(&play.told, " %d", (int)entry->event.number);
    if (entry->event.kind == EVENT_REWARD) text_add(&play.told, " as %d", (int)entry->event.outcome);
    if (entry->error.message[0]) text_add(&play.told, ": %s", entry->error.message);
    text_add(&play.told, "; ");
}

static void decide(const step *from)
{
    static const double probabilities[] = {0.5, 0.5};
    static const float values[] = {1, 2};
    bool is_round = from->what == 'q' || from->what == 'Q';
    decision_body bodies[MOST_SLOTS];
    decision_entries made;
    size_t count = is_round ? strlen(from->words[0]) : 1;
    uint64_t request = (uint64_t)atoi(from->words[is_round]);
    for (size_t i = 0; i < count; i++)
        bodies[i] = (decision_body){.request = {request, 7},
                                    .count = 2,
                                    .probabilities = probabilities,
                                    .dim = 1,
                                    .values = values,
                                    .deferred = from->what == 'f' || from->what == 'Q',
                                    .slot = {from->words[0] + i, is_round},
                                    .slot_index = i,
                                    .slot_count = is_round ? count : 0};
    fill_decision(&made, 1, from->id, bodies);
    made.all[0].refused = from->what == 'x';
    write_group(made.all);
    for (size_t i = 0; i < count; i++) {
        const store_entry *entry = &made.all[i];
        assert_int_equal(entry->verdict, made.all[0].verdict);
        if (entry->verdict != ENTRY_CONFLICT && entry->verdict != ENTRY_REFUSED)
            assert_int_equal(entry->event.number, made.all[0].event.number + i);
    }
    free_decision(&made);
    tell(from, &made.all[0]);
}

static void reward(const step *from)
{
    uint8_t bytes[METRIC_VALUES_SIZE];
    bool is_alone = strcmp(from->words[0], "-") == 0;
    const char *reward_id = strcmp(from->words[1], "-") == 0 ? "" : from->words[1], *at = from->words[2];
    store_entry entry = {.bandit = 1,
                         .event = {.kind = EVENT_REWARD,
                                   .id = words(from->id),
                                   .value = is_alone ? 0 : atof(from->words[0]),
                                   .reward_id = words(reward_id)}};
    metric_values values = {.reward = is_alone ? NAN : entry.event.value};
    for (; *at; at += *at == ',') {
        values.list[values.count++] = (metric_value){.name = {at[0]}, .count = 1, .value = atof(at + 2)};
        at += strcspn(at, ",");
    }
    if (values.count) {
        entry.event.body = bytes;
        entry.event.size = metric_values_write(&values, bytes);
    }
    write_group(&entry);
    tell(from, &entry);
}

static void change(const char *json, size_t length)
{
    bandit_settings settings = bandit_settings_usual();
    ok(bandit_settings_read(&settings, json, length, SETTINGS_STORED, NULL));
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_SETTINGS, .body = json, .size = length}, .settings = &settings};
    assert_int_equal(write_entry(play.store, &entry, play.now), ENTRY_DONE);
}

static void run_step(const char *script, size_t length)
{
    step now = read_step(script, length);
    store_entry entry = {.bandit = 1, .event = {.kind = now.what == 'p' ? EVENT_STEP : EVENT_ACTIVATED}};
    switch (now.what) {
    case '+':
        play.now += llround(atof(script + 1) * (double)SECOND);
        break;
    case 's':
        settle(now.id[0] ? (size_t)atoi(now.id) : 100);
        break;
    case 'r':
        reward(&now);
        break;
    case '=':
        change(script + 2, length - 2);
        break;
    case 'a':
        entry.event.id = words(now.id);
        __attribute__((fallthrough));
    case 'p':
        write_group(&entry);
        tell(&now, &entry);
        break;
    default:
        decide(&now);
    }
}

typedef struct script {
    const char *settings, *steps, *log, *told;
} script;

static void run_script(const script *of, bool reopens)
{
    start(of->settings);
    for (const char *at = of->steps; *at;) {
        size_t length = strcspn(at, ";");
        run_step(at, length);
        at += length + strspn(at + length, "; ");
        if (!reopens) continue;
        store_close(play.store);
        open_play();
    }
    assert_log_is(play.store, 1, of->log);
    assert_string_equal(play.told.bytes, of->told);
    assert_string_equal(check().first, "");
    stop(NULL);
}

static void run_scripts(const script *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_script(&all[i], false);
        if (i % test_long(test_postgres() ? 8 : 5, 1) == 0) run_script(&all[i], true);
    }
}

#define RUN(...)                                                                                                       \
    static const script all[] = {__VA_ARGS__};                                                                         \
    run_scripts(all, sizeof all / sizeof *all)
#define SUM "\"aggregation\":\"sum\""

TEST(rewards_are_joined)
{
    RUN({"", "d a; d b; +1; r b 0.5; r b 2; r a 1; +100; r b 3; s",
         "=; D a; D b; R b 0.5 joined 3; S 3 0.5 rewarded; R b 2 repeated 3; R a 1 joined 2; S 2 1 rewarded; R b 3 "
         "late 3; ",
         ""}, /* the first settles at once */
        /* A longer wait does not open again what is settled. */
        {SUM, "d a; d b; r a 1; +11; s; = {\"dim\":1,\"wait\":100,\"aggregation\":\"sum\"}; r a 9; r b 9",
         "=; D a; D b; R a 1 joined 2; S 2 1 rewarded; S 3 0 default; =; R a 9 repeated 2; R b 9 late 3; ", ""},
        {"\"aggregation\":\"last\"", "d a; r a 1; r a 4; r a 1; +10; s; +0.000001; s; r a 9",
         "=; D a; R a 1 joined 2; R a 4 joined 2; R a 1 joined 2; S 2 1 rewarded; R a 9 late 2; ", ""},
        {SUM, "d a; r a 1; r a 4; r a 1; +11; s; r a 9",
         "=; D a; R a 1 joined 2; R a 4 joined 2; R a 1 joined 2; S 2 6 rewarded; R a 9 late 2; ", ""},
        {"\"aggregation\":\"mean\"", "d a; r a 1; r a 4; r a 1; +11; s; r a 9",
         "=; D a; R a 1 joined 2; R a 4 joined 2; R a 1 joined 2; S 2 2 rewarded; R a 9 late 2; ", ""},
        {"\"aggregation\":\"max\"", "d a; r a 1; r a 4; r a 1; +11; s; r a 9",
         "=; D a; R a 1 joined 2; R a 4 joined 2; R a 1 joined 2; S 2 4 rewarded; R a 9 late 2; ", ""},
        {"\"aggregation\":\"max\"", "d a; r a -3; r a -2; +11; s",
         "=; D a; R a -3 joined 2; R a -2 joined 2; S 2 -2 rewarded; ", ""},
        /* Exactly at the wait counts, and a microsecond later not, settled or not. */
        {SUM, "d a; +10; s; r a 1; +0.000001; r a 1; s", "=; D a; R a 1 joined 2; R a 1 late 2; S 2 1 rewarded; ", ""});
}

TEST(without_a_reward_the_default_settles)
{
    RUN({"\"aggregation\":\"mean\"", "d a; +10.000001; s; s; r a 1", "=; D a; S 2 0 default; R a 1 late 2; ", ""},
        {"\"default_reward\":-0.5", "d a; +10.000001; s; s; r a 1", "=; D a; S 2 -0.5 default; R a 1 late 2; ", ""},
        {"\"default_reward\":null", "d a; +10.000001; s; s; r a 1", "=; D a; S 2 0 nothing; R a 1 late 2; ", ""});
}

/* What counts is when the decision came, not for how long the reward had waited. */
TEST(rewards_may_come_first)
{
    RUN({"", "r a 5; r b 6; r a 7; +100; d a; d c",
         "=; R a 5 unknown 0; R b 6 unknown 0; R a 7 unknown 0; D a; R a 5 claimed 5; S 5 5 rewarded; R a 7 repeated "
         "5; D c; ",
         ""},
        {SUM, "r a 5; r a 7; d a; r a 1; +11; s",
         "=; R a 5 unknown 0; R a 7 unknown 0; D a; R a 5 claimed 4; R a 7 claimed 4; R a 1 joined 4; S 4 13 "
         "rewarded; ",
         ""});
}

TEST(ids_are_used_once)
{
    RUN({"", "d a 1; d a 1; +1000; d b 1; d a 1; d a 2; d b 1", "=; D a; D b; ",
         "d a repeated 2; d a repeated 2; d a conflict: decide: this id was used for another request; d b repeated "
         "3; "},
        {"", "d a 7; x a 7; x a 8; x b 7", "=; D a; ",
         "x a repeated 2; x a conflict: decide: this id was used for another request; x b refused; "}, /* one that
                                                                                                          guardrails
                                                                                                          refuse may be
                                                                                                          a retry */
        /* Of another decision a reward id is another; a repeated one is not late if the first was not. */
        {SUM, "d a; r a 2 x; r a 2 x; r a 3 x; r a 3 y; r b 9 x; +11; r a 2 x; s",
         "=; D a; R a 2 joined 2; R a 3 joined 2; R b 9 unknown 0; S 2 5 rewarded; ",
         "r a repeated 0 as 1; r a conflict as 1: reward: this reward_id was used before with the value 2; r a "
         "repeated 0 as 1; "},
        {SUM, "r a 2 x; r a 2 x; d a; r a 2 x; +11; s", "=; R a 2 unknown 0; D a; R a 2 claimed 3; S 3 2 rewarded; ",
         "r a repeated 0 as 4; r a repeated 0 as 4; "});
}

/* The rules at the time of the reward, or of the settlement, count. */
TEST(other_rules_between)
{
    RUN({"\"aggregation\":\"max\"",
         "d a; d b; d c; r a 4; = {\"dim\":1,\"wait\":5,\"default_reward\":0.25,\"aggregation\":\"mean\"}; +5; r a 1;"
         " = {\"dim\":1,\"wait\":5,\"default_reward\":0.25}; r a 8; +0.000001; r b 1; s 2;"
         " = {\"dim\":1,\"wait\":100,\"default_reward\":0.25}; r b 1; r a 1; r c 3",
         "=; D a; D b; D c; R a 4 joined 2; =; R a 1 joined 2; =; R a 8 repeated 2; R b 1 late 3; S 2 2.5 rewarded; S "
         "3 0.25 default; =; R b 1 late 3; R a 1 repeated 2; R c 3 joined 4; S 4 3 rewarded; ",
         ""});
}

TEST(deferred_decisions_settle_when_they_are_active)
{
    RUN({"", "f a; f b; r a 5; r a 6; a a; a a; a b; r b 7; +11; a a; s",
         "=; D a; D b; R a 5 joined 2; R a 6 repeated 2; A a joined 2; S 2 5 rewarded; A b joined 3; R b 7 joined 3; S "
         "3 7 rewarded; ",
         "a a repeated 0; a a repeated 0; "},
        {SUM, "f a; r a 5; a a; r a 6; +11; s",
         "=; D a; R a 5 joined 2; A a joined 2; R a 6 joined 2; S 2 11 rewarded; ",
         ""}, /* more rewards may come: an activation ends no wait */
        {"\"default_reward\":1",
         "f a; f b; f c; r a 5; +10; s; a c; +0.000001; s; a b; = {\"dim\":1,\"wait\":100}; a a; r b 5",
         "=; D a; D b; D c; R a 5 joined 2; A c joined 4; S 2 0 inactive; S 3 0 inactive; S 4 1 default; A b late 3; "
         "=; A a late 2; R b 5 late 3; ",
         ""},
        {SUM ",\"default_reward\":1",
         "f a; f b; f c; r a 5; +10; s; a c; +0.000001; s; a b; = {\"dim\":1,\"wait\":100}; a a; r b 5",
         "=; D a; D b; D c; R a 5 joined 2; A c joined 4; S 2 0 inactive; S 3 0 inactive; S 4 1 default; A b late 3; "
         "=; A a late 2; R b 5 late 3; ",
         ""},
        {"", "a a; r a 2; a b; a b; f a; d b; a b",
         "=; A a unknown 0; R a 2 unknown 0; A b unknown 0; A b unknown 0; D a; A a claimed 6; R a 2 claimed 6; S 6 2 "
         "rewarded; D b; ",
         "a b repeated 0; "}); /* b is active anyway */
}

TEST(rounds_are_made_and_activated_as_a_whole)
{
    RUN({"", "d x; q x tm 9; q r tme 1; q r tme 1; q r zm 2; d r 3; r r/m 2; r r 1; r r/t 3",
         "=; D x; D r/t; D r/m; D r/e; R r/m 2 joined 4; S 4 2 rewarded; R r 1 joined 3; S 3 1 rewarded; R r/t 3 "
         "repeated 3; ",
         "q x conflict: decide: this id was used for another request; q r repeated 3; q r conflict: decide: this id "
         "was used for another request; d r conflict: decide: this id was used for another request; "},
        {"", "Q r tm; r r/m 2; a r/t; a r; a r; Q q tm; +11; s; a q",
         "=; D r/t; D r/m; R r/m 2 joined 3; A r/t joined 2; A r joined 3; S 3 2 rewarded; D q/t; D q/m; S 2 0 "
         "default; S 8 0 inactive; S 9 0 inactive; A q late 8; A q late 9; ",
         "a r repeated 0; "},
        /* What came before a round is claimed after its last slot: the slots follow each other. */
        {"", "r r/t 2; a r; r r 3; Q r tm",
         "=; R r/t 2 unknown 0; A r unknown 0; R r 3 unknown 0; D r/t; D r/m; R r/t 2 claimed 5; A r claimed 5; S 5 2 "
         "rewarded; A r claimed 6; R r 3 repeated 5; ",
         ""});
}

/* ---- metrics ---- */

#define TWO_METRICS                                                                                                    \
    "\"metrics\":[{\"name\":\"r\",\"aggregation\":\"sum\",\"missing\":0,\"weight\":-2},"                               \
    "{\"name\":\"l\",\"aggregation\":\"mean\",\"missing\":null,\"weight\":0.5}]"
#define FIRST_COUNTS "\"default_reward\":null," TWO_METRICS
#define SUMS "\"default_reward\":0.25,\"aggregation\":\"sum\"," TWO_METRICS

TEST(metrics_are_joined)
{
    RUN({FIRST_COUNTS, "d a; r a 1 - r=1; r a 5; r a 5 - r=1,l=4; r a - - l=2; +11; s; r a 1 - r=1",
         "=; D a; R a 1 joined 2; R a 5 repeated 2; R a 5 joined 2; R a 0 joined 2; S 2 -1.5 rewarded; R a 1 late 2; ",
         ""},
        {FIRST_COUNTS, "d a; d b; r a - - r=3; +11; s", "=; D a; D b; R a 0 joined 2; S 2 -6 rewarded; S 3 0 nothing; ",
         ""},
        {SUMS, "d a; d b; r a - - r=3; +11; s", "=; D a; D b; R a 0 joined 2; S 2 -5.75 rewarded; S 3 0.25 default; ",
         ""},
        /* The same metrics in another order are the same reward. */
        {SUMS,
         "d a; r a 1 x r=1,l=2; r a 1 x l=2,r=1; r a 1 x r=1,l=3; r a 1 x; r a - x r=1,l=2; r a 1 y; r a 1 y r=1; +11;"
         " s; r a 1 x r=1,l=2",
         "=; D a; R a 1 joined 2; R a 1 joined 2; S 2 1 rewarded; ",
         "r a repeated 0 as 1; r a conflict as 1: reward: this reward_id was used before with other metrics; r a "
         "conflict as 1: reward: this reward_id was used before with other metrics; r a conflict as 1: reward: this "
         "reward_id was used before with other metrics; r a conflict as 1: reward: this reward_id was used before with "
         "the value 1; r a repeated 0 as 1; "},
        {SUMS, "r a 2 x r=1; r a - - r=2,l=8; d a; r a 2 x r=1; +11; s",
         "=; R a 2 unknown 0; R a 0 unknown 0; D a; R a 2 claimed 4; R a 0 claimed 4; S 4 0 rewarded; ",
         "r a repeated 0 as 4; "},
        {FIRST_COUNTS, "f a; f b; r a 1 - r=1; r b 1 - r=1; a a; +11; s",
         "=; D a; D b; R a 1 joined 2; R b 1 joined 3; A a joined 2; S 2 -1 rewarded; S 3 0 inactive; ", ""},
        /* Each has its own aggregation, and those that the bandit has not are only logged. */
        {"\"metrics\":[{\"name\":\"f\",\"aggregation\":\"first\",\"weight\":1},"
         "{\"name\":\"m\",\"aggregation\":\"max\",\"weight\":100},"
         "{\"name\":\"n\",\"aggregation\":\"last\",\"weight\":10000}]",
         "d a; d b; r a - - f=1,m=2,n=3; r a - - f=4,m=1,n=2; r a - - f=9; r b - - z=9; +11; s",
         "=; D a; D b; R a 0 joined 2; R a 0 joined 2; R a 0 repeated 2; R b 0 repeated 3; S 2 20201 rewarded; S 3 0 "
         "default; ",
         ""},
        /* The rules at the settlement count. Totals stay by name, also those of metrics that are gone. */
        {SUMS,
         "d a; d b; r a 1 - r=1,l=2; = {\"dim\":1,\"wait\":10,\"aggregation\":\"sum\",\"metrics\":[{\"name\":\"q\","
         "\"weight\":3},{\"name\":\"l\",\"weight\":1}]}; r a 1 - q=5; = {\"dim\":1,\"wait\":10}; r a 1 - q=5; r b 1;"
         " = {\"dim\":1,\"wait\":10,\"aggregation\":\"sum\",\"metrics\":[{\"name\":\"q\",\"weight\":3}]}; +11; s",
         "=; D a; D b; R a 1 joined 2; =; R a 1 joined 2; =; R a 1 repeated 2; R b 1 joined 3; S 3 1 rewarded; =; S 2 "
         "17 rewarded; ",
         ""});
}

/* Runs a script, and stays open. */
static void play_steps(const char *settings, const char *const *steps)
{
    start(settings);
    for (; *steps; steps++) run_step(*steps, strlen(*steps));
}
#define PLAY(settings, ...) play_steps(settings, (const char *const[]){__VA_ARGS__, NULL})

/* Returns the size of its body. */
static size_t read_totals(uint64_t number, metric_values *out)
{
    store_reader *reader;
    const event *found;
    ok(store_reader_create(play.store, &reader, NULL));
    ok(store_read_one(reader, 1, number, &found, NULL));
    size_t size = found->size;
    if (size) ok(metric_values_read(found->body, size, out, NULL));
    store_reader_free(reader);
    return size;
}

static metric_values totals_at(uint64_t number)
{
    metric_values out;
    assert_true(read_totals(number, &out) > 0);
    return out;
}

TEST_WITH(a_settlement_has_the_totals, NULL, stop)
{
    PLAY(FIRST_COUNTS, "d a", "r a 1 - r=1", "r a 5 - r=1,l=4", "r a - - l=2", "d b", "+11", "s");
    metric_values totals = totals_at(7);
    assert_true(totals.reward == 1 && totals.count == 2);
    assert_true(strcmp(totals.list[0].name, "l") == 0 && totals.list[0].count == 2 && totals.list[0].value == 3);
    assert_true(strcmp(totals.list[1].name, "r") == 0 && totals.list[1].count == 2 && totals.list[1].value == 2);
    assert_int_equal(play.counts.decisions, 2);
    assert_int_equal(play.counts.joined, 3);
    assert_int_equal(play.counts.abandoned, 1);
    stop(NULL);
    PLAY(FIRST_COUNTS, "d a", "r a - - r=3", "+11", "s");
    assert_true(isnan(totals_at(4).reward));
    stop(NULL);
    PLAY(SUMS, "d a", "r a 1 x r=1", "+11", "s");
    assert_true(totals_at(4).reward == 1);
    ok(store_erase(play.store, 1, (const uint64_t[]){3, 4, 2}, 3, NULL));
    for (uint64_t number = 3; number <= 4; number++) assert_int_equal(read_totals(number, &totals), 0);
    assert_string_equal(check().first, "");
}

/* A repair computes the tables from the log. */
TEST(a_repair_finds_the_metrics_again)
{
    only_in_a_folder();
    PLAY(SUMS, "d a", "r a 1 x r=1");
    store_close(play.store);
    raw_log raw = raw_begin(play.place.where);
    raw_run(&raw, "UPDATE decisions SET metrics = x'00'");
    raw_commit(&raw);
    assert_int_equal(check().tables, 1);
    repair_result repaired;
    ok(store_repair(&(check_request){.folder = play.place.where}, &repaired, NULL));
    assert_string_equal(check().first, "");
    open_play();
    play.now += 11 * SECOND;
    assert_int_equal(settle(100), 1);
    assert_true(totals_at(4).list[0].value == 1);
    stop(NULL);
}

/* More names than there is room for: one that the bandit no longer has makes place. */
TEST(many_names)
{
    joining_rules old = {.metric_count = MOST_METRICS}, new = {.metric_count = 1};
    metric_values totals = {.reward = NAN}, reward = {.reward = NAN, .count = MOST_METRICS};
    for (size_t i = 0; i < MOST_METRICS; i++) {
        old.metrics[i] = (metric_settings){.name = {(char)('a' + i)}, .aggregation = LOG_REWARD_SUM};
        reward.list[i] = (metric_value){.name = {(char)('a' + i)}, .count = 1, .value = 1};
    }
    assert_true(metric_values_join(&totals, &old, &reward));
    assert_int_equal(totals.count, MOST_METRICS);
    new.metrics[0] = (metric_settings){.name = "z", .aggregation = LOG_REWARD_SUM};
    reward.count = 1;
    reward.list[0].name[0] = 'z';
    assert_true(metric_values_join(&totals, &new, &reward));
    assert_int_equal(totals.count, MOST_METRICS);
    assert_true(metric_values_has(&totals, &new));
}

/* ---- portions ---- */

static void step_now(const char *one)
{
    run_step(one, strlen(one));
}

/* Decisions 0 to count - 1, all rewarded except the last, in large groups. */
static void decide_many(int count)
{
    enum { TOGETHER = 1000 };
    static store_entry entries[2 * TOGETHER];
    static char ids[TOGETHER][16];
    for (int first = 0; first < count; first += TOGETHER) {
        size_t used = 0;
        for (int i = first; i < first + TOGETHER && i < count; i++) {
            char *id = ids[i - first];
            snprintf(id, sizeof ids[0], "%d", i);
            entries[used++] = (store_entry){.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}};
            if (i < count - 1)
                entries[used++] =
                    (store_entry){.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(id), .value = 1}};
        }
        for (size_t i = 0; i + 1 < used; i++) entries[i].next = &entries[i + 1];
        write_group(entries);
    }
}

/* As after a day without the server, or with a shorter wait: what was settled by its rewards is passed in portions. */
TEST_WITH(passes_the_settled_in_portions, NULL, stop)
{
    enum { COUNT = 10000 };
    start("");
    decide_many(COUNT);
    play.now += 11 * SECOND;
    size_t calls = 1;
    for (; settle(1000) == 0; calls++) assert_true(bandit_of()->deadline <= play.now);
    assert_int_equal(calls, 3);
    assert_int_equal(bandit_of()->deadline, INT64_MAX);
    assert_int_equal(bandit_of()->settled_to, 3 * COUNT - 1);
}

TEST_WITH(settles_in_portions, NULL, stop)
{
    enum { COUNT = 300 };
    start("");
    for (int i = 0; i < COUNT; i++) {
        char line[32];
        snprintf(line, sizeof line, "d %d", i);
        step_now(line);
        snprintf(line, sizeof line, "r %d 1", i);
        if (i % 3 == 0) step_now(line);
        play.now += 1000;
    }
    int64_t last = play.now - 1000;
    play.now += 5 * SECOND;
    assert_int_equal(settle(COUNT), 0);
    assert_true(bandit_of()->deadline == 1010 * SECOND + 1);
    play.now = 1010 * SECOND + 150 * 1000; /* over for the first 150 */
    assert_int_equal(settle(30), 30);
    assert_true(bandit_of()->deadline <= play.now);
    assert_int_equal(settle(COUNT), 70);
    assert_true(bandit_of()->deadline == play.now + 1);
    play.now = last + 10 * SECOND + 1;
    assert_int_equal(settle(COUNT), 100);
    assert_true(bandit_of()->deadline == INT64_MAX);
    assert_int_equal(play.counts.defaulted, 200);
    assert_int_equal(play.counts.waiting, 0);
    assert_int_equal(settle(COUNT), 0);
}

TEST_WITH(news_are_what_a_model_learns_from, NULL, stop)
{
    PLAY(SUM, "d a");
    assert_int_equal(bandit_of()->news, 2);
    step_now("r a 1");
    assert_int_equal(bandit_of()->events, 3);
    step_now("p");
    assert_int_equal(bandit_of()->news, 2);
    step_now("+11");
    step_now("s");
    assert_int_equal(bandit_of()->news, 5);
    assert_true(bandit_of()->time == play.now);
}

/* Retention takes a round whole or not at all, and its id with it. */
TEST_WITH(a_round_is_removed_as_a_whole, NULL, stop)
{
    PLAY("", "q r tme 1", "r r/t 2", "r r/m 2", "+1");
    bool more;
    ok(store_remove(play.store, 1, play.now, 1000, 100, &more, NULL)); /* a slot waits */
    step_now("q r tme 1");
    step_now("r r/e 2 id");
    ok(store_remove(play.store, 1, play.now, 4, 100, &more, NULL)); /* a restart needs a slot */
    step_now("q r tme 1");
    assert_string_equal(play.told.bytes, "q r repeated 2; q r repeated 2; ");
    ok(store_remove(play.store, 1, play.now, 1000, 1, &more, NULL));
    assert_true(more); /* more than one event, since three belong together */
    step_now("q r tm 2");
    step_now("r r/e 3 id");
    assert_string_equal(play.told.bytes, "q r repeated 2; q r repeated 2; "); /* both are new */
    assert_int_equal(play.counts.unknown, 1);
}

/* ---- groups ---- */

enum { STEPS = 96, IDS = 12 };

/* A made-up entry: few ids, so that all meet each other. */
typedef struct made_entry {
    char id[16], reward_id[4];
    store_entry entry;
} made_entry;

static uint64_t draw(uint64_t *chance, uint64_t below)
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return (*chance >> 33) % below;
}

static void make_entry(made_entry *made, uint64_t *chance)
{
    uint64_t kind = draw(chance, 10);
    snprintf(made->id, sizeof made->id, "%c", (char)('a' + draw(chance, IDS)));
    made->entry = (store_entry){.bandit = (uint32_t)draw(chance, 2) + 1, .request = {draw(chance, 4) == 0, 7}};
    event *what = &made->entry.event;
    what->id = words(made->id);
    what->kind = kind < 4 ? EVENT_DECISION : kind < 8 ? EVENT_REWARD : kind == 8 ? EVENT_ACTIVATED : EVENT_STEP;
    if (what->kind == EVENT_DECISION) made->entry.deferred = draw(chance, 3) == 0;
    if (what->kind == EVENT_STEP) what->id = words("");
    if (what->kind != EVENT_REWARD) return;
    what->value = (double)draw(chance, 3);
    if (draw(chance, 2)) return;
    snprintf(made->reward_id, sizeof made->reward_id, "%d", (int)draw(chance, 3));
    what->reward_id = words(made->reward_id);
}

static void add_line(void *context, const char *row)
{
    text_add(context, "%s\n", row);
}

/* Writes the made-up entries in groups of at most `together`; each starts a step of time. The store is opened again
 * after some of them. Returns the log with all tables that joining has, and the verdicts. */
static text write_made(uint64_t seed, size_t together)
{
    static made_entry made[STEPS];
    const char *settings = seed % 2 ? SUM ",\"default_reward\":0.5" : "\"default_reward\":0.5";
    char json[200];
    start(settings);
    snprintf(json, sizeof json, "{\"dim\":1,\"wait\":10,%s}", settings);
    write_bandit(play.store, "news", json, play.now);
    uint64_t chance = seed;
    text out = text_start(NULL);
    for (size_t i = 0; i < STEPS; i++) make_entry(&made[i], &chance);
    for (size_t first = 0; first < STEPS; first += 8) { /* eight at the same time, however they are grouped */
        const uint32_t both[] = {1, 2};
        play.now += (int64_t)draw(&chance, 4) * SECOND;
        for (size_t i = first; i < first + 8; i += together) {
            size_t end_of_group = i + together < first + 8 ? i + together : first + 8;
            for (size_t k = i; k + 1 < end_of_group; k++) made[k].entry.next = &made[k + 1].entry;
            store_group group = {.first = &made[i].entry, .now = play.now, .settle_each = 100, .settle_total = 100};
            if (end_of_group == first + 8) {
                group.due = both;
                group.due_count = 2;
            }
            ok(store_write(play.store, &group, NULL));
            if (draw(&seed, 8)) continue;
            store_close(play.store);
            open_play();
        }
    }
    for (size_t i = 0; i < STEPS; i++)
        text_add(&out, "%d %d %d\n", (int)made[i].entry.verdict, (int)made[i].entry.event.outcome,
                 (int)made[i].entry.event.number);
    for (uint32_t i = 1; i <= 2; i++)
        text_add(&out, "%d waiting, %d unclaimed\n", (int)state_of(play.store, i)->waiting,
                 (int)state_of(play.store, i)->unclaimed);
    static const char *const tables[] = {"SELECT * FROM events ORDER BY 1",
                                         "SELECT * FROM decisions ORDER BY 1",
                                         "SELECT * FROM ids ORDER BY 1, 2",
                                         "SELECT * FROM reward_ids ORDER BY 1, 2, 3",
                                         "SELECT * FROM unclaimed ORDER BY 1, 2, 3",
                                         "SELECT number, name, archived, settled_to FROM bandits ORDER BY 1"};
    raw_log raw = raw_begin(play.place.where);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) raw_show(&raw, tables[i], add_line, &out);
    raw_commit(&raw);
    stop(NULL);
    return out;
}

/* However entries are grouped, and whatever was in memory or in the store, the result is the same. */
TEST(groups_do_not_matter)
{
    for (uint64_t seed = 1; seed <= test_long(2, 20); seed++) {
        text alone = write_made(seed, 1);
        for (size_t together = 3; together <= 8; together += 5) {
            text grouped = write_made(seed, together);
            assert_string_equal(grouped.bytes, alone.bytes);
            memory_free(grouped.bytes);
        }
        memory_free(alone.bytes);
    }
}

/* A group that fails leaves the store and what is known of the bandits as before. */
TEST_WITH(a_group_that_fails_changes_nothing, NULL, stop)
{
    PLAY("", "d a");
    bandit_settings settings = bandit_settings_usual();
    store_entry made = {
        .event = {.kind = EVENT_SETTINGS, .body = "{}", .size = 2}, .settings = &settings, .name = words("new")};
    store_entry rewarded = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words("a"), .value = 1}};
    store_entry early = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words("b"), .value = 1}};
    made.next = &early;
    early.next = &rewarded;
    bandit_state before = *bandit_of();
    store_group group = {.first = &made, .now = play.now - 1}; /* before the last event */
    assert_fails(store_write(play.store, &group, &last_error), EE_BAD_INPUT, last_error, "cannot follow event 2");
    assert_memory_equal(bandit_of(), &before, sizeof before);
    assert_int_equal(store_bandit_count(play.store), 1);
    assert_int_equal(made.bandit, 0);
    for (const store_entry *entry = &made; entry; entry = entry->next) {
        assert_int_equal(entry->verdict, ENTRY_FAILED);
        assert_string_equal(entry->error.message, last_error.message);
    }
    group.now = play.now;
    ok(store_write(play.store, &group, &last_error));
    assert_int_equal(made.bandit, 2);
    assert_int_equal(store_bandit_count(play.store), 2);
    assert_log_is(play.store, 1, "=; D a; R b 1 unknown 0; R a 1 joined 2; S 2 1 rewarded; ");
}
