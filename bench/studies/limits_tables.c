#include "limits_tables.h"

#include <math.h>
#include <stdio.h>

#include "limits_study.h"

static const double EPSILON = 0.02;

/* Means over seeds. */
typedef struct summary {
    double first, later, worst; /* reward of the first day and of the others, as part of the optimum */
    double free;                /* reward of the others, as part of the optimum without limits */
    double optimum;             /* the same for the optimum within the limits */
    double used, most_used;     /* of the budget, in the days after the first */
    double half;                /* of that, in the first half of the decisions */
    double share, least;        /* mean share; lowest of any window */
} summary;

static ee_status play_seeds(limits_plan plan, size_t seeds, summary *out, ee_error *error)
{
    double part = 1 / (double)seeds;
    *out = (summary){.worst = INFINITY, .least = INFINITY};
    for (size_t seed = 0; seed < seeds; seed++, plan.seed++) {
        limits_day days[LIMITS_DAYS];
        double reward = 0, optimum = 0, without = 0;
        ee_status status = limits_play(&plan, days, error);
        if (status) return status;
        for (size_t d = 1; d < LIMITS_DAYS; d++) {
            reward += days[d].reward;
            optimum += days[d].optimum;
            without += days[d].free;
            out->used += part * days[d].used / (LIMITS_DAYS - 1);
            out->half += part * days[d].half / (LIMITS_DAYS - 1);
            out->share += part * days[d].share / (LIMITS_DAYS - 1);
            out->most_used = fmax(out->most_used, days[d].used);
            out->least = fmin(out->least, days[d].least);
        }
        out->first += part * days[0].reward / days[0].optimum;
        out->later += part * reward / optimum;
        out->worst = fmin(out->worst, reward / optimum);
        out->free += part * reward / without;
        out->optimum += part * optimum / without;
        out->most_used = fmax(out->most_used, days[0].used);
    }
    return EE_OK;
}

static ee_status print_budgets(limits_plan plan, size_t seeds, ee_error *error)
{
    printf("\nA budget for 40%% of what the best actions cost; reward as part of the optimum within the budget.\n"
           "  %-6s %-8s %-7s %6s  %7s %7s %7s  %7s %7s %9s\n",
           "pace", "traffic", "scores", "scale", "day 1", "later", "worst", "used", "at most", "1st half");
    for (int kind = 0; kind < 12; kind++) {
        summary found;
        plan.pace = kind / 4 == 1 ? LIMITS_FIRST : LIMITS_EVEN;
        plan.knows = kind / 4 == 2;
        plan.waves = kind & 2;
        plan.scale = kind & 1 ? 1000 : 1;
        ee_status status = play_seeds(plan, seeds, &found, error);
        if (status) return status;
        printf("  %-6s %-8s %-7s %6g  %6.1f%% %6.1f%% %6.1f%%  %6.1f%% %6.1f%% %8.1f%%\n",
               plan.pace == LIMITS_EVEN ? "even" : "first", plan.waves ? "varies" : "constant",
               plan.knows ? "true" : "learned", plan.scale, 100 * found.first, 100 * found.later, 100 * found.worst,
               100 * found.used, 100 * found.most_used, 100 * found.half);
        fflush(stdout);
    }
    return EE_OK;
}

static ee_status print_shares(limits_plan plan, size_t seeds, ee_error *error)
{
    static const double lows[] = {0, 0.2, 0.4, 0.6};
    printf("\nA least share of the costly actions; days 2 to 5, reward as part of the optimum without limits.\n"
           "  %-5s %-15s %8s %8s %8s %8s %8s\n",
           "low", "in", "reward", "optimum", "share", "least", "worst");
    plan.scale = 1;
    plan.waves = true;
    for (size_t i = 0; i < 8; i++) {
        summary found;
        plan.low = lows[i / 2];
        plan.window = i % 2;
        ee_status status = play_seeds(plan, seeds, &found, error);
        if (status) return status;
        printf("  %3.0f%%  %-15s %7.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", 100 * plan.low,
               plan.window ? "a window" : "every decision", 100 * found.free, 100 * found.optimum, 100 * found.share,
               100 * found.least, 100 * found.worst);
        fflush(stdout);
    }
    return EE_OK;
}

static ee_status print_caps(uint64_t seed, size_t seeds, ee_error *error)
{
    static const uint64_t mosts[] = {1, 40, 1024, 5000};
    printf("Caps under bursts, restarts and writes that fail: the most decisions of any span, as part of the cap.\n"
           "  %6s %10s %9s %9s %9s\n",
           "most", "decisions", "restarts", "all", "a person");
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        limits_caps sum = {0};
        for (size_t k = 0; k < seeds; k++) {
            limits_caps found;
            ee_status status = limits_burst(seed + k, 100000, mosts[i], &found, error);
            if (status) return status;
            sum.all = fmax(sum.all, found.all);
            sum.person = fmax(sum.person, found.person);
            sum.decisions += found.decisions;
            sum.restarts += found.restarts;
        }
        printf("  %6llu %10zu %9zu %8.1f%% %8.1f%%\n", (unsigned long long)mosts[i], sum.decisions, sum.restarts,
               100 * sum.all, 100 * sum.person);
    }
    return EE_OK;
}

ee_status limits_print(uint64_t seed, size_t seeds, size_t per_day, ee_error *error)
{
    limits_plan plan = {.seed = seed, .per_day = per_day, .epsilon = EPSILON};
    ee_status status = print_caps(seed, seeds, error);
    if (!status) status = print_budgets(plan, seeds, error);
    return status ? status : print_shares(plan, seeds, error);
}
