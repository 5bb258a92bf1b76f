/* quality PORT [DATASET ROUNDS SEEDS PUBLISH_SECONDS]: a data set is played through HTTP, one round at a time, and
 * with the library alone, by the same policy and propensity rule: the regret must be the same within its noise. With
 * rewards at once, late, and shuffled. Without a data set: a small problem, which takes seconds.
 *
 * The server publishes a model every PUBLISH_SECONDS, and a client that does not wait for it decides on an older one
 * than the library does. With 0, as on the small problem, the client waits for the model before it decides: then
 * nothing but the draws may differ. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/sets/environment.h"
#include "data/values/text.h"
#include "lab/runs/delay.h"
#include "support.h"
#include "support_http.h"

enum { LATE = 100, SEEDS_MOST = 20 };

typedef enum order { ORDER_AT_ONCE, ORDER_LATE, ORDER_SHUFFLED, ORDERS } order;
static const char *const order_names[ORDERS] = {"at once", "late", "shuffled"};

/* Who plays: the library, or the server. */
typedef struct player {
    ee_bandit *bandit; /* NULL: over HTTP */
    int connection;
    char name[64]; /* of the bandit there */
    bool patient;  /* waits for the model before it decides */
    text body;
    http_reply reply;
    ee_error error;
} player;

typedef struct game {
    uint16_t port;
    const dataset *data;
    const char *options;
    uint64_t rounds, seeds;
    bool patient;
    order rewards;
} game;

static void must(const player *self, bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "%s: %s %d %s\n", what, self->error.message, self->reply.status, self->reply.body);
    exit(1);
}

/* The answer is in self->reply. what: of the bandit; "" with a body: it is created. */
static void ask(player *self, const char *method, const char *what, const text *body)
{
    char head[256];
    bool creates = body && !*what;
    snprintf(head, sizeof head, "%s /v1/bandits%s%s%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             method, creates ? "" : "/", creates ? "" : self->name, what, body ? body->length : 0);
    free(self->reply.body);
    bool is_sent = raw_send_text(self->connection, head) &&
                   raw_send(self->connection, body ? body->bytes : "", body ? body->length : 0);
    must(self,
         is_sent && raw_read(self->connection, &self->reply, false) && self->reply.status == (creates ? 201 : 200),
         what);
}

/* A number of the answer: "name": before it. */
static double number(const player *self, const char *name)
{
    const char *at = strstr(self->reply.body, name);
    must(self, at, name);
    return atof(at + strlen(name));
}

/* ---- the two players ---- */

static void start_library(player *self, const game *what, uint64_t seed)
{
    char options[512];
    snprintf(options, sizeof options, "%s pending=10000 propensity=floor propensity_epsilon=0.05", what->options);
    ee_settings settings = {.policy = "eenet", .dim = dataset_dim(what->data), .seed = seed, .options = options};
    must(self, !ee_bandit_create(&settings, &self->bandit, &self->error), "create");
}

static void start_server_bandit(player *self, const game *what, uint64_t seed)
{
    snprintf(self->name, sizeof self->name, "%d-%" PRIu64, (int)what->rewards, seed);
    self->connection = raw_connect(what->port);
    text_add(&self->body,
             "{\"name\":\"%s\",\"dim\":%zu,\"options\":\"%s\",\"seed\":%" PRIu64
             ",\"propensity\":\"floor:0.05\",\"wait\":86400}",
             self->name, dataset_dim(what->data), what->options, seed);
    ask(self, "POST", "", &self->body);
}

static bool has_learned(player *self)
{
    ask(self, "GET", "", NULL);
    return number(self, "\"behind\":") == 0;
}

/* The next feature of an arm, of which those before j were asked for; *entry goes through the sparse ones. */
static float feature(const ee_arms *arms, size_t arm, size_t j, size_t *entry)
{
    if (!arms->indices) return arms->values[arm * arms->dim + j];
    bool here = *entry < arms->starts[arm + 1] && arms->indices[*entry] == j;
    return here ? arms->values[(*entry)++] : 0;
}

static void write_arms(text *into, uint64_t round, const ee_arms *arms)
{
    into->length = 0;
    text_add(into, "{\"id\":\"%" PRIu64 "\",\"actions\":", round);
    for (size_t i = 0; i < arms->count; i++) {
        size_t entry = arms->indices ? arms->starts[i] : 0;
        text_bytes(into, i ? "," : "[", 1);
        for (size_t j = 0; j < arms->dim; j++) {
            text_bytes(into, j ? "," : "[", 1);
            float value = feature(arms, i, j, &entry);
            if (value == 0)
                text_bytes(into, "0", 1);
            else
                text_float(into, value);
        }
        text_bytes(into, "]", 1);
    }
    text_bytes(into, "]}", 2);
}

/* The arm that is played; *decision is what a reward is for. */
static size_t decide(player *self, uint64_t round, const ee_arms *arms, uint64_t *decision)
{
    if (self->bandit) {
        ee_decision made;
        must(self, !ee_bandit_decide(self->bandit, arms, &made, NULL, NULL, &self->error), "decide");
        *decision = made.id;
        return made.arm;
    }
    if (self->patient && round > 0) AWAIT(has_learned(self));
    write_arms(&self->body, round, arms);
    ask(self, "POST", "/decide", &self->body);
    *decision = round;
    return (size_t)number(self, "\"index\":");
}

static void reward(player *self, const late_reward *what)
{
    if (self->bandit) {
        must(self, !ee_bandit_learn(self->bandit, what->decision, what->reward, &self->error), "learn");
        return;
    }
    self->body.length = 0;
    text_add(&self->body, "{\"id\":\"%" PRIu64 "\",\"value\":%.17g}", what->decision, what->reward);
    ask(self, "POST", "/reward", &self->body);
}

static void end_player(player *self)
{
    ee_bandit_free(self->bandit);
    memory_free(self->body.bytes);
    free(self->reply.body);
    if (self->connection >= 0) raw_close(self->connection);
}

/* ---- a game ---- */

/* Gives the rewards of the last LATE rounds, in a random order. */
static void give_shuffled(player *self, late_reward *held, size_t count, random_stream *chance)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(chance, i);
        late_reward kept = held[i - 1];
        held[i - 1] = held[other];
        held[other] = kept;
    }
    for (size_t i = 0; i < count; i++) reward(self, &held[i]);
}

