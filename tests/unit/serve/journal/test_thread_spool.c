/* The journal while its store is away: what it acknowledges is delivered later, in order, exactly once. Methods of the
 * store fail when the test says so. SQLite gets a table for the positions of spools; a database also goes away for
 * real: connections are cut and new ones refused. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "serve/journal_settings.h"
#include "serve/shown_log.h"
#include "serve/store_writer.h"
#include "serve/system/latch.h"

#define SECOND INT64_C(1000000)

/* ---- a store that can be away ---- */

static struct {
    const store_methods *real;
    store_methods methods;
    atomic_bool away;               /* no transaction begins */
    atomic_bool fails_commit;       /* the next commit fails */
    atomic_int deadly;              /* the process is killed at the next delivery: 1 before the commit, 2 after it */
    atomic_uint steals;             /* the next fetch finds that the lease of this bandit is another's */
    atomic_uint purged;             /* this bandit of another process was removed for good */
    atomic_bool delivers;           /* of the transaction */
    atomic_uint_fast64_t positions; /* how often they were asked for */
} fault;

static ee_status begin(store *self, ee_error *error)
{
    atomic_store(&fault.delivers, false);
    if (atomic_load(&fault.away)) return status_fail(error, EE_FILE_ERROR, "store: the database is away");
    return fault.real->begin(self, error);
}

static ee_status fetch(store *self, ee_error *error)
{
    uint32_t stolen = atomic_exchange(&fault.steals, 0);
    if (stolen) joining_disown(self->joining, stolen);
    return fault.real->fetch(self, error);
}

static ee_status commit(store *self, ee_error *error)
{
    if (atomic_exchange(&fault.fails_commit, false))
        return status_fail(error, EE_FILE_ERROR, "store: the commit failed");
    bool delivers = atomic_load(&fault.delivers);
    if (delivers && atomic_load(&fault.deadly) == 1) kill(getpid(), SIGKILL);
    ee_status status = fault.real->commit(self, error);
    if (delivers && atomic_load(&fault.deadly) == 2) kill(getpid(), SIGKILL);
    return status;
}

static ee_status run_sql(store *self, const char *sql)
{
    return sqlite3_exec(((sqlite_store *)self)->database, sql, NULL, NULL, NULL) ? EE_FILE_ERROR : EE_OK;
}

static int take_position(void *context, int count, char **values, char **names)
{
    (void)count, (void)names;
    *(uint64_t *)context = strtoull(values[0], NULL, 10);
    return 0;
}

static ee_status read_position(store *self, const char *spool, uint64_t *position)
{
    char sql[256];
    *position = 0;
    snprintf(sql, sizeof sql, "SELECT delivered FROM spools WHERE spool = '%s'", spool);
    return sqlite3_exec(((sqlite_store *)self)->database, sql, take_position, position, NULL) ? EE_FILE_ERROR : EE_OK;
}

static ee_status deliver(store *self, const char *spool, uint64_t before, uint64_t position, ee_error *error)
{
    char sql[256];
    uint64_t delivered;
    atomic_store(&fault.delivers, true);
    if (fault.real->deliver) return fault.real->deliver(self, spool, before, position, error);
    ok(read_position(self, spool, &delivered));
    if (delivered > before) return status_fail(error, EE_FILE_ERROR, "store: it has them");
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO spools VALUES ('%s', %llu)", spool, (unsigned long long)position);
    return run_sql(self, sql);
}

static ee_status spool_position(store *self, const char *spool, uint64_t *position, ee_error *error)
{
    *position = 0;
    atomic_fetch_add(&fault.positions, 1);
    if (atomic_load(&fault.away)) return status_fail(error, EE_FILE_ERROR, "store: the database is away");
    return fault.real->spool_position ? fault.real->spool_position(self, spool, position, error)
                                      : read_position(self, spool, position);
}

static ee_status is_purged(store *self, uint32_t bandit, bool *purged, ee_error *error)
{
    (void)self, (void)error;
    *purged = bandit == atomic_load(&fault.purged);
    return EE_OK;
}

