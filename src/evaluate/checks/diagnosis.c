#include "diagnosis.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "data/values/plain_number.h"

/* When a number is worth a sentence. In a long log every small fault is significant, so a sentence needs both: a
 * difference beyond chance (in standard errors) and one large enough to change a decision. */
static const double beyond_chance = 4.0;
static const double weight_off = 0.05;       /* of the mean weight from its expectation */
static const double unsupported_told = 0.01; /* share of the choices */
static const double unsupported_grave = 0.05;
static const double few_events = 100.0;
static const double few_effective = 50.0;
static const double least_effective = 20.0; /* below, a few lucky events decide: no headline */
static const double small_effective = 0.01; /* share of the rounds */
static const double large_share = 0.1;      /* of one event in the sum of weights */
static const double reward_off = 0.1;       /* relative difference of rewards, and of DM and DR */
static const double sums_off_grave = 0.05;  /* share of the events */
static const double bad_lines_grave = 0.05; /* share of the lines */
static const double repeated_told = 0.01;   /* share of the lines */

const char diagnosis_no_problems[] = "No problems found.";

/* What a sentence is about, and whether it makes the numbers unreliable. */
typedef struct subject {
    bool log, grave;
} subject;

static const subject of_candidate = {false, false}, of_log = {true, false};
static const subject grave_of_candidate = {false, true}, grave_of_log = {true, true};

__attribute__((format(printf, 3, 4))) static void say(diagnosis_report *into, subject about, const char *format, ...)
{
    if (into->count == DIAGNOSIS_MOST) return;
    diagnosis_sentence *one = &into->sentences[into->count++];
    va_list list;
    va_start(list, format);
    vsnprintf(one->text, sizeof one->text, format, list);
    va_end(list);
    one->grave = about.grave;
    one->log = about.log;
    if (about.grave) into->trusted = false;
}

enum { NAME = 24 }; /* bytes of an estimator's name */

/* "dr" -> "DR", as prose has it. */
static const char *in_capitals(const char *name, char text[NAME])
{
    size_t length = 0;
    for (; name[length] && length + 1 < NAME; length++) text[length] = (char)toupper((unsigned char)name[length]);
    text[length] = '\0';
    return text;
}

/* How many standard errors a difference is. Without any variation every difference is beyond chance. */
static double errors_of(double difference, double standard_error)
{
    if (standard_error > 0.0) return difference / standard_error;
    return difference == 0.0 ? 0.0 : copysign(INFINITY, difference);
}

static bool differs(double difference, double standard_error, double least)
{
    return fabs(difference) > least && fabs(errors_of(difference, standard_error)) > beyond_chance;
}

/* ---- the propensities ---- */

static void say_wrong(diagnosis_report *into, subject about, const char *whose, double mean, double expected)
{
    say(into, about,
        "The log's propensities look wrong: the weights of %.100s average %.2f; expected %.2f. No estimate from this "
        "log is reliable. Check that each event has the probability of the action that was shown, as computed by the "
        "policy that chose it.",
        whose, mean, expected);
}

/* Returns whether the propensities look wrong, so that it is reported once. */
static bool check_spread(const diagnosis *self, diagnosis_report *into)
{
    double expected = 1.0 - (isnan(self->spread_unsupported) ? 0.0 : self->spread_unsupported);
    double difference = self->spread_weight - expected;
    if ((double)self->events < least_effective) return false; /* too few for a standard error */
    /* The unsupported share is unknown, so a mean below 1 may be right. */
    if (isnan(self->spread_unsupported) && difference < 0.0) return false;
    if (!differs(difference, self->spread_weight_error, weight_off)) return false;
    say_wrong(into, grave_of_log, "random choices", self->spread_weight, expected);
    return true;
}

/* Says what was found in the log: about its propensities, or the rest. Returns whether any of it is grave. */
static bool say_found(const diagnosis *self, diagnosis_report *into, bool propensities)
{
    bool any = false;
    for (size_t i = 0; i < self->found.count; i++) {
        const log_finding *one = &self->found.list[i];
        if (one->propensities != propensities) continue;
        say(into, one->grave ? grave_of_log : of_log, "%s", one->text);
        any = any || one->grave;
    }
    return any;
}

