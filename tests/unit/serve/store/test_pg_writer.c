/* The writer with PostgreSQL: the fence between servers, commits whose outcome is not known, and the same rows as with
 * SQLite. Runs if the variable EENET_TEST_POSTGRES has a connection string. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "serve/shown_log.h"
#include "serve/store/postgres/leases.h"
#include "serve/store/postgres/pg_writer.h"
#include "serve/store_writer.h"

static json_text words(const char *plain)
{
    return (json_text){plain, strlen(plain)};
}

static int64_t ask_number(fresh_database *database, const char *sql)
{
    PGresult *rows;
    ee_error error = {0};
    if (pg_query(database->inside, sql, "ask", &rows, &error)) fail_msg("%s: %s", sql, error.message);
    int64_t number = PQntuples(rows) ? pg_int8(rows, 0, 0) : 0;
    PQclear(rows);
    return number;
}

/* ---- the fence ---- */

/* Gives a lease to a server; returns its token. */
static uint64_t move_lease(fresh_database *database, uint32_t bandit, uint64_t server)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "UPDATE eenet.log_ends SET owner = %d, token = token + 1 WHERE bandit = %u RETURNING token", (int)server,
             (unsigned)bandit);
    return (uint64_t)ask_number(database, sql);
}

static store *open_server(fresh_database *database, uint64_t server)
{
    store *kept;
    ee_error error = {0};
    if (store_open_shared(database->where, server, false, &kept, &error)) fail_msg("%s", error.message);
    assert_int_equal(store_bandit_count(kept), 0);
    return kept;
}

static bool own(store *kept, uint32_t bandit, uint64_t token)
{
    bool owned;
    uint64_t rewrites = store_rewrites();
    ee_error error = {0};
    if (store_own(kept, bandit, token, &owned, &error)) fail_msg("%s", error.message);
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

TEST(an_old_owner_writes_nothing)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *first = open_server(&database, 1), *second = open_server(&database, 2);
    assert_true(own(first, LEADER, move_lease(&database, LEADER, 1)));
    int64_t changes = ask_number(&database, "SELECT changes FROM eenet.fleet");
    assert_int_equal(write_bandit(first, "a", "{}", 1), 1);
    assert_int_equal(write_bandit(first, "b", "{}", 1), 2);
    assert_int_equal(ask_number(&database, "SELECT changes FROM eenet.fleet"), changes + 2);
    assert_int_equal(ask_number(&database, "SELECT owner FROM eenet.log_ends WHERE bandit = 2"), 1);
    assert_int_equal(store_token(first, 2), 1);
    assert_int_equal(decide(first, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(decide(second, 1, "y", 2), ENTRY_MOVED); /* it knows no bandit */
    uint64_t token = move_lease(&database, 1, 2);
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
    ee_error error;
    assert_int_equal(store_remove(first, 1, 100, 100, 10, &more, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "another server owns the bandit");
    assert_int_equal(store_purge(first, 1, &error), EE_FILE_ERROR);
    assert_int_equal(store_erase(first, 1, &(uint64_t){2}, 1, &error), EE_FILE_ERROR);
    assert_int_equal(decide(second, 1, "x", 3), ENTRY_REPEATED);
    assert_int_equal(decide(second, 1, "w", 3), ENTRY_DONE);
    assert_log_is(second, 1, "=; D x; D w; ");
    assert_log_is(first, 2, "=; D z; ");
    /* The leader: the next one knows all numbers. */
    assert_true(own(second, LEADER, move_lease(&database, LEADER, 2)));
    bandit_settings settings = bandit_settings_usual();
    store_entry late = new_bandit(&settings, "c"), new = new_bandit(&settings, "c");
    assert_int_equal(write_entry(first, &late, 4), ENTRY_MOVED);
    assert_int_equal(store_token(first, LEADER), 0);
    assert_int_equal(write_entry(second, &new, 4), ENTRY_DONE);
    assert_int_equal(new.bandit, 3);
    assert_int_equal(decide(first, 2, "v", 4), ENTRY_DONE);
    store_close(first);
    store_close(second);
    database_remove(&database);
}

/* A failover without its last commits loses a move, and then another server gets the same token. */
TEST(a_token_is_of_one_server)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *first = open_server(&database, 1), *second = open_server(&database, 2);
    ee_error error = {0};
    assert_true(own(first, LEADER, move_lease(&database, LEADER, 1)));
    assert_int_equal(write_bandit(first, "a", "{}", 1), 1);
    uint64_t token = move_lease(&database, 1, 1);
    assert_true(own(first, 1, token));
    assert_false(own(second, 1, token));
    assert_false(own(second, LEADER, store_token(first, LEADER)));
    database_run(database.inside, "UPDATE eenet.log_ends SET owner = 2");
    assert_int_equal(blob_put(store_blobs(first), blob_model(1, 1), "x", 1, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "another server owns the bandit");
    assert_int_equal(decide(first, 1, "x", 2), ENTRY_MOVED);
    assert_int_equal(store_token(first, 1), 0);
    assert_true(own(second, 1, token));
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_DONE);
    uint64_t rewrites = store_rewrites();
    store_disown(second, 1);
    assert_int_equal(store_rewrites(), rewrites + 1);
    store_close(first);
    store_close(second);
    database_remove(&database);
}

TEST(a_removed_bandit_of_another_server_is_known)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *first = open_server(&database, 1), *second = open_server(&database, 2);
    ee_error error = {0};
    assert_true(own(first, LEADER, move_lease(&database, LEADER, 1)));
    assert_int_equal(write_bandit(first, "a", "{}", 1), 1);
    ok(store_note_purged(second, 1, &error));
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_MOVED);
    ok(store_purge(first, 1, &error));
    ok(store_note_purged(second, 1, &error));
    assert_true(store_bandit_state(second, 1)->purged);
    assert_int_equal(decide(second, 1, "x", 2), ENTRY_FAILED);
    store_close(first);
    store_close(second);
    database_remove(&database);
}

