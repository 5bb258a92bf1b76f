/* The journal: many threads hand in at once, one order comes out, and each is told what became of it. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "serve/journal_settings.h"
#include "serve/shown_log.h"
#include "serve/test_place.h"

enum { NEWS = 64 };

/* A store, its journal, and a clock that stands still until the test moves it. */
static struct stage {
    test_place place;
    store *store;
    journal *journal;
    atomic_int_least64_t clock;
    uint32_t shop;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    size_t told, news_count; /* entries that are done; calls of appended */
    bool hold;               /* done waits: the journal stands still, and entries gather */
    struct news {
        uint32_t bandit;
        uint64_t last;
    } news[NEWS];
} stage;

static int64_t read_clock(void *context)
{
    (void)context;
    return atomic_load(&stage.clock);
}

static void note_news(void *context, uint32_t bandit, uint64_t last)
{
    (void)context;
    pthread_mutex_lock(&stage.lock);
    if (stage.news_count < NEWS) stage.news[stage.news_count] = (struct news){bandit, last};
    stage.news_count++;
    pthread_cond_broadcast(&stage.wake);
    pthread_mutex_unlock(&stage.lock);
}

static void open_stage(bool own_clock)
{
    journal_options options = {
        .clock = own_clock ? read_clock : NULL, .most_entries = 6000, .checkpoints = 2, .appended = note_news};
    ok(store_open(stage.place.where, &stage.store, NULL));
    ok(journal_start(stage.store, &options, &stage.journal, NULL));
}

static void close_stage(void)
{
    journal_stop(stage.journal);
    store_close(stage.store);
}

/* With a bandit whose decisions wait ten seconds. */
static int start_stage(void **state)
{
    (void)state;
    stage = (struct stage){.place = test_place_make(),
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .wake = PTHREAD_COND_INITIALIZER,
                           .clock = 1000000000};
    open_stage(true);
    stage.shop = make_bandit(stage.journal, "shop", "{\"dim\":2,\"wait\":10}");
    return 0;
}

static int end_stage(void **state)
{
    (void)state;
    close_stage();
    test_place_remove(&stage.place);
    return 0;
}

/* ---- entries ---- */

typedef struct handed {
    journal_entry entry;
    char id[32], reward_id[32], body[32];
    size_t place; /* in the order of those that were told */
    char earlier[32];
} handed;

static void note_done(journal_entry *entry)
{
    handed *self = entry->context;
    if (entry->earlier) memcpy(self->earlier, entry->earlier->body, entry->earlier->size);
    pthread_mutex_lock(&stage.lock);
    self->place = stage.told++;
    pthread_cond_broadcast(&stage.wake);
    while (stage.hold) pthread_cond_wait(&stage.wake, &stage.lock);
    pthread_mutex_unlock(&stage.lock);
}

static void fill(handed *self, uint32_t bandit, event_kind kind, const char *id)
{
    *self = (handed){.place = SIZE_MAX};
    snprintf(self->id, sizeof self->id, "%s", id);
    self->entry = (journal_entry){.bandit = bandit,
                                  .event = {.kind = kind, .id = words(self->id), .value = 1},
                                  .request = {1, 2},
                                  .done = note_done,
                                  .context = self};
}

static void set_body(handed *self, const char *of, int number)
{
    self->entry.event.size = (size_t)snprintf(self->body, sizeof self->body, "%s %d", of, number);
    self->entry.event.body = self->body;
}

static void await_told(size_t count)
{
    pthread_mutex_lock(&stage.lock);
    while (stage.told < count) pthread_cond_wait(&stage.wake, &stage.lock);
    pthread_mutex_unlock(&stage.lock);
}

/* Hands in one entry and waits for it. */
static ee_status write_one(uint32_t bandit, event_kind kind, const char *id, journal_entry *out, ee_error *error)
{
    *out = (journal_entry){.bandit = bandit, .event = {.kind = kind, .id = words(id), .value = 1}};
    return journal_write(stage.journal, out, error);
}

static void write_good(event_kind kind, const char *id)
{
    journal_entry entry;
    ok(write_one(stage.shop, kind, id, &entry, NULL));
}

