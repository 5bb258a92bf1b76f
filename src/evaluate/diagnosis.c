#include "diagnosis.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "data/plain_number.h"

/* When a number is worth a sentence. A test alone would find faults in every long log that matter to nobody: what is
 * told is both beyond chance (so many standard errors) and large enough to change a decision. */
static const double beyond_chance = 4.0;
static const double weight_off = 0.05;       /* of the mean weight from what it should be */
static const double unsupported_told = 0.01; /* share of the choices */
static const double unsupported_grave = 0.05;
static const double few_events = 100.0;
static const double few_effective = 50.0;
static const double small_effective = 0.01; /* share of the rounds */
static const double large_share = 0.1;      /* of one event in the sum of weights */
static const double reward_off = 0.1;       /* relative difference of rewards, and of DM and DR */
static const double sums_off_grave = 0.05;  /* share of the events */
static const double sides_alike = 0.25;     /* the sides of an interval differ by less of the larger one */

/* What a sentence is about, and whether the numbers can be trusted all the same. */
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

/* ---- the probabilities of the log ---- */

static void say_wrong(diagnosis_report *into, subject about, const char *whose, double mean, double expected)
{
    say(into, about,
        "The log's probabilities look wrong: %s should weigh %.2f on average and weigh %.2f. This is the commonest "
        "fault of such logs. Check that each event has the probability of the action that was shown, by the policy "
        "that "
        "chose it; until then no estimate can be trusted.",
        whose, expected, mean);
}

/* Returns whether the log's probabilities were found wrong, so that it is said once. */
static bool check_spread(const diagnosis *self, diagnosis_report *into)
{
    double expected = 1.0 - (isnan(self->spread_unsupported) ? 0.0 : self->spread_unsupported);
    double difference = self->spread_weight - expected;
    /* What the log never takes is not known: less than 1 may be right. */
    if (isnan(self->spread_unsupported) && difference < 0.0) return false;
    if (!differs(difference, self->spread_weight_error, weight_off)) return false;
    say_wrong(into, grave_of_log, "choices at random", self->spread_weight, expected);
    return true;
}

static void check_weights(const diagnosis *self, diagnosis_report *into)
{
    bool known = !isnan(self->unsupported);
    double expected = known ? 1.0 - self->unsupported + self->slots_weight : 1.0;
    double difference = self->mean_weight - expected;
    if (!differs(difference, self->mean_weight_error, weight_off)) return;
    char whose[160];
    snprintf(whose, sizeof whose, "the choices of %.100s", self->candidate);
    if (known || difference > 0.0) {
        say_wrong(into, grave_of_candidate, whose, self->mean_weight, expected);
        return;
    }
    say(into, grave_of_candidate,
        "The log covers only part of what %.100s does: its choices weigh %.2f on average in place of 1. The rest was "
        "never tried in this log, or the log's probabilities are wrong. The estimates cannot be trusted.",
        self->candidate, self->mean_weight);
}

static void check_sums(const diagnosis *self, diagnosis_report *into)
{
    if (!(self->sum_off > 0.0)) return;
    say(into, self->sum_off > sums_off_grave ? grave_of_log : of_log,
        "In %s%% of the events the probabilities do not sum to 1: they are off by up to %s.",
        plain_number_of(100.0 * self->sum_off, 3).text, plain_number_of(self->probability_sum, 3).text);
}

/* ---- how much the log tells ---- */

static void check_support(const diagnosis *self, diagnosis_report *into)
{
    if (!(self->unsupported > unsupported_told)) return;
    say(into, self->unsupported > unsupported_grave ? grave_of_candidate : of_candidate,
        "%s%% of what %.100s does is never done in this log: what that earns cannot be known from it, and is left "
        "out of the estimates or guessed by the reward model.",
        plain_number_of(100.0 * self->unsupported, 3).text, self->candidate);
}

static void check_size(const diagnosis *self, diagnosis_report *into)
{
    if (self->rounds < few_events) {
        bool one = self->events == 1;
        say(into, of_log, "There %s only %llu event%s: too few to tell policies apart, unless they differ much.",
            one ? "is" : "are", (unsigned long long)self->events, one ? "" : "s");
        return;
    }
    bool few = self->effective < few_effective, small = self->effective < small_effective * self->rounds;
    if (few || small)
        say(into, of_candidate,
            "%.100s rarely does what the log did: %.0f events tell as much about it as %.0f of its own would. A longer "
            "log, or one with more chance in it, would tell more.",
            self->candidate, self->rounds, self->effective);
    else if (self->largest_share > large_share)
        say(into, of_candidate, "One event alone makes up %.0f%% of the estimate: its weight is %s.",
            100.0 * self->largest_share, plain_number_of(self->largest_weight, 4).text);
}

/* ---- what the numbers stand for ---- */

static void check_drift(const diagnosis *self, diagnosis_report *into)
{
    double difference = self->reward_last - self->reward_first;
    double least = reward_off * fmax(fabs(self->reward_first), fabs(self->reward_last));
    if (!differs(difference, self->reward_error, least)) return;
    say(into, of_log,
        "The log's reward went from %s in its first third to %s in the last: times have changed, and what was best "
        "over the whole log may not be best now.",
        plain_number_of(self->reward_first, 4).text, plain_number_of(self->reward_last, 4).text);
}

