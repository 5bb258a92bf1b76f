#define _GNU_SOURCE
#include "server_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve/store/postgres/pg_connection.h"

static const char log_name[] = "server.log";

static void show_log(void)
{
    fflush(stdout);
    fprintf(stderr, "the end of %s:\n", log_name);
    if (system("tail -n 40 server.log >&2") == -1) perror(log_name);
}

/* ---- the store ---- */

typedef struct database {
    char folder[256], where[600];
} database;

static const char *postgres(void)
{
    const char *where = getenv("EENET_TEST_POSTGRES");
    return where && *where ? where : NULL;
}

bool server_process_has_database(void)
{
    return postgres() != NULL;
}

static void run_sql(pg_connection *on, const char *format, const char *name)
{
    ee_error error = {0};
    char sql[200];
    snprintf(sql, sizeof sql, format, name);
    if (!pg_execute(on, sql, "prepare a database", &error)) return;
    fprintf(stderr, "%s: %s\n", sql, error.message);
    exit(1);
}

static void make_database(const char *name)
{
    ee_error error = {0};
    pg_connection *server;
    pg_options options = {.where = postgres(), .role = "test", .seconds = 600};
    if (pg_create(&options, &server, &error) || pg_connect(server, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    run_sql(server, "DROP DATABASE IF EXISTS %s WITH (FORCE)", name); /* of an earlier process with this number */
    run_sql(server, "CREATE DATABASE %s", name);
    pg_free(server);
}

const char *server_process_store(const char *folder)
{
    enum { MOST = 32 };
    static database all[MOST];
    static size_t count;
    const char *where = postgres();
    if (!where) return folder;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].folder, folder) == 0) return all[i].where;
    if (count == MOST) abort(); /* a test has more folders */
    database *new = &all[count];
    char name[64];
    snprintf(name, sizeof name, "eenet_serve_%ld_%zu", (long)getpid(), count++);
    make_database(name);
    snprintf(new->folder, sizeof new->folder, "%s", folder);
    snprintf(new->where, sizeof new->where, "%s%cdbname=%s", where, strchr(where, '?') ? '&' : '?', name);
    return new->where;
}

/* ---- the process ---- */

static void become_server(const server_process *self, int output)
{
    /* Ends with the test, whatever ends that. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* What a sanitizer finds ends the server, and so the test. */
    setenv("TSAN_OPTIONS", "halt_on_error=1", 0);
    if (self->disk) {
        setenv("LEAKY_DISK", self->disk, 1);
        setenv("LEAKY_DISK_LUCK", self->luck, 1);
        setenv("LD_PRELOAD", getenv("EENET_LEAKY_DISK"), 1);
    }
    dup2(output, 1);
    dup2(output, 2);
    const char *words[SERVER_WORDS + 12] = {self->program, "serve", "--port", "0", "--folder", self->folder};
    size_t count = 6;
    if (server_process_has_database()) {
        const char *store[] = {"--store", server_process_store(self->folder), "--replication", "any"};
        memcpy(words + count, store, sizeof store);
        count += 4;
    }
    memcpy(words + count, self->words, sizeof self->words);
    execv(self->program, (char *const *)words);
    perror(self->program);
    _exit(127);
}

/* The port of the line that says where it listens, after the `from`th byte of the log; 0: it is not there yet. */
static uint16_t find_port(int log, off_t from)
{
    static const char sign[] = "listening on http";
    char bytes[16384];
    ssize_t size = pread(log, bytes, sizeof bytes - 1, from);
    if (size <= 0) return 0;
    bytes[size] = 0;
    const char *line = strstr(bytes, sign);
    const char *end = line ? strchr(line, '\n') : NULL;
    const char *colon = line ? strstr(line, "127.0.0.1:") : NULL;
    return end && colon && colon < end ? (uint16_t)atoi(colon + 10) : 0;
}

static int open_log(void)
{
    int log = open(log_name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        perror(log_name);
        exit(1);
    }
    return log;
}

void server_process_spawn(server_process *self)
{
    int log = open_log();
    fflush(stdout);
    server_process_store(self->folder); /* before the fork: it is the same for all servers */
    self->pid = fork();
    if (self->pid == 0) become_server(self, log);
    self->port = 0;
    close(log);
}

typedef struct start {
    server_process *server;
    int log;
    off_t from;
} start;

static bool listens(void *context)
{
    start *self = context;
    self->server->port = find_port(self->log, self->from);
    return self->server->port || !server_process_runs(self->server);
}

void server_process_start(server_process *self)
{
    start begun = {.server = self, .log = open_log()};
    begun.from = lseek(begun.log, 0, SEEK_END);
    server_process_spawn(self);
    await(self, listens, &begun, "the server to listen");
    close(begun.log);
    if (self->port == 0) server_process_fail(self, "the server did not start");
}

bool server_process_runs(server_process *self)
{
    if (self->pid > 0 && waitpid(self->pid, NULL, WNOHANG) != 0) self->pid = 0;
    return self->pid > 0;
}

int server_process_end(server_process *self, int signal)
{
    int status = -1;
    if (self->pid <= 0) return -1;
    kill(self->pid, signal);
    while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
        ;
    self->pid = 0;
    return status;
}

/* ---- waiting ---- */

void await(server_process *self, bool holds(void *context), void *context, const char *what)
{
    enum { TURNS = 600000 }; /* of a millisecond */
    for (int turns = 0; !holds(context); turns++) {
        if (turns == TURNS) server_process_fail(self, "it waited ten minutes for %s", what);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

typedef struct model_wait {
    server_process *server;
    http_client *client;
    char path[128];
} model_wait;

static bool has_learned(void *context)
{
    model_wait *self = context;
    double behind = -1;
    if (http_client_call(self->client, "GET", self->path, NULL, 0) != 200 ||
        !http_client_number(self->client, "behind", &behind))
        server_process_fail(self->server, "%s: %d %s", self->path, self->client->status, self->client->answer);
    return behind == 0;
}

void await_model(server_process *self, http_client *client, const char *bandit)
{
    model_wait wait = {.server = self, .client = client};
    snprintf(wait.path, sizeof wait.path, "/v1/bandits/%s", bandit);
    await(self, has_learned, &wait, wait.path);
}

/* ---- programs ---- */

int server_process_run(const char *program, const char *output, const char *const *words)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (file < 0) _exit(127);
        dup2(file, 1);
        dup2(file, 2);
        execv(program, (char *const *)words);
        _exit(127);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void server_process_fail(server_process *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    show_log();
    server_process_end(self, SIGKILL);
    exit(1);
}