/* ---- many threads ---- */

enum { THREADS = 6, EACH = 200, BANDITS = 3 };

typedef struct worker {
    pthread_t thread;
    uint32_t *bandits;
    int number;
    handed *decisions, *rewards; /* (EACH) */
} worker;

/* Decisions that all threads make, with rewards that all give: the id and the bandit tell which. */
static void *hand_in(void *context)
{
    worker *self = context;
    for (int i = 0; i < EACH; i++) {
        char id[32];
        snprintf(id, sizeof id, "d%d", i);
        handed *decision = &self->decisions[i], *reward = &self->rewards[i];
        fill(decision, self->bandits[i % BANDITS], EVENT_DECISION, id);
        set_body(decision, "by", self->number);
        if (i % 10 == 9) decision->entry.request[0] = (uint64_t)self->number; /* each asks something else */
        fill(reward, self->bandits[i % BANDITS], EVENT_REWARD, id);
        snprintf(reward->reward_id, sizeof reward->reward_id, "r%d", i);
        reward->entry.event.reward_id = words(reward->reward_id);
        reward->entry.event.value = i % 10 == 9 ? self->number : 1;
        decision->entry.next = &reward->entry;
        while (!journal_submit(stage.journal, &decision->entry)) continue;
    }
    return NULL;
}

static size_t count_verdicts(const worker *workers, int i, bool rewards, entry_verdict verdict, const handed **which)
{
    size_t count = 0;
    for (int w = 0; w < THREADS; w++) {
        const handed *one = rewards ? &workers[w].rewards[i] : &workers[w].decisions[i];
        if (one->entry.verdict != verdict) continue;
        count++;
        if (which) *which = one;
    }
    return count;
}

TEST_WITH(one_wins, start_stage, end_stage)
{
    uint32_t bandits[BANDITS] = {stage.shop, make_bandit(stage.journal, "b", "{}"),
                                 make_bandit(stage.journal, "c", "{}")};
    handed *all = calloc(THREADS * EACH * 2, sizeof *all);
    worker workers[THREADS];
    for (int w = 0; w < THREADS; w++) {
        workers[w] = (worker){.bandits = bandits, .number = w};
        workers[w].decisions = all + w * 2 * EACH;
        workers[w].rewards = workers[w].decisions + EACH;
        assert_int_equal(pthread_create(&workers[w].thread, NULL, hand_in, &workers[w]), 0);
    }
    for (int w = 0; w < THREADS; w++) pthread_join(workers[w].thread, NULL);
    await_told(THREADS * EACH * 2);
    for (int i = 0; i < EACH; i++) {
        const handed *winner = NULL;
        assert_int_equal(count_verdicts(workers, i, false, ENTRY_DONE, &winner), 1);
        assert_int_equal(count_verdicts(workers, i, true, ENTRY_DONE, NULL), 1);
        entry_verdict others = i % 10 == 9 ? ENTRY_CONFLICT : ENTRY_REPEATED;
        assert_int_equal(count_verdicts(workers, i, false, others, NULL), THREADS - 1);
        assert_int_equal(count_verdicts(workers, i, true, others, NULL), THREADS - 1);
        for (int w = 0; w < THREADS; w++)
            if (workers[w].decisions[i].entry.verdict == ENTRY_REPEATED)
                assert_string_equal(workers[w].decisions[i].earlier, winner->body);
    }
    journal_counts counts = journal_read_counts(stage.journal);
    assert_int_equal(counts.decisions, EACH);
    assert_int_equal(counts.joined + counts.claimed, EACH);
    assert_int_equal(counts.conflicts, 2 * (THREADS - 1) * EACH / 10);
    assert_int_equal(counts.waiting_entries, 0);
    free(all);
}

static void set_hold(bool hold)
{
    pthread_mutex_lock(&stage.lock);
    stage.hold = hold;
    pthread_cond_broadcast(&stage.wake);
    pthread_mutex_unlock(&stage.lock);
}

