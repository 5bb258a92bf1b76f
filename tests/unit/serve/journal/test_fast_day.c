/* A day in fast motion. Decisions and rewards of several bandits, in any order, repeated, too early and too late, by a
 * clock that jumps, with restarts in the midst. In the end plain SQL over the events says what each decision is worth,
 * from the rules that joining.h has and from nothing that our code found out: only from what came, when, and for which
 * id. All must agree.
 *
 *     test_fast_day [EVENTS]      40,000 where nothing is said */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "serve/journal_settings.h"

static const int64_t DAY = 86400 * (int64_t)1000000, START = 1700000000 * (int64_t)1000000;

/* The last one's rewards have no ids of their own. */
static const struct {
    const char *json;
    int wait;
    const char *value;    /* what SQL makes of the rewards r; beside min or max, a value is of the row that has it */
    const char *fallback; /* without any; NULL: nothing */
} bandits[] = {
    {"{\"wait\":60,\"aggregation\":\"first\"}", 60, "r.value AS value, min(r.place)", "0"},
    {"{\"wait\":600,\"aggregation\":\"last\",\"default_reward\":null}", 600, "r.value AS value, max(r.place)", NULL},
    {"{\"wait\":30,\"aggregation\":\"sum\",\"default_reward\":-0.5}", 30, "sum(r.value) AS value", "-0.5"},
    {"{\"wait\":120,\"aggregation\":\"mean\"}", 120, "avg(r.value) AS value", "0"},
    {"{\"wait\":300,\"aggregation\":\"max\",\"default_reward\":1}", 300, "max(r.value) AS value", "1"},
    {"{\"wait\":10,\"aggregation\":\"first\",\"default_reward\":null}", 10, "r.value AS value, min(r.place)", NULL},
};
enum { BANDITS = sizeof bandits / sizeof *bandits, GROUP = 4096, RESTARTS = 12 };

/* Something that a client sends. */
typedef struct action {
    int64_t time; /* of the day */
    uint32_t decision;
    uint8_t reward;   /* 0: the decision itself; else which of its rewards */
    bool is_other;    /* not what was sent before under this id */
    bool is_repeated; /* the same as before */
    bool is_stray;    /* for a decision that never comes */
    bool is_deferred; /* the decision, or what it is for */
    bool activates;
} action;

typedef struct sent {
    journal_entry entry;
    char id[24], reward_id[16];
    action action;
    struct day *day;
} sent;

typedef struct day {
    test_folder folder;
    store *store;
    journal *journal;
    atomic_int_least64_t clock;
    uint32_t numbers[BANDITS];
    random_stream random;
    double length; /* microseconds */
    action *actions;
    size_t count, capacity;
    uint64_t decisions, rewards; /* that are to be written */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    size_t told, wrong; /* wrong: another verdict than it must be */
    uint64_t done_decisions, done_rewards;
    sent group[GROUP];
} day;

/* ---- what is sent ---- */

/* Whole seconds: some rewards come exactly at the end of a wait. */
static void add_action(day *self, action what)
{
    what.time -= what.time % 1000000;
    ok(memory_grow(NULL, &self->actions, &self->capacity, self->count + 1, sizeof *self->actions, NULL));
    self->actions[self->count++] = what;
}

static bool chance(day *self, double share)
{
    return random_unit(&self->random) < share;
}

/* A message, sometimes again, and sometimes another under its id. */
static void plan_message(day *self, action what, bool has_id)
{
    add_action(self, what);
    if (!has_id) return;
    if (chance(self, 0.1)) {
        action again = what;
        again.time += chance(self, 0.5) ? 0 : (int64_t)(random_unit(&self->random) * 100e6);
        again.is_repeated = true;
        add_action(self, again);
    }
    if (chance(self, 0.02)) {
        action other = what;
        other.time += 1 + (int64_t)(random_unit(&self->random) * 100e6);
        other.is_other = true;
        add_action(self, other);
    }
}

