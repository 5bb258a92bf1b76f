/* The end of log_checks: which sums cannot be chance, as sentences.
 *
 * A sum S of differences with expectation 0 (or below), variance V and largest difference b exceeds
 * sqrt(2 V x) + b x / 3 with probability exp(-x) at most (Freedman 1975). x is such that all tests of a kind together
 * report a good log with probability 1e-6. V is the sum of squares, and what the probabilities imply if that is larger.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/values/plain_number.h"
#include "log_checks.h"

static const double few_events = 50.0;   /* nothing is said about fewer */
static const double weight_off = 0.05;   /* of a mean weight: smaller mistakes do not change decisions */
static const double count_off = 0.1;     /* of how often an action was chosen, relative */
static const double other_unit = 5.0;    /* ratio of the sizes of rewards */
static const double explained_off = 0.5; /* share of the rewards' variance that the place in the log explains */
static const double windows = LOG_CHECK_STRETCHES * (LOG_CHECK_STRETCHES + 1) / 2.0;

static double evidence_for(double tests)
{
    return log(tests / 1e-6);
}

typedef struct subject {
    bool grave, propensities;
} subject;

static const subject grave_propensities = {true, true}, of_propensities = {false, true};
static const subject grave = {true, false}, caution = {false, false};

__attribute__((format(printf, 3, 4))) static void say(log_findings *into, subject about, const char *format, ...)
{
    if (into->count == LOG_FINDINGS) return;
    log_finding *one = &into->list[into->count++];
    *one = (log_finding){.grave = about.grave, .propensities = about.propensities};
    va_list list;
    va_start(list, format);
    vsnprintf(one->text, sizeof one->text, format, list);
    va_end(list);
}

/* ---- sums ---- */

/* How far a sum is beyond chance: above 1 if it is. */
static double excess_of(const log_balance *of, double tests)
{
    double x = evidence_for(tests), variance = fmax(of->squares, of->variance);
    double bound = sqrt(2.0 * variance * x) + of->largest * x / 3.0;
    return bound > 0.0 ? of->sum / bound : 0.0;
}

static double mean_of(const log_balance *of)
{
    return of->rounds > 0.0 ? of->sum / of->rounds : 0.0;
}

static log_stretch whole_log(const log_checks *self)
{
    log_stretch all = {0};
    for (size_t i = 0; i < self->stretch_count; i++) log_stretch_join(&all, &self->stretches[i]);
    return all;
}

static bool is_copied(const log_repetition *of)
{
    return mean_of(&of->possible) > weight_off && excess_of(&of->possible, 3.0) > 1.0 &&
           excess_of(&of->random, 3.0) > 1.0;
}

/* The share of the rewards' variance between the stretches. */
static double explained_share(const log_checks *self, const log_stretch *all)
{
    double mean = all->reward / all->events, total = all->squares - all->events * mean * mean, between = 0.0;
    for (size_t i = 0; i < self->stretch_count; i++) {
        double part = self->stretches[i].reward / self->stretches[i].events - mean;
        between += self->stretches[i].events * part * part;
    }
    return total > 1e-9 * all->squares ? between / total : 0.0;
}

/* Rewards depend on the place in the log more than on anything else. */
static bool is_changed(const log_checks *self, const log_stretch *all)
{
    return explained_share(self, all) > explained_off + 3.0 * (double)self->stretch_count / all->events;
}

/* In a log that is sorted by action or reward, the weights of parts are unbalanced although those of the whole are not.
 */
static bool has_parts(const log_checks *self)
{
    log_stretch all = whole_log(self);
    return !is_copied(&self->again) && !is_changed(self, &all);
}

/* Consecutive stretches. */
typedef struct window {
    size_t first, last;
    double score; /* above 1: beyond chance */
    log_stretch sums;
} window;

typedef double score_window(const log_checks *self, const log_stretch *inside, const log_stretch *all);