/* Without exploration the weights say nothing about the propensities. A candidate that agrees with the log throughout
 * keeps its numbers. */
static void say_certain(const diagnosis *self, diagnosis_report *into)
{
    bool agrees = fabs(self->mean_weight - 1.0) <= weight_off;
    say(into, agrees ? of_log : grave_of_log,
        "Every propensity is 1: this log has no exploration and cannot evaluate another policy.");
}

/* The log's propensities are right for random choices, but not for a candidate that was computed elsewhere. */
static void say_knows(const diagnosis *self, diagnosis_report *into)
{
    say(into, grave_of_candidate,
        "The probabilities of %.100s depend on the logged actions or rewards, as if it had been computed from these "
        "events: its weights (mean %.2f) do not fit them, although those of random choices fit. Use events that it has "
        "not seen. If it has not, the log's propensities are wrong.",
        self->candidate, self->mean_weight);
}

static void check_weights(const diagnosis *self, diagnosis_report *into)
{
    bool known = !isnan(self->unsupported);
    double expected = known ? 1.0 - self->unsupported + self->slots_weight : 1.0;
    double difference = self->mean_weight - expected;
    if (!differs(difference, self->mean_weight_error, weight_off)) {
        if (self->fit_score > 1.0) say_knows(self, into);
        return;
    }
    if (self->from_file && (known || difference > 0.0)) {
        say_knows(self, into);
        return;
    }
    if (known || difference > 0.0) {
        say_wrong(into, grave_of_candidate, self->candidate, self->mean_weight, expected);
        return;
    }
    say(into, grave_of_candidate,
        "The log covers only part of what %.100s does: its weights average %.2f; expected 1. Either the log never "
        "tried the rest, or its propensities are wrong. These estimates are not reliable.",
        self->candidate, self->mean_weight);
}

static void check_sums(const diagnosis *self, diagnosis_report *into)
{
    if (!(self->sum_off > 0.0)) return;
    say(into, self->sum_off > sums_off_grave ? grave_of_log : of_log,
        "In %s%% of the events the action probabilities do not sum to 1; the largest error is %s.",
        plain_number_of(100.0 * self->sum_off, 3).text, plain_number_of(self->probability_sum, 3).text);
}

/* ---- how much the log says ---- */

static void check_repeated(const diagnosis *self, diagnosis_report *into)
{
    const uint64_t few = 10;
    double share = (double)self->repeated / (double)(self->repeated + self->events);
    if (self->repeated >= few && share > repeated_told)
        say(into, of_log,
            "%s%% of the lines have the id of an earlier event and were skipped. If the id is that of a user or "
            "session, these are other events: give each event its own id (for CSV, id=none).",
            plain_number_of(100.0 * share, 2).text);
}

static void check_lines(const diagnosis *self, diagnosis_report *into)
{
    if (self->bad_lines > 0.0)
        say(into, self->bad_lines > bad_lines_grave ? grave_of_log : of_log,
            "%s%% of the lines were skipped; first: line %zu: %.160s.",
            plain_number_of(100.0 * self->bad_lines, 2).text, self->first_bad_line, self->bad_reason);
    check_repeated(self, into);
    size_t most = sizeof self->remarks / sizeof self->remarks[0];
    for (size_t i = 0; i < most && self->remarks[i]; i++) say(into, of_log, "%s", self->remarks[i]);
}

/* They count whatever the limits are. */
static void check_times(const diagnosis *self, diagnosis_report *into)
{
    if (self->timeless > 0.0)
        say(into, self->timeless > bad_lines_grave ? grave_of_log : of_log,
            "%s%% of the events have no readable time, so --from, --until and --judge-from do not leave them out. Name "
            "the column with the time (for CSV, time=COLUMN; expected ISO 8601 or seconds since 1970), or evaluate "
            "without these limits.",
            plain_number_of(100.0 * self->timeless, 2).text);
}

