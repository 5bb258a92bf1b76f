/* What a damaged, strange, old or locked store is answered, and a disk that is full. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/random_log.h"
#include "serve/shown_log.h"
#include "serve/store/sqlite/store_sqlite.h"
#include "serve/store_bench.h"

/* ---- what is refused ---- */

static void assert_refused(const char *part)
{
    store *kept;
    assert_fails(store_open(bench.place.folder.path, &kept, &last_error), EE_FILE_ERROR, last_error, part);
    assert_null(kept);
}

TEST_WITH(a_folder_is_served_once, set_up, tear_down)
{
    assert_refused("store: another process is serving ");
    store_reader *other;
    ok(store_open_reader(bench.place.folder.path, &other, &last_error));
    store_reader_free(other);
}

/* The database itself is locked, not only a file that can be deleted. */
TEST_WITH(deleting_the_lock_lets_nobody_in, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 1);
    assert_int_equal(unlink(folder_path(&bench.place.folder, "lock")), 0);
    pid_t child = fork();
    if (child == 0) {
        store *kept;
        ee_status status = store_open(bench.place.folder.path, &kept, &last_error);
        _exit(status != EE_FILE_ERROR || !strstr(last_error.message, "store: another process is serving "));
    }
    int result = 1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    append(1, EVENT_STEP, 1);
    close_store();
    open_store(); /* and the next one may */
    assert_string_equal(events_of(1), "1:6@1  2:4@1  ");
}

static int check_mode(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    mode_t expected = kind == FTW_D ? 0700 : 0600;
    if ((about->st_mode & 07777) != expected) fail_msg("%s has mode %o", path, (unsigned)about->st_mode & 07777);
    return 0;
}

/* Whatever the umask, only the owner may read what the store writes. */
TEST(files_are_private)
{
    test_folder folder = folder_make();
    char data[300], copy[300], *scratch;
    store *kept;
    mode_t before = umask(0);
    snprintf(data, sizeof data, "%s/data", folder.path);
    snprintf(copy, sizeof copy, "%s/copy", folder.path);
    ok(store_open(data, &kept, NULL));
    write_bandit(kept, "a", "{}", 1);
    write_checkpoint(kept, 1, 2, 50);
    for (int kind = BLOB_LIVE_STATE; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(1, (blob_kind)kind, kind == BLOB_LIVE_STATE ? "" : "key");
        ok(blob_put(store_blobs(kept), name, "x", 1, NULL));
    }
    ok(blobs_scratch(store_blobs(kept), ".x", &scratch, NULL));
    memory_free(scratch);
    ok(store_backup(data, copy, NULL, NULL, NULL, NULL));
    assert_int_equal(nftw(data, check_mode, 8, FTW_PHYS), 0);
    assert_int_equal(nftw(copy, check_mode, 8, FTW_PHYS), 0);
    umask(before);
    store_close(kept);
    folder_remove(&folder);
}

static void run_sql(const char *sql)
{
    raw_log raw = {NULL, NULL, NULL};
    assert_int_equal(sqlite3_open(folder_path(&bench.place.folder, "eenet.db"), &raw.database), SQLITE_OK);
    raw_run(&raw, sql);
    raw_close(&raw);
}

TEST_WITH(other_versions_and_programs_are_refused, set_up, tear_down)
{
    store_reader *reader;
    close_store();
    run_sql("PRAGMA user_version = 1000");
    assert_refused("eenet.db has version 1000, written by a newer eenet");
    assert_int_equal(store_open_reader(bench.place.folder.path, &reader, &last_error), EE_FILE_ERROR);
    assert_null(reader);
    run_sql("PRAGMA user_version = 0");
    assert_fails(store_open_reader(bench.place.folder.path, &reader, &last_error), EE_FILE_ERROR, last_error,
                 "start the server on it once");
    run_sql("PRAGMA application_id = 77");
    assert_refused("eenet.db belongs to another program");
    test_place_remove(&bench.place);
    bench.place = test_place_make();
    assert_fails(store_open_reader(bench.place.folder.path, &reader, &last_error), EE_FILE_ERROR, last_error,
                 "is not a server's folder: it has no eenet.db");
    open_store();
}