static void check_model(const diagnosis *self, diagnosis_report *into)
{
    double difference = self->direct - self->robust;
    if (self->rounds < few_events) return; /* a model that has seen hardly anything is off, and so is its error */
    if (!differs(difference, self->robust_error, reward_off * fabs(self->robust))) return;
    say(into, of_candidate,
        "The reward model by itself is off: it says %s, and corrected by the rewards of the log %s. DR corrects "
        "it; DM alone is not to be trusted here.",
        plain_number_of(self->direct, 4).text, plain_number_of(self->robust, 4).text);
}

static void check_terms(const diagnosis *self, diagnosis_report *into)
{
    if (self->seen_range)
        say(into, of_log,
            "Rewards are taken to lie between %s and %s, as they do in the log: the intervals hold if none can lie "
            "outside. --rewards LOW:HIGH tells what is possible.",
            plain_number_of(self->range_low, 4).text, plain_number_of(self->range_high, 4).text);
    if (self->taken_alone)
        say(into, of_log,
            "The log has the probability of the taken action alone, so the interval beside the estimates with a reward "
            "model is that of IPS.");
    if (self->slots) say(into, of_log, "Events have several slots: the first of each is evaluated.");
}

diagnosis_report diagnosis_explain(const diagnosis *self)
{
    diagnosis_report report = {.trusted = true};
    if (!self->events) {
        say(&report, grave_of_log, "The log has no event to evaluate.");
        return report;
    }
    if (self->weighs && !check_spread(self, &report)) check_weights(self, &report);
    if (self->weighs) check_sums(self, &report);
    if (self->weighs) check_support(self, &report);
    check_size(self, &report);
    check_drift(self, &report);
    check_model(self, &report);
    check_terms(self, &report);
    if (!report.count) say(&report, of_candidate, "Nothing speaks against these numbers.");
    return report;
}

/* ---- the sentence ---- */

enum { AMOUNT = 52 }; /* bytes of one */

/* An amount of reward as people say it: in percent of what the log's policy earned, where that is above 0. */
static void format_amount(double amount, double logged, char text[AMOUNT])
{
    double percent = 100.0 * fabs(amount) / logged;
    if (!(logged > 0.0))
        snprintf(text, AMOUNT, "%s an event", plain_number_of(fabs(amount), 3).text);
    else
        snprintf(text, AMOUNT, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
}

static void tell_unsure(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char low[AMOUNT], high[AMOUNT];
    format_amount(gain.low, gain.logged, low);
    format_amount(gain.high, gain.logged, high);
    snprintf(text, DIAGNOSIS_TEXT,
             "No difference between %.100s and the log's policy is shown: it lies between %s less and %s more.",
             self->candidate, low, high);
}

/* The interval is about the difference, whichever estimator stands beside it: it may leave the estimate out, or lie far
 * to one side of it. Then its ends are told. */
static void tell_sure(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char amount[AMOUNT], ends[2][AMOUNT];
    const char *more = gain.low > 0.0 ? "more" : "less";
    double value = fmin(fmax(gain.value, gain.low), gain.high);
    double below = value - gain.low, above = gain.high - value, margin = fmax(below, above);
    format_amount(value, gain.logged, amount);
    if (margin < fabs(value) && fabs(above - below) < sides_alike * margin) {
        format_amount(margin, gain.logged, ends[0]);
        snprintf(text, DIAGNOSIS_TEXT, "%.100s would have earned %s \302\261 %s %s than the log's policy.",
                 self->candidate, amount, ends[0], more);
        return;
    }
    format_amount(fmin(fabs(gain.low), fabs(gain.high)), gain.logged, ends[0]);
    format_amount(fmax(fabs(gain.low), fabs(gain.high)), gain.logged, ends[1]);
    snprintf(text, DIAGNOSIS_TEXT, "%.100s would have earned %s %s than the log's policy, between %s and %s.",
             self->candidate, amount, more, ends[0], ends[1]);
}

static void tell_alone(const diagnosis *self, diagnosis_gain gain, char *text)
{
    char amount[AMOUNT];
    format_amount(gain.value, gain.logged, amount);
    snprintf(text, DIAGNOSIS_TEXT,
             "%.100s would have earned some %s %s than the log's policy; how sure that is, is not known.",
             self->candidate, amount, gain.value > 0.0 ? "more" : "less");
}

void diagnosis_headline(const diagnosis *self, bool trusted, diagnosis_gain gain, char text[DIAGNOSIS_TEXT])
{
    const char *name = self->candidate;
    /* More than all cannot be lost. The interval may go on, as the log's policy may have had bad luck in these events.
     */
    if (self->range_low >= 0.0 && gain.logged > 0.0 && gain.low < -gain.logged) gain.low = -gain.logged;
    if (self->events && !self->weighs) {
        snprintf(text, DIAGNOSIS_TEXT, "%.100s is the log's own policy: it earned %s %s.", name,
                 plain_number_of(gain.logged, 4).text, self->each_slot ? "a slot" : "an event");
        return;
    }
    if (!trusted || isnan(gain.value)) {
        snprintf(text, DIAGNOSIS_TEXT, "What %.100s would have earned cannot be told from this log.", name);
        return;
    }
    if (gain.low <= 0.0 && gain.high >= 0.0) {
        tell_unsure(self, gain, text);
        return;
    }
    if (!isnan(gain.low) && !isnan(gain.high))
        tell_sure(self, gain, text);
    else
        tell_alone(self, gain, text);
}
