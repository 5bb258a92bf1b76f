/* The store with PostgreSQL, where it is not SQLite: the fence between servers, commits whose outcome is not known,
 * lost connections, damage; and the same rows in both. Runs if the variable EENET_TEST_POSTGRES has a connection
 * string. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "serve/random_log.h"
#include "serve/same_tables.h"
#include "serve/shown_log.h"
#include "serve/store/places/store_copy.h"
#include "serve/store/postgres/leases.h"
#include "serve/store/postgres/pg_writer.h"
#include "serve/store_writer.h"

/* Two servers on a database; the first creates bandits, and owns bandit 1. */
static fresh_database database;
static store *first, *second;

/* ---- the fence ---- */

/* Gives a lease to a server; returns its token. */
static uint64_t move_lease(uint32_t bandit, int server)
{
    return (uint64_t)database_ask(
        database.inside, "UPDATE eenet.log_ends SET owner = %d, token = token + 1 WHERE bandit = %u RETURNING token",
        server, (unsigned)bandit);
}

static store *open_server(uint64_t server)
{
    store *kept;
    ok(store_open_shared(database.where, server, false, &kept, &last_error));
    assert_int_equal(store_bandit_count(kept), 0);
    return kept;
}

static bool own(store *kept, uint32_t bandit, uint64_t token)
{
    bool owned;
    uint64_t rewrites = store_rewrites();
    ok(store_own(kept, bandit, token, &owned, &last_error));
    assert_int_equal(store_token(kept, bandit), owned ? token : 0);
    assert_true(store_rewrites() > rewrites);
    return owned;
}

static entry_verdict decide(store *kept, uint32_t bandit, const char *id, int64_t now)
{
    store_entry entry = {.bandit = bandit, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {1, 2}};
    return write_entry(kept, &entry, now);
}

static store_entry new_bandit(const bandit_settings *settings, const char *name)
{
    return (store_entry){
        .event = {.kind = EVENT_SETTINGS, .body = "{}", .size = 2}, .settings = settings, .name = words(name)};
}

static int set_up(void **state)
{
    (void)state;
    if (!test_postgres()) return 0;
    database = database_make();
    first = open_server(1);
    second = open_server(2);
    assert_true(own(first, LEADER, move_lease(LEADER, 1)));
    assert_int_equal(write_bandit(first, "a", "{}", 1), 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!test_postgres()) return 0;
    store_close(first);
    store_close(second);
    database_remove(&database);
    return 0;
}

TEST_WITH(an_old_owner_writes_nothing, set_up, tear_down)
{
    only_in_a_database();
    int64_t changes = database_ask(database.inside, "SELECT changes FROM eenet.fleet");
    assert_int_equal(write_bandit(first, "b", "{}", 1), 2);
    assert_int_equal(database_ask(database.inside, "SELECT changes FROM eenet.fleet"), changes + 1);
    assert_int_equal(database_ask(database.inside, "SELECT owner FROM eenet.log_ends WHERE bandit = 2"), 1);
    assert_int_equal(store_token(first, 2), 1);
    assert_int_equal(decide(first, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(decide(second, 1, "y", 2), ENTRY_MOVED); /* it knows no bandit */
    uint64_t token = move_lease(1, 2);
    assert_false(own(second, 1, token - 1));
    assert_true(own(second, 1, token));
    assert_int_equal(store_bandit_state(second, 1)->waiting, 1);
    /* One group: what is of the bandit that moved is refused, the rest is written. */
    store_entry moved = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("y")}};
    store_entry stays = {.bandit = 2, .event = {.kind = EVENT_DECISION, .id = words("z")}, .next = &moved};
    write_entries(first, &stays, 3);
    assert_int_equal(stays.verdict, ENTRY_DONE);
    assert_int_equal(moved.verdict, ENTRY_MOVED);
    assert_int_equal(store_token(first, 1), 0);
    assert_int_equal(decide(first, 1, "y", 3), ENTRY_MOVED);
    bool more;
    assert_fails(store_remove(first, 1, 100, 100, 10, &more, &last_error), EE_FILE_ERROR, last_error,
                 "another server owns the bandit");
    assert_int_equal(store_purge(first, 1, &last_error), EE_FILE_ERROR);
    assert_int_equal(store_erase(first, 1, &(uint64_t){2}, 1, &last_error), EE_FILE_ERROR);
    assert_int_equal(decide(second, 1, "x", 3), ENTRY_REPEATED);
    assert_int_equal(decide(second, 1, "w", 3), ENTRY_DONE);
    assert_log_is(second, 1, "=; D x; D w; ");
    assert_log_is(first, 2, "=; D z; ");
    /* The leader: the next one knows all numbers. */
    assert_true(own(second, LEADER, move_lease(LEADER, 2)));
    bandit_settings settings = bandit_settings_usual();
    store_entry late = new_bandit(&settings, "c"), new = new_bandit(&settings, "c");
    assert_int_equal(write_entry(first, &late, 4), ENTRY_MOVED);
    assert_int_equal(store_token(first, LEADER), 0);
    assert_int_equal(write_entry(second, &new, 4), ENTRY_DONE);
    assert_int_equal(new.bandit, 3);
    assert_int_equal(decide(first, 2, "v", 4), ENTRY_DONE);
}

