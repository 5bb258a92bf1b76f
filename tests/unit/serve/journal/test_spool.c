/* The spool's file: what is acknowledged is found again, however it ended, and damage is noticed. */
#define _POSIX_C_SOURCE 200809L
#include "serve/journal/spool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support_files.h"

enum { MOST = 64 };

static struct {
    spool *spool;              /* in the folder `here` */
    store_entry entries[MOST]; /* of the chain that is being made */
    size_t count;
} stage;

static int set_up(void **state)
{
    folder_enter(state);
    stage.count = 0;
    ok(spool_open(here.path, &stage.spool, NULL));
    return 0;
}

static void close_spool(void)
{
    spool_close(stage.spool);
    stage.spool = NULL;
}

static int tear_down(void **state)
{
    close_spool();
    return folder_leave(state);
}

static void reopen(void)
{
    close_spool();
    ok(spool_open(here.path, &stage.spool, NULL));
}

/* ---- entries ---- */

static store_entry *add(uint32_t bandit, event_kind kind, const char *id, const char *body)
{
    assert_true(stage.count < MOST);
    store_entry *entry = &stage.entries[stage.count];
    *entry = (store_entry){.bandit = bandit,
                           .event = {.kind = kind, .id = words(id), .body = body, .size = strlen(body)},
                           .request = {7, strlen(body)}};
    if (stage.count) stage.entries[stage.count - 1].next = entry;
    stage.count++;
    return entry;
}

static ee_status append(int64_t time)
{
    ee_status status = spool_append(stage.spool, stage.entries, time, NULL);
    stage.count = 0;
    return status;
}

static void decide(int64_t time, uint32_t bandit, const char *id, const char *body, entry_verdict expected)
{
    const store_entry *entry = add(bandit, EVENT_DECISION, id, body);
    ok(append(time));
    assert_int_equal(entry->verdict, expected);
}

/* Delivers all, and compares it: "TIME:BANDIT kind id body " for each. */
static void assert_drained(const char *expected)
{
    char out[512] = "";
    size_t length = 0;
    while (spool_count(stage.spool)) {
        spool_batch batch;
        size_t count = 0;
        ok(spool_read(stage.spool, &batch, NULL));
        for (const store_entry *entry = batch.first; entry; entry = entry->next, count++)
            length += (size_t)snprintf(out + length, 512 - length, "%d:%u.%d.%.*s.%.*s ", (int)batch.time,
                                       (unsigned)entry->bandit, (int)entry->event.kind, (int)entry->event.id.length,
                                       entry->event.id.bytes, (int)entry->event.size, (const char *)entry->event.body);
        assert_int_equal(count, batch.count);
        spool_delivered(stage.spool, batch.last);
    }
    assert_string_equal(out, expected);
}

/* The body of the decision that a repetition repeats. */
static void assert_repeats(const store_entry *entry, const char *body)
{
    const event *earlier;
    assert_int_equal(entry->verdict, ENTRY_REPEATED);
    ok(spool_earlier(stage.spool, entry->event.number, &earlier, NULL));
    assert_int_equal(earlier->size, strlen(body));
    assert_memory_equal(earlier->body, body, strlen(body));
}

/* ---- records ---- */

TEST_WITH(records_are_read_as_they_were_written, set_up, tear_down)
{
    static const char body[] = {0, 1, 'x', '\n', (char)255};
    store_entry *slots[2];
    for (size_t i = 0; i < 2; i++) {
        slots[i] = add(4000000000u, EVENT_DECISION, i ? "round\037b" : "round\037a", "");
        slots[i]->event.body = body;
        slots[i]->event.size = sizeof body;
        slots[i]->request[0] = UINT64_MAX;
        slots[i]->generated_id = slots[i]->deferred = true;
        slots[i]->slot_index = i;
        slots[i]->slot_count = 2;
        slots[i]->with_next = !i;
    }
    store_entry *reward = add(2, EVENT_REWARD, "caf\xc3\xa9", "");
    reward->event.value = -0.1;
    reward->event.reward_id = words("r1");
    add(3, EVENT_ACTIVATED, "a", "");
    ok(append(INT64_C(1) << 51));
    for (size_t i = 0; i < 4; i++) assert_int_equal(stage.entries[i].verdict, ENTRY_SPOOLED);
    reopen();
    assert_int_equal(spool_count(stage.spool), 4);
    assert_true(spool_time(stage.spool) == INT64_C(1) << 51);
    spool_batch batch;
    ok(spool_read(stage.spool, &batch, NULL));
    assert_true(batch.time == INT64_C(1) << 51);
    assert_int_equal(batch.count, 4);
    assert_int_equal(batch.last, 4);
    const store_entry *read = batch.first;
    for (size_t i = 0; i < 2; i++, read = read->next) {
        assert_true(read->bandit == 4000000000u && read->generated_id && read->deferred && read->with_next == !i);
        assert_true(read->slot_index == i && read->slot_count == 2 && read->request[0] == UINT64_MAX);
        assert_int_equal(read->event.size, sizeof body);
        assert_memory_equal(read->event.body, body, sizeof body);
    }
    assert_true(read->event.kind == EVENT_REWARD && read->event.value == -0.1 && !read->event.size);
    assert_memory_equal(read->event.id.bytes, "caf\xc3\xa9", 5);
    assert_memory_equal(read->event.reward_id.bytes, "r1", 2);
    assert_true(!read->deferred && !read->slot_count);
    assert_true(read->next->event.kind == EVENT_ACTIVATED && !read->next->event.reward_id.length && !read->next->next);
}