/* The window with the highest score; the whole log if it is nearly that, or if parts is false. */
static window find_window(const log_checks *self, score_window *score, bool parts)
{
    const double nearly = 0.9;
    log_stretch all = whole_log(self);
    window best = {.last = self->stretch_count - 1};
    for (size_t i = 0; parts && i < self->stretch_count; i++) {
        log_stretch sums = {0};
        for (size_t k = i; k < self->stretch_count; k++) {
            log_stretch_join(&sums, &self->stretches[k]);
            double found = score(self, &sums, &all);
            if (found > best.score) best = (window){i, k, found, sums};
        }
    }
    if (!parts || (double)(best.last - best.first + 1) >= nearly * (double)self->stretch_count)
        best = (window){0, self->stretch_count - 1, fmax(best.score, score(self, &all, &all)), all};
    return best;
}

typedef struct place {
    char text[64];
} place;

static size_t last_line(const log_checks *self, const window *of)
{
    return of->last + 1 < self->stretch_count ? self->stretches[of->last + 1].line - 1 : self->last_line;
}

/* " in lines 12 to 400", or "" for the whole log. */
static place place_of(const log_checks *self, const window *of)
{
    place out = {""};
    if (of->first > 0 || of->last + 1 < self->stretch_count)
        snprintf(out.text, sizeof out.text, " in lines %zu to %zu (about)", self->stretches[of->first].line,
                 last_line(self, of));
    return out;
}

/* ---- propensities ---- */

#define CHECK_PROPENSITIES                                                                                             \
    "No estimate from this log is reliable. Check that each event has the action that was shown and the probability "  \
    "of that action, as computed by the policy that chose it."

static double score_spread(const log_checks *self, const log_stretch *inside, const log_stretch *all)
{
    (void)self;
    (void)all;
    return mean_of(&inside->spread) > weight_off ? excess_of(&inside->spread, windows) : 0.0;
}

static double score_chosen(const log_checks *self, const log_stretch *inside, const log_stretch *all)
{
    (void)all;
    log_balance balance = inside->chosen;
    if (self->whole) balance.sum = fabs(balance.sum);
    return mean_of(&balance) > weight_off ? excess_of(&balance, 2.0 * windows) : 0.0;
}

static bool find_wrong_chosen(const log_checks *self, log_findings *into)
{
    window found = find_window(self, score_chosen, has_parts(self));
    place where = place_of(self, &found);
    if (!(found.score > 1.0)) return false;
    const log_balance *of = &found.sums.chosen;
    double low = found.sums.low_seen / of->rounds;
    if (self->whole)
        say(into, grave_propensities,
            "The log's propensities look wrong%s: those of the chosen actions average %.2f %s than the log's "
            "probabilities imply, as if they were the probabilities of %s actions. " CHECK_PROPENSITIES,
            where.text, fabs(mean_of(of)), of->sum > 0.0 ? "higher" : "lower", of->sum > 0.0 ? "top-ranked" : "other");
    else
        say(into, grave_propensities,
            "The log's propensities look wrong%s: by them at least %.0f%% of the events would have one of 0.5 or less; "
            "only %.0f%% have. They may be those of the top-ranked action instead of the chosen "
            "one. " CHECK_PROPENSITIES,
            where.text, 100.0 * (low + mean_of(of)), 100.0 * low);
    return true;
}

/* If all are equal, every possible action has this probability: 1 / 2, 1 / 3, ... Otherwise the actions with the rest
 * of the probability would have been chosen now and then. */
static bool find_constant(const log_checks *self, log_findings *into)
{
    const double rounding = 0.005; /* of two decimals */
    double p = self->first_probability, known = p * floor(1.0 / p);
    if (self->whole || !self->same_probability || fabs(p - 1.0 / round(1.0 / p)) <= rounding) return false;
    if (-(double)self->events * log(known) < evidence_for(1.0)) return false;
    say(into, grave_propensities,
        "Every propensity is %s, which is impossible: the possible actions of an event would not sum to 1. They may be "
        "a placeholder, or those of the top-ranked action instead of the chosen one. " CHECK_PROPENSITIES,
        plain_number_of(p, 4).text);
    return true;
}