/* A failover without its last commits loses a move, and then another server gets the same token. */
TEST_WITH(a_token_is_of_one_server, set_up, tear_down)
{
    only_in_a_database();
    uint64_t token = move_lease(1, 1);
    assert_true(own(first, 1, token));
    assert_false(own(second, 1, token));
    assert_false(own(second, LEADER, store_token(first, LEADER)));
    database_run(database.inside, "UPDATE eenet.log_ends SET owner = 2");
    assert_fails(blob_put(store_blobs(first), blob_model(1, 1), "x", 1, &last_error), EE_FILE_ERROR, last_error,
                 "another server owns the bandit");
    assert_int_equal(decide(first, 1, "x", 2), ENTRY_MOVED);
    assert_int_equal(store_token(first, 1), 0);
    assert_true(own(second, 1, token));
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_DONE);
    uint64_t rewrites = store_rewrites();
    store_disown(second, 1);
    assert_int_equal(store_rewrites(), rewrites + 1);
}

TEST_WITH(a_removed_bandit_of_another_server_is_known, set_up, tear_down)
{
    only_in_a_database();
    ok(store_note_purged(second, 1, &last_error));
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_MOVED);
    ok(store_purge(first, 1, &last_error));
    ok(store_note_purged(second, 1, &last_error));
    assert_true(store_bandit_state(second, 1)->purged);
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_FAILED);
}

/* Whether the last lock or change of a row of a table was committed. */
static bool is_committed(const char *row, uint32_t number)
{
    return database_ask(database.inside,
                        "SELECT (xmax <> '0' AND pg_xact_status(xmax::text::xid8) = 'committed')::int FROM eenet.%s %u",
                        row, (unsigned)number);
}

/* A new owner has committed a change of the row before it reads anything: with a standby, that commit waits until what
 * it has read is there too. */
TEST_WITH(a_new_owner_waits_for_the_standby, set_up, tear_down)
{
    only_in_a_database();
    for (uint32_t bandit = LEADER; bandit <= 1; bandit++) {
        uint64_t token = move_lease(bandit, 2);
        assert_false(is_committed("log_ends WHERE bandit =", bandit));
        assert_true(own(second, bandit, token));
        assert_true(is_committed("log_ends WHERE bandit =", bandit));
    }
}