/* A bandit that was removed for good keeps its last owner. */
TEST(a_dead_server_is_forgotten)
{
    only_in_a_database();
    fresh_database database = database_make();
    lease_options options = {.where = database.where, .address = "", .version = "1"};
    lease_server dead = {.number = 77, .beat = 5};
    leases *self;
    ee_error error = {0};
    if (leases_join(&options, &self, &error)) fail_msg("%s", error.message);
    database_run(database.inside,
                 "INSERT INTO eenet.servers (number, address, version, beat, state) VALUES (77, '', '', 5, '');"
                 "INSERT INTO eenet.bandits (number, name, purged) VALUES (1, '#1', 1);"
                 "INSERT INTO eenet.log_ends VALUES (1, 1, 0, 0, 0, 0, 0, 77, 3)");
    ok(leases_forget(self, &dead, &error));
    assert_int_equal(ask_number(&database, "SELECT count(*) FROM eenet.servers"), 1);
    database_run(database.inside, "UPDATE eenet.bandits SET purged = 2");
    ok(leases_forget(self, &dead, &error));
    assert_int_equal(ask_number(&database, "SELECT count(*) FROM eenet.servers"), 0);
    leases_leave(self);
    database_remove(&database);
}

/* A new owner has committed a change of the row before it reads anything: with a standby, that commit waits until what
 * it has read is there too. */
TEST(a_new_owner_waits_for_the_standby)
{
    static const char committed[] =
        "SELECT (xmax <> '0' AND pg_xact_status(xmax::text::xid8) = 'committed')::int FROM eenet.log_ends"
        " WHERE bandit = %u";
    only_in_a_database();
    fresh_database database = database_make();
    store *first = open_server(&database, 1), *second = open_server(&database, 2);
    assert_true(own(first, LEADER, move_lease(&database, LEADER, 1)));
    write_bandit(first, "a", "{}", 1);
    for (uint32_t bandit = LEADER; bandit <= 1; bandit++) {
        char sql[200];
        uint64_t token = move_lease(&database, bandit, 2);
        snprintf(sql, sizeof sql, committed, (unsigned)bandit);
        assert_int_equal(ask_number(&database, sql), 0);
        assert_true(own(second, bandit, token));
        assert_int_equal(ask_number(&database, sql), 1);
    }
    store_close(second);
    store_close(first);
    database_remove(&database);
}

/* The token is ours, but somebody has written: whatever it was, this process does not know the log. */
TEST(an_owner_that_missed_an_event_writes_nothing)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *kept = open_server(&database, 1), *other = open_server(&database, 1);
    assert_true(own(kept, LEADER, move_lease(&database, LEADER, 1)));
    write_bandit(kept, "a", "{}", 1);
    assert_true(own(other, 1, 1));
    assert_int_equal(decide(other, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(decide(kept, 1, "y", 3), ENTRY_MOVED);
    assert_true(own(kept, 1, 1));
    assert_int_equal(decide(kept, 1, "y", 3), ENTRY_DONE);
    assert_log_is(kept, 1, "=; D x; D y; ");
    store_close(kept);
    store_close(other);
    database_remove(&database);
}

/* A process that owns everything fences the servers of a fleet, and excludes another one. */
/* synchronous_commit of the writer's session. */
static void ask_commit(store *kept, char *value, size_t size)
{
    PGresult *rows;
    ok(pg_query(((pg_store *)kept)->connection, "SELECT current_setting('synchronous_commit')", "ask", &rows, NULL));
    snprintf(value, size, "%s", PQgetvalue(rows, 0, 0));
    PQclear(rows);
}

/* Whatever the database says: a new primary may have other settings than the one that the server has seen first. */
TEST(commits_are_durable)
{
    static const char *const expected[][3] = {/* the database's; of a server with and without `synchronous` */
                                              {"off", "on", "on"},
                                              {"local", "on", "local"},
                                              {"remote_write", "on", "remote_write"},
                                              {"on", "on", "on"},
                                              {"remote_apply", "remote_apply", "remote_apply"}};
    only_in_a_database();
    fresh_database database = database_make();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char sql[160], found[32];
        snprintf(sql, sizeof sql, "ALTER DATABASE %s SET synchronous_commit = %s", database.name, expected[i][0]);
        database_run(database.server, sql);
        for (int any = 0; any < 2; any++) {
            store *kept;
            ok(store_open_shared(database.where, 1, !any, &kept, NULL));
            ask_commit(kept, found, sizeof found);
            assert_string_equal(found, expected[i][1 + any]);
            store_close(kept);
        }
    }
    database_remove(&database);
}