static double play(player *self, const game *what, uint64_t seed)
{
    environment *world;
    must(self, !environment_create(what->data, seed, &world, &self->error), "environment");
    random_stream chance = random_named(seed, "shuffle");
    delay late = {.kind = DELAY_GEOMETRIC, .mean = LATE};
    delay_queue coming = delay_start(&late, seed);
    late_reward held[LATE];
    double regret = 0;
    for (uint64_t i = 0; i < what->rounds; i++) {
        environment_round round;
        uint64_t decision;
        must(self, !environment_next(world, &round, &self->error), "round");
        size_t arm = decide(self, i, &round.arms, &decision);
        double best = round.expected[0];
        for (size_t j = 1; j < round.arms.count; j++) best = fmax(best, round.expected[j]);
        regret += best - round.expected[arm];
        late_reward given = {.decision = decision, .reward = round.rewards[arm]};
        held[i % LATE] = given;
        if (what->rewards == ORDER_AT_ONCE)
            reward(self, &given);
        else if (what->rewards == ORDER_SHUFFLED && i % LATE == LATE - 1)
            give_shuffled(self, held, LATE, &chance);
        else if (what->rewards == ORDER_LATE)
            must(self, !delay_add(&coming, i, decision, given.reward, &self->error), "delay");
        while (what->rewards == ORDER_LATE && delay_next(&coming, i, &given)) reward(self, &given);
    }
    delay_release(&coming);
    environment_free(world);
    return regret;
}

typedef struct spread {
    double mean, deviation;
} spread;

static spread spread_of(const double *values, uint64_t count)
{
    spread out = {0, 0};
    for (uint64_t i = 0; i < count; i++) out.mean += values[i] / (double)count;
    for (uint64_t i = 0; i < count; i++)
        out.deviation += (values[i] - out.mean) * (values[i] - out.mean) / (double)(count - 1);
    out.deviation = sqrt(out.deviation);
    return out;
}

/* Whether HTTP did as well as the library: the difference of the means is within three times its own deviation, and a
 * twentieth. */
static bool compare(const game *what)
{
    double regrets[2][SEEDS_MOST];
    for (uint64_t seed = 0; seed < what->seeds; seed++) {
        for (int i = 0; i < 2; i++) {
            player self = {.patient = what->patient, .connection = -1};
            self.body = text_start(&self.error);
            if (i == 0)
                start_library(&self, what, seed);
            else
                start_server_bandit(&self, what, seed);
            regrets[i][seed] = play(&self, what, seed);
            end_player(&self);
        }
    }
    spread library = spread_of(regrets[0], what->seeds), http = spread_of(regrets[1], what->seeds);
    double noise =
        sqrt((library.deviation * library.deviation + http.deviation * http.deviation) / (double)what->seeds);
    bool good = http.mean - library.mean <= 3 * noise + library.mean / 20;
    printf("%-30s %-9s library %8.1f +- %5.1f   http %8.1f +- %5.1f   %s\n", dataset_name(what->data),
           order_names[what->rewards], library.mean, library.deviation, http.mean, http.deviation,
           good ? "the same" : "WORSE");
    fflush(stdout);
    return good;
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    bool brief = count == 2;
    ee_error error;
    dataset *data;
    uint64_t seeds = brief ? 3 : count == 6 ? strtoull(words[4], NULL, 10) : 0;
    if (seeds < 2 || seeds > SEEDS_MOST) {
        fprintf(stderr, "usage: quality PORT [DATASET ROUNDS SEEDS PUBLISH_SECONDS]; 2 to %d seeds\n", SEEDS_MOST);
        return 2;
    }
    if (dataset_open(brief ? "synthetic:cosine,dim=5,arms=5" : words[2], NULL, &data, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    char options[128];
    snprintf(options, sizeof options, "blocks=%zu%s%s", dataset_blocks(data),
             dataset_exclusive(data) ? " exclusive=on" : "", brief ? " f1.width=32 units=32" : "");
    bool good = true;
    for (int i = 0; i < ORDERS; i++) {
        game what = {.data = data, .options = options, .rewards = (order)i, .seeds = seeds};
        what.port = (uint16_t)atoi(words[1]);
        what.patient = brief || atof(words[5]) == 0;
        what.rounds = brief ? 150 : strtoull(words[3], NULL, 10);
        good = compare(&what) && good;
    }
    dataset_free(data);
    return good ? 0 : 1;
}