/* The journal stands still while the others gather. */
static void gather(handed *first, handed *others, size_t count, uint32_t other_bandit)
{
    set_hold(true);
    fill(first, stage.shop, EVENT_DECISION, "first");
    assert_true(journal_submit(stage.journal, &first->entry));
    await_told(1);
    for (size_t i = 0; i < count; i++) {
        char id[32];
        snprintf(id, sizeof id, "%zu", i);
        fill(&others[i], i + 1 < count ? stage.shop : other_bandit, EVENT_DECISION, id);
        assert_true(journal_submit(stage.journal, &others[i].entry));
    }
}

TEST_WITH(a_flood_does_not_hold_up_others, start_stage, end_stage)
{
    enum { COUNT = 5000 };
    uint32_t other = make_bandit(stage.journal, "other", "{}");
    handed first, *others = calloc(COUNT, sizeof *others);
    gather(&first, others, COUNT, other);
    set_hold(false);
    await_told(COUNT + 1);
    assert_true(others[COUNT - 1].place < 100);
    for (size_t i = 0; i + 1 < COUNT; i++) {
        assert_int_equal(others[i].entry.verdict, ENTRY_DONE);
        assert_int_equal(others[i].entry.event.number, i + 3); /* after the settings and the first, in order */
        if (i) assert_true(others[i].place > others[i - 1].place);
    }
    free(others);
}

TEST_WITH(too_many_are_refused, start_stage, end_stage)
{
    enum { COUNT = 5999 };
    handed first, one, *others = calloc(COUNT, sizeof *others);
    gather(&first, others, COUNT, stage.shop);
    fill(&one, stage.shop, EVENT_DECISION, "one");
    assert_true(journal_submit(stage.journal, &one.entry));
    handed refused;
    fill(&refused, stage.shop, EVENT_DECISION, "refused");
    assert_false(journal_submit(stage.journal, &refused.entry));
    assert_int_equal(journal_read_counts(stage.journal).waiting_entries, COUNT + 1);
    set_hold(false);
    close_stage(); /* writes what was handed in */
    assert_int_equal(stage.told, COUNT + 2);
    free(others);
    open_stage(true);
}

/* ---- what fails alone ---- */

static void assert_failed(uint32_t bandit, event_kind kind, const char *message)
{
    journal_entry entry;
    refuses(write_one(bandit, kind, "x", &entry, &last_error), message);
    assert_int_equal(entry.verdict, ENTRY_FAILED);
}

TEST_WITH(what_cannot_be_written, start_stage, end_stage)
{
    uint32_t none = 0;
    assert_failed(77, EVENT_DECISION, "bandit: there is no bandit with the number 77");
    assert_failed(0, EVENT_REWARD, "bandit: there is no bandit with the number 0");
    assert_failed(stage.shop, EVENT_SETTLED, "journal: bandit 1: only the journal settles decisions");
    assert_fails(write_settings(stage.journal, "shop", "{}", &none, false, &last_error), EE_BAD_INPUT, last_error,
                 "shop");
    ok(write_settings(stage.journal, "", "{\"dim\":2,\"wait\":10}", &stage.shop, true, NULL));
    assert_failed(stage.shop, EVENT_DECISION, "bandit: number 1 is archived; restore it first");
    assert_failed(stage.shop, EVENT_REWARD, "bandit: number 1 is archived; restore it first");
    write_good(EVENT_STEP, "");
    close_stage();
    open_stage(true); /* it is still archived */
    assert_failed(stage.shop, EVENT_MODEL, "bandit: number 1 is archived; restore it first");
    ok(write_settings(stage.journal, "", "{\"dim\":2,\"wait\":10}", &stage.shop, false, NULL));
    write_good(EVENT_DECISION, "x");
    assert_log_is(stage.store, stage.shop, "=; =; P; =; D x; ");
}

/* ---- what belongs together ---- */

enum { SLOTS = 40 }; /* more than one bandit has in its turn */