TEST(a_process_alone_owns_everything)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *server = open_server(&database, 1), *alone, *second;
    ee_error error = {0};
    assert_true(own(server, LEADER, move_lease(&database, LEADER, 1)));
    write_bandit(server, "a", "{}", 1);
    ok(store_open(database.where, &alone, &error));
    assert_int_equal(store_open(database.where, &second, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "store: another process is serving the database ");
    assert_int_equal(decide(server, 1, "x", 2), ENTRY_MOVED);
    assert_int_equal(decide(alone, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(write_bandit(alone, "b", "{}", 2), 2);
    /* With the session goes the lock; the next transaction takes it again. */
    assert_int_equal(database_cut(&database, "writer"), 2);
    assert_int_equal(decide(alone, 1, "y", 3), ENTRY_DONE);
    assert_int_equal(store_open(database.where, &second, &error), EE_FILE_ERROR);
    store_close(alone);
    ok(store_open(database.where, &second, &error));
    assert_log_is(second, 1, "=; D x; D y; ");
    store_close(second);
    store_close(server);
    database_remove(&database);
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

TEST(a_stopped_process_does_not_keep_its_locks)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *first = open_server(&database, 1);
    assert_true(own(first, LEADER, move_lease(&database, LEADER, 1)));
    write_bandit(first, "a", "{}", 1);
    pid_t child = fork();
    if (child == 0) _exit(stop_within(database.where));
    int result = 0;
    assert_int_equal(waitpid(child, &result, WUNTRACED), child);
    assert_true(WIFSTOPPED(result));
    uint64_t token = move_lease(&database, 1, 2); /* would time out if the lock were kept */
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(WEXITSTATUS(result), 0);
    store *second = open_server(&database, 2);
    assert_true(own(second, 1, token));
    assert_log_is(second, 1, "=; ");
    store_close(second);
    store_close(first);
    database_remove(&database);
}

/* ---- commits whose outcome is not known ---- */

/* Stands between the writer and the server, and cuts connections. */
typedef enum cutting {
    PASSES,
    CUTS_REQUEST, /* the next bytes to the server do not arrive */
    CUTS_RESPONSE /* the response to COMMIT does not arrive */
} cutting;

typedef struct proxy {
    char folder[64], path[128], server[256], where[600];
    int listener;
    pthread_t thread;
    atomic_int cuts, cut; /* what to cut next; how often it has */
    atomic_bool closed, ends;
} proxy;

typedef struct proxied {
    proxy *of;
    int client;
} proxied;

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    return address;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address)) return -1;
    return file;
}

static bool has_commit(const char *bytes, size_t size)
{
    static const char tag[] = "COMMIT"; /* with its zero, as CommandComplete has it */
    for (size_t i = 0; i + sizeof tag <= size; i++)
        if (memcmp(bytes + i, tag, sizeof tag) == 0) return true;
    return false;
}

/* false: the connection is to be closed. */
static bool pass(proxy *self, int from, int to, bool is_request)
{
    static _Thread_local char bytes[1 << 16];
    ssize_t size = read(from, bytes, sizeof bytes);
    if (size <= 0) return false;
    int cuts = atomic_load(&self->cuts);
    bool cut =
        cuts == CUTS_REQUEST ? is_request : cuts == CUTS_RESPONSE && !is_request && has_commit(bytes, (size_t)size);
    if (cut) {
        atomic_store(&self->cuts, PASSES);
        atomic_fetch_add(&self->cut, 1);
        return false;
    }
    for (ssize_t sent = 0, some; sent < size; sent += some)
        if ((some = write(to, bytes + sent, (size_t)(size - sent))) <= 0) return false;
    return true;
}

static void *serve_one(void *context)
{
    proxied self = *(proxied *)context;
    free(context);
    int server = atomic_load(&self.of->closed) ? -1 : connect_to(self.of->server);
    struct pollfd ends[] = {{self.client, POLLIN, 0}, {server, POLLIN, 0}};
    while (server >= 0 && poll(ends, 2, 20) >= 0) {
        if (atomic_load(&self.of->ends)) break;
        if (ends[0].revents && !pass(self.of, self.client, server, true)) break;
        if (ends[1].revents && !pass(self.of, server, self.client, false)) break;
    }
    if (server >= 0) close(server);
    close(self.client);
    return NULL;
}

static void *serve(void *context)
{
    proxy *self = context;
    for (int client; (client = accept(self->listener, NULL, NULL)) >= 0;) {
        proxied *one = malloc(sizeof *one);
        pthread_t thread;
        *one = (proxied){self, client};
        pthread_create(&thread, NULL, serve_one, one);
        pthread_detach(thread);
    }
    return NULL;
}

