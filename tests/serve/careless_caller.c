#define _GNU_SOURCE
#include "careless_caller.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BANDIT_NAMED = 2, BANDIT_SLEEPY = 4, DIM = 5 };

const ledger_bandit caller_bandits[CALLER_BANDITS] = {{"first", LOG_REWARD_FIRST, 0},
                                                      {"sum", LOG_REWARD_SUM, NAN},
                                                      {"names", LOG_REWARD_FIRST, 0.25},
                                                      {"apprentice", LOG_REWARD_FIRST, 0},
                                                      {"sleepy", LOG_REWARD_FIRST, 0}};
const char *const caller_settings[CALLER_BANDITS] = {
    "\"dim\":5,\"options\":\"f1.width=16,units=16,pending=64\",\"seed\":1,\"wait\":3600",
    "\"dim\":5,\"policy\":\"linucb\",\"wait\":1,\"default_reward\":null,\"aggregation\":\"sum\"",
    "\"features\":\"names=2000\",\"options\":\"f1.width=16,units=16\",\"wait\":1,\"default_reward\":0.25",
    "\"dim\":5,\"policy\":\"linucb\",\"wait\":3600,\"mode\":\"apprentice\"",
    "\"dim\":5,\"policy\":\"linucb\",\"wait\":3600"};
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
static bool wait_for_server(careless_caller *self)
{
    caller_stage *shared = self->shared;
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
        text_add(into, i ? "," : "");
        if (!plain) text_add(into, "{\"id\":\"a%zu\",%s", i, bandit == BANDIT_NAMED ? "" : "\"vector\":");
        if (bandit == BANDIT_NAMED)
            text_add(into, "\"features\":{\"kind\":\"k%d\",\"price\":%.2f}", (int)random_below(chance, 50),
                     random_unit(chance));
        else
            add_vector(into, chance);
        if (!plain) text_add(into, "}");
    }
    text_add(into, "]");
    if (!plain && random_below(chance, 3) == 0)
        text_add(into, ",\"exclude\":[\"a%d\"]", (int)random_below(chance, count));
}

/* Some decisions are deferred: the same ones whenever they are asked for. */
static bool is_deferred(uint64_t seed)
{
    return seed % 8 == 0;
}

/* id "": the server makes one. */
static void add_request(text *into, size_t bandit, const char *id, uint64_t seed)
{
    random_stream chance = random_named(seed, "request");
    text_add(into, "{");
    if (*id) text_add(into, "\"id\":\"%s\",", id);
    if (is_deferred(seed)) text_add(into, "\"defer\":true,");
    if (bandit == BANDIT_NAMED)
        text_add(into, "\"context\":{\"user\":{\"age\":%d,\"town\":\"t%d\"}},", (int)random_below(&chance, 90),
                 (int)random_below(&chance, 30));
    add_actions(into, bandit, &chance);
    text_add(into, "}");
}

static int post(careless_caller *self, size_t bandit, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/bandits/%s/%s", caller_bandits[bandit].name, what);
    int status = http_client_call(&self->client, "POST", path, self->body.bytes, self->body.length);
    if (status) atomic_fetch_add(&self->shared->answers, 1);
    return status;
}

/* ---- one thing that a caller does; false: no answer came ---- */

/* What was answered to a decision, alone or in a batch: as before, where it was asked before. */
static void keep_answer(careless_caller *self, told_decision *told, const char *answer, size_t size)
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

static bool decide(careless_caller *self, told_decision *told)
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
static bool decide_together(careless_caller *self, size_t count)
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

static bool reward(careless_caller *self, told_reward *told)
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

static bool conflict(careless_caller *self, const told_decision *told)
{
    self->body.length = 0;
    add_request(&self->body, told->bandit, told->id, told->seed + 1);
    int status = post(self, told->bandit, "decide");
    if (status != 0 && status != 409)
        give_up("another request with the id %s: %d %s", told->id, status, self->client.answer);
    return status != 0;
}