/* The token is ours, but somebody has written: whatever it was, this process does not know the log. */
TEST_WITH(an_owner_that_missed_an_event_writes_nothing, set_up, tear_down)
{
    only_in_a_database();
    store *same = open_server(1);
    assert_true(own(same, 1, 1));
    assert_int_equal(decide(same, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(decide(first, 1, "y", 3), ENTRY_MOVED);
    assert_true(own(first, 1, 1));
    assert_int_equal(decide(first, 1, "y", 3), ENTRY_DONE);
    assert_log_is(first, 1, "=; D x; D y; ");
    store_close(same);
}

/* A bandit that was removed for good keeps its last owner. */
TEST_WITH(a_dead_server_is_forgotten, set_up, tear_down)
{
    only_in_a_database();
    lease_options options = {.where = database.where, .address = "", .version = "1"};
    lease_server dead = {.number = 77, .beat = 5};
    leases *self;
    ok(leases_join(&options, &self, &last_error));
    database_run(database.inside,
                 "INSERT INTO eenet.servers (number, address, version, beat, state) VALUES (77, '', '', 5, '');"
                 "UPDATE eenet.bandits SET name = '#1', purged = 1;"
                 "UPDATE eenet.log_ends SET owner = 77, token = 3 WHERE bandit = 1");
    for (int left = 1; left >= 0; left--) {
        ok(leases_forget(self, &dead, &last_error));
        assert_int_equal(database_ask(database.inside, "SELECT count(*) FROM eenet.servers"), left);
        database_run(database.inside, "UPDATE eenet.bandits SET purged = 2");
    }
    leases_leave(self);
}

/* Whatever the database says: a new primary may have other settings than the one that the server has seen first. */
TEST_WITH(commits_are_durable, set_up, tear_down)
{
    static const char *const expected[][3] = {/* the database's; of a server with and without `synchronous` */
                                              {"off", "on", "on"},
                                              {"local", "on", "local"},
                                              {"remote_write", "on", "remote_write"},
                                              {"on", "on", "on"},
                                              {"remote_apply", "remote_apply", "remote_apply"}};
    only_in_a_database();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        database_ask(database.server, "ALTER DATABASE %s SET synchronous_commit = %s", database.name, expected[i][0]);
        for (int any = 0; any < 2; any++) {
            store *kept;
            ok(store_open_shared(database.where, 1, !any, &kept, NULL));
            assert_int_equal(database_ask(((pg_store *)kept)->connection,
                                          "SELECT (current_setting('synchronous_commit') = '%s')::int",
                                          expected[i][1 + any]),
                             1);
            store_close(kept);
        }
    }
}

/* A process that owns everything fences the servers of a fleet, and excludes another one. */
TEST_WITH(a_process_alone_owns_everything, set_up, tear_down)
{
    only_in_a_database();
    store *alone, *other;
    ok(store_open(database.where, &alone, &last_error));
    assert_fails(store_open(database.where, &other, &last_error), EE_FILE_ERROR, last_error,
                 "store: another process is serving the database ");
    assert_int_equal(decide(first, 1, "x", 2), ENTRY_MOVED);
    assert_int_equal(decide(alone, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(write_bandit(alone, "b", "{}", 2), 2);
    /* With the session goes the lock; the next transaction takes it again. */
    assert_int_equal(database_cut(&database, "writer"), 3);
    assert_int_equal(decide(alone, 1, "y", 3), ENTRY_DONE);
    assert_int_equal(store_open(database.where, &other, &last_error), EE_FILE_ERROR);
    store_close(alone);
    ok(store_open(database.where, &other, &last_error));
    assert_log_is(other, 1, "=; D x; D y; ");
    store_close(other);
}

/* A process that stops within a transaction: in a child. */
static int stop_within(const char *where)
{
    store *kept;
    bool owned = false;
    if (store_open_shared(where, 1, false, &kept, NULL) || store_own(kept, 1, 1, &owned, NULL) || !owned) return 1;
    if (kept->methods->begin(kept, NULL) || pg_lock_bandit((pg_store *)kept, 1, NULL)) return 2;
    raise(SIGSTOP);
    if (!kept->methods->commit(kept, NULL)) return 3;
    kept->methods->rollback(kept);
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("x")}};
    store_group group = {.first = &entry, .now = 5};
    if (store_write(kept, &group, NULL) || entry.verdict != ENTRY_MOVED) return 4;
    store_close(kept);
    return 0;
}

TEST_WITH(a_stopped_process_does_not_keep_its_locks, set_up, tear_down)
{
    only_in_a_database();
    pid_t child = fork();
    if (child == 0) _exit(stop_within(database.where));
    int result = 0;
    assert_int_equal(waitpid(child, &result, WUNTRACED), child);
    assert_true(WIFSTOPPED(result));
    uint64_t token = move_lease(1, 2); /* would time out if the lock were kept */
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_true(own(second, 1, token));
    assert_log_is(second, 1, "=; ");
}

/* ---- commits whose outcome is not known ---- */

/* A store whose connections are those that this process has beside the ones before it. */
static struct {
    store *kept;
    store_methods methods;
    const store_methods *real;
    bool before[1024];  /* its files */
    bool loses, closes; /* the response to the next commit does not arrive; nor can it connect after that */
} frail;

static bool is_open(int file)
{
    return fcntl(file, F_GETFD) != -1;
}

/* RD: nothing arrives here any more; RDWR: nor there. */
static void shut(int how)
{
    for (int file = 0; file < 1024; file++)
        if (!frail.before[file] && is_open(file)) shutdown(file, how);
}

static ee_status commit_and_lose(store *self, ee_error *why)
{
    if (frail.loses) shut(SHUT_RD);
    if (frail.closes) database_allow(&database, false);
    frail.loses = frail.closes = false;
    return frail.real->commit(self, why);
}

static void open_frail(bool alone)
{
    only_in_a_database();
    if (!strstr(database.where, "host=/")) skip(); /* only a Unix socket loses what comes after shutdown */
    for (int file = 0; file < 1024; file++) frail.before[file] = is_open(file);
    ok(alone ? store_open(database.where, &frail.kept, &last_error)
             : store_open_shared(database.where, 1, false, &frail.kept, &last_error));
    if (!alone) assert_true(own(frail.kept, LEADER, move_lease(LEADER, 1)));
    if (!alone) assert_true(own(frail.kept, 1, move_lease(1, 1)));
    assert_int_equal(decide(frail.kept, 1, "x", 2), ENTRY_DONE);
    frail.real = frail.kept->methods;
    frail.methods = *frail.real;
    frail.methods.commit = commit_and_lose;
    frail.kept->methods = &frail.methods;
}

static void close_frail(const char *log)
{
    assert_log_is(frail.kept, 1, log);
    store_close(frail.kept);
}

/* Writes a decision in a group of its own. */
static ee_status try_to_decide(const char *id)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {1, 2}};
    store_group group = {.first = &entry, .now = 3};
    ee_status status = store_write(frail.kept, &group, &last_error);
    assert_int_equal(entry.verdict, status ? ENTRY_FAILED : ENTRY_DONE);
    assert_false(frail.loses);
    return status;
}

TEST_WITH(a_lost_response_to_a_commit_is_found_out, set_up, tear_down)
{
    open_frail(false);
    frail.loses = true;
    ok(try_to_decide("y"));
    assert_int_equal(pg_connections(((pg_store *)frail.kept)->connection), 2);
    assert_int_equal(store_bandit_state(frail.kept, 1)->events, 3);
    assert_int_equal(decide(frail.kept, 1, "y", 4), ENTRY_REPEATED);
    assert_int_equal(decide(frail.kept, 1, "z", 4), ENTRY_DONE);
    close_frail("=; D x; D y; D z; ");
}

