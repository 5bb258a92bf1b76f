/* store_crash kill FOLDER TIMES [LIBRARY]: kills a process that writes to a store, again and again, and looks each time
 * whether all that it said was committed is there, and nothing is half there. With LIBRARY, see leaky_disk.c, the
 * writer's disk forgets what was not synced: a kill is then a power cut. The disk is FOLDER, or what LEAKY_DISK says.
 *
 * store_crash backup FOLDER TIMES: copies a store while a process writes to it, and looks at the copies in the same
 * way.
 *
 * It starts itself, /proc/self/exe: `store_crash write FOLDER` writes and prints the number of each event that is
 * committed; `store_crash check FOLDER NUMBER` looks. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/archive.h"
#include "serve/store/store.h"

_Noreturn static void die(const char *what, const ee_error *error)
{
    fprintf(stderr, "store_crash: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
    exit(1);
}

static uint64_t scramble(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/* ---- what the log has: all follows from the numbers ---- */

/* Each event's body: its number, its transaction's first and last event, then numbers that follow from its own. As that
 * of a checkpoint it names the model by the first. A reward has no body: its value is the transaction's last event. */
typedef struct body {
    uint64_t number, first, last, count;
    uint64_t filling[501]; /* (count) and a checksum of all before it, little-endian */
} body;

static size_t fill(body *out, uint64_t first, uint64_t last, uint64_t number)
{
    *out = (body){number, first, last, scramble(number) % 500, {0}};
    for (size_t i = 0; i < out->count; i++) out->filling[i] = scramble(number << 20 | i);
    size_t size = offsetof(body, filling) + out->count * sizeof(uint64_t);
    out->filling[out->count] = archive_checksum((const uint8_t *)out, size); /* as a model has it */
    return size + sizeof(uint64_t);
}

/* The first has the settings. One in three rewards the decision before it; one in fifty saves a model. */
static event_kind kind_of(uint64_t number)
{
    return number == 1        ? EVENT_SETTINGS
           : number % 50 == 1 ? EVENT_CHECKPOINT
           : number % 3 == 0  ? EVENT_REWARD
                              : EVENT_DECISION;
}

/* The decision that event number rewards. */
static uint64_t rewarded_by(uint64_t number)
{
    uint64_t decision = number - 1;
    while (kind_of(decision) != EVENT_DECISION) decision--;
    return decision;
}

static json_text id_of(uint64_t number, char room[24])
{
    return (json_text){room, (size_t)snprintf(room, 24, "%016" PRIx64, scramble(number))};
}

/* ---- write ---- */

enum { MOST_TOGETHER = 40 };

/* Decisions wait for all their rewards: what settles them never comes. */
static const char settings_json[] = "{\"wait\":\"366d\",\"aggregation\":\"sum\"}";

static void make_entry(store *into, uint64_t first, uint64_t last, uint64_t number, store_entry *out)
{
    static body contents[MOST_TOGETHER];
    static char ids[MOST_TOGETHER][24];
    body *content = &contents[number - first];
    char *room = ids[number - first];
    ee_error error;
    event new = {.kind = kind_of(number)};
    if (new.kind == EVENT_REWARD)
        new.value = (double)last;
    else
        new = (event){.kind = new.kind, .body = content, .size = fill(content, first, last, number)};
    if (new.kind == EVENT_DECISION) new.id = id_of(number, room);
    if (new.kind == EVENT_REWARD) new.id = id_of(rewarded_by(number), room);
    if (new.kind == EVENT_CHECKPOINT && blob_put(store_blobs(into), blob_model(1, number), content, new.size, &error))
        die("save a model", &error);
    *out = (store_entry){.bandit = 1, .event = new, .request = {number, 1}, .next = number < last ? out + 1 : NULL};
}

/* Events first to last in one transaction. */
static void write_events(store *into, uint64_t first, uint64_t last)
{
    static store_entry entries[MOST_TOGETHER];
    ee_error error;
    store_group group = {.first = entries, .now = (int64_t)last};
    for (uint64_t number = first; number <= last; number++)
        make_entry(into, first, last, number, &entries[number - first]);
    if (store_write(into, &group, &error)) die("write", &error);
    for (uint64_t number = first; number <= last; number++) {
        const event *written = &entries[number - first].event;
        if (entries[number - first].verdict != ENTRY_DONE || written->number != number) die("a wrong verdict", NULL);
        if (written->kind == EVENT_REWARD && written->decision != rewarded_by(number)) die("a decision is lost", NULL);
    }
}