TEST(steps_of_an_upgrade_are_whole)
{
    const char *const steps[] = {"CREATE TABLE a (x); INSERT INTO a VALUES (1)", "UPDATE a SET x = x + 1",
                                 "UPDATE a SET x = 100; UPDATE missing SET x = 1"};
    sqlite3 *database;
    sqlite3_stmt *statement;
    sqlite3_open(":memory:", &database);
    ok(store_migrate(database, steps, 1, &last_error));
    ok(store_migrate(database, steps, 2, &last_error));
    ok(store_migrate(database, steps, 2, &last_error));
    assert_fails(store_migrate(database, steps, 3, &last_error), EE_FILE_ERROR, last_error,
                 "store: could not upgrade eenet.db: no such table: missing");
    sqlite3_prepare_v2(database, "SELECT x, (SELECT user_version FROM pragma_user_version) FROM a", -1, &statement,
                       NULL);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 2);
    assert_int_equal(sqlite3_column_int(statement, 1), 2);
    sqlite3_finalize(statement);
    assert_int_equal(store_migrate(database, steps, 1, &last_error), EE_FILE_ERROR);
    sqlite3_close(database);
}

/* A store as version 1 wrote it. Whatever versions come, this opens, and says the same. */
TEST_WITH(a_store_of_version_1_opens, set_up, tear_down)
{
    close_store();
    test_place_remove(&bench.place);
    bench.place = test_place_make();
    FILE *file = fopen(EENET_GOLDEN_DIR "/store_1.sql", "rb");
    static char script[1 << 14];
    script[fread(script, 1, sizeof script - 1, file)] = '\0';
    fclose(file);
    run_sql(script);
    open_store();
    assert_string_equal(events_of(1), "1:6@0  2:1@1 first 3:2@2 first 4:3@2  5:1@3 second "
                                      "6:2@4 unknown 7:4@5  ");
    assert_string_equal(bandits_of(), "1 shop 1-7@5 settled 4 {\"dim\":2}; "
                                      "2 news archived 1-1@0 settled 0 {\"dim\":2}; ");
    assert_log_is(bench.kept, 1,
                  "=; D first; R first 0.5 joined 2; S 2 0.5 rewarded; D second; R unknown -1 unknown 0; P; ");
    const bandit_state *known = store_bandit_state(bench.kept, 1);
    assert_true(known->unclaimed == 1 && known->waiting == 1 && known->events == 7 && known->time == 5);
    store_entry first = {.bandit = 1,
                         .event = {.kind = EVENT_DECISION, .id = words("first")},
                         .request = {0x0123456789abcdef, 0xfedcba9876543210}};
    assert_int_equal(write_entry(bench.kept, &first, 6), ENTRY_REPEATED);
    assert_int_equal(first.event.number, 2);
    stored_decision decision;
    size_t count;
    ok(store_next_decisions(bench.reader, 1, 0, &decision, 1, &count, &last_error));
    assert_true(count == 1 && decision.number == 2 && decision.settled == 4 && !decision.inactive &&
                decision.rewards == 1 && decision.value == 0.5);
    ok(store_next_decisions(bench.reader, 1, 2, &decision, 1, &count, &last_error));
    assert_true(count == 1 && decision.number == 5 && !decision.settled);
    assert_int_equal(give(1, 6, "first", 0.5, "click-1"), OUTCOME_NONE); /* repeated */
    assert_int_equal(decide(1, 6, "unknown"), ENTRY_DONE);               /* with the reward that waits for it */
    assert_log_is(bench.kept, 1,
                  "=; D first; R first 0.5 joined 2; S 2 0.5 rewarded; D second; R unknown -1 unknown 0; P; "
                  "D unknown; R unknown -1 claimed 8; S 8 -1 rewarded; ");
}