static bool find_wrong_part(const log_checks *self, log_findings *into)
{
    window found = find_window(self, score_spread, has_parts(self));
    place where = place_of(self, &found);
    if (!(found.score > 1.0)) return false;
    double seen = found.sums.spread_seen / found.sums.spread.rounds;
    say(into, grave_propensities,
        "The log's propensities look wrong%s: the weights of random choices average %.2f there; expected "
        "%.2f. " CHECK_PROPENSITIES,
        where.text, seen, seen - mean_of(&found.sums.spread));
    return true;
}

/* How far an action is beyond chance. */
static double score_action(const log_checks *self, const log_checked_action *of)
{
    log_balance balance = of->balance;
    balance.sum -= of->possible + of->expected;
    if (self->whole) {
        balance.sum = fabs(balance.sum);
        balance.squares = 0.0; /* the variance is known */
    }
    double least = self->whole ? count_off * of->expected : weight_off * of->possible;
    return balance.sum > least ? excess_of(&balance, 2.0 * LOG_CHECK_ACTIONS) : 0.0;
}

static bool find_wrong_action(const log_checks *self, log_findings *into)
{
    size_t worst = 0;
    double scores[LOG_CHECK_ACTIONS];
    for (size_t i = 0; i < LOG_CHECK_ACTIONS; i++) {
        scores[i] = score_action(self, &self->actions[i]);
        if (scores[i] > scores[worst]) worst = i;
    }
    if (!(scores[worst] > 1.0)) return false;
    const log_checked_action *of = &self->actions[worst];
    double ratio = of->balance.sum / (of->possible + of->expected);
    char name[64];
    if (of->name[0])
        snprintf(name, sizeof name, "%s", of->name);
    else
        snprintf(name, sizeof name, "number %zu (from 0)", worst);
    say(into, grave_propensities,
        "The log's propensities do not fit its actions: action %s was chosen %s times as often as they say. Possibly "
        "the action column has another action than the shown one, or events are missing. " CHECK_PROPENSITIES,
        name, plain_number_of(ratio, 3).text);
    return true;
}

/* Not certainly wrong. */
static void find_doubtful(const log_checks *self, log_findings *into)
{
    const double many = 1000.0; /* in fewer events an action may not have been chosen by chance */
    log_stretch all = whole_log(self);
    log_balance missing = all.spread;
    missing.sum = -missing.sum;
    if (self->whole || !(missing.rounds > 0.0)) return;
    if (self->certain > 0.01 * self->rounds)
        say(into, of_propensities,
            "%.0f%% of the propensities are 1 (first: line %zu), though others are not. If 1 is a placeholder there, "
            "every estimate is wrong: remove these events.",
            100.0 * self->certain / self->rounds, self->certain_line);
    else if (missing.rounds >= many && mean_of(&missing) > weight_off && excess_of(&missing, 1.0) > 1.0)
        say(into, of_propensities,
            "By the propensities only %.0f%% of an event's actions were possible, on average. If all were, the "
            "propensities are too large, for example those of the top-ranked action instead of the chosen one, and "
            "every estimate is wrong.",
            100.0 * all.spread_seen / missing.rounds);
}

/* Returns whether they are wrong. */
static bool find_propensities(const log_checks *self, log_findings *into)
{
    if (self->certain >= self->rounds) return false; /* no exploration: the weights say nothing */
    bool found = find_wrong_chosen(self, into) || find_constant(self, into) || find_wrong_part(self, into) ||
                 find_wrong_action(self, into);
    if (!found) find_doubtful(self, into);
    return found;
}

/* ---- copies ---- */