/* A connection that was lost between two groups, or before anything of this one was found, is made again. */
TEST_WITH(a_lost_connection_is_made_again, set_up, tear_down)
{
    open_frail(false);
    shut(SHUT_RDWR);
    ok(try_to_decide("y"));
    assert_int_equal(pg_connections(((pg_store *)frail.kept)->connection), 2);
    assert_int_equal(database_cut(&database, "writer"), 3);
    assert_int_equal(decide(frail.kept, 1, "z", 4), ENTRY_DONE);
    close_frail("=; D x; D y; D z; ");
}

/* The database ends the transaction at its commit, and the connection with it. */
TEST_WITH(a_commit_that_was_not_done_is_found_out, set_up, tear_down)
{
    open_frail(false);
    database_run(database.inside,
                 "CREATE FUNCTION end_backend() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NULL; END $$;"
                 "CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON eenet.events DEFERRABLE INITIALLY DEFERRED"
                 " FOR EACH ROW EXECUTE FUNCTION end_backend()");
    assert_int_equal(try_to_decide("y"), EE_FILE_ERROR);
    assert_int_equal(store_bandit_state(frail.kept, 1)->events, 2);
    assert_int_equal(((pg_store *)frail.kept)->doubtful_count, 0);
    database_run(database.inside, "DROP TRIGGER ends ON eenet.events");
    assert_int_equal(decide(frail.kept, 1, "y", 4), ENTRY_DONE);
    close_frail("=; D x; D y; ");
}

/* The database cannot be reached for long after a commit: its bandits are loaded again. */
static void doubt_commit(bool moves)
{
    open_frail(false);
    uint64_t token = store_token(frail.kept, 1);
    pg_store *inside = (pg_store *)frail.kept;
    inside->patience = 0;
    frail.loses = frail.closes = true;
    assert_fails(try_to_decide("y"), EE_FILE_ERROR, last_error, "the database is not available");
    assert_int_equal(inside->doubtful_count, 1);
    assert_int_equal(store_bandit_state(frail.kept, 1)->events, 2); /* as far as it knows */
    store_group nothing = {.now = 4};
    assert_int_equal(store_write(frail.kept, &nothing, &last_error), EE_FILE_ERROR);
    database_allow(&database, true);
    if (moves) move_lease(1, 2);
    assert_int_equal(decide(frail.kept, 1, "y", 4), moves ? ENTRY_MOVED : ENTRY_REPEATED);
    if (moves) token = move_lease(1, 1);
    assert_true(own(frail.kept, 1, token));
    assert_int_equal(decide(frail.kept, 1, "z", 4), ENTRY_DONE);
    close_frail("=; D x; D y; D z; ");
}

TEST_WITH(a_commit_in_doubt_is_loaded_again, set_up, tear_down)
{
    doubt_commit(false);
    tear_down(NULL);
    set_up(NULL);
    doubt_commit(true);
}

/* A bandit whose creation was in doubt is known afterwards, so the next one gets another number. */
static void doubt_bandit(bool alone)
{
    open_frail(alone);
    ((pg_store *)frail.kept)->patience = 0;
    bandit_settings settings = bandit_settings_usual();
    store_entry made = new_bandit(&settings, "b"), again = new_bandit(&settings, "b");
    store_group group = {.first = &made, .now = 3};
    frail.loses = frail.closes = true;
    assert_int_equal(store_write(frail.kept, &group, &last_error), EE_FILE_ERROR);
    assert_int_equal(made.bandit, 0);
    database_allow(&database, true);
    assert_int_equal(write_entry(frail.kept, &again, 4), ENTRY_FAILED);
    assert_message_has(again.error.message, "already exists");
    assert_int_equal(write_bandit(frail.kept, "c", "{}", 4), 3);
    assert_int_equal(decide(frail.kept, 2, "y", 5), alone ? ENTRY_DONE : ENTRY_MOVED);
    if (!alone) assert_true(own(frail.kept, 2, 1));
    assert_int_equal(decide(frail.kept, 2, "z", 5), ENTRY_DONE);
    store_close(frail.kept);
}

TEST_WITH(a_bandit_in_doubt_is_loaded_again, set_up, tear_down)
{
    doubt_bandit(false);
    tear_down(NULL);
    set_up(NULL);
    doubt_bandit(true);
}

/* ---- the same rows as with SQLite ---- */

enum { GROUPS = 120, BANDITS = 3 };

typedef struct pair {
    test_folder folder;
    fresh_database database;
    store *stores[2]; /* SQLite, PostgreSQL */
    random_log log;
    int erased, removed, copies;
} pair;