/* Between a database on a Unix socket and its clients. It is never freed, because its threads may still end. */
static proxy *start_proxy(const fresh_database *database)
{
    static proxy *all[64];
    static size_t used;
    assert_true(used < sizeof all / sizeof *all);
    proxy *self = all[used++] = calloc(1, sizeof *self);
    const char *host = strstr(database->where, "host=/");
    if (!host) skip();
    snprintf(self->server, sizeof self->server, "%.*s/.s.PGSQL.5432", (int)strcspn(host + 5, "&"), host + 5);
    snprintf(self->folder, sizeof self->folder, "/tmp/eenet-proxy-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    snprintf(self->path, sizeof self->path, "%s/.s.PGSQL.5432", self->folder);
    snprintf(self->where, sizeof self->where, "postgresql://eenet@/%s?host=%s", database->name, self->folder);
    struct sockaddr_un address = address_of(self->path);
    self->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(self->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(self->listener, 16), 0);
    assert_int_equal(pthread_create(&self->thread, NULL, serve, self), 0);
    signal(SIGPIPE, SIG_IGN);
    return self;
}

static void stop_proxy(proxy *self)
{
    atomic_store(&self->ends, true);
    shutdown(self->listener, SHUT_RDWR);
    pthread_join(self->thread, NULL);
    close(self->listener);
    unlink(self->path);
    rmdir(self->folder);
}

typedef struct cut_store {
    fresh_database database;
    proxy *between;
    store *kept;
} cut_store;

static cut_store open_behind_proxy(void)
{
    cut_store self = {.database = database_make()};
    ee_error error = {0};
    self.between = start_proxy(&self.database);
    if (store_open_shared(self.between->where, 1, false, &self.kept, &error)) fail_msg("%s", error.message);
    assert_true(own(self.kept, LEADER, move_lease(&self.database, LEADER, 1)));
    write_bandit(self.kept, "a", "{}", 1);
    assert_int_equal(decide(self.kept, 1, "x", 2), ENTRY_DONE);
    return self;
}

static void close_behind_proxy(cut_store *self, const char *log)
{
    assert_log_is(self->kept, 1, log);
    store_close(self->kept);
    stop_proxy(self->between);
    database_remove(&self->database);
}

/* The proxy is told what to cut when the group is about to be committed. */
static ee_status decide_and_cut(cut_store *self, const char *id, cutting what, ee_error *error)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {1, 2}};
    store_group group = {.first = &entry, .now = 3};
    int before = atomic_load(&self->between->cut);
    atomic_store(&self->between->cuts, what);
    ee_status status = store_write(self->kept, &group, error);
    assert_int_equal(atomic_load(&self->between->cut), before + 1);
    assert_int_equal(entry.verdict, status ? ENTRY_FAILED : ENTRY_DONE);
    return status;
}

TEST(a_lost_response_to_a_commit_is_found_out)
{
    only_in_a_database();
    cut_store self = open_behind_proxy();
    ee_error error = {0};
    ok(decide_and_cut(&self, "y", CUTS_RESPONSE, &error));
    assert_int_equal(store_bandit_state(self.kept, 1)->events, 3);
    assert_int_equal(decide(self.kept, 1, "y", 4), ENTRY_REPEATED);
    assert_int_equal(decide(self.kept, 1, "z", 4), ENTRY_DONE);
    close_behind_proxy(&self, "=; D x; D y; D z; ");
}

/* A connection that was lost between two groups, or before anything of this one was found, is made again. */
TEST(a_lost_connection_is_made_again)
{
    only_in_a_database();
    cut_store self = open_behind_proxy();
    ee_error error = {0};
    ok(decide_and_cut(&self, "y", CUTS_REQUEST, &error));
    assert_int_equal(database_cut(&self.database, "writer"), 1);
    assert_int_equal(decide(self.kept, 1, "z", 4), ENTRY_DONE);
    close_behind_proxy(&self, "=; D x; D y; D z; ");
}

/* The database ends the transaction at its commit, and the connection with it. */
static void end_at_commit(fresh_database *database)
{
    database_run(database->inside,
                 "CREATE FUNCTION end_backend() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NULL; END $$;"
                 "CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON eenet.events DEFERRABLE INITIALLY DEFERRED"
                 " FOR EACH ROW EXECUTE FUNCTION end_backend()");
}

TEST(a_commit_that_was_not_done_is_found_out)
{
    only_in_a_database();
    cut_store self = open_behind_proxy();
    ee_error error = {0};
    end_at_commit(&self.database);
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("y")}, .request = {1, 2}};
    store_group group = {.first = &entry, .now = 3};
    assert_int_equal(store_write(self.kept, &group, &error), EE_FILE_ERROR);
    assert_int_equal(entry.verdict, ENTRY_FAILED);
    assert_int_equal(store_bandit_state(self.kept, 1)->events, 2);
    assert_int_equal(((pg_store *)self.kept)->doubtful_count, 0);
    database_run(self.database.inside, "DROP TRIGGER ends ON eenet.events");
    assert_int_equal(decide(self.kept, 1, "y", 4), ENTRY_DONE);
    close_behind_proxy(&self, "=; D x; D y; ");
}

