/* damage EENET [all]: a server has written all kinds of events. Then one sector of each page of its database is zeroed
 * (with `all` every sector), and bytes of its events are flipped, one at a time: `eenet check`, `backup` and `replay`
 * must find each damage. The only ones that may pass are those after which SQLite still finds nothing wrong and reads
 * every row as before: of bytes that hold no data. Damage outside the log must be repaired to what was before. */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "http_client.h"
#include "server_process.h"

enum { SECTOR = 512, ROUNDS = 300 };
static const char *program;

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
    exit(1);
}

/* ---- a store with all kinds of events ---- */

static void ask(http_client *client, const char *path, const char *body)
{
    int status = http_client_call(client, "POST", path, body, strlen(body));
    if (status < 200 || status > 299) give_up("%s: %d %s", path, status, client->answer);
}

static void send_round(http_client *client, size_t i)
{
    char body[600];
    snprintf(body, sizeof body, "{\"id\":\"early-%zu\",\"value\":0.5,\"reward_id\":\"r%zu\"}", i, i);
    if (i % 5 == 0) ask(client, "/v1/bandits/shop/reward", body);
    snprintf(body, sizeof body, "{\"id\":\"%s-%zu\",%s\"actions\":[[1,%zu],[0,1],[%zu,0]]}",
             i % 10 == 0 ? "early" : "visit", i, i % 4 == 0 ? "\"defer\":true," : "", i % 7, i % 3);
    ask(client, "/v1/bandits/shop/decide", body);
    snprintf(body, sizeof body, "{\"id\":\"visit-%zu\"}", i);
    if (i % 8 == 0) ask(client, "/v1/bandits/shop/activate", body);
    snprintf(body, sizeof body, "{\"id\":\"visit-%zu\",\"value\":%zu,\"reward_id\":\"click-%zu\"}", i, i % 2, i);
    if (i % 3) ask(client, "/v1/bandits/shop/reward", body);
    snprintf(body, sizeof body,
             "{\"id\":\"page-%zu\",\"context\":{\"user\":{\"name\":\"u%zu\"}},\"actions\":[{\"id\":\"red\","
             "\"features\":{\"kind\":\"a\"}},"
             "{\"id\":\"green\",\"features\":{\"kind\":\"b\"}},{\"id\":\"blue\",\"features\":{\"kind\":\"c\"}}],"
             "\"slots\":[{\"id\":\"top\"},{\"id\":\"side\"}]}",
             i, i % 20);
    if (i % 2) ask(client, "/v1/bandits/news/decide", body);
    snprintf(body, sizeof body, "{\"id\":\"page-%zu\",\"value\":%zu}", i, i % 3);
    if (i % 2) ask(client, "/v1/bandits/news/reward", body);
    if (i % 6 == 1) ask(client, "/v1/bandits/news/reward", body);
}

static void make_store(const char *folder)
{
    server_process server = {
        .program = program, .folder = folder, .words = {"--checkpoint-events", "50", "--publish-interval", "0"}};
    server_process_start(&server);
    http_client client = http_client_start(server.port);
    ask(&client, "/v1/bandits",
        "{\"name\":\"shop\",\"dim\":2,\"options\":\"f1.width=4,units=4,pending=8\",\"wait\":3600}");
    ask(&client, "/v1/bandits",
        "{\"name\":\"news\",\"features\":\"names=2000\",\"policy\":\"linucb\",\"aggregation\":\"sum\",\"wait\":"
        "1}");
    for (size_t i = 0; i < ROUNDS; i++) send_round(&client, i);
    const char *change = "{\"wait\":7200}";
    if (http_client_call(&client, "PATCH", "/v1/bandits/shop", change, strlen(change)) != 200)
        give_up("PATCH: %s", client.answer);
    ask(&client, "/v1/bandits", "{\"name\":\"idle\",\"dim\":2}");
    http_client_end(&client);
    if (server_process_end(&server, SIGTERM) != 0) server_process_fail(&server, "it did not end well");
}

/* ---- what SQLite reads ---- */