static void write_drawn(pair *self)
{
    static drawn into, copy;
    const uint32_t due[] = {1, 2, 3};
    draw_group(&self->log, &into, TOGETHER);
    stored_clock clock = {self->log.now, (int64_t)draw(&self->log, 100), draw(&self->log, 2)};
    bool changes_clock = draw(&self->log, 20) == 0, settles = draw(&self->log, 2);
    for (size_t i = 0; i < into.count; i++) into.entries[i].archived = draw(&self->log, 6) == 0;
    copy = into;
    for (int i = 0; i < 2; i++) {
        drawn *used = i ? &copy : &into;
        drawn_chain(used);
        store_group group = {.first = used->entries,
                             .now = self->log.now,
                             .clock = changes_clock ? &clock : NULL,
                             .due = due,
                             .due_count = settles ? BANDITS : 0,
                             .settle_each = 5,
                             .settle_total = 9};
        ok(store_write(self->stores[i], &group, &last_error));
    }
    for (size_t i = 0; i < into.count; i++) {
        const store_entry *a = &into.entries[i], *b = &copy.entries[i];
        assert_int_equal(a->verdict, b->verdict);
        assert_string_equal(a->error.message, b->error.message);
        assert_int_equal(a->event.number, b->event.number);
        assert_int_equal(a->event.outcome, b->event.outcome);
    }
    drawn_release(&into);
}

static void remove_some(pair *self)
{
    uint32_t bandit = 1 + (uint32_t)draw(&self->log, BANDITS);
    int64_t before = self->log.now - (int64_t)draw(&self->log, 60000000);
    size_t limit = 1 + draw(&self->log, 30);
    uint64_t keep_from = draw(&self->log, 2) ? UINT64_MAX : store_bandit_state(self->stores[0], bandit)->events / 2;
    bool more[2];
    for (int i = 0; i < 2; i++) ok(store_remove(self->stores[i], bandit, before, keep_from, limit, &more[i], NULL));
    assert_int_equal(more[0], more[1]);
    self->removed += more[0];
}

/* Erases a settled decision without slots, with its events. */
static void erase_some(pair *self)
{
    static uint64_t numbers[10000];
    uint32_t bandit = 1 + (uint32_t)draw(&self->log, BANDITS);
    store_reader *reader;
    stored_decision row;
    const event *decision;
    event_batch batch = {0};
    size_t count = 0, found;
    ok(store_reader_create(self->stores[0], &reader, NULL));
    ok(store_next_decisions(reader, bandit, draw(&self->log, store_bandit_state(self->stores[0], bandit)->events + 1),
                            &row, 1, &found, NULL));
    if (found && row.settled && !row.slots) {
        ok(store_read_one(reader, bandit, row.number, &decision, NULL));
        ok(store_read(reader, bandit, 0, ~0u, 100000, &batch, NULL));
        for (size_t i = 0; i < batch.count; i++) {
            const event *other = &batch.events[i];
            bool is_early = !other->decision && other->number != row.number && other->id.length &&
                            other->id.length == decision->id.length &&
                            memcmp(other->id.bytes, decision->id.bytes, other->id.length) == 0;
            if (other->decision == row.number || is_early) numbers[count++] = other->number;
        }
        numbers[count++] = row.number;
        numbers[count++] = 1; /* no decision, and often gone */
        for (int i = 0; i < 2; i++) ok(store_erase(self->stores[i], bandit, numbers, count, NULL));
        self->erased++;
    }
    event_batch_free(&batch);
    store_reader_free(reader);
}

static void close_pair(pair *self)
{
    for (int i = 0; i < 2; i++) store_close(self->stores[i]);
}

static void compare_states(pair *self)
{
    for (uint32_t i = 1; i <= BANDITS; i++) {
        const bandit_state *a = store_bandit_state(self->stores[0], i), *b = store_bandit_state(self->stores[1], i);
        assert_int_equal(a->events, b->events);
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->news, b->news);
        assert_int_equal(a->settled_to, b->settled_to);
        assert_int_equal(a->deadline, b->deadline);
        assert_int_equal(a->waiting, b->waiting);
        assert_int_equal(a->unclaimed, b->unclaimed);
        assert_int_equal(a->archived, b->archived);
    }
}

