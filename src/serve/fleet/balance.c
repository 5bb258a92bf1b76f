#include "balance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bandit stays for so long, in microseconds, before it moves again: loads fluctuate. */
enum { STAY = 20000000 };
/* Servers whose loads differ by less than this share of the mean, and by less than two idle bandits, are even. */
static const double UNEVEN = 0.25;

static const balance_server *find_least(const balance_server *servers, size_t count)
{
    const balance_server *least = NULL;
    for (size_t i = 0; i < count; i++)
        if (!servers[i].is_me && (!least || servers[i].weight < least->weight)) least = &servers[i];
    return least;
}

/* Only one server gives at a time: the one with the most, and of equal ones the first. */
static const balance_server *find_most(const balance_server *servers, size_t count)
{
    const balance_server *most = NULL;
    for (size_t i = 0; i < count; i++)
        if (!most || servers[i].weight > most->weight) most = &servers[i];
    return most;
}

holding *balance_choose(const balance_server *servers, size_t count, holding *holdings, size_t holding_count,
                        int64_t now, uint64_t *to)
{
    const balance_server *most = find_most(servers, count), *least = find_least(servers, count);
    double sum = 0, best = 0;
    holding *chosen = NULL;
    for (size_t i = 0; i < count; i++) sum += servers[i].weight;
    if (!most || !most->is_me || !least) return NULL;
    double difference = most->weight - least->weight;
    if (difference < fmax(2 * BALANCE_IDLE, UNEVEN * sum / (double)count)) return NULL;
    for (size_t i = 0; i < holding_count; i++) {
        holding *held = &holdings[i];
        double weight = BALANCE_IDLE + held->rate;
        bool can_move = held->bandit && held->state == HOLDING_HELD && !held->asked && now - held->since >= STAY;
        /* The larger of the two loads falls only if the bandit weighs less than the difference. */
        if (!can_move || weight >= difference) continue;
        double gain = fmin(weight, difference - weight);
        if (gain > best) {
            best = gain;
            chosen = held;
        }
    }
    *to = least->number;
    return chosen;
}

void balance_write_state(char state[SERVER_STATE_SIZE], double weight, double lag, size_t bandits, bool draining,
                         const fleet_wishes *wishes)
{
    int length =
        snprintf(state, SERVER_STATE_SIZE, "{\"weight\":%.3f,\"lag\":%.3f,\"bandits\":%zu,\"draining\":%s,\"wants\":[",
                 weight, lag, bandits, draining ? "true" : "false");
    for (size_t i = 0; i < wishes->count; i++)
        length += snprintf(state + length, SERVER_STATE_SIZE - (size_t)length, "%s%u", i ? "," : "",
                           (unsigned)wishes->bandits[i]);
    snprintf(state + length, SERVER_STATE_SIZE - (size_t)length, "]}");
}

static void read_wishes(const char *list, fleet_wishes *out)
{
    char *end;
    out->count = 0;
    while (list && out->count < MOST_WANTED) {
        unsigned long bandit = strtoul(list, &end, 10);
        if (end == list || !bandit) return;
        out->bandits[out->count++] = (uint32_t)bandit;
        list = *end == ',' ? end + 1 : NULL;
    }
}

/* The number after a key such as "\"lag\":"; 0: there is none. */
static double read_number(const char *state, const char *key)
{
    const char *found = strstr(state, key);
    return found ? strtod(found + strlen(key), NULL) : 0;
}

double balance_read_state(const char *state, double *lag, bool *draining, fleet_wishes *wishes)
{
    const char *wants = strstr(state, "\"wants\":[");
    *lag = read_number(state, "\"lag\":");
    *draining = strstr(state, "\"draining\":true") != NULL;
    read_wishes(wants ? wants + strlen("\"wants\":[") : NULL, wishes);
    return read_number(state, "\"weight\":");
}

int balance_compare_versions(const char *a, const char *b)
{
    for (;;) {
        char *next_a, *next_b;
        unsigned long number_a = strtoul(a, &next_a, 10), number_b = strtoul(b, &next_b, 10);
        if (number_a != number_b) return number_a < number_b ? -1 : 1;
        if (*next_a != '.' || *next_b != '.') return strcmp(next_a, next_b);
        a = next_a + 1;
        b = next_b + 1;
    }
}