/* A round of count slots; their ids are id and a number, counted from `first`. */
static void fill_round(handed *slots, size_t count, const char *id, size_t first, uint64_t request)
{
    for (size_t i = 0; i < count; i++) {
        char slot_id[32];
        snprintf(slot_id, sizeof slot_id, "%s\x1f%zu", id, first + i);
        fill(&slots[i], stage.shop, EVENT_DECISION, slot_id);
        set_body(&slots[i], "of slot", (int)i);
        slots[i].entry.request[0] = request;
        slots[i].entry.slot_index = i;
        slots[i].entry.slot_count = SLOTS;
        slots[i].entry.with_next = i + 1 < count;
        slots[i].entry.next = i + 1 < count ? &slots[i + 1].entry : NULL;
    }
}

/* Writes it and waits for all. */
static void write_round(handed *slots, size_t count, const char *id, size_t first, uint64_t request)
{
    size_t told = stage.told;
    fill_round(slots, count, id, first, request);
    assert_true(journal_submit(stage.journal, &slots[0].entry));
    await_told(told + count);
}

TEST_WITH(a_round_is_one_transaction, start_stage, end_stage)
{
    handed slots[SLOTS];
    uint64_t before = journal_read_counts(stage.journal).transactions;
    write_round(slots, SLOTS, "r", 0, 1);
    assert_int_equal(journal_read_counts(stage.journal).transactions, before + 1);
    for (size_t i = 0; i < SLOTS; i++) {
        assert_int_equal(slots[i].entry.verdict, ENTRY_DONE);
        assert_int_equal(slots[i].entry.event.number, i + 2);
    }
    write_round(slots, SLOTS, "r", 0, 1);
    for (size_t i = 0; i < SLOTS; i++) {
        assert_int_equal(slots[i].entry.verdict, ENTRY_REPEATED);
        assert_string_equal(slots[i].earlier, slots[i].body);
    }
    write_round(slots, SLOTS, "r", 7, 2);
    for (size_t i = 0; i < SLOTS; i++) assert_int_equal(slots[i].entry.verdict, ENTRY_CONFLICT);
    write_round(slots, SLOTS - 1, "q", 0, 1); /* one is missing */
    for (size_t i = 0; i + 1 < SLOTS; i++) assert_int_equal(slots[i].entry.verdict, ENTRY_FAILED);
    assert_int_equal(journal_read_counts(stage.journal).decisions, SLOTS);
}

TEST_WITH(another_bandit_waits_until_a_round_is_written, start_stage, end_stage)
{
    handed slots[SLOTS], other;
    size_t told = stage.told;
    fill(&other, make_bandit(stage.journal, "other", "{\"dim\":2}"), EVENT_DECISION, "x");
    fill_round(slots, SLOTS, "r", 0, 1);
    slots[SLOTS - 1].entry.next = &other.entry;
    assert_true(journal_submit(stage.journal, &slots[0].entry));
    await_told(told + SLOTS + 1);
    for (size_t i = 0; i < SLOTS; i++) assert_int_equal(slots[i].entry.verdict, ENTRY_DONE);
    assert_int_equal(other.entry.verdict, ENTRY_DONE);
}

/* Where the first is refused, so is what belongs to it. */
TEST_WITH(the_rest_is_refused_with_the_first, start_stage, end_stage)
{
    handed chain[2];
    ok(write_settings(stage.journal, "", "{\"dim\":2,\"wait\":10}", &stage.shop, true, NULL));
    for (int together = 1; together >= 0; together--) {
        size_t told = stage.told;
        fill(&chain[0], stage.shop, EVENT_MODEL, "");
        fill(&chain[1], stage.shop, EVENT_PROMOTION, "");
        chain[0].entry.next = &chain[1].entry;
        chain[0].entry.with_next = together;
        assert_true(journal_submit(stage.journal, &chain[0].entry));
        await_told(told + 2);
        assert_int_equal(chain[0].entry.verdict, ENTRY_FAILED); /* the bandit is archived */
        assert_int_equal(chain[1].entry.verdict, together ? ENTRY_FAILED : ENTRY_DONE);
    }
}

/* ---- time ---- */

/* Waits until appended told of this event. */
static void await_news(uint32_t bandit, uint64_t last)
{
    pthread_mutex_lock(&stage.lock);
    for (bool found = false; !found;) {
        for (size_t i = 0; i < stage.news_count && i < NEWS; i++)
            found |= stage.news[i].bandit == bandit && stage.news[i].last == last;
        if (!found) pthread_cond_wait(&stage.wake, &stage.lock);
    }
    pthread_mutex_unlock(&stage.lock);
}