static void write_settings(store *into)
{
    ee_error error;
    bandit_settings settings = bandit_settings_usual();
    if (bandit_settings_read(&settings, settings_json, strlen(settings_json), SETTINGS_STORED, &error))
        die("settings", &error);
    store_entry entry = {.event = {.kind = EVENT_SETTINGS, .body = settings_json, .size = strlen(settings_json)},
                         .settings = &settings,
                         .name = {"a", 1}};
    store_group group = {.first = &entry, .now = 1};
    if (store_write(into, &group, &error)) die("write", &error);
}

/* The number of the last event of the only bandit; 0: there is none. */
static uint64_t find_last(store *from)
{
    store_reader *reader;
    stored_bandits list = {0};
    ee_error error;
    if (store_reader_create(from, &reader, &error) || store_list_bandits(reader, &list, &error)) die("read", &error);
    uint64_t last = list.count ? list.bandits[0].events : 0;
    stored_bandits_free(&list);
    store_reader_free(reader);
    return last;
}

_Noreturn static void write_on(const char *folder)
{
    store *into;
    ee_error error;
    if (store_open(folder, &into, &error)) die("open", &error);
    uint64_t last = find_last(into);
    if (!last) write_settings(into);
    if (!last) last = 1;
    for (;;) {
        uint64_t first = last + 1;
        last += 1 + scramble(first) % MOST_TOGETHER;
        write_events(into, first, last);
        if (write(STDOUT_FILENO, &last, sizeof last) != sizeof last) die("nobody listens", NULL);
    }
}

/* ---- check ---- */

typedef struct check {
    store *from;
    uint64_t number, last; /* seen so far; last: of its transaction */
} check;

static void check_event(check *self, const event *from)
{
    static body expected;
    ee_error error;
    uint64_t head[4];
    if (from->number != self->number + 1) die("an event is missing", NULL);
    self->number = from->number;
    if (from->number == 1) {
        if (from->kind != EVENT_SETTINGS || from->size != strlen(settings_json)) die("the settings are lost", NULL);
        self->last = 1;
        return;
    }
    if (kind_of(from->number) == EVENT_REWARD) {
        if (from->kind != EVENT_REWARD || from->size || from->value < (double)from->number)
            die("a reward is not what was written", NULL);
        self->last = (uint64_t)from->value;
        return;
    }
    if (from->size < sizeof head) die("a body is short", NULL);
    memcpy(head, from->body, sizeof head);
    size_t size = fill(&expected, head[1], head[2], from->number);
    if (from->kind != kind_of(from->number) || from->size != size || memcmp(from->body, &expected, size) != 0)
        die("an event is not what was written", NULL);
    self->last = head[2];
    if (from->kind != EVENT_CHECKPOINT) return;
    uint8_t *bytes;
    if (blob_get(store_blobs(self->from), blob_model(1, from->number), &bytes, &size, &error))
        die("a model is lost", &error);
    if (size != from->size || memcmp(bytes, from->body, size) != 0) die("a model is not what was written", NULL);
    memory_free(bytes);
}

/* What the tables must have together: each line counts what is wrong. */
static const char *const rules[] = {
    "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "SELECT count(*) FROM events LEFT JOIN decisions USING (place) WHERE kind = 1 AND decisions.place IS NULL",
    "SELECT (SELECT count(*) FROM decisions) <> (SELECT count(*) FROM events WHERE kind = 1)",
    "SELECT (SELECT count(*) FROM ids) <> (SELECT count(*) FROM decisions)",
    "SELECT count(*) FROM events JOIN ids ON ids.id = events.id WHERE kind = 1 AND number <> place & 0xffffffffff",
    "SELECT (SELECT total(rewards) FROM decisions) <> (SELECT count(*) FROM events WHERE kind = 2)",
};

static void check_tables(const char *folder)
{
    char path[4096];
    sqlite3 *database;
    sqlite3_stmt *statement;
    snprintf(path, sizeof path, "%s/eenet.db", folder);
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL)) die("open eenet.db", NULL);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (sqlite3_prepare_v2(database, rules[i], -1, &statement, NULL) || sqlite3_step(statement) != SQLITE_ROW)
            die(sqlite3_errmsg(database), NULL);
        if (sqlite3_column_int64(statement, 0)) die(rules[i], NULL);
        sqlite3_finalize(statement);
    }
    sqlite3_close(database);
}

