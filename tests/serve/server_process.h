/* The real server, as a process of its own: `eenet serve --port 0` with its folder in the folder of the test. What it
 * prints goes to server.log there.
 *
 * If the variable EENET_TEST_POSTGRES has a connection string, the store of each folder is a database of its own there,
 * which starts empty: the same in all servers of the test with this folder. */
#ifndef EENET_SERVER_PROCESS_H
#define EENET_SERVER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "http_client.h"

enum { SERVER_WORDS = 40 };

typedef struct server_process {
    const char *program;             /* the path of eenet */
    const char *folder;              /* --folder */
    const char *words[SERVER_WORDS]; /* more of its command line, up to the first NULL */
    const char *disk;                /* the folder of a disk that forgets what was not synced; NULL: none */
    const char *luck;                /* with which it keeps it nevertheless, as "0.3" */
    pid_t pid;                       /* 0: it does not run */
    uint16_t port;                   /* filled in */
} server_process;

/* Where the store of a server with this folder is, as replay and the like take it: the folder, or its database. Valid
 * until the test ends. */
const char *server_process_store(const char *folder);
/* Whether it is a database: the folder has no bandits then. */
bool server_process_has_database(void);

/* Starts it and waits until it listens. Where it does not: prints why, with the end of its log, and exits 1: nothing
 * can be tested without it. */
void server_process_start(server_process *self);
/* The same without waiting. */
void server_process_spawn(server_process *self);

/* Sends the signal and waits for its end: the status of waitpid. */
int server_process_end(server_process *self, int signal);

/* Whether it runs still; a test that fails calls it to tell a crash from a wrong answer. */
bool server_process_runs(server_process *self);

/* Polls until the condition holds; after ten minutes it fails, and prints what it waited for. */
void await(server_process *self, bool holds(void *context), void *context, const char *what);

/* Waits until the model of a bandit has learned all events of its log. */
void await_model(server_process *self, http_client *client, const char *bandit);

/* Runs eenet with these words, the last of them NULL, its output to the file `output`: its exit status, or -1. */
int server_process_run(const char *program, const char *output, const char *const *words);

/* Prints the sentence, shows the end of server.log, ends the server and exits 1. */
__attribute__((format(printf, 2, 3), noreturn)) void server_process_fail(server_process *self, const char *format, ...);

#endif
