/* clock EENET: the server with clocks that are wrong. 1,050 events, 150 pending decisions and a retention of 30 days;
 * then the clock is 400 days ahead at the start, or jumps while the server runs. Nothing is settled or removed because
 * of it, unless an operator says that this time has passed; and once the clock is right, so are the times of events. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "http_client.h"
#include "server_process.h"

enum { DECISIONS = 450, REWARDED = 300, DAY = 86400, WAIT = 2000 };

static atomic_int_least64_t *moved; /* seconds: the wall clock, and CLOCK_BOOTTIME */
static server_process server;
static http_client client;

static void make_clock(void)
{
    int file = open("clock", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || ftruncate(file, 16)) exit(2);
    moved = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (moved == MAP_FAILED) exit(2);
    close(file);
}

/* In steps that are no jump for a server that reads one clock before a step and the other one after it. */
static void pass(int64_t seconds)
{
    enum { STEP = 250 };
    for (int64_t left = seconds; left > 0; left -= STEP) {
        int64_t step = left < STEP ? left : STEP;
        atomic_fetch_add(&moved[1], step);
        atomic_fetch_add(&moved[0], step);
    }
}

#define CHECK(condition, ...)                                                                                          \
    if (!(condition)) server_process_fail(&server, "line " STRING(__LINE__) ": " __VA_ARGS__)
#define STRING(line) STRING_OF(line)
#define STRING_OF(line) #line

/* ---- the server ---- */

static void start(const char *folder, const char *flag, const char *value)
{
    server.folder = folder;
    const char *words[] = {"--retention-days", "30", "--checkpoint-events", "100", "--checkpoints", "1", flag, value};
    for (size_t i = 0; i < 8; i++) server.words[i] = words[i];
    server_process_start(&server);
    client = http_client_start(server.port);
}

static void stop(void)
{
    http_client_end(&client);
    if (server_process_end(&server, SIGTERM) != 0) server_process_fail(&server, "it did not end well");
}

/* It ends with 1 and says these words. */
static void assert_refused(const char *folder, const char *flag, const char *value, const char *words)
{
    char bytes[4096] = "";
    const char *const line[] = {server.program,     "serve", "--port", "0",   "--folder", folder,
                                "--retention-days", "30",    flag,     value, NULL};
    setenv("MOVED_CLOCK", "clock", 1);
    setenv("LD_PRELOAD", getenv("EENET_MOVED_CLOCK"), 1);
    int code = server_process_run(server.program, "refused.log", line);
    unsetenv("LD_PRELOAD");
    int file = open("refused.log", O_RDONLY);
    if (file < 0 || read(file, bytes, sizeof bytes - 1) < 0) exit(2);
    close(file);
    CHECK(code == 1 && strstr(bytes, words), "exit status %d: %s", code, bytes);
}

static void copy(const char *from, const char *to)
{
    const char *const line[] = {server.program, "backup", from, to, NULL};
    CHECK(server_process_run(server.program, "backup.log", line) == 0, "no copy: backup.log");
}

static double metric(const char *name)
{
    char line[100];
    CHECK(http_client_call(&client, "GET", "/metrics", NULL, 0) == 200, "no metrics");
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(client.answer, line);
    CHECK(found, "no metric %s", name);
    return atof(found + strlen(line));
}