static void make_faulty(store *self)
{
    fault.real = self->methods;
    fault.methods = *self->methods;
    fault.methods.begin = begin;
    fault.methods.fetch = fetch;
    fault.methods.commit = commit;
    fault.methods.deliver = deliver;
    fault.methods.spool_position = spool_position;
    fault.methods.is_purged = is_purged;
    atomic_store(&fault.purged, 0);
    self->methods = &fault.methods;
    if (fault.real->deliver) return;
    ok(run_sql(self, "CREATE TABLE IF NOT EXISTS spools (spool TEXT PRIMARY KEY, delivered INTEGER)"));
}

/* ---- a journal on it ---- */

static struct {
    test_place place;
    test_folder folder; /* of the spool */
    store *store;
    journal *journal;
    atomic_int_least64_t clock;
    atomic_uint needed;
    double seconds;
    uint32_t shop;
} stage;

static int64_t read_clock(void *context)
{
    (void)context;
    return atomic_load(&stage.clock);
}

static void note_needed(void *context, const uint32_t *bandits, size_t count)
{
    assert_int_equal(count, 1);
    (void)context;
    atomic_store(&stage.needed, bandits[0]);
}

static void open_stage(void)
{
    journal_options options = {.clock = read_clock,
                               .elapsed = read_clock,
                               .spool_folder = stage.folder.path,
                               .spool_seconds = stage.seconds,
                               .needs = note_needed};
    ok(store_open(stage.place.where, &stage.store, &last_error));
    make_faulty(stage.store);
    ok(journal_start(stage.store, &options, &stage.journal, &last_error));
}

static void close_stage(void)
{
    journal_stop(stage.journal);
    store_close(stage.store);
}

static void reopen_stage(void)
{
    close_stage();
    atomic_store(&fault.away, false);
    open_stage();
}

static int set_up(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof stage);
    memset(&fault, 0, sizeof fault);
    stage.place = test_place_make();
    stage.folder = folder_make();
    stage.seconds = 60;
    atomic_store(&stage.clock, 1000 * SECOND);
    open_stage();
    stage.shop = make_bandit(stage.journal, "shop", "{\"dim\":2,\"wait\":10,\"aggregation\":\"sum\"}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_stage();
    test_place_remove(&stage.place);
    folder_remove(&stage.folder);
    return 0;
}

static void move_clock(double seconds)
{
    atomic_fetch_add(&stage.clock, (int64_t)(seconds * 1e6));
}

/* ---- entries ---- */

static entry_verdict write_of(uint32_t bandit, event_kind kind, const char *id, double value)
{
    event made = {.kind = kind, .id = words(id), .value = value, .body = "b", .size = kind != EVENT_REWARD};
    journal_entry entry = {.bandit = bandit, .event = made, .request = {1, 2}};
    journal_write(stage.journal, &entry, NULL);
    return entry.verdict;
}

static entry_verdict decide(const char *id)
{
    return write_of(stage.shop, EVENT_DECISION, id, 0);
}

static entry_verdict reward(const char *id, double value)
{
    return write_of(stage.shop, EVENT_REWARD, id, value);
}

/* As a database does it, if the store is one. */
static void go_away(void)
{
    if (!test_postgres()) {
        atomic_store(&fault.away, true);
        return;
    }
    database_allow(&stage.place.database, false);
    database_cut(&stage.place.database, "");
}

static void await_delivery(void)
{
    AWAIT(!journal_read_counts(stage.journal).spooled);
}

static void come_back(void)
{
    atomic_store(&fault.away, false);
    if (test_postgres()) database_allow(&stage.place.database, true);
    await_delivery();
}

/* "d ID" decides, "r ID VALUE" rewards, and what comes while the store is "away", until it is "back", is spooled; with
 * ! it fails. "+SECONDS": time passes. */
