/* The journal on a real database that goes away: connections are cut and new ones refused, servers are killed. Only if
 * the variable EENET_TEST_POSTGRES has a connection string of a user who may create databases. */
#define _POSIX_C_SOURCE 200809L
#include "serve/fresh_database.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "serve/journal/journal.h"
#include "serve/shown_log.h"
#include "serve/system/server_clock.h"

#define SECOND INT64_C(1000000)

typedef struct test_stage {
    test_folder folder;
    fresh_database database;
    store *store;
    journal *journal;
    atomic_int_least64_t clock;
    uint32_t shop;
} test_stage;

static int64_t read_clock(void *context)
{
    return atomic_load(&((test_stage *)context)->clock);
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Until then everything that is waited for has happened on any machine. */
static int64_t last_moment(void)
{
    return server_clock_real() + 300 * SECOND;
}

static void rest_until(int64_t moment, const char *what)
{
    if (server_clock_real() > moment) fail_msg("timeout: %s", what);
    rest();
}

#define AWAIT(condition)                                                                                               \
    for (int64_t moment = last_moment(); !(condition);) rest_until(moment, #condition)

static void open_stage(test_stage *self)
{
    ee_error error = {0};
    journal_options options = {.clock = read_clock,
                               .elapsed = read_clock,
                               .clock_context = self,
                               .spool_folder = self->folder.path,
                               .spool_seconds = 1000,
                               .context = self};
    if (store_open(self->database.where, &self->store, &error)) fail_msg("%s", error.message);
    if (journal_start(self->store, &options, &self->journal, &error)) fail_msg("%s", error.message);
}

static void close_stage(test_stage *self)
{
    journal_stop(self->journal);
    store_close(self->store);
}

static void make_bandit(test_stage *self)
{
    static const char json[] = "{\"dim\":2,\"wait\":10,\"aggregation\":\"sum\"}";
    bandit_settings settings = bandit_settings_usual();
    text body = text_start(NULL);
    ee_error error = {0};
    ok(bandit_settings_read(&settings, json, sizeof json - 1, SETTINGS_NEW, NULL));
    bandit_settings_write(&settings, &body);
    journal_entry entry = {.event = {.kind = EVENT_SETTINGS, .body = body.bytes, .size = body.length},
                           .settings = &settings,
                           .name = {"shop", 4}};
    if (journal_write(self->journal, &entry, &error)) fail_msg("%s", error.message);
    self->shop = entry.bandit;
    memory_free(body.bytes);
}

static int set_up(void **state)
{
    *state = NULL;
    if (!test_postgres()) return 0;
    test_stage *self = calloc(1, sizeof *self);
    *state = self;
    self->folder = folder_make();
    self->database = database_make();
    atomic_store(&self->clock, 1000 * SECOND);
    open_stage(self);
    make_bandit(self);
    return 0;
}

static int tear_down(void **state)
{
    test_stage *self = *state;
    if (!self) return 0;
    close_stage(self);
    database_remove(&self->database);
    folder_remove(&self->folder);
    free(self);
    return 0;
}

#define NEED_POSTGRES(state)                                                                                           \
    if (!*(state)) skip()

/* ---- the database goes away, and comes back ---- */

static void cut(test_stage *self)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '%s' AND pid <> "
             "pg_backend_pid()",
             self->database.name);
    database_run(self->database.server, sql);
}

static void allow(test_stage *self, bool on)
{
    char sql[200];
    snprintf(sql, sizeof sql, "ALTER DATABASE %s WITH ALLOW_CONNECTIONS %s", self->database.name,
             on ? "true" : "false");
    database_run(self->database.server, sql);
}

static void go_away(test_stage *self)
{
    allow(self, false);
    cut(self);
}

static void await_delivery(test_stage *self)
{
    AWAIT(!journal_read_counts(self->journal).spooled);
}

static void come_back(test_stage *self)
{
    allow(self, true);
    await_delivery(self);
}

/* ---- entries ---- */

static entry_verdict write_of(test_stage *self, event_kind kind, const char *id, double value)
{
    journal_entry entry = {
        .bandit = self->shop,
        .event = {.kind = kind, .id = {id, strlen(id)}, .value = value, .body = "b", .size = kind != EVENT_REWARD},
        .request = {1, 2}};
    journal_write(self->journal, &entry, NULL);
    return entry.verdict;
}

static entry_verdict decide(test_stage *self, const char *id)
{
    return write_of(self, EVENT_DECISION, id, 0);
}

static entry_verdict reward(test_stage *self, const char *id, double value)
{
    return write_of(self, EVENT_REWARD, id, value);
}

