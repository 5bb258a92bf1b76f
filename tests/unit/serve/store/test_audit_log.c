/* The audit log: in a database if EENET_TEST_POSTGRES is set, else in a folder. */
#include "serve/store/places/audit_log.h"

#include <pthread.h>

#include "serve/test_place.h"

typedef struct audit_place {
    test_place at;
    audit_log *log;
} audit_place;

static audit_place place_make(void)
{
    audit_place self = {.at = test_place_make()};
    ok(audit_log_open(self.at.where, &self.log, NULL));
    return self;
}

static void place_remove(audit_place *self)
{
    audit_log_close(self->log);
    test_place_remove(&self->at);
}

static void append(audit_log *log, const char *line)
{
    ok(audit_log_append(log, words(line), NULL));
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

static void append_numbers(audit_log *log, unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        char line[32];
        snprintf(line, sizeof line, "{\"n\":%u}", i);
        append(log, line);
    }
}

/* Reads all from *place on, each call at most `most` lines. Returns how many. */
static unsigned read_on(audit_log *log, uint64_t *place, unsigned first, unsigned most)
{
    expected seen = {first, most};
    for (bool more = true; more; seen.left = most) ok(audit_log_read(log, place, expect_next, &seen, &more, NULL));
    return seen.next - first;
}

TEST(entries_are_read_in_pages)
{
    audit_place at = place_make();
    uint64_t place = 0, again = 0;
    assert_int_equal(read_on(at.log, &place, 0, 7), 0);
    assert_int_equal(place, 0);
    append_numbers(at.log, 0, 600);
    assert_int_equal(read_on(at.log, &place, 0, 7), 600);
    append_numbers(at.log, 600, 3);
    assert_int_equal(read_on(at.log, &place, 600, UINT32_MAX), 3);
    audit_log_close(at.log);
    ok(audit_log_open(at.at.where, &at.log, NULL));
    append_numbers(at.log, 603, 1);
    assert_int_equal(read_on(at.log, &place, 603, 2), 1);
    assert_int_equal(read_on(at.log, &again, 0, UINT32_MAX), 604);
    assert_int_equal(again, place);
    again = UINT64_MAX / 4; /* behind the end */
    assert_int_equal(read_on(at.log, &again, 0, 7), 0);
    place_remove(&at);
}

static bool keep_length(void *context, json_text line)
{
    *(size_t *)context = line.length;
    return true;
}

TEST(a_long_entry_is_whole)
{
    enum { LONG = 100000 };
    audit_place at = place_make();
    char *line = malloc(LONG + 1);
    uint64_t place = 0;
    size_t length = 0;
    bool more;
    memset(line, 'x', LONG);
    line[LONG] = '\0';
    append(at.log, line);
    ok(audit_log_read(at.log, &place, keep_length, &length, &more, NULL));
    assert_true(more);
    assert_int_equal(length, LONG);
    free(line);
    place_remove(&at);
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

TEST(no_line_is_passed_over)
{
    audit_place at = place_make();
    pthread_t threads[WRITERS];
    audit_log *logs[WRITERS];
    uint64_t place = 0;
    unsigned seen = 0;
    bool more;
    for (int i = 0; i < WRITERS; i++) {
        logs[i] = at.log;
        if (test_postgres()) ok(audit_log_open(at.at.where, &logs[i], NULL)); /* as another server */
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, logs[i]), 0);
    }
    while (seen < WRITERS * EACH / 2) ok(audit_log_read(at.log, &place, count_line, &seen, &more, NULL));
    for (int i = 0; i < WRITERS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        if (logs[i] != at.log) audit_log_close(logs[i]);
    }
    for (more = true; more;) ok(audit_log_read(at.log, &place, count_line, &seen, &more, NULL));
    assert_int_equal(seen, WRITERS * EACH);
    place_remove(&at);
}

/* ---- of a database ---- */

TEST(a_lost_connection_is_made_again)
{
    only_in_a_database();
    audit_place at = place_make();
    uint64_t place = 0;
    append_numbers(at.log, 0, 1);
    assert_int_equal(database_cut(&at.at.database, "pool"), 1);
    append_numbers(at.log, 1, 1);
    assert_int_equal(database_cut(&at.at.database, "pool"), 1);
    assert_int_equal(read_on(at.log, &place, 0, 9), 2);
    place_remove(&at);
}

/* The connection breaks behind the commit: a trigger ends it when the transaction is about to commit, and a second
 * entry of the same content stands for the one that was committed. */
TEST(an_entry_that_was_written_is_not_repeated)
{
    only_in_a_database();
    audit_place at = place_make();
    uint64_t place = 0;
    append_numbers(at.log, 0, 1);
    database_run(at.at.database.inside,
                 "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " IF NEW.number < 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
                 " RETURN NEW; END $$;"
                 "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON eenet.audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
                 " EXECUTE FUNCTION cut()");
    append_numbers(at.log, 0, 1); /* the attempt is rolled back, and its line is found: nothing is added */
    assert_int_equal(read_on(at.log, &place, 0, 9), 1);
    append_numbers(at.log, 1, 1); /* number 3 */
    assert_int_equal(read_on(at.log, &place, 1, 9), 1);
    place_remove(&at);
}

TEST(a_database_without_tables_is_refused)
{
    only_in_a_database();
    audit_log *log;
    ee_error error = {0};
    assert_int_equal(audit_log_open(test_postgres(), &log, &error), EE_FILE_ERROR);
    assert_null(log);
    assert_message_has(error.message, "the database has no tables of eenet");
}