/* The database cannot be reached for long after a commit: its bandits are loaded again. */
TEST(a_commit_in_doubt_is_loaded_again)
{
    only_in_a_database();
    for (int moves = 0; moves < 2; moves++) {
        cut_store self = open_behind_proxy();
        pg_store *inside = (pg_store *)self.kept;
        ee_error error = {0};
        inside->patience = 0;
        atomic_store(&self.between->closed, true);
        assert_int_equal(decide_and_cut(&self, "y", CUTS_RESPONSE, &error), EE_FILE_ERROR);
        assert_message_has(error.message, "the database is not available");
        assert_int_equal(inside->doubtful_count, 1);
        assert_int_equal(store_bandit_state(self.kept, 1)->events, 2); /* as far as it knows */
        store_group nothing = {.now = 4};
        assert_int_equal(store_write(self.kept, &nothing, &error), EE_FILE_ERROR);
        uint64_t token = moves ? move_lease(&self.database, 1, 2) : 1;
        atomic_store(&self.between->closed, false);
        assert_int_equal(decide(self.kept, 1, "y", 4), moves ? ENTRY_MOVED : ENTRY_REPEATED);
        if (moves) token = move_lease(&self.database, 1, 1);
        assert_true(own(self.kept, 1, token));
        assert_int_equal(decide(self.kept, 1, "z", 4), ENTRY_DONE);
        close_behind_proxy(&self, "=; D x; D y; D z; ");
    }
}

/* A bandit whose creation was in doubt is known afterwards, so the next one gets another number. */
TEST(a_bandit_in_doubt_is_loaded_again)
{
    only_in_a_database();
    for (int alone = 0; alone < 2; alone++) {
        fresh_database database = database_make();
        proxy *between = start_proxy(&database);
        store *kept;
        ee_error error = {0};
        ok(alone ? store_open(between->where, &kept, &error)
                 : store_open_shared(between->where, 1, false, &kept, &error));
        if (!alone) assert_true(own(kept, LEADER, move_lease(&database, LEADER, 1)));
        ((pg_store *)kept)->patience = 0;
        bandit_settings settings = bandit_settings_usual();
        store_entry first = new_bandit(&settings, "a"), again = new_bandit(&settings, "a");
        store_group group = {.first = &first, .now = 1};
        atomic_store(&between->closed, true);
        atomic_store(&between->cuts, CUTS_RESPONSE);
        assert_int_equal(store_write(kept, &group, &error), EE_FILE_ERROR);
        assert_int_equal(first.bandit, 0);
        atomic_store(&between->closed, false);
        assert_int_equal(write_entry(kept, &again, 2), ENTRY_FAILED);
        assert_message_has(again.error.message, "already exists");
        assert_int_equal(write_bandit(kept, "b", "{}", 2), 2);
        assert_int_equal(decide(kept, 1, "x", 3), alone ? ENTRY_DONE : ENTRY_MOVED);
        if (!alone) assert_true(own(kept, 1, 1));
        assert_int_equal(decide(kept, 1, "y", 3), ENTRY_DONE);
        store_close(kept);
        stop_proxy(between);
        database_remove(&database);
    }
}

/* A statement that fails undoes the whole group, and the connection stays. */
TEST(a_failed_statement_undoes_the_group)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *kept;
    ee_error error = {0};
    ok(store_open(database.where, &kept, &error));
    write_bandit(kept, "a", "{}", 1);
    database_run(database.inside, "INSERT INTO eenet.ids VALUES (1, 'taken', 1)"); /* without a decision */
    store_entry taken = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("taken")}};
    store_entry first = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("x")}, .next = &taken};
    store_group group = {.first = &first, .now = 2};
    assert_int_equal(store_write(kept, &group, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "store: could not add the ids of decisions: duplicate key");
    assert_int_equal(first.verdict, ENTRY_FAILED);
    assert_log_is(kept, 1, "=; ");
    assert_int_equal(decide(kept, 1, "x", 2), ENTRY_DONE);
    assert_int_equal(pg_connections(((pg_store *)kept)->connection), 1);
    store_close(kept);
    database_remove(&database);
}

/* ---- the same rows as with SQLite ---- */

enum { GROUPS = 250, TOGETHER = 12, IDS = 60, BANDITS = 3 };

typedef struct pair {
    test_folder folder;
    fresh_database database;
    store *stores[2]; /* SQLite, PostgreSQL */
    uint64_t random;
    int64_t now;
    int erased, removed;
} pair;

static uint64_t draw(pair *self, uint64_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (self->random >> 33) % below;
}

typedef struct drawn {
    store_entry entries[TOGETHER];
    char ids[TOGETHER][80], reward_ids[TOGETHER][16];
    uint8_t bodies[TOGETHER][METRIC_VALUES_SIZE];
    bandit_settings settings;
} drawn;