static int look(const char *folder, uint64_t committed)
{
    store_reader *reader;
    ee_error error;
    check so_far = {0};
    event_batch batch = {0};
    if (store_open(folder, &so_far.from, &error)) die("open", &error);
    if (store_reader_create(so_far.from, &reader, &error)) die("read", &error);
    do {
        if (store_read(reader, 1, so_far.number, 0xff, SIZE_MAX, &batch, &error)) die("read", &error);
        for (size_t i = 0; i < batch.count; i++) check_event(&so_far, &batch.events[i]);
    } while (batch.count);
    event_batch_free(&batch);
    if (so_far.number != so_far.last) die("a transaction is half there", NULL);
    if (so_far.number < committed) die("a committed transaction is lost", NULL);
    check_tables(folder);
    store_reader_free(reader);
    store_close(so_far.from);
    return 0;
}

/* ---- the one who kills ---- */

static pid_t start(const char *library, const char *verb, const char *folder, const char *number, int *output)
{
    int ends[2];
    if (pipe(ends)) die("pipe", NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (library) {
            setenv("LD_PRELOAD", library, 1);
            setenv("LEAKY_DISK", folder, 0);
        }
        execl("/proc/self/exe", "store_crash", verb, folder, number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    return child;
}

/* Lets it commit so many times, kills it, and returns the number of the last event that it said was committed. */
static uint64_t run_and_kill(const char *folder, const char *library, uint64_t commits, uint64_t committed)
{
    int output, status;
    pid_t writer = start(library, "write", folder, NULL, &output);
    for (uint64_t count = 0; count < commits && read(output, &committed, sizeof committed) == sizeof committed;)
        count++;
    kill(writer, SIGKILL);
    while (read(output, &committed, sizeof committed) == sizeof committed) continue;
    close(output);
    waitpid(writer, &status, 0);
    if (!WIFSIGNALED(status)) die("the writer ended by itself", NULL);
    return committed;
}

/* Whether all events up to a number are there, whole. */
static bool check_apart(const char *folder, const char *library, uint64_t committed)
{
    char number[24];
    int output, status;
    snprintf(number, sizeof number, "%" PRIu64, committed);
    pid_t checker = start(library, "check", folder, number, &output);
    waitpid(checker, &status, 0);
    close(output);
    if (status) fprintf(stderr, "%s, with %" PRIu64 " events committed\n", folder, committed);
    return status == 0;
}

static int kill_often(const char *folder, uint64_t times, const char *library)
{
    uint64_t committed = 0;
    for (uint64_t i = 0; i < times; i++) {
        committed = run_and_kill(folder, library, scramble(i) % 40, committed);
        if (!check_apart(folder, library, committed)) return 1;
    }
    printf("%" PRIu64 " events\n", committed);
    return 0;
}

static int copy_often(const char *folder, uint64_t times)
{
    int output, failed = 0;
    uint64_t committed = 0;
    pid_t writer = start(NULL, "write", folder, NULL, &output);
    for (uint64_t i = 0; i < times && !failed; i++) {
        char copy[256];
        ee_error error;
        for (int commits = 0; commits < 20; commits++)
            if (read(output, &committed, sizeof committed) != sizeof committed) die("the writer ended", NULL);
        snprintf(copy, sizeof copy, "%s-copy-%" PRIu64, folder, i);
        if (store_backup(folder, copy, NULL, NULL, NULL, &error)) die("backup", &error);
        failed = !check_apart(copy, NULL, committed);
    }
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    return failed;
}

int main(int count, char **words)
{
    const char *verb = count > 2 ? words[1] : "";
    uint64_t number = count > 3 ? strtoull(words[3], NULL, 10) : 0;
    if (strcmp(verb, "write") == 0) write_on(words[2]);
    if (strcmp(verb, "check") == 0) return look(words[2], number);
    if (strcmp(verb, "kill") == 0) return kill_often(words[2], number, count > 4 ? words[4] : NULL);
    if (strcmp(verb, "backup") == 0) return copy_often(words[2], number);
    die("expected kill or backup, FOLDER, TIMES", NULL);
}