static void open_pair(pair *self)
{
    ok(store_open(self->folder.path, &self->stores[0], NULL));
    ok(store_open(self->database.where, &self->stores[1], NULL));
    sqlite3_exec(((sqlite_store *)self->stores[0])->database, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
}

/* ---- what readers return, as text ---- */

static void show_events(store_reader *reader, uint32_t bandit, unsigned kinds, size_t limit, text *out)
{
    event_batch batch = {0};
    for (uint64_t after = 0;; after = batch.last) {
        ok(store_read(reader, bandit, after, kinds, limit, &batch, NULL));
        text_add(out, "to %d\n", (int)batch.last);
        for (size_t i = 0; i < batch.count; i++) {
            const event *one = &batch.events[i];
            text_add(out, "%d %d %lld %.*s %d %.17g %d %.*s %zu %llx\n", (int)one->number, (int)one->kind,
                     (long long)one->time, (int)one->id.length, one->id.bytes, (int)one->decision, one->value,
                     (int)one->outcome, (int)one->reward_id.length, one->reward_id.bytes, one->size,
                     (unsigned long long)archive_checksum(one->body, one->size));
        }
        if (batch.last == after) break;
    }
    event_batch_free(&batch);
}

static void show_decisions(store_reader *reader, uint32_t bandit, text *out)
{
    enum { PAGE = 17 };
    stored_decision rows[PAGE];
    uint64_t waiting, number, after = 0;
    for (size_t count = PAGE; count;) {
        ok(store_next_decisions(reader, bandit, after, rows, PAGE, &count, NULL));
        for (size_t i = 0; i < count; i++) {
            const stored_decision *row = &rows[i];
            const event *one = NULL;
            after = row->number;
            ok(store_count_waiting(reader, bandit, after, &waiting, NULL));
            ok(store_read_one(reader, bandit, after, &one, NULL));
            ok(store_find_id(reader, bandit, one->id, &number, NULL));
            text_add(out, "%d %lld %llx %llx %d %d %.17g %d %d: %d %d\n", (int)row->number, (long long)row->time,
                     (unsigned long long)row->request[0], (unsigned long long)row->request[1], (int)row->rewards,
                     (int)row->settled, row->value, row->inactive, (int)row->slots, (int)waiting, (int)number);
        }
    }
}

/* Some that are missing, and so many that they do not fit into a batch. */
static void show_listed(store_reader *reader, uint32_t bandit, text *out)
{
    enum { MOST = 700 };
    uint64_t numbers[MOST];
    event_batch batch = {0};
    size_t looked;
    for (size_t i = 0; i < MOST; i++) numbers[i] = i * 1009 % 997;
    for (size_t from = 0; from < MOST; from += looked) {
        ok(store_read_these(reader, bandit, numbers + from, MOST - from, &batch, &looked, NULL));
        assert_in_range(looked, 1, MOST - from);
        text_add(out, "looked %zu:", looked);
        for (size_t i = 0; i < batch.count; i++) text_add(out, " %d", (int)batch.events[i].number);
    }
    event_batch_free(&batch);
}

static text show_all(store_reader *reader, int64_t until)
{
    const unsigned kinds[] = {~0u, 1u << EVENT_STEP, 1u << EVENT_SETTINGS | 1u << EVENT_STEP | 1u << EVENT_ERASED,
                              1u << EVENT_DECISION | 1u << EVENT_SETTLED, 1u << EVENT_ACTIVATED | 1u << EVENT_MODEL};
    text out = text_start(NULL);
    stored_bandits list;
    stored_clock clock;
    uint64_t number;
    ok(store_list_bandits(reader, &list, NULL));
    ok(store_read_clock(reader, &clock, NULL));
    text_add(&out, "clock %lld %lld %d\n", (long long)clock.time, (long long)clock.ahead, clock.in_doubt);
    for (size_t i = 0; i < list.count; i++) {
        const stored_bandit *one = &list.bandits[i];
        text_add(&out, "%u %.*s %d %d %lld %d %.*s\n", (unsigned)one->number, (int)one->name.length, one->name.bytes,
                 (int)one->first_event, (int)one->events, (long long)one->time, (int)one->settled_to,
                 (int)one->settings.length, one->settings.bytes);
        show_decisions(reader, one->number, &out);
        show_listed(reader, one->number, &out);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            show_events(reader, one->number, kinds[k], k % 2 ? SIZE_MAX : 7, &out);
            for (uint64_t upto = 0; upto < 2000; upto += 333) {
                ok(store_last_of(reader, one->number, kinds[k], upto, &number, NULL));
                text_add(&out, "last %d\n", (int)number);
            }
        }
        for (int64_t k = 0; k <= 20; k++) {
            int64_t time = k == 0 ? INT64_MIN : k == 20 ? INT64_MAX : k * until / 18;
            uint64_t begin, end, before;
            ok(store_find_time(reader, one->number, time, &begin, NULL));
            ok(store_find_end(reader, one->number, time, &end, NULL));
            ok(store_count_before(reader, one->number, time, &before, NULL));
            text_add(&out, "time %d %d %d\n", (int)begin, (int)end, (int)before);
        }
    }
    stored_bandits_free(&list);
    return out;
}

/* Readers return the same, and a copy of the database has the rows of the folder. */
static void compare_all(pair *self)
{
    char to[100];
    text shown[2];
    copy_result copied;
    for (int i = 0; i < 2; i++) {
        store_reader *reader;
        ok(store_reader_create(self->stores[i], &reader, NULL));
        shown[i] = show_all(reader, self->log.now);
        store_reader_free(reader);
    }
    assert_string_equal(shown[1].bytes, shown[0].bytes);
    for (int i = 0; i < 2; i++) memory_free(shown[i].bytes);
    snprintf(to, sizeof to, "%s/copy%d", self->folder.path, self->copies++);
    ok(store_copy(&(copy_request){.from = self->database.where, .to = to}, &copied, NULL));
    assert_true(assert_same_tables(self->folder.path, to) > 300);
}

static void purge(pair *self, uint32_t bandit)
{
    for (int i = 0; i < 2; i++) {
        uint32_t next = 0;
        size_t calls = 0;
        bool more = true;
        ok(store_purge(self->stores[i], bandit, NULL));
        store_entry entry = {.bandit = bandit, .event = {.kind = EVENT_STEP}};
        assert_int_equal(write_entry(self->stores[i], &entry, self->log.now), ENTRY_FAILED);
        ok(store_purge_next(self->stores[i], 0, &next, NULL));
        assert_int_equal(next, bandit);
        for (; more; calls++) ok(store_purge_some(self->stores[i], bandit, 100, &more, NULL));
        assert_true(calls > 2);
        ok(store_purge_end(self->stores[i], bandit, NULL));
        ok(store_purge_next(self->stores[i], 0, &next, NULL));
        assert_int_equal(next, 0);
    }
}