static void run(const char *steps)
{
    for (const char *at = steps; *at; at += strcspn(at, ";"), at += strspn(at, "; ")) {
        char what[16] = "", id[16] = "";
        double value = 0;
        sscanf(at, "%15[^ ;] %15[^ ;] %lf", what, id, &value);
        entry_verdict expected = what[1] == '!' ? ENTRY_FAILED : atomic_load(&fault.away) ? ENTRY_SPOOLED : ENTRY_DONE;
        if (strcmp(what, "away") == 0)
            atomic_store(&fault.away, true);
        else if (strcmp(what, "back") == 0)
            come_back();
        else if (what[0] == '+')
            move_clock(atof(what + 1));
        else
            assert_int_equal(what[0] == 'd' ? decide(id) : reward(id, value), expected);
    }
}

static void await_settlements(void)
{
    AWAIT(!journal_read_counts(stage.journal).waiting);
}

static void assert_log(const char *expected)
{
    assert_log_is(stage.store, stage.shop, expected);
}

/* ---- an outage ---- */

static int64_t time_of(uint64_t number)
{
    store_reader *reader;
    const event *found;
    ok(store_reader_create(stage.store, &reader, NULL));
    ok(store_read_one(reader, stage.shop, number, &found, NULL));
    int64_t time = found->time;
    store_reader_free(reader);
    return time;
}

TEST_WITH(events_of_an_outage_are_delivered_in_order, set_up, tear_down)
{
    assert_int_equal(decide("a"), ENTRY_DONE);
    assert_int_equal(reward("a", 1), ENTRY_DONE);
    journal_counts counts = journal_read_counts(stage.journal);
    assert_true(counts.writable && !counts.spooling && !counts.spooled && counts.spool_seconds_left == 60);
    go_away();
    assert_int_equal(decide("b"), ENTRY_SPOOLED);
    assert_int_equal(reward("b", 2), ENTRY_SPOOLED);
    move_clock(1);
    assert_int_equal(reward("a", 3), ENTRY_SPOOLED);
    assert_int_equal(reward("c", 4), ENTRY_SPOOLED); /* before its decision */
    assert_int_equal(decide("c"), ENTRY_SPOOLED);
    assert_int_equal(write_of(stage.shop, EVENT_ACTIVATED, "b", 0), ENTRY_SPOOLED);
    counts = journal_read_counts(stage.journal);
    assert_true(!counts.writable && counts.spooling && counts.spooled == 6 && counts.decisions == 1);
    assert_true(counts.spool_seconds_left == 59);
    come_back();
    counts = journal_read_counts(stage.journal);
    assert_true(counts.writable && !counts.spooling && counts.decisions == 3 && counts.joined == 3 &&
                counts.claimed == 1 && counts.waiting == 3 && counts.spool_seconds_left == 60);
    assert_int_equal(reward("a", 5), ENTRY_DONE);
    for (uint64_t i = 4; i <= 6; i++) assert_true(time_of(i) == (i < 6 ? 1000 : 1001) * SECOND);
    assert_log("=; D a; R a 1 joined 2; D b; R b 2 joined 4; R a 3 joined 2; R c 4 unknown 0; D c; "
               "R c 4 claimed 8; R a 5 joined 2; ");
}

/* They count as of the time at which they came; what is due is settled after them. */
TEST_WITH(rewards_that_came_in_time_are_not_late, set_up, tear_down)
{
    run("d a; d none; away; +9; r a 1; d b; +2; r none 2; +6; r b 3; +20; back");
    await_settlements();
    assert_log("=; D a; D none; R a 1 joined 2; D b; R none 2 late 3; R b 3 joined 5; S 2 1 rewarded; "
               "S 3 0 default; S 5 3 rewarded; ");
}

typedef struct handed {
    journal_entry entry;
    latch done;
    char earlier[32];
} handed;

static void note_done(journal_entry *entry)
{
    handed *self = entry->context;
    if (entry->earlier) memcpy(self->earlier, entry->earlier->body, entry->earlier->size);
    latch_count_down(&self->done);
}

