/* torture EENET [KILLS [plain|leaky [SEED]]]: the server is killed with SIGKILL at random moments under load, and
 * started again, KILLS times; in the end all that was acknowledged must be in its log, once, and as it was answered,
 * and a replay must find every decision, probability and model that the log has.
 *
 * Several threads decide and reward as careless callers do: ids of their own and of the server's, the same request
 * again, rewards before their decision, rewards twice, another request under a used id. After each restart they ask
 * again what they were answered since the one before, and must get the same bytes.
 *
 * leaky: on a disk that forgets at the end of the process what was not synced; see leaky_disk.c. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/random.h"
#include "data/text.h"
#include "http_client.h"
#include "ledger.h"
#include "server_process.h"

enum { WORKERS = 6, BANDITS = 5, BANDIT_NAMED = 2, BANDIT_APPRENTICE = 3, BANDIT_SLEEPY = 4, DIM = 5 };

static const ledger_bandit bandits[BANDITS] = {
    {"first", LOG_REWARD_FIRST, 0}, /* a network; waits long, and keeps few decisions in memory */
    {"sum", LOG_REWARD_SUM, NAN},   /* settled by the end of its wait, without a default */
    {"names", LOG_REWARD_FIRST, 0.25}, {"apprentice", LOG_REWARD_FIRST, 0}, /* its mode changes */
    {"sleepy", LOG_REWARD_FIRST, 0},                                        /* seldom asked: it sleeps and wakes */
};
static const char *const bandit_bodies[BANDITS] = {
    "{\"name\":\"first\",\"dim\":5,\"options\":\"f1.width=16,units=16,pending=64\",\"seed\":1,\"wait\":3600,\"default_"
    "reward\":0}",
    "{\"name\":\"sum\",\"dim\":5,\"policy\":\"linucb\",\"wait\":1,\"default_reward\":null,\"aggregation\":\"sum\"}",
    "{\"name\":\"names\",\"features\":\"names=2000\",\"options\":\"f1.width=16,units=16\",\"wait\":1,"
    "\"default_reward\":0.25}",
    "{\"name\":\"apprentice\",\"dim\":5,\"policy\":\"linucb\",\"wait\":3600,\"mode\":\"apprentice\"}",
    "{\"name\":\"sleepy\",\"dim\":5,\"policy\":\"linucb\",\"wait\":3600}",
};

/* What the threads share: which server runs, and whether it is over. */
typedef struct stage {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t generation; /* servers that were started and listen */
    uint16_t port;
    bool over;
    atomic_uint_fast64_t answers; /* that came, of all servers */
} stage;

typedef struct worker {
    stage *shared;
    pthread_t thread;
    size_t number;
    random_stream chance;
    http_client client;
    ledger ledger;
    uint64_t generation, made;
    size_t asked_decisions, asked_rewards; /* of the ledger: up to here asked again after a restart */
    uint64_t repeats;
    text body;
    ee_error error;
} worker;

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(1);
}

/* Waits for a server that was started after the one that it knows; false: it is over. */
static bool wait_for_server(worker *self)
{
    stage *shared = self->shared;
    pthread_mutex_lock(&shared->lock);
    while (shared->generation == self->generation && !shared->over) pthread_cond_wait(&shared->changed, &shared->lock);
    self->generation = shared->generation;
    self->client.port = shared->port;
    bool over = shared->over;
    pthread_mutex_unlock(&shared->lock);
    return !over;
}

/* ---- requests, each a function of its seed ---- */

static void add_vector(text *into, random_stream *chance)
{
    text_add(into, "[");
    for (size_t i = 0; i < DIM; i++) text_add(into, "%s%.3f", i ? "," : "", 2 * random_unit(chance) - 1);
    text_add(into, "]");
}