static void check_support(const diagnosis *self, diagnosis_report *into)
{
    if (!(self->unsupported > unsupported_told)) return;
    say(into, self->unsupported > unsupported_grave ? grave_of_candidate : of_candidate,
        "%s%% of the choices of %.100s never occur in this log. Their reward is unknown: the estimates leave it out or "
        "use the reward model's prediction.",
        plain_number_of(100.0 * self->unsupported, 3).text, self->candidate);
}

/* Chance decides. */
static void say_too_few(const diagnosis *self, diagnosis_report *into)
{
    double effective = isnan(self->effective) ? 0.0 : floor(10.0 * self->effective) / 10.0; /* never rounded to 20 */
    if (self->rounds < least_effective)
        say(into, grave_of_candidate, "Only %llu event%s: too few to compare policies; at least %.0f are needed.",
            (unsigned long long)self->events, self->events == 1 ? "" : "s", least_effective);
    else
        say(into, grave_of_candidate,
            "%.100s rarely agrees with the log: its effective sample size is %s of %.0f events; at least %.0f are "
            "needed. Use a longer log, or one with more exploration.",
            self->candidate, plain_number_of(effective, 3).text, self->rounds, least_effective);
}

static void check_training(const diagnosis *self, diagnosis_report *into)
{
    if (self->learned_as_many)
        say(into, of_candidate,
            "%.100s has learned as many rewards as this log has events (%llu). If it was trained on this log, its "
            "value is too high: evaluate it on later events, or the policy itself, which is scored before it learns.",
            self->candidate, (unsigned long long)self->learned_as_many);
}

static void check_size(const diagnosis *self, diagnosis_report *into)
{
    if (self->weighs && !(self->effective >= least_effective)) { /* NaN: all weights are 0 */
        say_too_few(self, into);
        return;
    }
    if (self->rounds < few_events) {
        say(into, of_log, "Only %llu event%s: too few to compare policies unless they differ greatly.",
            (unsigned long long)self->events, self->events == 1 ? "" : "s");
        return;
    }
    bool few = self->effective < few_effective, small = self->effective < small_effective * self->rounds;
    if (few || small)
        say(into, of_candidate,
            "%.100s rarely agrees with the log: its effective sample size is %.0f of %.0f events. Use a longer log, or "
            "one with more exploration.",
            self->candidate, self->effective, self->rounds);
    else if (self->largest_share > large_share)
        say(into, of_candidate,
            "One event has %.0f%% of the total weight (its weight is %s), so the estimate depends on luck.",
            100.0 * self->largest_share, plain_number_of(self->largest_weight, 4).text);
}

/* ---- what the numbers mean ---- */

static void check_drift(const diagnosis *self, diagnosis_report *into)
{
    double difference = self->reward_last - self->reward_first;
    double least = reward_off * fmax(fabs(self->reward_first), fabs(self->reward_last));
    if ((double)self->events < few_events) return;
    if (!differs(difference, self->reward_error, least)) return;
    say(into, of_log,
        "The mean reward of the log changed from %s in its first third to %s in its last: the best policy over the "
        "whole log may not be the best now.",
        plain_number_of(self->reward_first, 4).text, plain_number_of(self->reward_last, 4).text);
}

/* Estimators of the same value differ only by chance. */
static void check_agreement(const diagnosis *self, diagnosis_report *into)
{
    if (!self->pair[0]) return;
    const double *values = self->pair_values;
    double difference = values[0] - values[1], size = fmax(fabs(values[0]), fabs(values[1]));
    bool known = self->rounds >= few_events && !isnan(self->pair_error);
    bool beyond = known && differs(difference, self->pair_error, reward_off * size);
    if (!self->pair_apart && !beyond) return;
    char names[2][NAME];
    say(into, grave_of_candidate,
        "%s and %s disagree beyond chance (%s and %s), though both estimate what %.100s would have earned: trust "
        "neither. Check the propensities, and that no feature reveals the reward.",
        in_capitals(self->pair[0], names[0]), in_capitals(self->pair[1], names[1]), plain_number_of(values[0], 4).text,
        plain_number_of(values[1], 4).text, self->candidate);
}