/* Decides "a", and expects a verdict, and in case of a repetition the body "first". */
static void decide_again(const char *body, uint64_t request, bool generated, entry_verdict expected)
{
    handed one = {.entry = {.bandit = stage.shop,
                            .event = {.kind = EVENT_DECISION, .id = {"a", 1}, .body = body, .size = 5},
                            .request = {1, request},
                            .generated_id = generated,
                            .done = note_done,
                            .context = &one}};
    latch_start(&one.done, 1);
    assert_true(journal_submit(stage.journal, &one.entry));
    latch_wait(&one.done);
    assert_int_equal(one.entry.verdict, expected);
    assert_string_equal(one.earlier, expected == ENTRY_REPEATED ? "first" : "");
}

TEST_WITH(repeated_decisions_get_the_same_bytes, set_up, tear_down)
{
    atomic_store(&fault.away, true);
    decide_again("first", 2, false, ENTRY_SPOOLED);
    decide_again("again", 2, false, ENTRY_REPEATED);
    decide_again("first", 3, false, ENTRY_CONFLICT);
    come_back();
    decide_again("again", 2, false, ENTRY_REPEATED);
    assert_log("=; D a; ");
    journal_counts counts = journal_read_counts(stage.journal);
    assert_true(counts.repeated_decisions == 2 && counts.conflicts == 1);
}

/* The spool does not know what came before it: the first decision stays. */
TEST_WITH(a_decision_from_before_the_outage_stays, set_up, tear_down)
{
    run("d a; away");
    decide_again("again", 2, true, ENTRY_SPOOLED); /* as if its first commit was in doubt */
    come_back();
    assert_log("=; D a; ");
}

TEST_WITH(a_round_goes_through_as_a_whole, set_up, tear_down)
{
    const char *const ids[] = {"r\x1ftop", "r\x1fside"};
    journal_entry slots[2];
    atomic_store(&fault.away, true);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < 2; i++)
            slots[i] = (journal_entry){.bandit = stage.shop,
                                       .event = {.kind = EVENT_DECISION, .id = {ids[i], strlen(ids[i])}},
                                       .deferred = true,
                                       .slot_index = i,
                                       .slot_count = 2};
        ok(journal_write_together(stage.journal, slots, 2, &last_error));
        for (size_t i = 0; i < 2; i++) assert_int_equal(slots[i].verdict, turn ? ENTRY_REPEATED : ENTRY_SPOOLED);
    }
    slots[0].slot_count = 3;
    assert_int_equal(journal_write_together(stage.journal, slots, 2, &last_error), EE_BAD_INPUT);
    assert_int_equal(write_of(stage.shop, EVENT_ACTIVATED, "r", 0), ENTRY_SPOOLED);
    come_back();
    assert_log("=; D r/top; D r/side; A r joined 2; A r joined 3; ");
}

/* Other kinds have to wait, and the bandit's state counts as it was. */
TEST_WITH(what_the_spool_does_not_take_fails, set_up, tear_down)
{
    uint32_t closed = 0, none = 0;
    ok(write_settings(stage.journal, "closed", "{\"dim\":2}", &closed, false, NULL));
    ok(write_settings(stage.journal, "closed", "{\"dim\":2}", &closed, true, NULL));
    run("away; d a");
    assert_int_equal(write_of(stage.shop, EVENT_STEP, "", 0), ENTRY_FAILED);
    assert_fails(write_settings(stage.journal, "new", "{\"dim\":2}", &none, false, &last_error), EE_FILE_ERROR,
                 last_error, "store: the database is away");
    assert_int_equal(write_of(closed, EVENT_REWARD, "a", 1), ENTRY_FAILED);
    assert_int_equal(write_of(77, EVENT_REWARD, "a", 1), ENTRY_FAILED);
    come_back();
    assert_int_equal(write_of(stage.shop, EVENT_STEP, "", 0), ENTRY_DONE);
    assert_log("=; D a; P; ");
}

TEST_WITH(after_its_seconds_the_spool_takes_no_more, set_up, tear_down)
{
    run("away; d a; +59; d b; +1; d! c");
    journal_counts counts = journal_read_counts(stage.journal);
    assert_true(!counts.spooling && !counts.writable && counts.spooled == 2 && counts.spool_seconds_left == 0);
    run("back; d d");
    atomic_store(&fault.away, true); /* the next outage has all of them */
    assert_int_equal(decide("e"), ENTRY_SPOOLED);
    come_back();
    assert_true(journal_read_counts(stage.journal).decisions == 4);
}