static void move_clock(test_stage *self, int64_t seconds)
{
    atomic_fetch_add(&self->clock, seconds * SECOND);
}

/* ---- tests ---- */

TEST_WITH(events_of_an_outage_are_delivered, set_up, tear_down)
{
    NEED_POSTGRES(state);
    test_stage *self = *state;
    assert_int_equal(decide(self, "a"), ENTRY_DONE);
    go_away(self);
    assert_int_equal(decide(self, "b"), ENTRY_SPOOLED);
    assert_int_equal(decide(self, "b"), ENTRY_REPEATED);
    move_clock(self, 9);
    assert_int_equal(reward(self, "a", 1), ENTRY_SPOOLED);
    assert_int_equal(reward(self, "b", 2), ENTRY_SPOOLED);
    assert_int_equal(write_of(self, EVENT_STEP, "", 0), ENTRY_FAILED);
    journal_counts counts = journal_read_counts(self->journal);
    assert_true(counts.spooling && counts.spooled == 3 && !counts.writable);
    move_clock(self, 100);
    come_back(self);
    AWAIT(!journal_read_counts(self->journal).waiting);
    assert_int_equal(decide(self, "b"), ENTRY_REPEATED);
    assert_int_equal(decide(self, "c"), ENTRY_DONE);
    assert_log_is(self->store, self->shop,
                  "=; D a; D b; R a 1 joined 2; R b 2 joined 3; S 2 1 rewarded; S 3 2 rewarded; D c; ");
}

TEST_WITH(the_next_process_delivers_the_rest, set_up, tear_down)
{
    NEED_POSTGRES(state);
    test_stage *self = *state;
    assert_int_equal(decide(self, "a"), ENTRY_DONE);
    go_away(self);
    assert_int_equal(reward(self, "a", 1), ENTRY_SPOOLED);
    assert_int_equal(reward(self, "a", 2), ENTRY_SPOOLED);
    close_stage(self);
    allow(self, true);
    open_stage(self);
    await_delivery(self);
    assert_log_is(self->store, self->shop, "=; D a; R a 1 joined 2; R a 2 joined 2; ");
}

static void read_spool_name(test_stage *self, char name[33])
{
    enum { MAGIC = 8 };
    char path[600];
    snprintf(path, sizeof path, "%s/spool/events", self->folder.path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, MAGIC, SEEK_SET), 0);
    assert_int_equal(fread(name, 1, 32, file), 32);
    name[32] = '\0';
    fclose(file);
}

static bool waits_for_a_lock(test_stage *self)
{
    PGresult *rows;
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '%s'",
             self->database.name);
    ok(pg_query(self->database.server, sql, "look", &rows, NULL));
    bool found = PQntuples(rows) > 0;
    PQclear(rows);
    return found;
}

/* As when a process was killed while its delivery was committing, which ends when the next process is delivering. */
TEST_WITH(a_delivery_that_ends_late_is_not_repeated, set_up, tear_down)
{
    NEED_POSTGRES(state);
    test_stage *self = *state;
    char name[33], sql[300];
    assert_int_equal(decide(self, "a"), ENTRY_DONE);
    go_away(self);
    assert_int_equal(reward(self, "a", 1), ENTRY_SPOOLED);
    assert_int_equal(reward(self, "a", 2), ENTRY_SPOOLED);
    assert_int_equal(reward(self, "a", 4), ENTRY_SPOOLED);
    close_stage(self);
    read_spool_name(self, name);
    allow(self, true);
    pg_connection *late = database_connect(self->database.where);
    /* Its transaction had the first two. The test leaves out their events, so that a repeat is seen. */
    snprintf(sql, sizeof sql,
             "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; INSERT INTO eenet.spools VALUES ('%s', 2)",
             name);
    database_run(late, sql);
    open_stage(self);
    AWAIT(waits_for_a_lock(self));
    database_run(late, "COMMIT");
    pg_free(late);
    await_delivery(self);
    assert_log_is(self->store, self->shop, "=; D a; R a 4 joined 2; ");
}

/* ---- load, cuts and kills: what was acknowledged is there once ---- */

enum { CLIENTS = 4, MOST_SENT = 4000 };

typedef struct client {
    pthread_t thread;
    test_stage *stage;
    int number, sent;
    entry_verdict verdicts[MOST_SENT];
} client;

static atomic_bool clients_stop;
static atomic_int clients_left; /* that still send */

static void *send_rewards(void *context)
{
    client *self = context;
    while (self->sent < MOST_SENT && !atomic_load(&clients_stop)) {
        double value = (double)self->number * MOST_SENT + self->sent;
        self->verdicts[self->sent] = reward(self->stage, "a", value);
        self->sent++;
    }
    atomic_fetch_sub(&clients_left, 1);
    return NULL;
}