/* A reward model that saw the reward moves the estimate out of its interval. */
static void check_outside(const diagnosis *self, diagnosis_report *into)
{
    if (!self->outside || self->rounds < few_events) return;
    char name[NAME];
    say(into, grave_of_candidate,
        "The estimate of %s (%s) is outside its interval (%s to %s): they contradict each other, so trust neither. "
        "Check the propensities, and that no feature or prediction reveals the reward.",
        in_capitals(self->outside, name), plain_number_of(self->outside_value, 4).text,
        plain_number_of(self->outside_low, 4).text, plain_number_of(self->outside_high, 4).text);
}

static void check_replay(const diagnosis *self, diagnosis_report *into)
{
    if (self->replay_draws)
        say(into, grave_of_candidate,
            "Only replay was requested, which needs a candidate that takes one action with probability 1 in each "
            "event. Add an estimator that uses the propensities, such as snips.");
    else if (self->replay_uneven)
        say(into, grave_of_candidate,
            "Only replay was requested, but the log's choices are not uniform: replay then estimates another value. "
            "Add an estimator that uses the propensities, such as snips.");
}

static void check_model(const diagnosis *self, diagnosis_report *into)
{
    if (self->weighs && self->model_alone)
        say(into, grave_of_candidate,
            "Only dm was requested: its interval ignores the error of the reward model, so no conclusion is possible. "
            "Add an estimator that corrects the model or needs none, such as dr or snips.");
    double difference = self->direct - self->robust;
    if (self->rounds < few_events) return; /* a barely trained model is inaccurate, and so is its error */
    if (!differs(difference, self->robust_error, reward_off * fabs(self->robust))) return;
    say(into, of_candidate,
        "The reward model is inaccurate: alone (DM) it estimates %s; corrected by the logged rewards (DR), %s. Use DR "
        "and ignore DM here.",
        plain_number_of(self->direct, 4).text, plain_number_of(self->robust, 4).text);
}

static void check_terms(const diagnosis *self, diagnosis_report *into)
{
    if (self->seen_range)
        say(into, of_log,
            "Rewards are assumed to lie between %s and %s, the range seen in the log. If others are possible, the "
            "intervals are too narrow: set the range with --rewards LOW:HIGH.",
            plain_number_of(self->range_low, 4).text, plain_number_of(self->range_high, 4).text);
    if (self->taken_alone)
        say(into, of_log,
            "The log has only the probability of the logged action, so estimators with a reward model show the "
            "interval of IPS.");
    if (self->slots) say(into, of_log, "Events have several slots; only the first slot of each is evaluated.");
    if (self->assumption && self->assumption[0]) say(into, of_candidate, "%s", self->assumption);
}

diagnosis_report diagnosis_explain(const diagnosis *self)
{
    diagnosis_report report = {.trusted = true};
    if (!self->events) {
        say(&report, grave_of_log, "The log has no events to evaluate.");
        return report;
    }
    if (self->weighs && self->certain)
        say_certain(self, &report);
    else if (self->weighs && !check_spread(self, &report) && !say_found(self, &report, true))
        check_weights(self, &report);
    if (self->weighs) check_sums(self, &report);
    if (self->weighs && !self->certain) check_support(self, &report);
    check_lines(self, &report);
    check_times(self, &report);
    check_size(self, &report);
    check_training(self, &report);
    if (!say_found(self, &report, false)) check_drift(self, &report);
    check_model(self, &report);
    if (self->weighs) check_replay(self, &report);
    if (self->weighs && report.trusted) check_agreement(self, &report);
    if (self->weighs && report.trusted) check_outside(self, &report);
    check_terms(self, &report);
    if (!report.count) say(&report, of_candidate, "%s", diagnosis_no_problems);
    return report;
}

diagnosis_report diagnosis_explain_log(const diagnosis *self)
{
    diagnosis_report report = {.trusted = true};
    if (!self->events) return report;
    if (self->certain)
        say_certain(self, &report);
    else if (!check_spread(self, &report))
        say_found(self, &report, true);
    check_sums(self, &report);
    check_repeated(self, &report);
    if (!say_found(self, &report, false)) check_drift(self, &report);
    return report;
}