/* Nobody knows whether it was committed, so the client is to decide. */
TEST_WITH(a_commit_in_doubt_is_not_spooled, set_up, tear_down)
{
    assert_int_equal(decide("a"), ENTRY_DONE);
    atomic_store(&fault.fails_commit, true);
    run("r! a 1; away; r a 2; back");
    assert_log("=; D a; R a 2 joined 2; ");
}

/* A delivery that fails is looked up, and tried again. */
TEST_WITH(a_delivery_that_fails_is_repeated, set_up, tear_down)
{
    run("away; d a; r a 1");
    atomic_store(&fault.fails_commit, true);
    come_back();
    assert_log("=; D a; R a 1 joined 2; ");
    assert_true(atomic_load(&fault.positions) >= 2);
}

/* ---- restarts ---- */

TEST_WITH(the_next_start_delivers_the_rest, set_up, tear_down)
{
    run("away; d a; +5; r a 1; +3600");
    stage.seconds = 0; /* also without a spool from now on */
    reopen_stage();
    await_delivery();
    await_settlements();
    assert_log("=; D a; R a 1 joined 2; S 2 1 rewarded; ");
    reopen_stage();
    run("away; d! b");
}

/* Log time continues after that of the spool, which the store does not know yet. */
TEST_WITH(time_does_not_go_back_behind_the_spool, set_up, tear_down)
{
    run("away; +100; d a; +-50");
    reopen_stage();
    assert_true(journal_time(stage.journal) >= 1100 * SECOND);
    await_delivery();
}

/* Rewards without an id: only the position of the spool says that they were delivered. */
static void spool_and_die(int when)
{
    open_stage();
    atomic_store(&fault.away, true);
    for (int i = 0; i < 5; i++)
        if (reward("a", 1) != ENTRY_SPOOLED) _exit(1);
    atomic_store(&fault.deadly, when);
    atomic_store(&fault.away, false);
    for (;;) pause();
}

TEST_WITH(a_crash_around_a_delivery_joins_once, set_up, tear_down)
{
    assert_int_equal(decide("a"), ENTRY_DONE);
    for (int when = 1; when <= 2; when++) {
        int result = 0;
        close_stage();
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) spool_and_die(when);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        open_stage();
        await_delivery();
    }
    move_clock(20);
    await_settlements();
    assert_log("=; D a; R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; "
               "R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; R a 1 joined 2; "
               "S 2 10 rewarded; ");
}

/* A bandit that no longer takes events: what is dropped is counted. */
static ee_status archive_shop(void *context, store *into, ee_error *error)
{
    (void)context, (void)error;
    state_of(into, stage.shop)->archived = true;
    return EE_OK;
}

TEST_WITH(events_of_an_archived_bandit_are_dropped, set_up, tear_down)
{
    run("away; d a; r a 1");
    ok(journal_run(stage.journal, archive_shop, NULL, NULL)); /* as another owner has, meanwhile */
    come_back();
    assert_true(journal_read_counts(stage.journal).spool_dropped == 2);
    assert_log("=; ");
}

/* ---- owners ---- */

typedef struct owning {
    uint32_t bandit;
    bandit_state state;
} owning;

static ee_status disown(void *context, store *into, ee_error *error)
{
    owning *self = context;
    (void)error;
    self->state = *store_bandit_state(into, self->bandit);
    joining_disown(into->joining, self->bandit);
    return EE_OK;
}

static ee_status own(void *context, store *into, ee_error *error)
{
    const owning *self = context;
    return joining_own(into->joining, &self->state, error);
}