TEST_WITH(groups_come_in_order_with_their_times, set_up, tear_down)
{
    assert_string_equal(spool_name(stage.spool), "");
    decide(10, 1, "a", "one", ENTRY_SPOOLED);
    add(1, EVENT_REWARD, "a", "");
    add(2, EVENT_REWARD, "b", "");
    ok(append(11));
    reopen();
    decide(12, 1, "c", "two", ENTRY_SPOOLED);
    spool_delivered(stage.spool, 2); /* in the middle of a group, as no transaction ends */
    assert_int_equal(spool_count(stage.spool), 2);
    assert_drained("11:2.2.b. 12:1.1.c.two ");
}

/* The key of table spools is never used again. */
TEST_WITH(each_file_has_another_name, set_up, tear_down)
{
    char first[SPOOL_NAME_SIZE];
    decide(1, 1, "a", "", ENTRY_SPOOLED);
    strcpy(first, spool_name(stage.spool));
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    reopen();
    assert_string_equal(spool_name(stage.spool), first);
    assert_true(spool_exists(here.path));
    assert_drained("1:1.1.a. ");
    assert_false(spool_exists(here.path));
    assert_string_equal(spool_name(stage.spool), "");
    decide(2, 1, "a", "", ENTRY_SPOOLED); /* what is delivered is the store's to know */
    assert_string_not_equal(spool_name(stage.spool), first);
    assert_drained("2:1.1.a. ");
    /* The last group may have been lost after it was delivered: its numbers are not given again. */
    decide(3, 1, "b", "", ENTRY_SPOOLED);
    spool_delivered(stage.spool, 5);
    assert_int_equal(spool_count(stage.spool), 0);
    assert_string_equal(spool_name(stage.spool), "");
}

/* ---- ids ---- */

static bool has(uint32_t bandit, const char *id)
{
    uint64_t place;
    ok(spool_find(stage.spool, bandit, words(id), &place, NULL));
    return place > 0;
}

TEST_WITH(a_repeated_decision_is_recognized, set_up, tear_down)
{
    decide(1, 1, "a", "same", ENTRY_SPOOLED);
    decide(1, 2, "a", "other", ENTRY_SPOOLED); /* of another bandit */
    for (int i = 0; i < 2; i++) {
        decide(2, 1, "a", "same", ENTRY_REPEATED);
        assert_repeats(&stage.entries[0], "same");
        decide(2, 1, "a", "another", ENTRY_CONFLICT);
        assert_int_equal(spool_count(stage.spool), 2);
        reopen();
    }
    assert_true(has(2, "a") && !has(3, "a"));
}

TEST_WITH(a_refused_decision_is_not_kept, set_up, tear_down)
{
    decide(1, 1, "a", "same", ENTRY_SPOOLED);
    const char *const ids[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        add(1, EVENT_DECISION, ids[i], "same");
        stage.entries[0].refused = true;
        ok(append(2));
        assert_int_equal(stage.entries[0].verdict, i ? ENTRY_REFUSED : ENTRY_REPEATED);
    }
    decide(3, 1, "b", "same", ENTRY_SPOOLED);
}

TEST_WITH(a_decision_may_repeat_in_its_own_group, set_up, tear_down)
{
    add(1, EVENT_DECISION, "a", "one");
    add(1, EVENT_DECISION, "a", "two");
    add(1, EVENT_DECISION, "b", "six");
    add(1, EVENT_DECISION, "b", "longer");
    ok(append(1));
    const entry_verdict expected[] = {ENTRY_SPOOLED, ENTRY_REPEATED, ENTRY_SPOOLED, ENTRY_CONFLICT};
    for (size_t i = 0; i < 4; i++) assert_int_equal(stage.entries[i].verdict, expected[i]);
    assert_repeats(&stage.entries[1], "one");
    assert_int_equal(spool_count(stage.spool), 2);
}

