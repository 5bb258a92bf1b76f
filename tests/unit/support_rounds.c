#include "support_rounds.h"

static double *make(size_t count)
{
    double *numbers = calloc(count ? count : 1, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

static logged_rounds logged_empty(const json_t *log)
{
    logged_rounds self = {0};
    self.rewards = golden_doubles(golden_member(log, "reward"), &self.rounds.count);
    self.weights = make(self.rounds.count);
    self.direct = make(self.rounds.count);
    self.predicted = make(self.rounds.count);
    self.rounds.rewards = self.rewards;
    self.rounds.weights = self.weights;
    self.rounds.direct = self.direct;
    self.rounds.predicted = self.predicted;
    return self;
}

logged_rounds logged_make(const json_t *log, const double *pi, const double *q, size_t actions)
{
    logged_rounds self = logged_empty(log);
    double *taken = golden_doubles(golden_member(log, "action"), NULL);
    double *p = golden_doubles(golden_member(log, "pscore"), NULL);
    for (size_t i = 0; i < self.rounds.count; i++) {
        const double *row = pi + i * actions, *model = q ? q + i * actions : NULL;
        double whole = 0.0;
        for (size_t a = 0; a < actions; a++) {
            whole += row[a];
            self.direct[i] += model ? row[a] * model[a] : 0.0;
        }
        self.direct[i] /= whole;
        self.weights[i] = row[(size_t)taken[i]] / p[i];
        self.predicted[i] = model ? model[(size_t)taken[i]] : 0.0;
    }
    free(taken);
    free(p);
    return self;
}

static double *policy_of(const json_t *log, const char *policy, size_t count, size_t actions)
{
    if (!strcmp(policy, "soft")) return golden_doubles(golden_member(log, "soft"), NULL);
    if (!strcmp(policy, "behaviour")) return golden_doubles(golden_member(log, "pi_b"), NULL);
    double *pi = make(count * actions);
    if (!strcmp(policy, "uniform")) {
        for (size_t i = 0; i < count * actions; i++) pi[i] = 1.0 / (double)actions;
        return pi;
    }
    assert_string_equal(policy, "hard");
    double *best = golden_doubles(golden_member(log, "best"), NULL);
    for (size_t i = 0; i < count; i++) pi[i * actions + (size_t)best[i]] = 1.0;
    free(best);
    return pi;
}

logged_rounds logged_of_policy(const json_t *log, const char *policy)
{
    size_t count = (size_t)json_integer_value(golden_member(log, "n_rounds"));
    size_t actions = (size_t)json_integer_value(golden_member(log, "n_actions"));
    double *pi = policy_of(log, policy, count, actions), *q = golden_doubles(golden_member(log, "q_hat"), NULL);
    logged_rounds self = logged_make(log, pi, q, actions);
    free(pi);
    free(q);
    return self;
}

static logged_rounds logged_of_open_bandit(const json_t *log)
{
    logged_rounds self = logged_empty(log);
    size_t actions = (size_t)json_integer_value(golden_member(log, "n_actions"));
    size_t positions = (size_t)json_integer_value(golden_member(log, "n_positions"));
    double *taken = golden_doubles(golden_member(log, "action"), NULL);
    double *position = golden_doubles(golden_member(log, "position"), NULL);
    double *segment = golden_doubles(golden_member(log, "segment"), NULL);
    size_t probabilities; /* one a round, or one for all */
    double *p = golden_doubles(golden_member(log, "pscore"), &probabilities);
    double *pi = golden_doubles(golden_member(log, "action_dist"), NULL); /* (actions, positions) */
    double *q = golden_doubles(golden_member(log, "q_hat"), NULL);        /* (segments, actions, positions) */
    for (size_t i = 0; i < self.rounds.count; i++) {
        size_t at = (size_t)position[i], chosen = (size_t)taken[i] * positions + at;
        const double *model = q + (size_t)segment[i] * actions * positions;
        double whole = 0.0;
        for (size_t a = 0; a < actions; a++) {
            whole += pi[a * positions + at];
            self.direct[i] += pi[a * positions + at] * model[a * positions + at];
        }
        self.direct[i] /= whole;
        self.weights[i] = pi[chosen] / p[probabilities == 1 ? 0 : i];
        self.predicted[i] = model[chosen];
    }
    free(taken);
    free(position);
    free(segment);
    free(p);
    free(pi);
    free(q);
    return self;
}

void logged_each_open_bandit(void (*check)(json_t *expect, const evaluated_rounds *rounds))
{
    static const char *const names[] = {"random_men", "random_women", "bts_men", "bts_women"};
    const char *data = getenv("EENET_DATA");
    if (!data) skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/open-bandit/golden/obd_%s.json", data, names[i]);
        json_auto_t *log = json_load_file(path, 0, NULL);
        assert_non_null(log);
        logged_rounds rounds = logged_of_open_bandit(log);
        check(golden_member(log, "expect"), &rounds.rounds);
        logged_free(&rounds);
    }
}

void logged_free(logged_rounds *self)
{
    free(self->weights);
    free(self->rewards);
    free(self->direct);
    free(self->predicted);
}

double golden_number(const json_t *number)
{
    if (json_is_null(number)) return NAN;
    return json_is_string(number) ? strtod(json_string_value(number), NULL) : json_number_value(number);
}

void relative_assert(double got, double expected, double tolerance, const char *file, int line)
{
    bool same = isnan(expected) ? isnan(got) : fabs(got - expected) <= tolerance * fabs(expected) + 1e-14;
    if (!same) {
        print_error("got %.17g, expected %.17g\n", got, expected);
        _fail(file, line);
    }
}

void interval_assert(interval got, const json_t *expected, double tolerance, const char *file, int line)
{
    relative_assert(got.low, golden_number(json_array_get(expected, 0)), tolerance, file, line);
    relative_assert(got.high, golden_number(json_array_get(expected, 1)), tolerance, file, line);
}