/* A round of slots takes the places of several entries. */
static size_t draw_round(pair *self, drawn *into, size_t at, uint32_t bandit)
{
    size_t slots = 2 + draw(self, 2);
    char id[32];
    if (at + slots > TOGETHER) return 0;
    snprintf(id, sizeof id, "round-%d", (int)draw(self, IDS));
    for (size_t i = 0; i < slots; i++) {
        char slot[] = {(char)('a' + i), 0};
        into->entries[at + i] = (store_entry){
            .bandit = bandit,
            .event = {.kind = EVENT_DECISION, .id = slot_decision_id(words(id), words(slot), into->ids[at + i])},
            .request = {7, 7},
            .slot_index = i,
            .slot_count = slots,
            .with_next = i + 1 < slots};
    }
    return slots;
}

static size_t draw_entry(pair *self, drawn *into, size_t at)
{
    static const char *const json[] = {"{\"dim\":1,\"wait\":20}", "{\"dim\":2,\"wait\":30,\"aggregation\":\"sum\"}",
                                       "{\"dim\":2,\"wait\":30,\"metrics\":[{\"name\":\"r\",\"weight\":0.5}]}"};
    static const uint8_t body[3000] = {1, 2, 3};
    uint32_t bandit = 1 + (uint32_t)draw(self, BANDITS);
    uint64_t kind = draw(self, 40);
    store_entry *entry = &into->entries[at];
    if (kind < 3) return draw_round(self, into, at, bandit);
    bool of_round = kind < 30 && kind >= 16 && draw(self, 5) == 0;
    snprintf(into->ids[at], sizeof into->ids[at], "%s-%d", of_round ? "round" : "id", (int)draw(self, IDS));
    *entry = (store_entry){.bandit = bandit, .event = {.id = words(into->ids[at])}, .request = {1, 2}};
    if (kind < 16) {
        entry->event.kind = EVENT_DECISION;
        entry->event.body = body;
        entry->event.size = draw(self, sizeof body);
        entry->deferred = draw(self, 4) == 0;
    } else if (kind < 28) {
        entry->event.kind = EVENT_REWARD;
        entry->event.value = draw(self, 10) ? (double)draw(self, 7) / 3 : -0.0;
        snprintf(into->reward_ids[at], sizeof into->reward_ids[at], "%d", (int)draw(self, 4));
        if (draw(self, 2)) entry->event.reward_id = words(into->reward_ids[at]);
        if (draw(self, 2)) {
            metric_values metrics = {.reward = draw(self, 2) ? entry->event.value : NAN,
                                     .count = 2,
                                     .list = {{"r", 1, (double)draw(self, 3)}, {"other", 1, 1}}};
            entry->event.body = into->bodies[at];
            entry->event.size = metric_values_write(&metrics, into->bodies[at]);
        }
    } else if (kind < 34) {
        entry->event.kind = EVENT_ACTIVATED;
    } else if (kind < 36) {
        const char *chosen = json[draw(self, 3)];
        into->settings = bandit_settings_usual();
        ok(bandit_settings_read(&into->settings, chosen, strlen(chosen), SETTINGS_STORED, NULL));
        entry->event = (event){.kind = EVENT_SETTINGS, .body = chosen, .size = strlen(chosen)};
        entry->settings = &into->settings;
        entry->archived = draw(self, 6) == 0;
    } else {
        entry->event = (event){.kind = EVENT_STEP, .body = body, .size = 16};
    }
    return 1;
}

static void write_drawn(pair *self)
{
    static drawn into, copy;
    size_t count = 0;
    const uint32_t due[] = {1, 2, 3};
    while (count < TOGETHER && (!count || draw(self, 12))) count += draw_entry(self, &into, count);
    stored_clock clock = {self->now, (int64_t)draw(self, 100), draw(self, 2)};
    bool changes_clock = draw(self, 20) == 0, settles = draw(self, 2);
    copy = into;
    for (int i = 0; i < 2; i++) {
        drawn *used = i ? &copy : &into;
        ee_error error = {0};
        for (size_t k = 0; k + 1 < count; k++) used->entries[k].next = &used->entries[k + 1];
        store_group group = {.first = count ? used->entries : NULL,
                             .now = self->now,
                             .clock = changes_clock ? &clock : NULL,
                             .due = due,
                             .due_count = settles ? BANDITS : 0,
                             .settle_each = 5,
                             .settle_total = 9};
        if (store_write(self->stores[i], &group, &error)) fail_msg("%s", error.message);
    }
    for (size_t i = 0; i < count; i++) {
        const store_entry *a = &into.entries[i], *b = &copy.entries[i];
        assert_int_equal(a->verdict, b->verdict);
        assert_string_equal(a->error.message, b->error.message);
        assert_int_equal(a->event.number, b->event.number);
        assert_int_equal(a->event.outcome, b->event.outcome);
    }
}

static void remove_some(pair *self)
{
    uint32_t bandit = 1 + (uint32_t)draw(self, BANDITS);
    int64_t before = self->now - (int64_t)draw(self, 60000000);
    size_t limit = 1 + draw(self, 30);
    uint64_t keep_from = draw(self, 2) ? UINT64_MAX : store_bandit_state(self->stores[0], bandit)->events / 2;
    bool more[2];
    for (int i = 0; i < 2; i++) ok(store_remove(self->stores[i], bandit, before, keep_from, limit, &more[i], NULL));
    assert_int_equal(more[0], more[1]);
    self->removed += more[0];
}