static void find_copies(const log_checks *self, log_findings *into)
{
    const log_sample *situations = &self->situations, *histories = &self->histories;
    if (is_copied(&situations->again))
        say(into, caution,
            "At least %llu events look like copies of earlier ones: the same context, time and action (first: line "
            "%zu). Copies make intervals too narrow and may let a policy learn an event before it is scored. Remove "
            "them, or give events ids.",
            (unsigned long long)situations->same, situations->first_line);
    else if (is_copied(&self->again))
        say(into, caution,
            "An action follows itself %s times as often as the propensities say: the log is sorted by action, events "
            "are repeated, or several events share one draw. The intervals assume one draw per event, in the order of "
            "time.",
            plain_number_of(1.0 + mean_of(&self->again.possible), 3).text);
    else if (is_copied(&histories->again))
        say(into, caution,
            "Events repeat earlier ones in the same order (first: line %zu), as if a part of the log were there twice. "
            "Copies make intervals too narrow and may let a policy learn an event before it is scored. Remove them.",
            histories->first_line);
}

/* ---- rewards ---- */

/* The difference of two means in standard errors of the pooled sums; n: how many, in and out of the window. */
static double errors_between(double inside, double outside, double n_inside, double n_outside, double variance)
{
    double difference = inside / n_inside - outside / n_outside;
    return fabs(difference) / sqrt(variance * (1.0 / n_inside + 1.0 / n_outside));
}

static double needed_errors(void)
{
    return sqrt(2.0 * evidence_for(windows));
}

/* Rewards that are not 0, in and out of a window. */
static bool has_enough(const log_stretch *inside, const log_stretch *all)
{
    const double few = 20.0;
    return inside->nonzero >= few && all->nonzero - inside->nonzero >= inside->nonzero;
}

static double score_unit(const log_checks *self, const log_stretch *inside, const log_stretch *all)
{
    (void)self;
    if (!has_enough(inside, all)) return 0.0;
    double n = all->nonzero, mean = all->logs / n, variance = fmax(all->log_squares / n - mean * mean, 0.0);
    double n_outside = n - inside->nonzero, outside = all->logs - inside->logs;
    if (fabs(inside->logs / inside->nonzero - outside / n_outside) < log(other_unit)) return 0.0;
    return errors_between(inside->logs, outside, inside->nonzero, n_outside, variance) / needed_errors();
}

static log_stretch rest_of(const log_checks *self, const window *of)
{
    log_stretch rest = {0};
    for (size_t i = 0; i < self->stretch_count; i++)
        if (i < of->first || i > of->last) log_stretch_join(&rest, &self->stretches[i]);
    return rest;
}

static double spread_of_logs(const log_stretch *of)
{
    double mean = of->logs / of->nonzero;
    return sqrt(fmax(of->log_squares / of->nonzero - mean * mean, 0.0));
}

/* Grave if sizes differ far more between the parts than within them, as units do and prices do not. */
static bool find_unit(const log_checks *self, log_findings *into)
{
    window found = find_window(self, score_unit, true);
    if (!(found.score > 1.0)) return false;
    log_stretch rest = rest_of(self, &found);
    double inside = spread_of_logs(&found.sums), outside = spread_of_logs(&rest);
    double size = exp(found.sums.logs / found.sums.nonzero), usual = exp(rest.logs / rest.nonzero);
    bool apart = fabs(log(size / usual)) > 3.0 * fmax(inside, outside);
    say(into, apart ? grave : caution,
        "Rewards have another size%s: typically %s, elsewhere %s. If the unit changed, such as cents for euros, no "
        "estimate from this log is reliable: convert the rewards to one unit, or evaluate the parts separately "
        "(--from, --until).",
        place_of(self, &found).text, plain_number_of(size, 3).text, plain_number_of(usual, 3).text);
    return true;
}