static void plan_decision(day *self, uint32_t decision)
{
    size_t bandit = decision % BANDITS;
    bool has_ids = bandit != BANDITS - 1, stray = has_ids && chance(self, 0.02);
    double wait = bandits[bandit].wait;
    action what = {.time = (int64_t)(random_unit(&self->random) * self->length),
                   .decision = decision,
                   .is_stray = stray,
                   .is_deferred = !stray && chance(self, 0.3)};
    if (!stray) plan_message(self, what, true);
    self->decisions += !stray;
    for (double share = what.is_deferred ? 0.8 : 0.05; chance(self, share); share = 0.2) {
        action activation = what; /* before the decision, within the wait, at its end, or after it */
        activation.activates = true;
        activation.time +=
            (int64_t)((chance(self, 0.1) ? wait : (1.6 * random_unit(&self->random) - 0.3) * wait) * 1e6);
        add_action(self, activation);
    }
    for (uint8_t i = 1; i <= 3 && chance(self, 0.6); i++) {
        /* before the decision, within the wait, about its end, or after it */
        double delay = random_unit(&self->random) * 1.5 * wait - (has_ids ? 0.3 * wait : -0.001);
        if (chance(self, 0.1)) delay = wait;
        what.reward = i;
        action reward = what;
        reward.time += (int64_t)(delay * 1e6);
        plan_message(self, reward, has_ids);
        self->rewards++;
    }
}

static int by_time(const void *left, const void *right)
{
    const action *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    /* the message itself before what is sent again or wrong */
    int late = a->is_repeated + 2 * a->is_other, later = b->is_repeated + 2 * b->is_other;
    if (late != later) return late - later;
    if (a->decision != b->decision) return a->decision < b->decision ? -1 : 1;
    return a->reward - b->reward;
}

/* ---- sending ---- */

static void note_done(journal_entry *entry)
{
    sent *self = entry->context;
    day *of = self->day;
    entry_verdict expected = self->action.is_other      ? ENTRY_CONFLICT
                             : self->action.is_repeated ? ENTRY_REPEATED
                                                        : ENTRY_DONE;
    pthread_mutex_lock(&of->lock);
    bool activated = entry->verdict == ENTRY_DONE || entry->verdict == ENTRY_REPEATED;
    of->wrong += self->action.activates ? !activated : entry->verdict != expected;
    of->done_decisions += entry->verdict == ENTRY_DONE && !self->action.reward && !self->action.activates;
    of->done_rewards += entry->verdict == ENTRY_DONE && self->action.reward;
    of->told++;
    pthread_cond_signal(&of->wake);
    pthread_mutex_unlock(&of->lock);
}

static void fill(day *self, sent *into, const action *what)
{
    size_t bandit = what->decision % BANDITS;
    *into = (sent){.action = *what, .day = self};
    snprintf(into->id, sizeof into->id, "%c%u", what->is_stray ? 's' : what->is_deferred ? 'f' : 'd', what->decision);
    snprintf(into->reward_id, sizeof into->reward_id, "r%d", what->reward);
    into->entry = (journal_entry){.bandit = self->numbers[bandit],
                                  .event = {.kind = what->reward      ? EVENT_REWARD
                                                    : what->activates ? EVENT_ACTIVATED
                                                                      : EVENT_DECISION,
                                            .id = words(into->id)},
                                  .request = {what->decision, what->is_other},
                                  .deferred = what->is_deferred,
                                  .done = note_done,
                                  .context = into};
    if (!what->reward) return;
    /* Eighths: their sum is exact in any order. */
    into->entry.event.value = (int)((what->decision * 7 + what->reward * 13u) % 33) / 8.0 - 2 + what->is_other;
    if (bandit != BANDITS - 1) into->entry.event.reward_id = (json_text){into->reward_id, strlen(into->reward_id)};
}