/* A round is found by its id, whatever slots the other request has. */
static void add_round(const char *const *ids, size_t count, uint64_t request)
{
    for (size_t i = 0; i < count; i++) {
        store_entry *slot = add(1, EVENT_DECISION, ids[i], ids[i]);
        slot->slot_index = i;
        slot->slot_count = count;
        slot->with_next = i + 1 < count;
        slot->request[0] = request;
        slot->request[1] = 0;
    }
}

TEST_WITH(a_repeated_round_is_recognized_as_a_whole, set_up, tear_down)
{
    const char *const ids[] = {"r\037top", "r\037side"}, *const others[] = {"r\037x", "r\037y", "r\037z"};
    add_round(ids, 2, 5);
    ok(append(1));
    reopen();
    add_round(ids, 2, 5);
    add(1, EVENT_REWARD, "r", "");
    add_round(others, 3, 6);
    ok(append(2));
    for (size_t i = 0; i < 2; i++) assert_repeats(&stage.entries[i], ids[i]);
    assert_int_equal(stage.entries[2].verdict, ENTRY_SPOOLED);
    for (size_t i = 3; i < 6; i++) assert_int_equal(stage.entries[i].verdict, ENTRY_CONFLICT);
    decide(3, 1, "r", "", ENTRY_CONFLICT); /* a decision without slots has the same ids */
    assert_int_equal(spool_count(stage.spool), 3);
}

TEST_WITH(many_ids_are_found, set_up, tear_down)
{
    enum { COUNT = 5000 };
    char ids[MOST][16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[stage.count], sizeof *ids, "id %d", i);
        add((uint32_t)i % 3, EVENT_DECISION, ids[stage.count], "");
        if (stage.count == MOST || i == COUNT - 1 || stage.count == 50) ok(append(i));
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(ids[0], sizeof *ids, "id %d", i);
            assert_true(has((uint32_t)i % 3, ids[0]) && !has((uint32_t)(i + 1) % 3, ids[0]));
        }
        reopen();
    }
}

/* ---- crashes and damage ---- */

typedef struct file_copy {
    char path[64];
    uint8_t *bytes;
    size_t size;
} file_copy;

static file_copy copy_file(void)
{
    file_copy copy;
    snprintf(copy.path, sizeof copy.path, "%s", folder_path(&here, "spool/events"));
    close_spool();
    ok(file_read(copy.path, &copy.bytes, &copy.size, NULL));
    return copy;
}

static void put_file(const file_copy *copy, size_t size)
{
    folder_write(&here, "spool/events", copy->bytes, size);
}

static size_t size_of_file(void)
{
    struct stat about;
    assert_int_equal(stat(folder_path(&here, "spool/events"), &about), 0);
    return (size_t)about.st_size;
}

/* Two groups, then one of a decision and a reward. Returns where the last begins. */
static size_t write_three(void)
{
    decide(1, 1, "a", "first", ENTRY_SPOOLED);
    decide(2, 1, "b", "second", ENTRY_SPOOLED);
    size_t begin = size_of_file();
    add(1, EVENT_DECISION, "c", "third");
    add(1, EVENT_REWARD, "c", "");
    ok(append(3));
    return begin;
}

/* The last group is cut off, or its end was never written and is zeros. */
TEST_WITH(a_crash_at_any_byte_of_the_last_group_loses_only_that, set_up, tear_down)
{
    size_t begin = write_three();
    file_copy copy = copy_file();
    for (size_t zeros = 0; zeros < 2; zeros++) {
        for (size_t size = begin; size < copy.size; size++) {
            put_file(&copy, size);
            if (zeros) assert_int_equal(truncate(copy.path, (off_t)copy.size), 0);
            bool whole =
                zeros && memcmp(copy.bytes + size, (char[64]){0}, copy.size - size < 64 ? copy.size - size : 64) == 0;
            ok(spool_open(here.path, &stage.spool, NULL));
            assert_int_equal(spool_count(stage.spool), whole ? 4 : 2);
            if (!whole) assert_int_equal(size_of_file(), begin);
            decide(4, 1, "c", "another", whole ? ENTRY_CONFLICT : ENTRY_SPOOLED); /* the numbers go on */
            reopen();
            if (!whole) assert_drained("1:1.1.a.first 2:1.1.b.second 4:1.1.c.another ");
            close_spool();
        }
    }
    memory_free(copy.bytes);
}