TEST_WITH(events_wait_until_their_bandit_is_owned_again, set_up, tear_down)
{
    owning shop = {.bandit = stage.shop};
    uint32_t other = make_bandit(stage.journal, "other", "{\"dim\":2}");
    run("away; d a");
    ok(journal_run(stage.journal, disown, &shop, NULL));
    atomic_store(&fault.away, false);
    AWAIT(atomic_load(&stage.needed) == stage.shop);
    assert_int_equal(reward("a", 1), ENTRY_MOVED);
    assert_int_equal(write_of(other, EVENT_DECISION, "x", 0), ENTRY_FAILED);
    journal_counts counts = journal_read_counts(stage.journal);
    assert_true(counts.spooled == 1 && !counts.spooling);
    shop.state.time += 5 * SECOND; /* of an event that the other owner wrote */
    ok(journal_run(stage.journal, own, &shop, NULL));
    await_delivery();
    assert_true(time_of(2) == 1005 * SECOND);
    run("+6; r a 1");
    assert_log("=; D a; R a 1 joined 2; ");
}

/* The position of the spool cannot be read yet: perhaps the standby is away, for which reading it waits. */
TEST_WITH(a_journal_starts_before_its_spool_can_be_delivered, set_up, tear_down)
{
    run("away; d a");
    close_stage();
    open_stage();
    assert_int_equal(decide("a"), ENTRY_REPEATED);
    assert_int_equal(decide("b"), ENTRY_SPOOLED);
    atomic_store(&fault.away, false);
    await_delivery();
    assert_log("=; D a; D b; ");
}

/* Another server has removed the bandit meanwhile, so no server owns it again. */
TEST_WITH(events_of_a_bandit_that_another_server_removed_are_dropped, set_up, tear_down)
{
    owning shop = {.bandit = stage.shop};
    uint32_t other = make_bandit(stage.journal, "other", "{\"dim\":2}");
    run("away; d a");
    assert_int_equal(write_of(other, EVENT_DECISION, "x", 0), ENTRY_SPOOLED);
    ok(journal_run(stage.journal, disown, &shop, NULL));
    atomic_store(&fault.away, false);
    AWAIT(atomic_load(&stage.needed) == stage.shop);
    atomic_store(&fault.purged, stage.shop);
    await_delivery();
    assert_int_equal(journal_read_counts(stage.journal).spool_dropped, 1);
    assert_int_equal(write_of(other, EVENT_DECISION, "x", 0), ENTRY_REPEATED);
    assert_int_equal(write_of(other, EVENT_STEP, "", 0), ENTRY_DONE);
}

/* The position of a group counts for all of its entries, so none of them is written. */
TEST_WITH(a_lease_lost_during_delivery_leaves_nothing_behind, set_up, tear_down)
{
    owning shop = {.bandit = stage.shop};
    run("away; d a; r a 1");
    ok(journal_run(stage.journal, disown, &shop, NULL));
    ok(journal_run(stage.journal, own, &shop, NULL));
    atomic_store(&fault.steals, stage.shop);
    atomic_store(&fault.away, false);
    AWAIT(atomic_load(&stage.needed) == stage.shop);
    assert_log("=; ");
    ok(journal_run(stage.journal, own, &shop, NULL));
    await_delivery();
    assert_log("=; D a; R a 1 joined 2; ");
}

/* ---- load ---- */

enum { THREADS = 4, OUTAGES = 4, AT_ONCE = 25, EACH = 2 * OUTAGES * AT_ONCE };

typedef struct client {
    pthread_t thread;
    int number;
    sem_t permits; /* rewards that it may send */
    entry_verdict verdicts[EACH];
} client;

/* Each reward has its own value: it says which is missing, or there twice. */
static void *send_rewards(void *context)
{
    client *self = context;
    for (int i = 0; i < EACH; i++) {
        while (sem_wait(&self->permits)) {
        }
        self->verdicts[i] = reward("a", self->number * EACH + i);
    }
    return NULL;
}

static void permit(client *clients)
{
    for (int i = 0; i < THREADS * AT_ONCE; i++) sem_post(&clients[i % THREADS].permits);
}