static double score_sign(const log_checks *self, const log_stretch *inside, const log_stretch *all)
{
    (void)self;
    if (!has_enough(inside, all)) return 0.0;
    double n = all->nonzero, mean = all->signs / n, variance = 1.0 - mean * mean;
    double n_outside = n - inside->nonzero, outside = all->signs - inside->signs;
    double signs[2] = {inside->signs / inside->nonzero, outside / n_outside};
    if (signs[0] * signs[1] > -0.25) return 0.0; /* in both parts most have one sign, and not the same */
    return errors_between(inside->signs, outside, inside->nonzero, n_outside, variance) / needed_errors();
}

static bool find_sign(const log_checks *self, log_findings *into)
{
    window found = find_window(self, score_sign, true);
    if (!(found.score > 1.0)) return false;
    say(into, grave,
        "Most rewards are %s%s, but %s elsewhere, as if costs were read as rewards in a part of the log. No estimate "
        "from this log is reliable: give all rewards one sign, larger for better.",
        found.sums.signs > 0.0 ? "positive" : "negative", place_of(self, &found).text,
        found.sums.signs > 0.0 ? "negative" : "positive");
    return true;
}

/* The first line of the stretch at which the mean reward changes most. */
static size_t line_of_change(const log_checks *self, const log_stretch *all)
{
    double best = 0.0, mean = all->reward / all->events, sum = 0.0, events = 0.0;
    size_t line = 1;
    for (size_t i = 0; i + 1 < self->stretch_count; i++) {
        sum += self->stretches[i].reward;
        events += self->stretches[i].events;
        double off = fabs(sum - events * mean) / sqrt(events * (all->events - events));
        if (!(off > best)) continue;
        best = off;
        line = self->stretches[i + 1].line;
    }
    return line;
}

/* The mean rewards of the stretches only rise, or only fall. */
static bool is_sorted(const log_checks *self)
{
    bool rises = true, falls = true;
    for (size_t i = 0; i + 1 < self->stretch_count; i++) {
        const log_stretch *one = &self->stretches[i], *next = one + 1;
        double step = next->reward / next->events - one->reward / one->events;
        rises = rises && step >= 0.0;
        falls = falls && step <= 0.0;
    }
    return rises || falls;
}

static bool find_sorted(const log_checks *self, log_findings *into)
{
    log_stretch all = whole_log(self);
    if (!is_changed(self, &all) || !is_sorted(self)) return false;
    say(into, caution,
        "The log is sorted by reward. A policy that learns would see rewards in an order that never occurred, and "
        "intervals that are valid at any time are not. Sort the log by time.");
    return true;
}

static bool find_change(const log_checks *self, log_findings *into)
{
    log_stretch all = whole_log(self);
    if (!is_changed(self, &all)) return false;
    say(into, grave,
        "The place in the log explains %.0f%% of the variation of the rewards; the largest change is near line %zu. "
        "Rewards mean something else in a part of the log, for example failures instead of successes, or events are "
        "grouped by reward. Give all rewards one meaning, and sort the log by time.",
        100.0 * explained_share(self, &all), line_of_change(self, &all));
    return true;
}

/* Runs without reward that the events before (and after) make impossible, even if rewards became half as frequent. */
static void find_run(const log_checks *self, log_findings *into)
{
    const double few = 100.0;
    bool at_end = self->run.events > self->longest.events;
    const log_run *run = at_end ? &self->run : &self->longest;
    double before = (double)run->before, after = (double)(self->events - run->before - run->events);
    if (before < few || !run->rewarded || (!at_end && after < few)) return;
    double share = (double)run->rewarded / before;
    if (!at_end) share = fmin(share, (double)(self->rewarded - run->rewarded) / after);
    double x = -(double)run->events * log1p(-0.5 * fmin(share, 1.0));
    if (x < evidence_for((double)self->events)) return;
    if (at_end)
        say(into, caution,
            "The last %llu events, from line %zu on, have no reward, but %s%% of the events before have: their rewards "
            "may not have arrived yet. End the log before them with --until.",
            (unsigned long long)run->events, run->line, plain_number_of(100.0 * share, 2).text);
    else
        say(into, caution,
            "%llu events in a row, from line %zu on, have no reward, but %s%% of the others have: rewards may be "
            "missing there. Remove these events, or add their rewards.",
            (unsigned long long)run->events, run->line, plain_number_of(100.0 * share, 2).text);
}

