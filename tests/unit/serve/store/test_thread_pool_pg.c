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
static struct {
    test_place place;
    sem_t begun, may_end;
    struct pool_call {
        pg_session session;
        pthread_t thread;
        ee_status status;
        ee_error error;
    } calls[CALLS];
} pool;

static ee_status hold(void *context, ee_error *error)
{
    struct pool_call *self = context;
    sem_post(&pool.begun);
    sem_wait(&pool.may_end);
    return pg_execute(self->session.connection, "SELECT 1", "ask", error);
}

static void *run_call(void *context)
{
    struct pool_call *self = context;
    self->status = pg_session_run(&self->session, hold, self, &self->error);
    return NULL;
}

static void start(int from, int to)
{
    for (int i = from; i < to; i++) {
        struct pool_call *call = &pool.calls[i];
        ok(pg_session_open(&(pg_options){.where = pool.place.where}, &call->session, NULL));
        assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
    }
}

static void finish(ee_status expected)
{
    for (int i = 0; i < CALLS; i++) sem_post(&pool.may_end);
    for (int i = 0; i < CALLS; i++) pthread_join(pool.calls[i].thread, NULL);
    for (int i = 0; i < CALLS; i++) assert_int_equal(pool.calls[i].status, expected);
}

static int64_t count_pool(void)
{
    return database_ask(pool.place.database.inside,
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
                        " application_name = 'eenet pool'");
}

static int set_up(void **state)
{
    (void)state;
    if (!test_postgres()) return 0;
    memset(&pool, 0, sizeof pool);
    pool.place = test_place_make();
    sem_init(&pool.begun, 0, 0);
    sem_init(&pool.may_end, 0, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!test_postgres()) return 0;
    for (int i = 0; i < CALLS; i++) pg_session_close(&pool.calls[i].session);
    test_place_remove(&pool.place);
    return 0;
}

TEST_WITH(calls_share_a_few_connections, set_up, tear_down)
{
    only_in_a_database();
    start(0, CALLS);
    for (int i = 0; i < PG_POOL; i++) sem_wait(&pool.begun);
    assert_int_equal(sem_trywait(&pool.begun), -1); /* the others wait */
    assert_int_equal(count_pool(), PG_POOL);
    finish(EE_OK);
    assert_int_equal(count_pool(), PG_POOL);
}

/* One call that takes long leaves the other connections to the others. */
TEST_WITH(a_slow_call_stops_no_other, set_up, tear_down)
{
    only_in_a_database();
    start(0, 1);
    sem_wait(&pool.begun);
    for (int i = 1; i < CALLS; i++) sem_post(&pool.may_end);
    start(1, CALLS);
    /* The first may have taken the place of one of them. */
    for (int i = 1; i < CALLS; i++) sem_wait(&pool.begun);
    finish(EE_OK);
}

/* Calls that wait do not try to connect one after the other. */
TEST_WITH(all_calls_fail_if_none_can_connect, set_up, tear_down)
{
    only_in_a_database();
    start(0, CALLS);
    for (int i = 0; i < PG_POOL; i++) sem_wait(&pool.begun);
    database_allow(&pool.place.database, false);
    assert_int_equal(database_cut(&pool.place.database, "pool"), PG_POOL);
    finish(EE_FILE_ERROR);
    for (int i = 0; i < CALLS; i++)
        assert_message_has(pool.calls[i].error.message, "is not currently accepting connections");
    database_allow(&pool.place.database, true);
    run_call(&pool.calls[0]);
    ok(pool.calls[0].status);
}

/* A call uses a connection that the server has ended: its first statement may be of the call, or of connecting. */
TEST_WITH(an_ended_connection_is_made_again, set_up, tear_down)
{
    only_in_a_database();
    for (int i = 0; i < CALLS; i++) sem_post(&pool.may_end);
    for (int i = 0; i < 2; i++) {
        start(i, i + 1);
        pthread_join(pool.calls[i].thread, NULL);
        ok(pool.calls[i].status);
        assert_int_equal(database_cut(&pool.place.database, "pool"), 1);
    }
    run_call(&pool.calls[0]);
    ok(pool.calls[0].status);
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