static bool is_same(json_text a, json_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Whether it is a reward, an activation or the settlement of a decision, or of a slot of its round. */
static bool is_of(const event *what, const event *decision, uint64_t slots)
{
    bool numbered = what->decision >= decision->number && what->decision < decision->number + slots;
    json_text round_id = slot_round_id(decision->id, NULL);
    if (what->kind == EVENT_REWARD || what->kind == EVENT_ACTIVATED)
        return numbered || (!what->decision && is_same(slot_round_id(what->id, NULL), round_id));
    return what->kind == EVENT_SETTLED && numbered;
}

/* Whether a decision, or all slots of the round that begins with it, can be erased. */
static bool can_erase(store_reader *reader, uint32_t bandit, const stored_decision *first)
{
    const event *stored;
    stored_decision decision = *first;
    ok(store_read_one(reader, bandit, first->number, &stored, NULL));
    bool is_slot = slot_round_id(stored->id, NULL).length != stored->id.length;
    if (is_slot && !first->slots) return false;
    for (uint64_t i = 1; decision.settled && i < first->slots; i++) {
        size_t count;
        ok(store_next_decisions(reader, bandit, first->number + i - 1, &decision, 1, &count, NULL));
    }
    return decision.settled;
}

/* A decision, with its events before it. */
static size_t list_erased(store_reader *reader, uint32_t bandit, const stored_decision *first, uint64_t *numbers)
{
    event_batch batch = {0};
    const event *decision;
    uint64_t slots = first->slots ? first->slots : 1;
    size_t count = 0;
    ok(store_read_one(reader, bandit, first->number, &decision, NULL));
    ok(store_read(reader, bandit, 0, ~0u, 100000, &batch, NULL));
    for (size_t i = 0; i < batch.count; i++)
        if (is_of(&batch.events[i], decision, slots)) numbers[count++] = batch.events[i].number;
    for (uint64_t i = 0; i < slots; i++) numbers[count++] = first->number + i;
    numbers[count++] = 1; /* no decision, and often gone */
    event_batch_free(&batch);
    return count;
}

static void erase_some(pair *self)
{
    static uint64_t numbers[10000];
    uint32_t bandit = 1 + (uint32_t)draw(self, BANDITS);
    store_reader *reader;
    stored_decision decision;
    size_t count;
    ok(store_reader_create(self->stores[0], &reader, NULL));
    ok(store_next_decisions(reader, bandit, draw(self, store_bandit_state(self->stores[0], bandit)->events + 1),
                            &decision, 1, &count, NULL));
    if (count && can_erase(reader, bandit, &decision)) {
        count = list_erased(reader, bandit, &decision, numbers);
        for (int i = 0; i < 2; i++) ok(store_erase(self->stores[i], bandit, numbers, count, NULL));
        self->erased++;
    }
    store_reader_free(reader);
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

static void compare_rows(sqlite3_stmt *a, const PGresult *b, int row, const char *sql)
{
    for (int i = 0; i < sqlite3_column_count(a); i++) {
        json_text bytes = pg_text(b, row, i);
        bool same;
        switch (sqlite3_column_type(a, i)) {
        case SQLITE_NULL:
            same = pg_is_null(b, row, i);
            break;
        case SQLITE_INTEGER:
            same = bytes.length && pg_int8(b, row, i) == sqlite3_column_int64(a, i);
            break;
        case SQLITE_FLOAT: {
            double left = sqlite3_column_double(a, i), right = pg_float8(b, row, i);
            same = memcmp(&left, &right, sizeof left) == 0;
            break;
        }
        default:
            same = (size_t)sqlite3_column_bytes(a, i) == bytes.length &&
                   memcmp(sqlite3_column_blob(a, i), bytes.bytes, bytes.length) == 0;
        }
        if (!same) fail_msg("%s: row %d, column %d", sql, row, i);
    }
}

static size_t compare_tables(pair *self)
{
    static const char *const tables[] = {
        "SELECT number, name, archived, settled_to, settings, first_settings, checksum, purged FROM bandits ORDER BY 1",
        "SELECT place, kind, time, id, decision, value, outcome, reward_id, body, checksum FROM events ORDER BY 1",
        "SELECT place, time, request_a, request_b, rewards, settled, value, inactive, slots, metrics FROM decisions"
        " ORDER BY 1",
        "SELECT bandit, id, number FROM ids ORDER BY 1, 2",
        "SELECT bandit, id, reward_id, value, outcome FROM reward_ids ORDER BY 1, 2, 3",
        "SELECT bandit, id, number FROM unclaimed ORDER BY 1, 2, 3",
        "SELECT time, ahead, in_doubt, checksum FROM clock ORDER BY 1",
        "SELECT bandit, first, last, sum, settled_to, kept, checksum FROM log_ends ORDER BY 1"};
    size_t all = 0;
    raw_log folder = raw_begin(self->folder.path), database = raw_begin(self->database.where);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *rows;
        PGresult *others = raw_ask(&database, tables[i]);
        int count = 0;
        assert_int_equal(sqlite3_prepare_v2(folder.database, tables[i], -1, &rows, NULL), SQLITE_OK);
        for (; sqlite3_step(rows) == SQLITE_ROW; count++) {
            if (count >= PQntuples(others)) fail_msg("%s: fewer rows in the database", tables[i]);
            compare_rows(rows, others, count, tables[i]);
        }
        assert_int_equal(count, PQntuples(others));
        all += (size_t)count;
        sqlite3_finalize(rows);
        PQclear(others);
    }
    sqlite3_finalize(folder.event);
    sqlite3_close(folder.database);
    pg_free(database.connection);
    return all;
}

static void purge(pair *self, uint32_t bandit)
{
    for (int i = 0; i < 2; i++) {
        uint32_t next = 0;
        size_t calls = 0;
        bool more = true;
        ok(store_purge(self->stores[i], bandit, NULL));
        store_entry entry = {.bandit = bandit, .event = {.kind = EVENT_STEP}};
        assert_int_equal(write_entry(self->stores[i], &entry, self->now), ENTRY_FAILED);
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
    for (uint64_t seed = 1; seed <= 3; seed++) {
        pair self = {.folder = folder_make(), .database = database_make(), .random = seed, .now = 1000000};
        open_pair(&self);
        for (int i = 0; i < 2; i++)
            for (uint32_t k = 0; k < BANDITS; k++)
                write_bandit(self.stores[i], (const char *[]){"a", "b", "c"}[k],
                             k ? "{\"wait\":20,\"metrics\":[{\"name\":\"r\",\"weight\":-1}]}" : "{\"wait\":20}", 1);
        for (int i = 0; i < GROUPS; i++) {
            self.now += (int64_t)draw(&self, 4000000);
            write_drawn(&self);
            if (draw(&self, 6) == 0) remove_some(&self);
            if (draw(&self, 4) == 0) erase_some(&self);
            compare_states(&self);
            if (draw(&self, 40)) continue;
            store_close(self.stores[0]);
            store_close(self.stores[1]);
            open_pair(&self);
        }
        assert_true(compare_tables(&self) > 500);
        assert_true(self.erased > 5 && self.removed > 5);
        purge(&self, 2);
        compare_tables(&self);
        store_close(self.stores[0]);
        store_close(self.stores[1]);
        open_pair(&self);
        uint64_t page = 0;
        for (bool more = true; more;) ok(store_scrub(self.stores[1], &page, 100, &more, NULL));
        assert_true(store_bytes(self.stores[1]) > 1000000);
        store_close(self.stores[0]);
        store_close(self.stores[1]);
        database_remove(&self.database);
        folder_remove(&self.folder);
    }
}

/* ---- spools ---- */

static ee_status deliver(store *kept, uint64_t before, uint64_t position, int64_t now, ee_error *error)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_STEP}};
    store_group group = {
        .first = &entry, .now = now, .spool = "one", .spool_before = before, .spool_position = position};
    return store_write(kept, &group, error);
}