static bool find_same_rewards(const log_checks *self, log_findings *into)
{
    const uint64_t few_rewarded = 100, few_unrewarded = 500; /* a rare success may not have occurred yet */
    if (self->least_reward != self->largest_reward) return false;
    if (self->events < (self->largest_reward == 0.0 ? few_unrewarded : few_rewarded)) return false;
    say(into, caution, "Every reward is %s: no policy can be better than another. %s",
        plain_number_of(self->largest_reward, 4).text,
        self->largest_reward == 0.0 ? "Check that the rewards were joined to their decisions."
                                    : "Check that the log has the unsuccessful events too.");
    return true;
}

/* The squared standard error of a weighted mean. */
static double squared_error(const log_mean *of)
{
    double mean = of->wr / of->w, squares = of->wwrr - 2.0 * mean * of->wwr + mean * mean * of->ww;
    return fmax(squares, 0.0) / (of->w * of->w);
}

static void find_worse_than_random(const log_checks *self, log_findings *into)
{
    const double few = 100.0, least = 0.05, needed = 6.0;
    if (self->single) return;
    const log_mean *of = &self->random;
    double mean = self->logged.wr / self->logged.w, random = of->wr / of->w, difference = random - mean;
    double error = sqrt(squared_error(of) + squared_error(&self->logged));
    if (of->w * of->w < few * of->ww || difference < least * fabs(mean) || difference < needed * error) return;
    say(into, caution,
        "Random choices would have earned more than the logging policy (%s against %s per event). If the policy was "
        "meant to maximise these rewards, they are costs or have the wrong sign: negate them.",
        plain_number_of(random, 4).text, plain_number_of(mean, 4).text);
}

static void find_rewards(const log_checks *self, log_findings *into)
{
    if (find_same_rewards(self, into)) return;
    if (!find_sorted(self, into) && !find_unit(self, into) && !find_sign(self, into) && !find_change(self, into))
        find_run(self, into);
    if (self->largest_reward <= 0.0 && self->least_reward < 0.0)
        say(into, caution,
            "No reward is above 0. Policies maximise rewards: if these are costs, negate them; if they are costs with "
            "the sign already changed, all is well.");
    find_worse_than_random(self, into);
}

/* ---- candidates ---- */

double log_fit_score(const log_fit *self)
{
    log_balance same = self->same;
    same.sum = fabs(same.sum);
    double worst = same.sum > count_off * self->expected ? excess_of(&same, 2.0 * LOG_CHECK_ACTIONS + 2.0) : 0.0;
    for (size_t i = 0; i < LOG_CHECK_ACTIONS; i++) {
        log_balance one = self->actions[i];
        if (!self->whole_unknown) one.sum = fabs(one.sum);
        if (mean_of(&one) > weight_off) worst = fmax(worst, excess_of(&one, 2.0 * LOG_CHECK_ACTIONS + 2.0));
    }
    return worst;
}

/* ---- times ---- */

static void find_order(const log_checks *self, log_findings *into)
{
    const double many = 0.01, long_jump = 3000.0; /* seconds: clocks that change by an hour */
    if (!self->late || ((double)self->late < many * (double)self->timed && self->lateness < long_jump)) return;
    say(into, caution,
        "The log is not in the order of time: %llu events are earlier than a line before them, by up to %s hours "
        "(first: line %zu). A policy that learns would know events before they happen. Sort the log by time.",
        (unsigned long long)self->late, plain_number_of(self->lateness / 3600.0, 2).text, self->late_line);
}

void log_checks_finish(const log_checks *self, log_findings *out)
{
    out->count = 0;
    if ((double)self->events < few_events) return;
    if (!find_propensities(self, out)) find_copies(self, out); /* they are found by right propensities */
    find_rewards(self, out);
    find_order(self, out);
}
