/* The connections that sessions share (pg_session.h), and when they are made. In a database only. */
#define _GNU_SOURCE
#include "serve/store/postgres/pg_session.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>

#include "serve/test_place.h"

enum { CALLS = 3 * PG_POOL };

/* Calls that keep their connection until they may go on. */
typedef struct pool_stage {
    test_place place;
    sem_t begun, may_end;
    struct pool_call {
        struct pool_stage *of;
        pg_session session;
        pthread_t thread;
        ee_status status;
        ee_error error;
    } calls[CALLS];
} pool_stage;

static ee_status hold(void *context, ee_error *error)
{
    struct pool_call *self = context;
    sem_post(&self->of->begun);
    sem_wait(&self->of->may_end);
    return pg_execute(self->session.connection, "SELECT 1", "ask", error);
}

static void *run_call(void *context)
{
    struct pool_call *self = context;
    self->status = pg_session_run(&self->session, hold, self, &self->error);
    return NULL;
}

static void start(pool_stage *self, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct pool_call *call = &self->calls[i];
        call->of = self;
        ok(pg_session_open(&(pg_options){.where = self->place.where}, &call->session, NULL));
        assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
    }
}

static void finish(pool_stage *self)
{
    for (int i = 0; i < CALLS; i++) sem_post(&self->may_end);
    for (int i = 0; i < CALLS; i++) pthread_join(self->calls[i].thread, NULL);
}

static int64_t count_pool(pool_stage *self)
{
    PGresult *rows;
    ok(pg_query(
        self->place.database.inside,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'eenet "
        "pool'",
        "count", &rows, NULL));
    int64_t count = pg_int8(rows, 0, 0);
    PQclear(rows);
    return count;
}

static int set_up(void **state)
{
    static pool_stage self;
    *state = NULL;
    if (!test_postgres()) return 0;
    self = (pool_stage){.place = test_place_make()};
    sem_init(&self.begun, 0, 0);
    sem_init(&self.may_end, 0, 0);
    *state = &self;
    return 0;
}

static int tear_down(void **state)
{
    pool_stage *self = *state;
    if (!self) return 0;
    for (int i = 0; i < CALLS; i++)
        if (self->calls[i].of) pg_session_close(&self->calls[i].session);
    test_place_remove(&self->place);
    return 0;
}

TEST_WITH(calls_share_a_few_connections, set_up, tear_down)
{
    only_in_a_database();
    pool_stage *self = *state;
    start(self, 0, CALLS);
    for (int i = 0; i < PG_POOL; i++) sem_wait(&self->begun);
    assert_int_equal(sem_trywait(&self->begun), -1); /* the others wait */
    assert_int_equal(count_pool(self), PG_POOL);
    finish(self);
    for (int i = 0; i < CALLS; i++) ok(self->calls[i].status);
    assert_int_equal(count_pool(self), PG_POOL);
}

/* One call that takes long leaves the other connections to the others. */
TEST_WITH(a_slow_call_stops_no_other, set_up, tear_down)
{
    only_in_a_database();
    pool_stage *self = *state;
    start(self, 0, 1);
    sem_wait(&self->begun);
    for (int i = 1; i < CALLS; i++) sem_post(&self->may_end);
    start(self, 1, CALLS);
    /* The first may have taken the place of one of them. */
    for (int i = 1; i < CALLS; i++) sem_wait(&self->begun);
    finish(self);
    for (int i = 0; i < CALLS; i++) ok(self->calls[i].status);
}

static void allow(pool_stage *self, bool on)
{
    char sql[200];
    snprintf(sql, sizeof sql, "ALTER DATABASE %s WITH ALLOW_CONNECTIONS %s", self->place.database.name,
             on ? "true" : "false");
    database_run(self->place.database.server, sql);
}

/* Calls that wait do not try to connect one after the other. */
TEST_WITH(all_calls_fail_if_none_can_connect, set_up, tear_down)
{
    only_in_a_database();
    pool_stage *self = *state;
    start(self, 0, CALLS);
    for (int i = 0; i < PG_POOL; i++) sem_wait(&self->begun);
    allow(self, false);
    assert_int_equal(database_cut(&self->place.database, "pool"), PG_POOL);
    finish(self);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(self->calls[i].status, EE_FILE_ERROR);
        assert_message_has(self->calls[i].error.message, "is not currently accepting connections");
    }
    allow(self, true);
    run_call(&self->calls[0]);
    ok(self->calls[0].status);
}

/* A call uses a connection that the server has ended: its first statement may be of the call, or of connecting. */
TEST_WITH(an_ended_connection_is_made_again, set_up, tear_down)
{
    only_in_a_database();
    pool_stage *self = *state;
    for (int i = 0; i < CALLS; i++) sem_post(&self->may_end);
    for (int i = 0; i < 2; i++) {
        start(self, i, i + 1);
        pthread_join(self->calls[i].thread, NULL);
        ok(self->calls[i].status);
        assert_int_equal(database_cut(&self->place.database, "pool"), 1);
    }
    run_call(&self->calls[0]);
    ok(self->calls[0].status);
}

/* ---- connecting ---- */

typedef struct attempt {
    char where[300];
    ee_error error;
    pthread_t thread;
} attempt;

static void *connect_to_mute(void *context)
{
    attempt *self = context;
    pg_connection *on;
    ok(pg_create(&(pg_options){.where = self->where}, &on, NULL));
    assert_int_equal(pg_connect(on, &self->error), EE_FILE_ERROR);
    pg_free(on);
    return NULL;
}

/* A server that accepts connections and says nothing. The attempt with the shorter timeout begins last and ends first.
 */
TEST(the_connection_string_has_the_timeout)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    attempt patient = {0}, hasty = {0};
    int mute = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(mute, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(mute, 5), 0);
    assert_int_equal(getsockname(mute, (struct sockaddr *)&address, &size), 0);
    static const char where[] = "postgresql://127.0.0.1:%u/none?sslmode=disable&connect_timeout=%d";
    snprintf(patient.where, sizeof patient.where, where, (unsigned)ntohs(address.sin_port), 600);
    snprintf(hasty.where, sizeof hasty.where, where, (unsigned)ntohs(address.sin_port), 2);
    assert_int_equal(pthread_create(&patient.thread, NULL, connect_to_mute, &patient), 0);
    int accepted = accept(mute, NULL, NULL);
    connect_to_mute(&hasty);
    close(accepted);
    pthread_join(patient.thread, NULL);
    assert_message_has(hasty.error.message, "timeout expired");
    assert_message_has(patient.error.message, "server closed the connection unexpectedly");
    close(mute);
}