TEST(both_stores_have_the_same_rows)
{
    only_in_a_database();
    for (uint64_t seed = 1; seed <= test_long(1, 5); seed++) {
        pair self = {.folder = folder_make(),
                     .database = database_make(),
                     .log = {random_named(seed, "pair"), 1000000, BANDITS, 60}};
        open_pair(&self);
        for (int i = 0; i < 2; i++)
            for (uint32_t k = 0; k < BANDITS; k++)
                write_bandit(self.stores[i], (const char *[]){"a", "b", "c"}[k],
                             k ? "{\"wait\":20,\"metrics\":[{\"name\":\"r\",\"weight\":-1}]}" : "{\"wait\":20}", 1);
        for (int i = 0; i < GROUPS; i++) {
            write_drawn(&self);
            if (draw(&self.log, 6) == 0) remove_some(&self);
            if (draw(&self.log, 3) == 0) erase_some(&self);
            compare_states(&self);
            if (draw(&self.log, 40)) continue;
            close_pair(&self);
            open_pair(&self);
        }
        compare_all(&self);
        assert_true(self.erased > 3 && self.removed > 3);
        purge(&self, 2);
        compare_all(&self);
        close_pair(&self);
        open_pair(&self);
        uint64_t page = 0;
        for (bool more = true; more;) ok(store_scrub(self.stores[1], &page, 100, &more, NULL));
        assert_true(store_bytes(self.stores[1]) > 1000000);
        close_pair(&self);
        database_remove(&self.database);
        folder_remove(&self.folder);
    }
}

/* ---- readers ---- */

/* No row is looked at that the call does not need: the tables are read by an index, in its order, and sorted are only
 * rows that a list or a LIMIT has brought. Two tables have a row or a few. */
static void check_plan(const PGresult *plan, const char *sql)
{
    bool sorts = false;
    for (int i = 0; i < PQntuples(plan); i++) {
        const char *line = PQgetvalue(plan, i, 0), *scan = strstr(line, "Seq Scan on ");
        if (strstr(line, "Sort") && !strstr(line, "Sort Key")) sorts = true;
        if (strstr(line, "Function Scan") || strstr(line, "CTE Scan") || strstr(line, "Limit")) sorts = false;
        bool is_small = scan && (strstr(scan, " on fleet") || strstr(scan, " on clock"));
        if ((scan && !is_small) || strstr(line, "Bitmap") || (sorts && strstr(line, "Index")))
            fail_msg("%s\nhas the plan line: %s", sql, line);
    }
}

static void explain(pg_connection *on, const char *sql)
{
    char prepare[4000], execute[200] = "EXPLAIN (COSTS OFF) EXECUTE tried";
    PGresult *plan;
    int values = 0;
    if (strncmp(sql, "BEGIN", 5) == 0 || strcmp(sql, "COMMIT") == 0 || strcmp(sql, "ROLLBACK") == 0) return;
    for (const char *at = sql; (at = strchr(at, '$')); at++)
        if (atoi(at + 1) > values) values = atoi(at + 1);
    for (int i = 0; i < values; i++) strcat(execute, i ? ", NULL" : " (NULL");
    if (values) strcat(execute, ")");
    assert_true((size_t)snprintf(prepare, sizeof prepare, "PREPARE tried AS %s", sql) < sizeof prepare);
    database_run(on, prepare);
    if (pg_query(on, execute, "explain", &plan, &last_error)) fail_msg("%s: %s", sql, last_error.message);
    assert_true(PQntuples(plan) > 0);
    check_plan(plan, sql);
    PQclear(plan);
    database_run(on, "DEALLOCATE tried");
}

/* A backlog in tables that were never analysed. */
TEST_WITH(plans_need_no_statistics, set_up, tear_down)
{
    only_in_a_database();
    pg_connection *on;
    database_run(database.inside,
                 "INSERT INTO eenet.events (place, kind, time) SELECT 9::bigint << 40 | n, 1 + n % 3, n"
                 " FROM generate_series(1, 60000) AS n;"
                 "INSERT INTO eenet.decisions SELECT 9::bigint << 40 | n, n, 0, 0, 0, 0, 0, 0, 0"
                 " FROM generate_series(1, 20000) AS n;"
                 "INSERT INTO eenet.ids SELECT 9, int4send(n), n FROM generate_series(1, 20000) AS n");
    assert_int_equal(database_ask(database.inside,
                                  "SELECT count(*) FROM pg_class WHERE oid IN ('eenet.events'::regclass,"
                                  " 'eenet.decisions'::regclass, 'eenet.ids'::regclass) AND reltuples <= 0"),
                     3);
    ok(pg_create(&(pg_options){.where = database.where, .role = "plans"}, &on, NULL));
    for (size_t i = 0; i < PG_READER_STATEMENTS; i++) explain(on, pg_reader_sql[i]);
    for (size_t i = 0; i < PG_STATEMENTS; i++) explain(on, pg_writer_sql[i]);
    pg_free(on);
}