TEST_WITH(news_are_told, start_stage, end_stage)
{
    write_good(EVENT_DECISION, "a");
    write_good(EVENT_REWARD, "b");
    write_good(EVENT_STEP, "");
    write_good(EVENT_CHECKPOINT, "");
    write_good(EVENT_MODEL, "");
    write_good(EVENT_REWARD, "a");
    close_stage();
    const uint64_t expected[] = {1, 2, 6, 8};
    assert_int_equal(stage.news_count, 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(stage.news[i].last, expected[i]);
    open_stage(true);
}

TEST_WITH(the_clock_never_goes_back, start_stage, end_stage)
{
    write_good(EVENT_DECISION, "a");
    atomic_store(&stage.clock, 5);
    assert_true(journal_time(stage.journal) == 1000000000);
    write_good(EVENT_DECISION, "b");
    close_stage();
    open_stage(true);
    assert_true(journal_time(stage.journal) == 1000000000);
    write_good(EVENT_DECISION, "c");
    atomic_store(&stage.clock, 1010000000);
    write_good(EVENT_REWARD, "a"); /* exactly at the wait */
    atomic_store(&stage.clock, 1010000001);
    write_good(EVENT_REWARD, "b");
    atomic_store(&stage.clock, 1020000000);
    await_news(stage.shop, 9);
    assert_log_is(stage.store, stage.shop,
                  "=; D a; D b; D c; R a 1 joined 2; S 2 1 rewarded; R b 1 late 3; S 3 0 default; S 4 0 default; ");
}

TEST_WITH(a_restart_settles_what_waited, start_stage, end_stage)
{
    write_good(EVENT_DECISION, "a");
    write_good(EVENT_REWARD, "c");
    assert_int_equal(journal_read_counts(stage.journal).waiting, 1);
    close_stage();
    open_stage(true);
    assert_int_equal(journal_read_counts(stage.journal).waiting, 1);
    close_stage();
    atomic_store(&stage.clock, 2000000000);
    open_stage(true);
    await_news(stage.shop, 4);
    assert_int_equal(journal_read_counts(stage.journal).waiting, 0);
    write_good(EVENT_DECISION, "c");
    assert_int_equal(journal_read_counts(stage.journal).waiting, 0);
    assert_log_is(stage.store, stage.shop,
                  "=; D a; R c 1 unknown 0; S 2 0 default; D c; R c 1 claimed 5; S 5 1 rewarded; ");
}

TEST_WITH(the_timer_settles, start_stage, end_stage)
{
    close_stage();
    open_stage(false); /* by the system's clock */
    uint32_t quick = make_bandit(stage.journal, "quick", "{\"wait\":0.02}");
    journal_entry entry;
    ok(write_one(quick, EVENT_DECISION, "a", &entry, NULL));
    await_news(quick, 3);
    assert_log_is(stage.store, quick, "=; D a; S 2 0 default; ");
}

TEST_WITH(a_shorter_wait_counts_at_once, start_stage, end_stage)
{
    write_good(EVENT_DECISION, "a");
    atomic_fetch_add(&stage.clock, 2000000);
    ok(write_settings(stage.journal, "", "{\"dim\":2,\"wait\":1}", &stage.shop, false, NULL));
    atomic_fetch_add(&stage.clock, 20000);
    await_news(stage.shop, 4);
    assert_log_is(stage.store, stage.shop, "=; D a; =; S 2 0 default; ");
}

/* ---- the disk ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_WITH(a_full_disk_heals, start_stage, end_stage)
{
    only_in_a_folder();
    signal(SIGXFSZ, SIG_IGN);
    write_good(EVENT_DECISION, "a");
    journal_counts before = journal_read_counts(stage.journal);
    journal_entry entry;
    uint32_t other = 0;
    limit_files(1);
    ee_status statuses[] = {write_one(stage.shop, EVENT_DECISION, "b", &entry, &last_error),
                            write_one(stage.shop, EVENT_REWARD, "a", &entry, NULL),
                            write_settings(stage.journal, "other", "{}", &other, false, NULL)};
    AWAIT(journal_read_counts(stage.journal).failures >= 5); /* two of its own, without anybody who hands in */
    journal_counts full = journal_read_counts(stage.journal);
    limit_files(RLIM_INFINITY);
    for (size_t i = 0; i < 3; i++) assert_int_equal(statuses[i], EE_FILE_ERROR);
    assert_true(last_error.message[0] && !full.writable && full.decisions == before.decisions && !full.joined &&
                !other);
    AWAIT(journal_read_counts(stage.journal).writable);
    assert_failed(2, EVENT_REWARD, "bandit: there is no bandit with the number 2");
    write_good(EVENT_DECISION, "b");
    write_good(EVENT_REWARD, "a");
    assert_int_equal(make_bandit(stage.journal, "other", "{}"), 2);
    assert_log_is(stage.store, stage.shop, "=; D a; D b; R a 1 joined 2; S 2 1 rewarded; ");
}