/* Counts the rewards of the log, which are in the order of their client. */
static void count_rewards(int *counts)
{
    store_reader *reader;
    event_batch batch = {0};
    int last[THREADS] = {0};
    ok(store_reader_create(stage.store, &reader, NULL));
    do {
        ok(store_read(reader, stage.shop, batch.last, 1U << EVENT_REWARD, 1000, &batch, NULL));
        for (size_t i = 0; i < batch.count; i++) {
            int value = (int)batch.events[i].value;
            counts[value]++;
            assert_true(value % EACH >= last[value / EACH]);
            last[value / EACH] = value % EACH;
        }
    } while (batch.count);
    event_batch_free(&batch);
    store_reader_free(reader);
}

/* A transaction whose commit was cut may have been written. */
TEST_WITH(under_load_each_event_is_there_once_and_in_order, set_up, tear_down)
{
    client clients[THREADS];
    int counts[THREADS * EACH] = {0}, spooled = 0;
    assert_int_equal(decide("a"), ENTRY_DONE);
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (client){.number = i};
        sem_init(&clients[i].permits, 0, 0);
        pthread_create(&clients[i].thread, NULL, send_rewards, &clients[i]);
    }
    for (int i = 0; i < OUTAGES; i++) {
        uint64_t joined = journal_read_counts(stage.journal).joined;
        permit(clients);
        AWAIT(journal_read_counts(stage.journal).joined > joined);
        if (test_postgres() && i % 2) {
            database_cut(&stage.place.database, "");
            permit(clients);
            continue;
        }
        go_away();
        permit(clients);
        AWAIT(journal_read_counts(stage.journal).spooled);
        if (test_postgres()) database_allow(&stage.place.database, true);
        atomic_store(&fault.away, false);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(clients[i].thread, NULL);
    come_back();
    count_rewards(counts);
    for (int i = 0; i < THREADS * EACH; i++) {
        entry_verdict verdict = clients[i / EACH].verdicts[i % EACH];
        spooled += verdict == ENTRY_SPOOLED;
        if (verdict == ENTRY_FAILED && test_postgres() ? counts[i] > 1 : counts[i] != 1)
            fail_msg("reward %d with verdict %d is there %d times", i, (int)verdict, counts[i]);
    }
    assert_true(spooled > 0);
}

/* ---- a database ---- */

static void read_spool_name(char name[33])
{
    enum { MAGIC = 8 };
    FILE *file = fopen(folder_path(&stage.folder, "spool/events"), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, MAGIC, SEEK_SET), 0);
    assert_int_equal(fread(name, 1, 32, file), 32);
    name[32] = '\0';
    fclose(file);
}

static bool waits_for_a_lock(void)
{
    return database_ask(stage.place.database.server,
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '%s'",
                        stage.place.database.name) > 0;
}

/* As when a process was killed while its delivery was committing, which ends when the next process is delivering. */
TEST_WITH(a_delivery_that_ends_late_is_not_repeated, set_up, tear_down)
{
    only_in_a_database();
    char name[33];
    run("d a; away");
    for (int i = 1; i <= 4; i *= 2) assert_int_equal(reward("a", i), ENTRY_SPOOLED);
    close_stage();
    read_spool_name(name);
    pg_connection *late = database_connect(stage.place.where);
    /* Its transaction had the first two. The test leaves out their events, so that a repeat is seen. */
    database_run(late, "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0");
    database_ask(late, "INSERT INTO eenet.spools VALUES ('%s', 2)", name);
    atomic_store(&fault.away, false);
    open_stage();
    AWAIT(waits_for_a_lock());
    database_run(late, "COMMIT");
    pg_free(late);
    await_delivery();
    assert_log("=; D a; R a 4 joined 2; ");
}

TEST_WITH(a_folder_has_no_spool, set_up, tear_down)
{
    only_in_a_folder();
    journal *none = NULL;
    close_stage();
    ok(store_open(stage.place.where, &stage.store, NULL));
    journal_options options = {.spool_folder = stage.folder.path, .spool_seconds = 1};
    assert_fails(journal_start(stage.store, &options, &none, &last_error), EE_BAD_OPTION, last_error,
                 "only a store that is a database can have a spool");
    store_close(stage.store);
    open_stage();
}