static void add_actions(text *into, size_t bandit, random_stream *chance)
{
    size_t count = 2 + random_below(chance, 4);
    bool plain = bandit != BANDIT_NAMED && random_below(chance, 2);
    text_add(into, "\"actions\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(into, plain ? "%s" : "%s{\"id\":\"a%zu\",", i ? "," : "", i);
        if (bandit == BANDIT_NAMED)
            text_add(into, "\"features\":{\"kind\":\"k%d\",\"price\":%.2f}}", (int)random_below(chance, 50),
                     random_unit(chance));
        else if (plain)
            add_vector(into, chance);
        else
            text_add(into, "\"vector\":"), add_vector(into, chance), text_add(into, "}");
    }
    text_add(into, "]");
    if (!plain && random_below(chance, 3) == 0)
        text_add(into, ",\"exclude\":[\"a%d\"]", (int)random_below(chance, count));
}

/* id "": the server makes one. */
static void add_request(text *into, size_t bandit, const char *id, uint64_t seed)
{
    random_stream chance = random_named(seed, "request");
    text_add(into, "{");
    if (*id) text_add(into, "\"id\":\"%s\",", id);
    if (bandit == BANDIT_NAMED)
        text_add(into, "\"context\":{\"user\":{\"age\":%d,\"town\":\"t%d\"}},", (int)random_below(&chance, 90),
                 (int)random_below(&chance, 30));
    add_actions(into, bandit, &chance);
    text_add(into, "}");
}

static int post(worker *self, size_t bandit, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/bandits/%s/%s", bandits[bandit].name, what);
    int status = http_client_call(&self->client, "POST", path, self->body.bytes, self->body.length);
    if (status) atomic_fetch_add(&self->shared->answers, 1);
    return status;
}

/* ---- one thing that a caller does; false: no answer came ---- */

/* What was answered to a decision, alone or in a batch: as before, where it was asked before. */
static void keep_answer(worker *self, told_decision *told, const char *answer, size_t size)
{
    while (size && answer[size - 1] == '\n') size--;
    if (!told->answer) {
        told->answer = strndup(answer, size);
        return;
    }
    self->repeats++;
    if (strlen(told->answer) != size || memcmp(told->answer, answer, size))
        give_up("decide %s again: another answer\n%s\n%.*s", told->id, told->answer, (int)size, answer);
}

static bool decide(worker *self, told_decision *told)
{
    self->body.length = 0;
    add_request(&self->body, told->bandit, told->id, told->seed);
    int status = post(self, told->bandit, "decide");
    if (status == 0) return false;
    if (status != 200) give_up("decide %s: %d %s", told->id, status, self->client.answer);
    keep_answer(self, told, self->client.answer, self->client.size);
    if (!*told->id && !http_client_text(&self->client, "id", told->id, sizeof told->id))
        give_up("decide: no id in %s", told->answer);
    return true;
}

/* The last so many of the ledger, of one bandit, in one request. */
static bool decide_together(worker *self, size_t count)
{
    told_decision *told = &self->ledger.decisions[self->ledger.decision_count - count];
    self->body.length = 0;
    for (size_t i = 0; i < count; i++) {
        text_add(&self->body, i ? "," : "{\"decisions\":[");
        add_request(&self->body, told[i].bandit, told[i].id, told[i].seed);
    }
    text_add(&self->body, "]}");
    int status = post(self, told->bandit, "decide/batch");
    if (status == 0) return false;
    json_reader reader = json_start(self->client.answer, self->client.size, NULL);
    json_token token;
    json_text span;
    bool good = status == 200 && !json_next(&reader, &token, NULL) && !json_next(&reader, &token, NULL);
    for (size_t i = 0; good && i < count; i++) {
        good = !json_next(&reader, &token, NULL) && token.kind == JSON_KIND_OBJECT &&
               !json_skip(&reader, &token, &span, NULL);
        if (good) keep_answer(self, &told[i], span.bytes, span.length);
    }
    if (!good) give_up("decide together: %d %s", status, self->client.answer);
    return true;
}