static void add_bytes(uint64_t sum[2], const void *bytes, size_t size)
{
    uint64_t both[4] = {sum[0], sum[1]};
    checksum_128(bytes, size, both + 2);
    checksum_128(both, sizeof both, sum);
}

static void add_rows(sqlite3 *database, const char *sql, uint64_t sum[2])
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &row, NULL);
    while (!code && (code = sqlite3_step(row)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(row); i++) {
            int type = sqlite3_column_type(row, i);
            add_bytes(sum, &type, sizeof type);
            const void *bytes = sqlite3_column_blob(row, i);
            add_bytes(sum, bytes, (size_t)sqlite3_column_bytes(row, i));
        }
        code = SQLITE_OK;
    }
    add_bytes(sum, &code, sizeof code);
    sqlite3_finalize(row);
}

/* Every row of every table, its schema, and the integrity check. log: only what cannot be computed from anything else.
 */
static void read_content(const char *path, bool log, uint64_t sum[2])
{
    enum { LOG = 2 };
    static const char *const questions[] = {"SELECT * FROM events NOT INDEXED ORDER BY place",
                                            "SELECT number, name, archived, first_settings, checksum FROM bandits"
                                            " NOT INDEXED ORDER BY number",
                                            "PRAGMA integrity_check",
                                            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
                                            "SELECT * FROM bandits ORDER BY number",
                                            "SELECT * FROM log_ends ORDER BY bandit",
                                            "SELECT * FROM decisions ORDER BY place",
                                            "SELECT * FROM ids",
                                            "SELECT * FROM reward_ids",
                                            "SELECT * FROM unclaimed",
                                            "PRAGMA user_version",
                                            "PRAGMA application_id"};
    sqlite3 *database;
    sum[0] = sum[1] = 0;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL)) give_up("%s: cannot be opened", path);
    for (size_t i = 0; i < (log ? LOG : sizeof questions / sizeof *questions); i++)
        add_rows(database, questions[i], sum);
    sqlite3_close(database);
}

/* ---- trying ---- */

static int run(const char *verb, const char *folder, const char *more)
{
    const char *const words[] = {program, verb, folder, more, NULL};
    char output[32];
    snprintf(output, sizeof output, "%s.log", verb);
    return server_process_run(program, output, words);
}

static void expect(const char *verb, const char *folder, const char *more, int expected, const char *what)
{
    int code = run(verb, folder, more);
    if (code != expected)
        give_up("%s: eenet %s: exit status %d, expected %d: %s.log", what, verb, code, expected, verb);
}

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/* All three find the damage, and no copy is left. */
static void expect_found(const char *what)
{
    expect("check", "damaged", NULL, 1, what);
    expect("backup", "damaged", "copy", 1, what);
    if (is_there("copy")) give_up("%s: a damaged copy was kept", what);
    expect("replay", "damaged", NULL, 1, what);
}

typedef struct trial {
    uint8_t *bytes; /* (size) of the whole database */
    size_t size, page_size;
    uint64_t content[2], log[2];
    size_t found, unused, repaired, of_log;
} trial;

/* Without a sync, which would take most of the time. */
static void write_database(const trial *self)
{
    FILE *file = fopen("damaged/eenet.db", "wb");
    if (!file || fwrite(self->bytes, 1, self->size, file) != self->size || fclose(file))
        give_up("damaged/eenet.db cannot be written");
}

/* The bytes from an offset were changed. */
static void try_damage(trial *self, const char *what, bool repairs)
{
    uint64_t content[2], log[2];
    write_database(self);
    read_content("damaged/eenet.db", false, content);
    if (memcmp(content, self->content, sizeof content) == 0) {
        expect("check", "damaged", NULL, 0, what); /* nothing was lost, and nothing is reported */
        self->unused++;
        return;
    }
    expect_found(what);
    self->found++;
    read_content("damaged/eenet.db", true, log);
    bool of_log = memcmp(log, self->log, sizeof log) != 0;
    self->of_log += of_log;
    if (!repairs || of_log) return;
    expect("check", "damaged", "--repair", 0, what);
    expect("check", "damaged", NULL, 0, what);
    expect("replay", "damaged", NULL, 0, what);
    self->repaired++;
    remove("damaged/eenet.db.damaged-1");
}