static void await_told(day *self, size_t count)
{
    pthread_mutex_lock(&self->lock);
    while (self->told < count) pthread_cond_wait(&self->wake, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

/* Sends messages in chains of some, while the clock goes on. patient: each chain is written before the next comes, so
 * that its time is right; else they gather. */
static void send_group(day *self, const action *actions, size_t count, int64_t wrong_by, bool patient)
{
    for (size_t i = 0, end; i < count; i = end) {
        size_t chain = 1 + random_below(&self->random, chance(self, 0.2) ? 256 : 16);
        end = i + chain < count ? i + chain : count;
        for (size_t k = i; k < end; k++) {
            fill(self, &self->group[k], &actions[k]);
            if (k > i) self->group[k - 1].entry.next = &self->group[k].entry;
        }
        atomic_store(&self->clock, START + actions[i].time + wrong_by);
        assert_true(journal_submit(self->journal, &self->group[i].entry));
        if (patient) await_told(self, end);
    }
}

/* ---- the server ---- */

static int64_t read_clock(void *context)
{
    return atomic_load(&((day *)context)->clock);
}

static void open_day(day *self)
{
    journal_options options = {.clock = read_clock, .clock_context = self};
    ok(store_open(folder_path(&self->folder, "store"), &self->store, NULL));
    ok(journal_start(self->store, &options, &self->journal, NULL));
}

static void close_day(day *self)
{
    journal_stop(self->journal);
    store_close(self->store);
}

/* ---- asking SQLite ---- */

static sqlite3 *open_events(day *self)
{
    sqlite3 *database;
    assert_int_equal(
        sqlite3_open_v2(folder_path(&self->folder, "store/eenet.db"), &database, SQLITE_OPEN_READWRITE, NULL),
        SQLITE_OK);
    return database;
}

static void execute(sqlite3 *database, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message)) fail_msg("%s: %s", message, sql);
}

static int64_t ask(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL)) fail_msg("%s: %s", sqlite3_errmsg(database), sql);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

/* What came, by bandit. A reward without an id of its own is the journal's second event of one that came too early,
 * where rewards have ids: not something that came. */
static void collect(sqlite3 *database)
{
    execute(database, "PRAGMA temp_store = memory;"
                      "CREATE TEMP TABLE d AS SELECT place >> 40 AS bandit, id, time, place FROM events WHERE kind = 1;"
                      "CREATE TEMP TABLE r AS SELECT place >> 40 AS bandit, id, time, place, value, reward_id"
                      "  FROM events WHERE kind = 2 AND (reward_id IS NOT NULL OR place >> 40 = 6);"
                      "CREATE TEMP TABLE s (place INTEGER PRIMARY KEY, value REAL, outcome INTEGER, time INTEGER);"
                      "INSERT INTO s SELECT (place >> 40 << 40) + decision, value, outcome, time"
                      "  FROM events WHERE kind = 3;"
                      "CREATE INDEX temp.r_index ON r (bandit, id);"
                      "CREATE TEMP TABLE a AS SELECT place >> 40 AS bandit, id, time FROM events WHERE kind = 8;"
                      "CREATE INDEX temp.a_index ON a (bandit, id);");
}

/* A reward counts when it comes within the wait, and from its decision on where it came before it. Rewards count in the
 * order in which they came. A deferred decision (f...) is active where an activation does so; else nothing counts. */
static void work_out(sqlite3 *database, size_t which, uint32_t number)
{
    char sql[1024];
    execute(database, "DROP TABLE IF EXISTS temp.e");
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE e AS SELECT d.place AS place, d.time AS time, count(r.place) AS rewards, %s,"
             "  d.id NOT LIKE 'f%%' OR EXISTS (SELECT 1 FROM a WHERE a.bandit = d.bandit AND a.id = d.id"
             "    AND max(a.time, d.time) <= d.time + %d) AS active"
             " FROM d LEFT JOIN r ON r.bandit = d.bandit AND r.id = d.id AND max(r.time, d.time) <= d.time + %d"
             " WHERE d.bandit = %u GROUP BY d.place",
             bandits[which].value, bandits[which].wait * 1000000, bandits[which].wait * 1000000, number);
    execute(database, sql);
}

static void compare(sqlite3 *database, size_t which)
{
    char sql[1024];
    const char *fallback = bandits[which].fallback;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM e LEFT JOIN s ON s.place = e.place WHERE s.place IS NULL"
             " OR s.outcome <> CASE WHEN NOT e.active THEN 9 WHEN e.rewards > 0 THEN 6 ELSE %d END"
             " OR abs(s.value - CASE WHEN NOT e.active THEN 0 WHEN e.rewards > 0 THEN e.value ELSE %s END) > %s",
             fallback ? 7 : 8, fallback ? fallback : "0", strstr(bandits[which].json, "mean") ? "1e-12" : "0");
    assert_int_equal(ask(database, sql), 0);
    /* Settled at the end of the wait, or with the first reward. */
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM e JOIN s ON s.place = e.place WHERE (s.time <= e.time + %d) <> (%s)",
             bandits[which].wait * 1000000, strstr(bandits[which].json, "first") ? "e.active AND e.rewards > 0" : "0");
    assert_int_equal(ask(database, sql), 0);
}

