#include "delay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"

#define DEFAULT_REWARD 0.0 /* what a decision without a click is worth */
#define CUT_OFF 1e-9       /* share of the geometric delays that are cut: a bandit has to hold all that wait */

static const char geometric[] = "geometric:", clicks[] = "clicks:";

/* ---- text ---- */

/* strtod takes signs, blanks and words too, which a delay has not. Returns what follows the number, or NULL. */
static const char *read_mean(const char *text, double *number)
{
    if (!strchr("0123456789.", *text) || text[strspn(text, "0123456789.eE+-, ")]) return NULL;
    char *end;
    *number = strtod(text, &end);
    return end > text && *number > 0.0 && isfinite(*number) ? end : NULL;
}

/* What follows the delay, or NULL where there is none. */
static const char *read_rule(const char *text, delay *out)
{
    if (strncmp(text, geometric, strlen(geometric)) == 0) {
        out->kind = DELAY_GEOMETRIC;
        return read_mean(text + strlen(geometric), &out->mean);
    }
    if (strncmp(text, clicks, strlen(clicks)) == 0) {
        out->kind = DELAY_CLICKS;
        text = read_mean(text + strlen(clicks), &out->mean);
        text = text && *text == ',' ? decimal_whole(text + 1 + strspn(text + 1, " "), &out->rounds) : NULL;
        return out->rounds ? text : NULL;
    }
    return decimal_whole(text, &out->rounds);
}

ee_status delay_parse(const char *text, delay *out, ee_error *error)
{
    *out = (delay){0};
    const char *rest = *text ? read_rule(text, out) : NULL;
    if (!rest || *rest)
        return status_fail(error, EE_BAD_OPTION,
                           "expected a number of rounds, geometric:MEAN or clicks:MEAN,TIMEOUT, got '%.80s'", text);
    if (delay_longest(out) > DELAY_MOST)
        return status_fail(error, EE_BAD_OPTION, "expected delays of at most %d rounds, but '%.80s' can reach %" PRIu64,
                           DELAY_MOST, text, delay_longest(out));
    return EE_OK;
}

/* The shortest decimal that reads back as the same double. */
static int write_mean(char *text, size_t capacity, const char *kind, double mean)
{
    int length = 0;
    for (int digits = 6; digits <= 17; digits++) {
        length = snprintf(text, capacity, "%s%.*g", kind, digits, mean);
        if (strtod(text + strlen(kind), NULL) == mean) break;
    }
    return length;
}

void delay_format(const delay *self, char text[DELAY_TEXT])
{
    if (self->kind == DELAY_ROUNDS) {
        snprintf(text, DELAY_TEXT, "%" PRIu64, self->rounds);
    } else if (self->kind == DELAY_GEOMETRIC) {
        write_mean(text, DELAY_TEXT, geometric, self->mean);
    } else {
        int length = write_mean(text, DELAY_TEXT, clicks, self->mean);
        snprintf(text + length, DELAY_TEXT - (size_t)length, ",%" PRIu64, self->rounds);
    }
}

bool delay_is_none(const delay *self)
{
    return self->kind == DELAY_ROUNDS && self->rounds == 0;
}

bool delay_same(const delay *left, const delay *right)
{
    return left->kind == right->kind && left->rounds == right->rounds && left->mean == right->mean;
}

/* ---- drawing ---- */

/* log(1 - p) */
static double log_later(double mean)
{
    return -log1p(1.0 / mean);
}

uint64_t delay_longest(const delay *self)
{
    if (self->kind != DELAY_GEOMETRIC) return self->rounds;
    double quantile = ceil(log(CUT_OFF) / log_later(self->mean));
    return quantile < (double)UINT32_MAX ? (uint64_t)quantile : UINT32_MAX;
}

/* The inverse of the distribution, which has k or more with (1 - p)^k; below the timeout the one that is cut there. */
static uint64_t draw_geometric(delay_queue *self)
{
    const delay *rule = &self->rule;
    double later = log_later(rule->mean);
    double share = rule->kind == DELAY_CLICKS ? -expm1(later * (double)rule->rounds) : 1.0;
    double drawn = floor(log1p(-random_unit(&self->stream) * share) / later);
    uint64_t most = rule->kind == DELAY_CLICKS ? rule->rounds - 1 : delay_longest(rule);
    return drawn < (double)most ? (uint64_t)drawn : most;
}

/* ---- what waits ---- */

delay_queue delay_start(const delay *rule, uint64_t seed)
{
    return (delay_queue){.rule = *rule, .stream = random_named(seed, "delays")};
}

void delay_release(delay_queue *self)
{
    memory_free(self->waiting);
    *self = (delay_queue){0};
}

static bool comes_before(const late_reward *left, const late_reward *right)
{
    return left->due != right->due ? left->due < right->due : left->decision < right->decision;
}

static void move_up(late_reward *heap, size_t place, late_reward added)
{
    for (; place && comes_before(&added, &heap[(place - 1) / 2]); place = (place - 1) / 2)
        heap[place] = heap[(place - 1) / 2];
    heap[place] = added;
}

static void move_down(late_reward *heap, size_t count, late_reward last)
{
    size_t place = 0, child;
    while ((child = 2 * place + 1) < count) {
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child])) child++;
        if (!comes_before(&heap[child], &last)) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
}

ee_status delay_add(delay_queue *self, uint64_t round, uint64_t decision, double reward, ee_error *error)
{
    uint64_t rounds = self->rule.kind == DELAY_ROUNDS ? self->rule.rounds : draw_geometric(self);
    if (self->rule.kind == DELAY_CLICKS && !(reward > DEFAULT_REWARD)) {
        reward = DEFAULT_REWARD;
        rounds = self->rule.rounds;
    }
    ee_status status =
        memory_grow(NULL, &self->waiting, &self->capacity, self->count + 1, sizeof *self->waiting, error);
    if (!status) move_up(self->waiting, self->count++, (late_reward){round + rounds, round, decision, reward});
    return status;
}

bool delay_next(delay_queue *self, uint64_t round, late_reward *out)
{
    if (!self->count || self->waiting[0].due > round) return false;
    *out = self->waiting[0];
    late_reward last = self->waiting[--self->count];
    if (self->count) move_down(self->waiting, self->count, last);
    return true;
}