TEST_WITH(a_lost_connection_of_a_reader_is_made_again, set_up, tear_down)
{
    only_in_a_database();
    store_reader *reader;
    const event *found;
    uint64_t number;
    event_batch batch = {0};
    ok(store_open_reader(database.where, &reader, NULL));
    for (int i = 0; i < 3; i++) {
        ok(store_read_one(reader, 1, 1, &found, NULL));
        assert_true(database_cut(&database, "pool") >= 1);
        ok(i == 0   ? store_read_one(reader, 1, 1, &found, NULL)
           : i == 1 ? store_find_time(reader, 1, 2000, &number, NULL)
                    : store_read(reader, 1, 0, ~0u, 10, &batch, NULL));
    }
    assert_int_equal(batch.count, 1);
    event_batch_free(&batch);
    store_reader_free(reader);
}

TEST_WITH(damage_is_detected, set_up, tear_down)
{
    static const char *const damages[] = {"kind = 3",
                                          "time = time + 1",
                                          "id = id || 'x'::bytea",
                                          "decision = coalesce(decision, 0) + 1",
                                          "value = coalesce(value, 0) + 1",
                                          "outcome = coalesce(outcome, 0) + 1",
                                          "reward_id = 'z'",
                                          "body = coalesce(body, '') || 'x'::bytea",
                                          "checksum = NULL",
                                          "checksum = checksum + 1"};
    only_in_a_database();
    pg_connection *on = database.inside;
    store_reader *reader, *none;
    const event *found;
    event_batch batch = {0};
    stored_bandits bandits;
    uint64_t number;
    for (int i = 0; i < 6; i++) assert_int_equal(decide(first, 1, (char[]){(char)('a' + i), 0}, 2), ENTRY_DONE);
    ok(store_reader_create(first, &reader, NULL));
    database_run(on, "CREATE TABLE saved AS SELECT * FROM eenet.events WHERE place = 1::bigint << 40 | 4");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        database_ask(on, "UPDATE eenet.events SET %s WHERE place = (SELECT place FROM saved)", damages[i]);
        if (store_read_one(reader, 1, 4, &found, &last_error) != EE_FILE_ERROR) fail_msg("%s", damages[i]);
        assert_message_has(last_error.message, "is damaged: its checksum does not match; run 'eenet check'");
        database_run(on, "DELETE FROM eenet.events WHERE place = (SELECT place FROM saved);"
                         "INSERT INTO eenet.events SELECT * FROM saved");
        ok(store_read_one(reader, 1, 4, &found, &last_error));
    }
    database_run(on, "DELETE FROM eenet.events WHERE place = (SELECT place FROM saved)");
    assert_fails(store_read(reader, 1, 2, ~0u, 100, &batch, &last_error), EE_FILE_ERROR, last_error,
                 "the log of bandit 1 is damaged: event 4 is missing");
    /* The middle of the log: the first event that the search looks at. */
    assert_fails(store_count_before(reader, 1, 3000, &number, &last_error), EE_FILE_ERROR, last_error,
                 "event 4 is missing");
    ok(store_read(reader, 1, 4, ~0u, 100, &batch, &last_error)); /* the connection is of use */
    event_batch_free(&batch);
    store_reader_free(reader);
    ok(store_open_reader(test_postgres(), &none, NULL));
    assert_fails(store_list_bandits(none, &bandits, &last_error), EE_FILE_ERROR, last_error,
                 "the database has no tables of eenet");
    store_reader_free(none);
}

/* ---- spools ---- */

static ee_status deliver(uint64_t before, uint64_t position, int64_t now)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_STEP}};
    store_group group = {
        .first = &entry, .now = now, .spool = "one", .spool_before = before, .spool_position = position};
    return store_write(first, &group, &last_error);
}

/* The position of a spool is part of the group, and what it has delivered is refused. */
TEST_WITH(a_spool_delivers_once, set_up, tear_down)
{
    only_in_a_database();
    uint64_t position = 0;
    ok(deliver(0, 10, 5));
    assert_fails(deliver(0, 10, 5), EE_FILE_ERROR, last_error, "already in the database");
    assert_int_equal(deliver(9, 12, 5), EE_FILE_ERROR);
    assert_log_is(first, 1, "=; P; ");
    ok(store_spool_position(first, "one", &position, &last_error));
    assert_int_equal(position, 10);
    /* It has committed a lock on the row: with a standby, that commit waits until the position is there too. */
    assert_true(is_committed("spools WHERE delivered =", 10));
    ok(deliver(10, 11, 5));
    assert_int_equal(deliver(11, 12, 1), EE_BAD_INPUT);
    assert_int_equal(database_ask(database.inside, "SELECT delivered FROM eenet.spools WHERE spool = 'one'"), 11);
    database_run(database.inside, "UPDATE eenet.spools SET delivered = 3"); /* as a failover may lose commits */
    ok(deliver(11, 12, 5));
    assert_log_is(first, 1, "=; P; P; P; ");
    store_group probe = {.now = 5, .probe = true};
    ok(store_write(first, &probe, &last_error));
}