/* How often each reward is in the log. */
static void count_rewards(test_stage *self, int *counts)
{
    store_reader *reader;
    event_batch batch = {0};
    ok(store_reader_create(self->store, &reader, NULL));
    do {
        ok(store_read(reader, self->shop, batch.last, 1U << EVENT_REWARD, 1000, &batch, NULL));
        for (size_t i = 0; i < batch.count; i++) counts[(int)batch.events[i].value]++;
    } while (batch.count);
    event_batch_free(&batch);
    store_reader_free(reader);
}

TEST_WITH(under_load_cuts_lose_and_double_nothing, set_up, tear_down)
{
    NEED_POSTGRES(state);
    test_stage *self = *state;
    client *clients = calloc(CLIENTS, sizeof *clients);
    int *counts = calloc(CLIENTS * MOST_SENT, sizeof *counts), spooled = 0, failed = 0;
    assert_int_equal(decide(self, "a"), ENTRY_DONE);
    atomic_store(&clients_stop, false);
    atomic_store(&clients_left, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].stage = self;
        clients[i].number = i;
        pthread_create(&clients[i].thread, NULL, send_rewards, &clients[i]);
    }
    for (int i = 0; i < 6; i++) {
        uint64_t joined = journal_read_counts(self->journal).joined;
        AWAIT(journal_read_counts(self->journal).joined >= joined + 20 || !atomic_load(&clients_left));
        if (i % 2) {
            go_away(self);
            AWAIT(journal_read_counts(self->journal).spooled >= 20 || !atomic_load(&clients_left));
            allow(self, true);
        } else {
            cut(self);
        }
    }
    atomic_store(&clients_stop, true);
    for (int i = 0; i < CLIENTS; i++) pthread_join(clients[i].thread, NULL);
    await_delivery(self);
    count_rewards(self, counts);
    for (int i = 0; i < CLIENTS; i++) {
        for (int k = 0; k < clients[i].sent; k++) {
            entry_verdict verdict = clients[i].verdicts[k];
            int count = counts[i * MOST_SENT + k];
            spooled += verdict == ENTRY_SPOOLED;
            failed += verdict == ENTRY_FAILED;
            if (verdict == ENTRY_FAILED ? count > 1 : count != 1)
                fail_msg("reward %d of client %d with verdict %d is there %d times", k, i, (int)verdict, count);
        }
    }
    assert_true(spooled >= 20);
    print_message("%d spooled, %d failed\n", spooled, failed);
    free(counts);
    free(clients);
}

/* Spools rewards, and delivers them until it is killed. What was acknowledged is written to the pipe. */
static void spool_and_deliver(test_stage *self, int pipe, int first)
{
    open_stage(self);
    go_away(self);
    for (int i = first; i < first + 300; i++) {
        if (reward(self, "a", i) != ENTRY_SPOOLED) _exit(1);
        if (write(pipe, &i, sizeof i) != sizeof i) _exit(1);
    }
    allow(self, true);
    await_delivery(self);
    _exit(0);
}

TEST_WITH(killed_processes_deliver_once, set_up, tear_down)
{
    NEED_POSTGRES(state);
    test_stage *self = *state;
    enum { TURNS = 12, EACH = 300 };
    int counts[TURNS * EACH] = {0}, sent[TURNS * EACH] = {0}, value, killed = 0;
    assert_int_equal(decide(self, "a"), ENTRY_DONE);
    for (int turn = 0; turn < TURNS; turn++) {
        int ends[2], result;
        close_stage(self);
        pg_disconnect(self->database.server);
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) spool_and_deliver(self, ends[1], turn * EACH);
        close(ends[1]);
        for (int i = 0; i < EACH && read(ends[0], &value, sizeof value) == sizeof value; i++) sent[value] = 1;
        for (int i = 0; i < turn * 3; i++) rest(); /* somewhere in the delivery */
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &result, 0), child);
        killed += WIFSIGNALED(result);
        close(ends[0]);
        allow(self, true);
        open_stage(self);
        await_delivery(self);
    }
    count_rewards(self, counts);
    for (int i = 0; i < TURNS * EACH; i++)
        if (counts[i] != sent[i] || !sent[i])
            fail_msg("reward %d was sent %d times, and is there %d times", i, sent[i], counts[i]);
    move_clock(self, 20);
    AWAIT(!journal_read_counts(self->journal).waiting);
    assert_true(killed > 0);
    print_message("%d of %d killed\n", killed, TURNS);
}