TEST(the_position_of_a_spool_is_part_of_the_group)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *kept;
    ee_error error = {0};
    ok(store_open(database.where, &kept, &error));
    write_bandit(kept, "a", "{}", 5);
    ok(deliver(kept, 0, 10, 5, &error));
    ok(deliver(kept, 10, 11, 5, &error));
    assert_int_equal(deliver(kept, 11, 12, 1, &error), EE_BAD_INPUT);
    assert_int_equal(ask_number(&database, "SELECT delivered FROM eenet.spools WHERE spool = 'one'"), 11);
    store_group probe = {.now = 5, .probe = true};
    ok(store_write(kept, &probe, &error));
    store_close(kept);
    database_remove(&database);
}

TEST(what_a_spool_has_delivered_is_refused)
{
    only_in_a_database();
    fresh_database database = database_make();
    store *kept;
    ee_error error = {0};
    uint64_t position = 0;
    ok(store_open(database.where, &kept, &error));
    write_bandit(kept, "a", "{}", 5);
    ok(deliver(kept, 0, 10, 5, &error));
    assert_int_equal(deliver(kept, 0, 10, 5, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "already in the database");
    assert_int_equal(deliver(kept, 9, 12, 5, &error), EE_FILE_ERROR);
    assert_log_is(kept, 1, "=; P; ");
    ok(store_spool_position(kept, "one", &position, &error));
    assert_int_equal(position, 10);
    /* It has committed a lock on the row: with a standby, that commit waits until the position is there too. */
    assert_int_equal(ask_number(&database,
                                "SELECT (xmax <> '0' AND pg_xact_status(xmax::text::xid8) = 'committed')::int"
                                " FROM eenet.spools"),
                     1);
    database_run(database.inside, "UPDATE eenet.spools SET delivered = 3"); /* as a failover may lose commits */
    ok(deliver(kept, 10, 11, 5, &error));
    assert_log_is(kept, 1, "=; P; P; ");
    store_close(kept);
    database_remove(&database);
}