static void check(day *self)
{
    sqlite3 *database = open_events(self);
    collect(database);
    assert_int_equal(ask(database, "SELECT count(*) FROM d"), self->decisions);
    assert_int_equal(ask(database, "SELECT count(*) FROM (SELECT DISTINCT bandit, id FROM d)"), self->decisions);
    assert_int_equal(ask(database, "SELECT count(*) FROM r"), self->rewards);
    assert_int_equal(ask(database, "SELECT count(*) FROM (SELECT DISTINCT bandit, id, reward_id FROM r"
                                   " WHERE reward_id IS NOT NULL)"),
                     ask(database, "SELECT count(*) FROM r WHERE reward_id IS NOT NULL"));
    assert_int_equal(ask(database, "SELECT count(*) FROM s"), self->decisions);
    /* Times never go back, and numbers have no gaps. */
    assert_int_equal(ask(database, "SELECT count(*) FROM (SELECT time, lag(time) OVER w AS before, place,"
                                   " lag(place) OVER w AS last FROM events WINDOW w AS (ORDER BY place))"
                                   " WHERE place >> 40 = last >> 40 AND (time < before OR place <> last + 1)"),
                     0);
    for (size_t i = 0; i < BANDITS; i++) {
        work_out(database, i, self->numbers[i]);
        /* Each way of ending happens. */
        assert_true(ask(database, "SELECT count(*) FROM e WHERE rewards = 0") > 0);
        assert_true(ask(database, "SELECT count(*) FROM e WHERE rewards > 1") > 0);
        assert_true(ask(database, "SELECT count(*) FROM e WHERE NOT active AND rewards > 0") > 0);
        compare(database, i);
    }
    sqlite3_close(database);
}

/* ---- the day ---- */

/* After the day nothing waits any more. */
static void settle_all(day *self)
{
    atomic_store(&self->clock, START + 10 * DAY);
    open_day(self);
    sqlite3 *database = open_events(self);
    AWAIT(!journal_read_counts(self->journal).waiting);
    assert_int_equal(ask(database, "SELECT count(*) FROM decisions WHERE settled = 0"), 0);
    sqlite3_close(database);
    close_day(self);
}

static void play(day *self)
{
    int64_t wrong_by = 0;
    size_t restart = self->count / RESTARTS, group = self->count / 50 < GROUP ? self->count / 50 : GROUP;
    for (size_t i = 0, sent_count = 0; i < self->count; i += sent_count) {
        sent_count = 1 + random_below(&self->random, group);
        if (sent_count > self->count - i) sent_count = self->count - i;
        if (chance(self, 0.1)) wrong_by = ((int64_t)random_below(&self->random, 600) - 300) * 1000000;
        self->told = 0;
        send_group(self, self->actions + i, sent_count, wrong_by, chance(self, 0.3));
        if ((i + sent_count) / restart != i / restart) { /* what was handed in is written */
            close_day(self);
            open_day(self);
        }
        await_told(self, sent_count);
    }
    close_day(self);
}

TEST(a_day)
{
    size_t events = test_long(10000, 2000000);
    day *self = calloc(1, sizeof *self);
    self->folder = folder_make();
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->wake, NULL);
    self->random = random_named(17, "day");
    atomic_store(&self->clock, START - DAY);
    open_day(self);
    for (size_t i = 0; i < BANDITS; i++)
        self->numbers[i] = make_bandit(self->journal, (char[]){(char)('a' + i), 0}, bandits[i].json);
    self->length = (double)DAY * (double)events / 2e6; /* 23 messages a second */
    for (uint32_t i = 0; self->count < events; i++) plan_decision(self, i);
    qsort(self->actions, self->count, sizeof *self->actions, by_time);
    play(self);
    settle_all(self);
    assert_int_equal(self->wrong, 0);
    assert_int_equal(self->done_decisions, self->decisions);
    assert_int_equal(self->done_rewards, self->rewards);
    check(self);
    memory_free(self->actions);
    folder_remove(&self->folder);
    free(self);
}