static bool reward(worker *self, told_reward *told)
{
    self->body.length = 0;
    text_add(&self->body, "{\"id\":\"%s\",\"value\":%.17g", told->id, told->value);
    if (told->named) text_add(&self->body, ",\"reward_id\":\"r%.17g\"", told->value);
    text_add(&self->body, "}");
    told->sent++;
    int status = post(self, told->bandit, "reward");
    if (status == 0) return false;
    char outcome[16];
    if (status != 200 || !http_client_text(&self->client, "outcome", outcome, sizeof outcome) ||
        !ledger_outcome(outcome))
        give_up("reward %s: %d %s", told->id, status, self->client.answer);
    if (told->outcome == OUTCOME_NONE) {
        told->outcome = ledger_outcome(outcome);
    } else if (told->named) {
        self->repeats++;
        if (ledger_outcome(outcome) != told->outcome)
            give_up("reward %.17g of %s again: %s, and was %s", told->value, told->id, outcome,
                    ledger_outcome_name(told->outcome));
    }
    return true;
}

static bool conflict(worker *self, const told_decision *told)
{
    self->body.length = 0;
    add_request(&self->body, told->bandit, told->id, told->seed + 1);
    int status = post(self, told->bandit, "decide");
    if (status != 0 && status != 409)
        give_up("another request with the id %s: %d %s", told->id, status, self->client.answer);
    return status != 0;
}

static told_reward *new_reward(worker *self, size_t bandit, const char *id)
{
    told_reward *told = ledger_add_reward(&self->ledger);
    told->bandit = bandit;
    told->value = random_unit(&self->chance);
    told->named = random_below(&self->chance, 2);
    snprintf(told->id, sizeof told->id, "%s", id);
    return told;
}

/* Sometimes a caller that got no answer asks again, as soon as there is a server. */
static void decide_stubbornly(worker *self, size_t place)
{
    while (!decide(self, &self->ledger.decisions[place])) {
        told_decision *told = &self->ledger.decisions[place];
        if (!wait_for_server(self) || !*told->id || random_below(&self->chance, 3) == 0) return;
    }
}

static void reward_stubbornly(worker *self, told_reward *told)
{
    while (!reward(self, told)) {
        if (!wait_for_server(self) || random_below(&self->chance, 3) == 0) return;
    }
}

static told_decision *plan_decision(worker *self, size_t bandit, bool by_caller)
{
    told_decision *told = ledger_add_decision(&self->ledger);
    told->bandit = bandit;
    told->seed = random_bits(&self->chance);
    if (by_caller) snprintf(told->id, sizeof told->id, "w%zu-%" PRIu64, self->number, self->made++);
    return told;
}

static size_t some_bandit(worker *self)
{
    return random_below(&self->chance, 1000) ? random_below(&self->chance, BANDIT_SLEEPY) : BANDIT_SLEEPY;
}

static void new_decision(worker *self)
{
    size_t place = self->ledger.decision_count;
    const told_decision *told = plan_decision(self, some_bandit(self), random_below(&self->chance, 5) > 0);
    bool by_caller = *told->id;
    if (by_caller && random_below(&self->chance, 20) == 0)
        reward_stubbornly(self, new_reward(self, told->bandit, told->id));
    decide_stubbornly(self, place);
    if (by_caller && random_below(&self->chance, 10) == 0) decide_stubbornly(self, place);
}

static void new_decisions(worker *self)
{
    size_t bandit = some_bandit(self), count = 2 + random_below(&self->chance, 4);
    for (size_t i = 0; i < count; i++) plan_decision(self, bandit, true);
    while (!decide_together(self, count)) {
        if (!wait_for_server(self) || random_below(&self->chance, 3) == 0) return;
    }
}

/* A reward for one of the last decisions, sometimes twice. */
static void reward_something(worker *self)
{
    size_t count = self->ledger.decision_count;
    if (!count) return;
    size_t back = random_below(&self->chance, count < 50 ? count : 50);
    const told_decision *decision = &self->ledger.decisions[count - 1 - back];
    if (!decision->answer) return;
    if (random_below(&self->chance, 30) == 0) {
        if (!conflict(self, decision)) wait_for_server(self);
        return;
    }
    told_reward *told = new_reward(self, decision->bandit, decision->id);
    reward_stubbornly(self, told);
    if (told->named && random_below(&self->chance, 5) == 0) reward_stubbornly(self, told);
}