static told_reward *new_reward(careless_caller *self, size_t bandit, const char *id)
{
    told_reward *told = ledger_add_reward(&self->ledger);
    told->bandit = bandit;
    told->value = random_unit(&self->chance);
    told->named = random_below(&self->chance, 2);
    snprintf(told->id, sizeof told->id, "%s", id);
    return told;
}

/* Sometimes a caller that got no answer asks again, as soon as there is a server. */
static void decide_stubbornly(careless_caller *self, size_t place)
{
    while (!decide(self, &self->ledger.decisions[place])) {
        told_decision *told = &self->ledger.decisions[place];
        if (!wait_for_server(self) || !*told->id || random_below(&self->chance, 3) == 0) return;
    }
}

static void reward_stubbornly(careless_caller *self, told_reward *told)
{
    while (!reward(self, told)) {
        if (!wait_for_server(self) || random_below(&self->chance, 3) == 0) return;
    }
}

/* A deferred decision is activated mostly, sometimes twice. */
static void activate_stubbornly(careless_caller *self, size_t place)
{
    told_decision *told = &self->ledger.decisions[place];
    if (!is_deferred(told->seed) || !told->answer || random_below(&self->chance, 3) == 0) return;
    for (size_t times = 1 + (random_below(&self->chance, 5) == 0); times;) {
        self->body.length = 0;
        text_add(&self->body, "{\"id\":\"%s\"}", told->id);
        int status = post(self, told->bandit, "activate");
        if (status && status / 100 != 2) give_up("activate %s: %d %s", told->id, status, self->client.answer);
        told->activated = told->activated || status;
        times -= status != 0;
        if (!status && (!wait_for_server(self) || random_below(&self->chance, 3) == 0)) return;
    }
}

static told_decision *plan_decision(careless_caller *self, size_t bandit, bool by_caller)
{
    told_decision *told = ledger_add_decision(&self->ledger);
    told->bandit = bandit;
    told->seed = random_bits(&self->chance);
    if (by_caller) snprintf(told->id, sizeof told->id, "w%zu-%" PRIu64, self->number, self->made++);
    return told;
}

static size_t some_bandit(careless_caller *self)
{
    return random_below(&self->chance, 1000) ? random_below(&self->chance, BANDIT_SLEEPY) : BANDIT_SLEEPY;
}

static void new_decision(careless_caller *self)
{
    size_t place = self->ledger.decision_count;
    const told_decision *told = plan_decision(self, some_bandit(self), random_below(&self->chance, 5) > 0);
    bool by_caller = *told->id;
    if (by_caller && random_below(&self->chance, 20) == 0)
        reward_stubbornly(self, new_reward(self, told->bandit, told->id));
    decide_stubbornly(self, place);
    if (by_caller && random_below(&self->chance, 10) == 0) decide_stubbornly(self, place);
    activate_stubbornly(self, place);
}

static void new_decisions(careless_caller *self)
{
    size_t bandit = some_bandit(self), count = 2 + random_below(&self->chance, 4);
    for (size_t i = 0; i < count; i++) plan_decision(self, bandit, true);
    while (!decide_together(self, count)) {
        if (!wait_for_server(self) || random_below(&self->chance, 3) == 0) return;
    }
}

/* A reward for one of the last decisions, sometimes twice. */
static void reward_something(careless_caller *self)
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
static bool ask_again(careless_caller *self)
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
    careless_caller *self = context;
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

/* ---- their life ---- */

void caller_announce(caller_stage *self, uint16_t port, bool over)
{
    pthread_mutex_lock(&self->lock);
    self->port = port;
    self->generation++;
    self->over = over;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void caller_start(careless_caller *self, caller_stage *shared, size_t number, uint64_t seed)
{
    *self = (careless_caller){.shared = shared, .number = number, .client = http_client_start(0)};
    self->chance = random_named(seed, "caller");
    self->body = text_start(&self->error);
    if (pthread_create(&self->thread, NULL, work, self)) give_up("no thread");
}

void caller_end(careless_caller *self)
{
    pthread_join(self->thread, NULL);
    http_client_end(&self->client);
    memory_free(self->body.bytes);
}