/* Until the metric has this value; the server has a minute. */
static void await(const char *name, double value)
{
    double end = http_client_now() + 60;
    while (metric(name) != value) {
        CHECK(http_client_now() < end, "%s is %g, not %g", name, metric(name), value);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static void decide(int number)
{
    int status = http_client_ask(&client, "POST", "/v1/bandits/shop/decide",
                                 "{\"id\":\"d%d\",\"actions\":[[1,%d],[0,1]]}", number, number % 7);
    CHECK(status == 200, "decide: %d %s", status, client.answer);
}

static void reward(int number, const char *outcome)
{
    char got[32] = "";
    int status = http_client_ask(&client, "POST", "/v1/bandits/shop/reward", "{\"id\":\"d%d\",\"value\":1}", number);
    CHECK(status == 200 && http_client_text(&client, "outcome", got, sizeof got) && strcmp(got, outcome) == 0,
          "reward: %d %s", status, client.answer);
}

static char *export_log(const char *query, size_t *lines)
{
    char path[200];
    snprintf(path, sizeof path, "/v1/bandits/shop/log%s", query);
    CHECK(http_client_call(&client, "GET", path, NULL, 0) == 200, "no log: %s", client.answer);
    *lines = 0;
    for (const char *at = client.answer; (at = strchr(at, '\n')); at++) ++*lines;
    return strdup(client.answer);
}

static size_t count_exported(void)
{
    size_t lines;
    free(export_log("", &lines));
    return lines;
}

/* How many days the wall time of a decision is from now, as the export says it. */
static double days_off(int number)
{
    char words[64] = "";
    struct tm when = {0};
    CHECK(http_client_call(&client, "GET", "/v1/bandits/shop/log", NULL, 0) == 200, "no log: %s", client.answer);
    char id[32];
    snprintf(id, sizeof id, "\"EventId\":\"d%d\"", number);
    const char *line = strstr(client.answer, id);
    CHECK(line, "decision %d is not exported", number);
    while (line > client.answer && line[-1] != '\n') line--;
    const char *found = strstr(line, "\"Timestamp\":\"");
    CHECK(found, "no time: %.200s", line);
    snprintf(words, sizeof words, "%.19s", found + 13);
    CHECK(strptime(words, "%Y-%m-%dT%H:%M:%S", &when), "the time %s", words);
    return ((double)timegm(&when) - (double)time(NULL)) / DAY;
}

static void accept_clock(const char *as)
{
    int status = http_client_ask(&client, "POST", "/v1/clock", "{\"accept\":\"%s\"}", as);
    CHECK(status == 200 && strstr(client.answer, "\"in_doubt\":false"), "accept: %d %s", status, client.answer);
}

static void assert_doubt(bool expected)
{
    while (http_client_call(&client, "GET", "/readyz", NULL, 0) != 200)
        CHECK(strstr(client.answer, "\"loading\""), "not ready: %s", client.answer);
    CHECK(!strstr(client.answer, "warning") == !expected, "readyz: %s", client.answer);
    CHECK(metric("eenet_clock_in_doubt") == expected, "not the metric that was expected");
}

/* ---- the test ---- */

static char *before;
static size_t before_lines;

static void make_log(void)
{
    start("data", NULL, NULL);
    int status =
        http_client_ask(&client, "POST", "/v1/bandits",
                        "{\"name\":\"shop\",\"dim\":2,\"policy\":\"linucb\",\"wait\":%d,\"default_reward\":0}", WAIT);
    CHECK(status == 201, "no bandit: %s", client.answer);
    for (int i = 0; i < DECISIONS; i++) decide(i);
    for (int i = 0; i < REWARDED; i++) reward(i, "joined");
    CHECK(metric("eenet_decisions_waiting") == DECISIONS - REWARDED, "not as many wait");
    before = export_log("", &before_lines);
    CHECK(before_lines == REWARDED, "%zu lines", before_lines);
    stop();
}

static void refuses_a_wrong_clock(void)
{
    moved[0] = 400 * DAY;
    assert_refused("data", NULL, NULL, "400 days after the last event");
    assert_refused("data", NULL, NULL, "settles 150 decisions, removes ");
    moved[0] = -7200;
    assert_refused("data", NULL, NULL, "before the last event");
    assert_refused("data", "--accept-clock", "elapsed", "before the last event");
    moved[0] = 0;
    start("data", NULL, NULL);
    size_t lines;
    char *after = export_log("", &lines);
    CHECK(strcmp(after, before) == 0, "the log is another after it was refused: %zu lines", lines);
    CHECK(metric("eenet_decisions_waiting") == DECISIONS - REWARDED, "not as many wait");
    free(after);
    stop();
}

/* The server was off for 400 days: all that waits is settled, and retention goes to work. */
static void lets_time_pass(void)
{
    copy("data", "elapsed");
    moved[0] = 400 * DAY;
    start("elapsed", "--accept-clock", "elapsed");
    await("eenet_decisions_waiting", 0);
    CHECK(metric("eenet_decisions_defaulted_total") == DECISIONS - REWARDED, "not settled with the default");
    double end = http_client_now() + 60;
    while (count_exported() >= REWARDED) CHECK(http_client_now() < end, "nothing is removed");
    stop();
    start("elapsed", NULL, NULL); /* accepted once */
    stop();
    moved[0] = 0;
}

/* The clock was wrong before: nothing is settled before its time, and nothing is removed. */
static void corrects_times_at_the_start(void)
{
    copy("data", "corrected");
    moved[0] = 400 * DAY;
    start("corrected", "--accept-clock", "corrected");
    reward(DECISIONS - 1, "joined"); /* its wait goes on */
    decide(DECISIONS);
    CHECK(metric("eenet_decisions_waiting") == DECISIONS - REWARDED, "not as many wait");
    pass(WAIT + 400);
    await("eenet_decisions_waiting", 0);
    double off = days_off(DECISIONS);
    CHECK(off > 399 && off < 401, "%g days", off);
    CHECK(count_exported() == DECISIONS + 1, "something was removed");
    stop();
    moved[0] -= 400 * DAY; /* it was wrong now, and not before */
    assert_refused("corrected", NULL, NULL, "before the last event");
    start("corrected", "--accept-clock", "corrected");
    decide(DECISIONS + 1);
    pass(WAIT + 400);
    await("eenet_decisions_waiting", 0);
    off = days_off(DECISIONS + 1);
    CHECK(off > -1 && off < 1, "%g days", off);
    CHECK(count_exported() == DECISIONS + 2, "something was removed");
    stop();
    const char *const replay[] = {server.program, "replay", "corrected", NULL};
    CHECK(server_process_run(server.program, "replay.log", replay) == 0, "not what its log says: replay.log");
}

static void holds_after_a_jump(int64_t jump)
{
    char folder[32];
    snprintf(folder, sizeof folder, "jump%+lld", (long long)jump);
    copy("data", folder);
    moved[0] = moved[1] = 0;
    start(folder, NULL, NULL);
    moved[0] += 2; /* as NTP does it */
    decide(DECISIONS);
    assert_doubt(false);
    moved[0] += jump;
    assert_doubt(true);
    CHECK(http_client_call(&client, "GET", "/v1/clock", NULL, 0) == 200 && strstr(client.answer, "\"in_doubt\":true"),
          "clock: %s", client.answer);
    decide(DECISIONS + 1);
    reward(DECISIONS + 1, "joined");
    reward(DECISIONS - 1, "joined");
    pass(WAIT + 400); /* less than the hour after which it is accepted */
    decide(DECISIONS + 2);
    CHECK(metric("eenet_decisions_defaulted_total") == 0, "something was settled");
    CHECK(metric("eenet_decisions_waiting") == DECISIONS - REWARDED + 1, "not as many wait");
    stop();
    start(folder, NULL, NULL); /* restarting is no way around it */
    assert_doubt(true);
    decide(DECISIONS + 3);
    CHECK(metric("eenet_decisions_defaulted_total") == 0, "something was settled");
    int status = http_client_ask(&client, "POST", "/v1/clock", "{\"accept\":\"yes\"}");
    CHECK(status == 400, "accept: %d %s", status, client.answer);
    accept_clock("corrected");
    assert_doubt(false);
    status = http_client_ask(&client, "POST", "/v1/clock", "{\"accept\":\"corrected\"}");
    CHECK(status == 409, "accept: %d %s", status, client.answer);
    pass(WAIT + 400);
    await("eenet_decisions_waiting", 0);
    moved[0] -= jump; /* the clock is right again, and nobody says so: after an hour it is believed */
    assert_doubt(true);
    pass(3300);
    assert_doubt(true);
    pass(400);
    assert_doubt(false);
    decide(DECISIONS + 4);
    pass(WAIT + 400);
    await("eenet_decisions_waiting", 0);
    double off = days_off(DECISIONS + 4);
    CHECK(off > -1 && off < 1, "%g days", off);
    CHECK(count_exported() == DECISIONS + 5, "something was removed");
    stop();
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count < 2) return 2;
    const char *library = getenv("EENET_MOVED_CLOCK");
    if (!library || !library[0]) {
        printf("the clocks of a sanitized program cannot be moved\n");
        return 77;
    }
    make_clock();
    server = (server_process){.program = words[1], .clock = "clock"};
    make_log();
    refuses_a_wrong_clock();
    corrects_times_at_the_start();
    holds_after_a_jump(400 * DAY);
    holds_after_a_jump(-3600);
    moved[0] = moved[1] = 0;
    lets_time_pass();
    free(before);
    return 0;
}