/* ---- the headline ---- */

enum { AMOUNT = 32 }; /* bytes of one */

/* The size of an amount of reward: in percent of what the logging policy earned if that is positive. */
static void format_amount(double amount, double logged, char text[AMOUNT])
{
    double percent = 100.0 * fabs(amount) / logged;
    if (!(logged > 0.0))
        snprintf(text, AMOUNT, "%.30s", plain_number_of(fabs(amount), 3).text);
    else
        snprintf(text, AMOUNT, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
}

/* What follows an amount that is not in percent. */
static const char *unit_of(const diagnosis *self, diagnosis_gain gain)
{
    if (gain.logged > 0.0) return "";
    return self->each_slot ? " per slot" : " per event";
}

static void format_inconclusive(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char low[AMOUNT], high[AMOUNT], name[NAME];
    format_amount(gain.low, gain.logged, low);
    format_amount(gain.high, gain.logged, high);
    snprintf(text, DIAGNOSIS_TEXT,
             "Inconclusive: %.100s would have earned between %s less and %s more%s than the logging policy (%s, %.4g%% "
             "interval).",
             self->candidate, low, high, unit_of(self, gain), in_capitals(gain.estimator, name),
             100.0 * gain.confidence);
}

/* The interval is about the difference, whichever estimator the value is from: in a short log it may exclude the value,
 * which is then moved to its nearest end. */
static void format_conclusive(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char amount[AMOUNT], ends[2][AMOUNT], name[NAME];
    format_amount(fmin(fmax(gain.value, gain.low), gain.high), gain.logged, amount);
    format_amount(fmin(fabs(gain.low), fabs(gain.high)), gain.logged, ends[0]);
    format_amount(fmax(fabs(gain.low), fabs(gain.high)), gain.logged, ends[1]);
    snprintf(text, DIAGNOSIS_TEXT,
             "%.100s would have earned %s %s%s than the logging policy (%s, %.4g%% interval: %s to %s).",
             self->candidate, amount, gain.low > 0.0 ? "more" : "less", unit_of(self, gain),
             in_capitals(gain.estimator, name), 100.0 * gain.confidence, ends[0], ends[1]);
}

static void format_without_interval(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char amount[AMOUNT], name[NAME];
    format_amount(gain.value, gain.logged, amount);
    snprintf(text, DIAGNOSIS_TEXT,
             "%.100s would have earned about %s %s%s than the logging policy (%s); there is no interval, so this may "
             "be chance.",
             self->candidate, amount, gain.value > 0.0 ? "more" : "less", unit_of(self, gain),
             in_capitals(gain.estimator, name));
}

void diagnosis_headline(const diagnosis *self, bool trusted, diagnosis_gain gain, char text[DIAGNOSIS_TEXT])
{
    const char *name = self->candidate;
    /* At most 100% can be lost. The interval may extend further if the logging policy had bad luck. */
    if (self->range_low >= 0.0 && gain.logged > 0.0 && gain.low < -gain.logged) gain.low = -gain.logged;
    if (self->events && !self->weighs) {
        snprintf(text, DIAGNOSIS_TEXT, "%.100s is the logging policy; it earned %s per %s.", name,
                 plain_number_of(gain.logged, 4).text, self->each_slot ? "slot" : "event");
        return;
    }
    if (self->events && self->model_alone) {
        snprintf(text, DIAGNOSIS_TEXT, "dm alone cannot show what %.100s would have earned; add dr or snips.", name);
        return;
    }
    if (!trusted || isnan(gain.value)) {
        snprintf(text, DIAGNOSIS_TEXT, "This log cannot show what %.100s would have earned.", name);
        return;
    }
    if (gain.low <= 0.0 && gain.high >= 0.0) {
        format_inconclusive(self, gain, text);
        return;
    }
    if (!isnan(gain.low) && !isnan(gain.high))
        format_conclusive(self, gain, text);
    else
        format_without_interval(self, gain, text);
}
