/* The audit log: in a database if EENET_TEST_POSTGRES is set, else in a folder. */
#include "serve/store/places/audit_log.h"

#include <pthread.h>

#include "serve/test_place.h"

static struct {
    test_place at;
    audit_log *log;
} audit;

static int set_up(void **state)
{
    (void)state;
    audit.at = test_place_make();
    ok(audit_log_open(audit.at.where, &audit.log, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    audit_log_close(audit.log);
    test_place_remove(&audit.at);
    return 0;
}

/* Expects {"n":0}, {"n":1}, ... and stops after `left` lines. */
typedef struct expected {
    unsigned next, left;
} expected;

static bool expect_next(void *context, json_text line)
{
    expected *self = context;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "{\"n\":%u}", self->next++);
    assert_int_equal(line.length, strlen(wanted));
    assert_memory_equal(line.bytes, wanted, line.length);
    return --self->left > 0;
}

static void append_numbers(unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        char line[32];
        snprintf(line, sizeof line, "{\"n\":%u}", i);
        ok(audit_log_append(audit.log, words(line), NULL));
    }
}

/* Reads all from *place on, each call at most `most` lines. Returns how many. */
static unsigned read_on(uint64_t *place, unsigned first, unsigned most)
{
    expected seen = {first, most};
    for (bool more = true; more; seen.left = most)
        ok(audit_log_read(audit.log, place, expect_next, &seen, &more, NULL));
    return seen.next - first;
}

TEST_WITH(entries_are_read_in_pages, set_up, tear_down)
{
    uint64_t place = 0, again = 0;
    assert_int_equal(read_on(&place, 0, 7), 0);
    assert_int_equal(place, 0);
    append_numbers(0, 600);
    assert_int_equal(read_on(&place, 0, 7), 600);
    append_numbers(600, 3);
    assert_int_equal(read_on(&place, 600, UINT32_MAX), 3);
    audit_log_close(audit.log);
    ok(audit_log_open(audit.at.where, &audit.log, NULL));
    append_numbers(603, 1);
    assert_int_equal(read_on(&place, 603, 2), 1);
    assert_int_equal(read_on(&again, 0, UINT32_MAX), 604);
    assert_int_equal(again, place);
    again = UINT64_MAX / 4; /* behind the end */
    assert_int_equal(read_on(&again, 0, 7), 0);
}

static bool keep_length(void *context, json_text line)
{
    *(size_t *)context = line.length;
    return true;
}

TEST_WITH(a_long_entry_is_whole, set_up, tear_down)
{
    static char line[100000];
    uint64_t place = 0;
    size_t length = 0;
    bool more;
    memset(line, 'x', sizeof line);
    ok(audit_log_append(audit.log, (json_text){line, sizeof line}, NULL));
    ok(audit_log_read(audit.log, &place, keep_length, &length, &more, NULL));
    assert_true(more);
    assert_int_equal(length, sizeof line);
}

/* ---- several writers: a reader that has seen a line has seen all before it ---- */

enum { WRITERS = 4, EACH = 50 };

static void *write_some(void *context)
{
    for (int i = 0; i < EACH; i++)
        if (audit_log_append(context, (json_text){"{}", 2}, NULL)) return context;
    return NULL;
}

static bool count_line(void *context, json_text line)
{
    (void)line;
    ++*(unsigned *)context;
    return true;
}

TEST_WITH(no_line_is_passed_over, set_up, tear_down)
{
    pthread_t threads[WRITERS];
    audit_log *logs[WRITERS];
    uint64_t place = 0;
    unsigned seen = 0;
    bool more;
    for (int i = 0; i < WRITERS; i++) {
        logs[i] = audit.log;
        if (test_postgres()) ok(audit_log_open(audit.at.where, &logs[i], NULL)); /* as another server */
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, logs[i]), 0);
    }
    while (seen < WRITERS * EACH / 2) ok(audit_log_read(audit.log, &place, count_line, &seen, &more, NULL));
    for (int i = 0; i < WRITERS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        if (logs[i] != audit.log) audit_log_close(logs[i]);
    }
    for (more = true; more;) ok(audit_log_read(audit.log, &place, count_line, &seen, &more, NULL));
    assert_int_equal(seen, WRITERS * EACH);
}

/* ---- of a database ---- */

TEST_WITH(a_lost_connection_is_made_again, set_up, tear_down)
{
    only_in_a_database();
    uint64_t place = 0;
    append_numbers(0, 1);
    assert_int_equal(database_cut(&audit.at.database, "pool"), 1);
    append_numbers(1, 1);
    assert_int_equal(database_cut(&audit.at.database, "pool"), 1);
    assert_int_equal(read_on(&place, 0, 9), 2);
}

/* The connection breaks behind the commit: a trigger ends it when the transaction is about to commit, and a second
 * entry of the same content stands for the one that was committed. */
TEST_WITH(an_entry_that_was_written_is_not_repeated, set_up, tear_down)
{
    only_in_a_database();
    uint64_t place = 0;
    append_numbers(0, 1);
    database_run(audit.at.database.inside,
                 "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " IF NEW.number < 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
                 " RETURN NEW; END $$;"
                 "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON eenet.audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
                 " EXECUTE FUNCTION cut()");
    append_numbers(0, 1); /* the attempt is rolled back, and its line is found: nothing is added */
    assert_int_equal(read_on(&place, 0, 9), 1);
    append_numbers(1, 1); /* number 3 */
    assert_int_equal(read_on(&place, 1, 9), 1);
}

TEST(a_database_without_tables_is_refused)
{
    only_in_a_database();
    audit_log *log;
    assert_fails(audit_log_open(test_postgres(), &log, &last_error), EE_FILE_ERROR, last_error,
                 "the database has no tables of eenet");
    assert_null(log);
}