/* Any byte before the last group, and any piece that is missing. */
TEST_WITH(damage_before_the_last_group_is_an_error, set_up, tear_down)
{
    size_t begin = write_three();
    file_copy copy = copy_file();
    for (size_t i = 0; i < begin; i++) {
        copy.bytes[i] ^= 1;
        put_file(&copy, copy.size);
        assert_int_equal(spool_open(here.path, &stage.spool, &last_error), EE_FILE_ERROR);
        assert_null(stage.spool);
        assert_message_has(last_error.message, "spool/events is damaged at byte ");
        assert_message_has(last_error.message, "move it away");
        assert_int_equal(size_of_file(), copy.size); /* it is left as it is */
        copy.bytes[i] ^= 1;
    }
    for (size_t i = 0; i < 48; i++) { /* the head is written before there are groups */
        put_file(&copy, i);
        assert_int_equal(spool_open(here.path, &stage.spool, &last_error), EE_FILE_ERROR);
    }
    put_file(&copy, 48);
    ok(spool_open(here.path, &stage.spool, &last_error));
    assert_int_equal(spool_count(stage.spool), 0);
    memory_free(copy.bytes);
}

/* What a client sends is never taken for a group, even if it is the spool's own bytes. */
TEST_WITH(a_body_is_no_group, set_up, tear_down)
{
    decide(1, 1, "a", "first", ENTRY_SPOOLED);
    file_copy other = copy_file();
    assert_int_equal(unlink(other.path), 0);
    ok(spool_open(here.path, &stage.spool, NULL));
    decide(1, 1, "a", "first", ENTRY_SPOOLED);
    size_t begin = size_of_file();
    store_entry *entry = add(1, EVENT_DECISION, "evil", "");
    entry->event.body = other.bytes;
    entry->event.size = other.size;
    ok(append(2));
    file_copy copy = copy_file();
    copy.bytes[begin] ^= 1;
    put_file(&copy, copy.size);
    ok(spool_open(here.path, &stage.spool, NULL));
    assert_int_equal(spool_count(stage.spool), 1);
    memory_free(other.bytes);
    memory_free(copy.bytes);
}

/* A group that fails leaves nothing, and the next one may succeed. */
TEST_WITH(a_full_disk_is_survived, set_up, tear_down)
{
    char *large = calloc(1, 100001);
    struct rlimit before, small;
    memset(large, 'x', 100000);
    decide(1, 1, "a", "first", ENTRY_SPOOLED);
    size_t size = size_of_file();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    add(1, EVENT_DECISION, "b", "lost");
    add(1, EVENT_DECISION, "c", large);
    ee_status status = append(2);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, EE_FILE_ERROR);
    assert_int_equal(size_of_file(), size);
    assert_int_equal(spool_count(stage.spool), 1);
    decide(3, 1, "b", "second", ENTRY_SPOOLED);
    reopen();
    assert_drained("1:1.1.a.first 3:1.1.b.second ");
    free(large);
}

/* ---- the folder ---- */

TEST_WITH(a_folder_has_one_spool_and_is_private, set_up, tear_down)
{
    spool *second;
    struct stat about;
    assert_int_equal(spool_open(here.path, &second, &last_error), EE_FILE_ERROR);
    assert_null(second);
    assert_message_has(last_error.message, "spool: another process is using ");
    mode_t before = umask(0);
    decide(1, 1, "a", "", ENTRY_SPOOLED);
    umask(before);
    assert_int_equal(stat(folder_path(&here, "spool/events"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(stat(folder_path(&here, "spool"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
}

/* Its records have numbers of bandits, which mean others in another database. */
TEST_WITH(a_spool_is_of_one_database, set_up, tear_down)
{
    ok(spool_claim(stage.spool, "0123abcd", NULL));
    decide(1, 1, "a", "", ENTRY_SPOOLED);
    assert_memory_equal(spool_name(stage.spool), "0123abcd", 8);
    assert_int_equal(strlen(spool_name(stage.spool)), SPOOL_NAME_SIZE - 1);
    reopen();
    assert_int_equal(spool_claim(stage.spool, "0123abce", &last_error), EE_FILE_ERROR);
    assert_message_has(last_error.message,
                       "/spool has 1 events that another database has not received; start a server on");
    ok(spool_claim(stage.spool, "0123abcd", NULL));
    spool_delivered(stage.spool, 1);
    ok(spool_claim(stage.spool, "0123abce", NULL));
}