/* All that was answered since it last asked: the same again. */
static bool ask_again(worker *self)
{
    ledger *told = &self->ledger;
    for (; self->asked_decisions < told->decision_count; self->asked_decisions++) {
        told_decision *decision = &told->decisions[self->asked_decisions];
        bool by_caller = decision->id[0] == 'w';
        if (decision->answer && by_caller && !decide(self, decision)) return false;
    }
    for (; self->asked_rewards < told->reward_count; self->asked_rewards++) {
        told_reward *old = &told->rewards[self->asked_rewards];
        if (old->named && old->outcome != OUTCOME_NONE && !reward(self, old)) return false;
    }
    return true;
}

static void *work(void *context)
{
    worker *self = context;
    for (uint64_t known = 0;;) {
        if (self->generation == 0 && !wait_for_server(self)) return NULL;
        pthread_mutex_lock(&self->shared->lock);
        bool over = self->shared->over;
        pthread_mutex_unlock(&self->shared->lock);
        if (over) return NULL;
        if (known != self->generation) {
            known = self->generation;
            if (!ask_again(self) && !wait_for_server(self)) return NULL;
        } else if (random_below(&self->chance, 20) == 0) {
            new_decisions(self);
        } else if (random_below(&self->chance, 2)) {
            new_decision(self);
        } else {
            reward_something(self);
        }
    }
}

/* ---- the server's life ---- */

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