/* Bytes anywhere in the file may be anything: a sentence, or what was there, but no crash. */
TEST_WITH(a_damaged_file_is_told_of, set_up, tear_down)
{
    write_log();
    close_store();
    const char *path = folder_path(&bench.place.folder, "eenet.db");
    FILE *file = fopen(path, "rb");
    static uint8_t good[1 << 20], bad[1 << 20];
    size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    uint64_t noise = 1;
    size_t told = 0;
    for (int round = 0; round < 40; round++) {
        memcpy(bad, good, size);
        for (int i = 0; i < 200; i++) {
            noise = noise * 6364136223846793005u + 1442695040888963407u;
            size_t at = (noise >> 33) % size;
            bad[round % 2 ? at : at % 200] = (uint8_t)(noise >> 25);
        }
        folder_write(&bench.place.folder, "eenet.db", bad, round % 3 ? size : size / 2);
        store *kept;
        store_reader *reader;
        uint64_t last;
        ee_status status = store_open(bench.place.folder.path, &kept, &last_error);
        if (!status) store_close(kept);
        if (!status) status = store_open_reader(bench.place.folder.path, &reader, &last_error);
        if (!status) {
            if (!see_events(reader, 1, 0, ALL, 100, &last, &last_error)) status = last_error.status;
            store_reader_free(reader);
        }
        if (status) assert_message_has(last_error.message, "store: ");
        told += status != EE_OK;
    }
    assert_true(told > 20);
    folder_write(&bench.place.folder, "eenet.db", good, size);
    open_store();
}

/* ---- a disk that is full ---- */

/* The most that a file may have; RLIM_INFINITY: anything. */
static void limit_files(rlim_t most)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_WITH(a_full_disk_heals, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 1);
    limit_files(100000);
    for (int again = 0; again < 2; again++) {
        assert_fails(write_steps(100, 5000, "x", 1), EE_FILE_ERROR, last_error,
                     "store: could not commit a transaction: ");
        assert_int_equal(store_bandit_state(bench.kept, 1)->unclaimed, 0);
        assert_int_equal(store_bandit_state(bench.kept, 1)->events, 1);
        assert_string_equal(events_of(1), "1:6@1  ");
    }
    limit_files(RLIM_INFINITY);
    ok(write_steps(100, 5000, "x", 1));
    assert_int_equal(store_bandit_state(bench.kept, 1)->unclaimed, 1);
    close_store();
    open_store();
    assert_string_equal(bandits_of(), "1 a 1-102@1 settled 0 {}; ");
    assert_int_equal(store_bandit_state(bench.kept, 1)->unclaimed, 1);
}

/* A probe writes something even if the group is empty, and changes nothing. */
TEST_WITH(a_probe_finds_a_full_disk, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 1);
    limit_files(1000);
    store_group nothing = {.now = 2}, probe = {.now = 2, .probe = true};
    ok(store_write(bench.kept, &nothing, &last_error));
    assert_int_equal(store_write(bench.kept, &probe, &last_error), EE_FILE_ERROR);
    limit_files(RLIM_INFINITY);
    ok(store_write(bench.kept, &probe, &last_error));
    assert_string_equal(bandits_of(), "1 a 1-1@1 settled 0 {}; ");
}

/* How often the log of transactions has started anew: in its head. */
static uint32_t log_turns(void)
{
    uint8_t head[16] = {0};
    FILE *file = fopen(folder_path(&bench.place.folder, "eenet.db-wal"), "rb");
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    return (uint32_t)head[12] << 24 | (uint32_t)head[13] << 16 | (uint32_t)head[14] << 8 | head[15];
}

/* It must, while the writer never rests, or it would fill the disk. */
TEST_WITH(the_log_of_transactions_starts_anew, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 1);
    uint32_t before = log_turns();
    for (int i = 0; log_turns() == before; i++) {
        assert_true(i < 400); /* 200 MB */
        ok(write_steps(100, 5000, NULL, 1));
    }
}