static void zero_sectors(trial *self, bool all)
{
    uint8_t saved[SECTOR];
    static const uint8_t zeros[SECTOR];
    size_t sectors = self->page_size / SECTOR, tried = 0;
    for (size_t page = 0; page < self->size / self->page_size; page++)
        for (size_t i = 0, done = 0; i < sectors && (all || !done); i++) {
            uint8_t *at = self->bytes + page * self->page_size + (page * 5 + i) % sectors * SECTOR;
            char what[64];
            if (memcmp(at, zeros, SECTOR) == 0) continue;
            snprintf(what, sizeof what, "page %zu, sector %zu", page + 1, (page * 5 + i) % sectors);
            memcpy(saved, at, SECTOR);
            memset(at, 0, SECTOR);
            size_t before = self->found;
            try_damage(self, what, true);
            memcpy(at, saved, SECTOR);
            done += self->found > before; /* of unused space another sector is tried */
            tried++;
        }
    printf("%zu pages, %zu sectors zeroed: %zu found, %zu of unused space; %zu of the log; %zu repaired\n",
           self->size / self->page_size, tried, self->found, self->unused, self->of_log, self->repaired);
}

/* Every byte of an event's body, and of its id. */
static void flip_bytes(trial *self, bool all)
{
    sqlite3 *database;
    sqlite3_stmt *row;
    size_t flipped = 0;
    sqlite3_open_v2("store/eenet.db", &database, SQLITE_OPEN_READONLY, NULL);
    sqlite3_prepare_v2(database,
                       "SELECT id, body FROM events WHERE kind = 1 AND length(body) < 2000 GROUP BY place >> 40", -1,
                       &row, NULL);
    while (sqlite3_step(row) == SQLITE_ROW)
        for (int column = 0; column < 2; column++) {
            size_t size = (size_t)sqlite3_column_bytes(row, column);
            uint8_t *at = memmem(self->bytes, self->size, sqlite3_column_blob(row, column), size);
            if (!at) give_up("an event is not in the file");
            for (size_t i = 0; i < size; i++) {
                at[i] = (uint8_t)(at[i] ^ 1 << i % 8);
                write_database(self);
                expect("check", "damaged", NULL, 1, "a flipped bit of an event");
                if (all || i % 16 == 0) expect_found("a flipped bit of an event");
                at[i] = (uint8_t)(at[i] ^ 1 << i % 8);
                flipped++;
            }
        }
    sqlite3_finalize(row);
    sqlite3_close(database);
    printf("%zu bytes of events flipped: all found\n", flipped);
}

/* Bytes anywhere. */
static void flip_anywhere(trial *self, size_t count)
{
    self->found = self->unused = self->of_log = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (i * 2654435761u + 977) % self->size;
        char what[64];
        snprintf(what, sizeof what, "byte %zu", at);
        self->bytes[at] ^= 0x10;
        try_damage(self, what, false);
        self->bytes[at] ^= 0x10;
    }
    printf("%zu bytes anywhere flipped: %zu found, %zu that hold no data; %zu of the log\n", count, self->found,
           self->unused, self->of_log);
}

static void copy_store(void)
{
    if (run("backup", "store", "damaged")) give_up("no copy: backup.log");
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    bool all = count > 2 && strcmp(words[2], "all") == 0;
    program = words[1];
    trial self = {0};
    ee_error error;
    make_store("store");
    expect("check", "store", NULL, 0, "the whole store");
    expect("replay", "store", NULL, 0, "the whole store");
    copy_store();
    if (file_read("damaged/eenet.db", &self.bytes, &self.size, &error)) give_up("%s", error.message);
    self.page_size = (size_t)self.bytes[16] << 8 | self.bytes[17];
    read_content("damaged/eenet.db", false, self.content);
    read_content("damaged/eenet.db", true, self.log);
    zero_sectors(&self, all);
    if (!self.found || !self.repaired) give_up("nothing was damaged, or repaired");
    flip_bytes(&self, all);
    flip_anywhere(&self, all ? 2000 : 60);
    memory_free(self.bytes);
    return 0;
}