static void announce(stage *self, uint16_t port, bool over)
{
    pthread_mutex_lock(&self->lock);
    self->port = port;
    self->generation++;
    self->over = over;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void create_bandits(server_process *server)
{
    http_client client = http_client_start(server->port);
    for (size_t i = 0; i < BANDITS; i++) {
        if (http_client_ask(&client, "POST", "/v1/bandits", "%s", bandit_bodies[i]) != 201)
            server_process_fail(server, "create %s: %d %s", bandits[i].name, client.status, client.answer);
    }
    http_client_end(&client);
}

/* Until so many more answers came. */
static void wait_for_answers(server_process *server, stage *shared, uint64_t count)
{
    uint64_t enough = atomic_load(&shared->answers) + count;
    for (int turns = 0; atomic_load(&shared->answers) < enough; turns++) {
        if (!server_process_runs(server)) server_process_fail(server, "the server ended by itself");
        if (turns > 120000) server_process_fail(server, "no answers come");
        sleep_for(0.0005);
    }
}

/* What an administrator may do at any time: another model, other settings (the same, as far as joining goes). */
static void meddle(server_process *server, random_stream *chance)
{
    static const char *const modes[] = {"online", "apprentice", "logging"};
    http_client client = http_client_start(server->port);
    char path[64];
    snprintf(path, sizeof path, "/v1/bandits/%s/model", bandits[random_below(chance, BANDITS)].name);
    uint64_t what = random_below(chance, 10);
    int status = 200;
    if (what == 0)
        status = http_client_call(&client, "DELETE", path, NULL, 0);
    else if (what == 1)
        status = http_client_ask(&client, "PATCH", "/v1/bandits/sum", "{\"wait\":1}");
    else if (what == 2)
        status = http_client_call(&client, "GET", path, NULL, 0);
    else if (what == 3)
        status = http_client_ask(&client, "PATCH", "/v1/bandits/apprentice", "{\"mode\":\"%s\"}",
                                 modes[random_below(chance, 3)]);
    if (status == 200 && what == 2) {
        char *model = malloc(client.size);
        size_t size = client.size;
        memcpy(model, client.answer, size);
        status = http_client_call(&client, "PUT", path, model, size);
        free(model);
    }
    if (status != 200) server_process_fail(server, "%s: %d %s", path, status, client.answer);
    http_client_end(&client);
}

/* Kills at random moments, now and then while the server is still starting. */
static void kill_often(server_process *server, stage *shared, uint64_t kills, random_stream *chance)
{
    announce(shared, server->port, false);
    for (uint64_t i = 0; i < kills; i++) {
        meddle(server, chance);
        wait_for_answers(server, shared, random_below(chance, 1000));
        server_process_end(server, SIGKILL);
        server->luck = random_below(chance, 2) ? "0" : "0.3";
        if (random_below(chance, 10) == 0) {
            server_process_spawn(server);
            sleep_for(0.05 * random_unit(chance));
            server_process_end(server, SIGKILL);
        }
        server_process_start(server);
        announce(shared, server->port, false);
    }
}

/* Nothing waits any more where the wait is short. */
static void wait_until_settled(server_process *server)
{
    for (size_t i = 0; i < BANDITS; i++) {
        if (!strstr(bandit_bodies[i], "\"wait\":1,")) continue;
        for (int turns = 0; ledger_open_decisions(server->folder, bandits[i].name); turns++) {
            if (turns > 300) server_process_fail(server, "%s: decisions wait for ever", bandits[i].name);
            sleep_for(0.1);
        }
    }
}

static int torture(const char *program, uint64_t kills, const char *disk, uint64_t seed)
{
    random_stream chance = random_named(seed, "kills");
    char folder[64];
    snprintf(folder, sizeof folder, "%s/data", disk);
    mkdir(disk, 0755);
    server_process server = {.program = program,
                             .folder = folder,
                             .words = {"--publish-interval", "0.02", "--checkpoint-events", "2000", "--sleep-seconds",
                                       "0.1", "--trainers", "1", "--most-behind", "200"},
                             .disk = strcmp(disk, "leaky") == 0 ? disk : NULL,
                             .luck = "0"};
    stage shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    worker workers[WORKERS] = {0};
    ledger ledgers[WORKERS];
    server_process_start(&server);
    create_bandits(&server);
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.shared = &shared, .number = i, .client = http_client_start(0)};
        workers[i].chance = random_named(seed * WORKERS + i, "worker");
        workers[i].body = text_start(&workers[i].error);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    kill_often(&server, &shared, kills, &chance);
    wait_for_answers(&server, &shared, 500);
    announce(&shared, server.port, true);
    uint64_t repeats = 0;
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        repeats += workers[i].repeats;
        ledgers[i] = workers[i].ledger;
        http_client_end(&workers[i].client);
        memory_free(workers[i].body.bytes);
    }
    wait_until_settled(&server);
    int status = server_process_end(&server, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        server_process_fail(&server, "SIGTERM: the status of the server is %d, not 0", status);
    ledger_sums sums = ledger_check(folder, bandits, BANDITS, ledgers, WORKERS);
    for (size_t i = 0; i < WORKERS; i++) ledger_end(&ledgers[i]);
    printf("%s disk, %" PRIu64 " kills: %" PRIu64 " decisions and %" PRIu64 " rewards acknowledged, %" PRIu64
           " repeated with the same answer; %" PRIu64 " events in the log, %" PRIu64 " decisions settled; %" PRIu64
           " faults\n",
           disk, kills, sums.decisions, sums.rewards, repeats, sums.events, sums.settled, sums.faults);
    if (sums.faults) return 1;
    const char *words[] = {program, "replay", folder, "--from-beginning", NULL};
    int replayed = server_process_run(program, "replay.log", words);
    if (system("cat replay.log") || replayed) printf("fault: eenet replay ended with %d\n", replayed);
    return replayed ? 1 : 0;
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count < 2) {
        fprintf(stderr, "usage: torture EENET [KILLS [plain|leaky [SEED]]]\n");
        return 2;
    }
    uint64_t kills = count > 2 ? strtoull(words[2], NULL, 10) : 5;
    uint64_t seed = count > 4 ? strtoull(words[4], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    int status = 0;
    if (count < 4 || strcmp(words[3], "plain") == 0) status |= torture(words[1], kills, "plain", seed);
    const char *leaky = getenv("EENET_LEAKY_DISK");
    if (count > 3 && strcmp(words[3], "leaky")) return status;
    if (leaky && *leaky) return status | torture(words[1], kills, "leaky", seed);
    printf("EENET_LEAKY_DISK does not say where the disk that forgets is: not tried\n");
    return status;
}