/* ---- retention ---- */

static uint64_t first_event(void)
{
    store_reader *reader;
    uint64_t first;
    ok(store_reader_create(stage.store, &reader, NULL));
    ok(store_find_time(reader, stage.shop, 0, &first, NULL));
    store_reader_free(reader);
    return first;
}

static void write_checkpoint(uint64_t upto)
{
    checkpoint_body body = {.version = upto, .upto = upto};
    uint8_t *bytes = NULL;
    size_t size = 0;
    ok(checkpoint_body_write(&body, NULL, &bytes, &size, NULL));
    journal_entry entry = {.bandit = stage.shop, .event = {.kind = EVENT_CHECKPOINT, .body = bytes, .size = size}};
    ok(journal_write(stage.journal, &entry, NULL));
    memory_free(bytes);
}

/* Asks again and again, as a server does each day. */
static void forget_until(uint64_t number)
{
    for (int i = 0; i < 500 && first_event() != number; i++) {
        journal_forget_before(stage.journal, stage.shop, INT64_MAX);
        write_good(EVENT_STEP, "");
    }
    assert_int_equal(first_event(), number);
}

static void write_many(event_kind kind, size_t first, size_t end)
{
    handed *all = calloc(end - first, sizeof *all);
    size_t told = stage.told;
    for (size_t i = first; i < end; i++) {
        char id[32];
        snprintf(id, sizeof id, "%zu", i);
        fill(&all[i - first], stage.shop, kind, id);
        if (i > first) all[i - first - 1].entry.next = &all[i - first].entry;
    }
    assert_true(journal_submit(stage.journal, &all[0].entry));
    await_told(told + end - first);
    free(all);
}

TEST_WITH(keeps_what_a_restart_needs, start_stage, end_stage)
{
    write_many(EVENT_DECISION, 0, 1000); /* 2 to 1001 */
    write_many(EVENT_REWARD, 0, 1000);   /* 1002 to 3001, settled at once */
    atomic_fetch_add(&stage.clock, 8000000);
    write_many(EVENT_DECISION, 1000, 2000); /* 3002 to 4001, which wait */
    atomic_fetch_add(&stage.clock, 3000000);
    journal_forget_before(stage.journal, stage.shop, INT64_MAX); /* no checkpoint yet: nothing */
    write_many(EVENT_STEP, 0, 3);
    assert_int_equal(first_event(), 1);
    write_checkpoint(4001);
    forget_until(1002);
    atomic_fetch_add(&stage.clock, 20000000);
    while (journal_read_counts(stage.journal).defaulted < 1000) write_good(EVENT_STEP, "");
    store_reader *reader;
    uint64_t last;
    ok(store_reader_create(stage.store, &reader, NULL));
    ok(store_last(reader, stage.shop, EVENT_SETTLED, INT64_MAX, &last, NULL));
    store_reader_free(reader);
    write_checkpoint(last - 1);
    forget_until(3002); /* after the first checkpoint, which is kept too, all that waited was settled */
    write_checkpoint(last);
    forget_until(4001); /* settled after the second, alone */
}
