/* eenet log: summarises a log or converts it. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/log_flags.h"
#include "cli/shown_name.h"
#include "data/logs/log_summary.h"
#include "data/values/json_members.h"
#include "data/values/log_time.h"
#include "data/values/plain_number.h"
#include "data/values/seconds.h"
#include "data/values/text.h"
#include "evaluate/evaluations/log_tally.h"

enum { OUTPUT = LOG_FLAGS, SAMPLE, SEED, JSON, FLAGS };

static const flag flags[FLAGS] = {
    LOG_FLAG_LIST,
    [OUTPUT] = {'o', "output", "FILE", "write the events to FILE: .dsjson, .eelog or .csv, also .gz or .zst"},
    [SAMPLE] = {'\0', "sample", "SHARE", "keep this share of the events, 0 to 1, chosen by their ids"},
    [SEED] = {'s', "seed", "SEED", "seed of the sample (default: 0)"},
    [JSON] = {'\0', "json", NULL, "print the summary as one line of JSON"},
};

typedef struct request {
    const char *log;
    const char *given[FLAGS]; /* "" for one that takes nothing */
    log_options options;
    double share;
    uint64_t seed;
} request;

/* ---- arguments ---- */

static int read_arguments(const command *self, int argc, char **argv, request *out)
{
    const char *const *given = out->given;
    out->options = log_options_usual();
    out->share = 1;
    int code = log_flags_collect(self, argc, argv, &out->log, out->given, NULL, NULL);
    if (!code) code = log_flags_read(self, given, &out->options);
    if (!code) code = arguments_real(self, SAMPLE, given[SAMPLE], 0, 1, &out->share);
    if (!code) code = arguments_number(self, SEED, given[SEED], 0, INT64_MAX, &out->seed);
    if (!code && given[SEED] && !given[SAMPLE]) code = command_misused(self, "--seed needs --sample");
    if (!code && given[JSON] && given[OUTPUT]) code = command_misused(self, "--json prints the summary; leave out -o");
    return code;
}

/* ---- while it reads ---- */

typedef struct audience {
    bool shown; /* stderr is a terminal */
    bool drawn;
    double last_draw; /* in seconds */
} audience;

static const double draw_interval = 0.1; /* seconds: smooth to the eye */

static void draw(audience *who, const log_counts *counts)
{
    double seconds = seconds_now(), megabyte = 1e6;
    if (who->drawn && seconds - who->last_draw < draw_interval) return;
    fprintf(stderr, "\r\033[K%zu events, %.0f", counts->events, (double)counts->bytes / megabyte);
    if (counts->total_bytes) fprintf(stderr, "/%.0f", (double)counts->total_bytes / megabyte);
    fprintf(stderr, " MB");
    fflush(stderr);
    who->drawn = true;
    who->last_draw = seconds;
}

/* What the summary is made of. */
typedef struct survey {
    log_summary summary;
    log_tally tally;
    diagnosis_report problems;
} survey;

static ee_status add_event(survey *into, const log_event *event, ee_error *error)
{
    if (!event->skipped && log_event_is_randomised(event)) log_tally_add(&into->tally, event);
    return log_summary_add(&into->summary, event, error);
}

/* Reads the whole log into the survey or the writer. *kept: number of events in the sample. */
static ee_status read_all(const request *wanted, log_reader *log, survey *into, log_writer *writer, size_t *kept,
                          ee_error *error)
{
    enum { LOOKED_AT = 256 }; /* events between two looks at the clock */
    audience who = {.shown = isatty(STDERR_FILENO) == 1};
    log_event event;
    bool found;
    ee_status status;
    *kept = 0;
    while (!(status = log_next(log, &event, &found, error)) && found && !interrupt_came()) {
        if (who.shown && log_read(log)->events % LOOKED_AT == 0) draw(&who, log_read(log));
        if (wanted->share < 1 && !log_is_sampled(&event, wanted->share, wanted->seed)) continue;
        ++*kept;
        status = writer ? log_write(writer, &event, error) : add_event(into, &event, error);
        if (status) break;
    }
    if (who.drawn) fprintf(stderr, "\r\033[K");
    return status;
}

/* ---- printing ---- */

/* The lines left out: ", 3 broken, 2 foreign". */
static void print_passed(FILE *stream, const log_counts *counts)
{
    const struct {
        size_t count;
        const char *word;
    } kinds[] = {{counts->skipped, "skipped"},   {counts->outside, "outside the time range"},
                 {counts->repeated, "repeated"}, {counts->foreign, "foreign"},
                 {counts->invalid, "invalid"},   {counts->broken, "broken"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count) fprintf(stream, ", %zu %s", kinds[i].count, kinds[i].word);
}

static void print_first(FILE *stream, const log_counts *counts)
{
    for (size_t i = 0; i < counts->first_count; i++)
        fprintf(stream, "  line %zu: %s\n", counts->first_lines[i], counts->first_reasons[i]);
}

/* "2021-05-18 13:28:29", for people. */
static const char *moment(double seconds, char out[LOG_TIME_SIZE])
{
    log_time_format(seconds, out);
    out[10] = ' ';
    out[19] = '\0';
    return out;
}

static plain_number plain(double value)
{
    return plain_number_of(value, 4);
}

static void print_length(double seconds)
{
    if (seconds >= 172800)
        printf("%.1f days", seconds / 86400);
    else if (seconds >= 7200)
        printf("%.1f hours", seconds / 3600);
    else if (seconds >= 120)
        printf("%.1f minutes", seconds / 60);
    else
        printf("%s seconds", plain_number_of(seconds, 3).text);
}

static void print_times(const log_summary *of)
{
    char first[LOG_TIME_SIZE], last[LOG_TIME_SIZE];
    if (!of->times.count) return;
    printf("  %-14s %s to %s", "times", moment(of->times.least, first), moment(of->times.largest, last));
    if (of->backwards) printf("; %zu events are earlier than their predecessor", of->backwards);
    printf("\n");
    for (size_t i = 0; i < LOG_GAPS && of->gaps[i].seconds > 0; i++) {
        printf("  %-14s ", i ? "" : "longest gaps");
        print_length(of->gaps[i].seconds);
        printf(" after %s\n", moment(of->gaps[i].start, first));
    }
}

static double percent(size_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_probabilities(const log_summary *of)
{
    printf("  %-14s of the chosen action: mean %s, minimum %s, 10th percentile %s, median %s\n", "probabilities",
           plain(log_range_mean(&of->probabilities)).text, plain(of->probabilities.least).text,
           plain(log_summary_quantile(of, 0.1)).text, plain(log_summary_quantile(of, 0.5)).text);
    if (!of->known) {
        printf("  %-14s unknown: the log has only the probability of the chosen action\n", "support");
        return;
    }
    if (of->wrong_sums) printf("  %-14s in %zu events the probabilities do not add up to 1\n", "", of->wrong_sums);
    printf("  %-14s every action was possible in %.1f%% of the events; minimum probability %s\n", "support",
           percent(of->supported, of->known), plain(of->every_probability.least).text);
    if (of->known < of->rewards.count)
        printf("  %-14s in %.1f%% of the events only the probability of the chosen action is known\n", "",
               percent(of->rewards.count - of->known, of->rewards.count));
}

static void print_range(const char *title, const log_range *range, const char *unit)
{
    if (range->least == range->largest)
        printf("  %-14s %s %s\n", title, plain(range->least).text, unit);
    else
        printf("  %-14s %s to %s %s, %s on average\n", title, plain(range->least).text, plain(range->largest).text,
               unit, plain(log_range_mean(range)).text);
}

static void print_actions(const log_summary *of)
{
    enum { SHOWN = 20 };
    char name[SHOWN_NAME_SIZE];
    size_t shown = of->action_count < SHOWN ? of->action_count : SHOWN, width = strlen("action");
    for (size_t i = 0; i < shown; i++) {
        size_t characters = show_name(of->actions[i].name, name);
        if (characters > width) width = characters;
    }
    printf("\n  %-*s    chosen   share     reward  probability\n", (int)width, "action");
    for (size_t i = 0; i < shown; i++) {
        const log_action_summary *each = &of->actions[i];
        printf("  ");
        print_name(each->name, width);
        printf(" %9zu  %5.1f%%  %9s  %11s\n", each->taken, percent(each->taken, of->rewards.count),
               plain(each->reward / (double)each->taken).text, plain(each->probability / (double)each->taken).text);
    }
    if (of->action_count > shown) printf("  and %zu more\n", of->action_count - shown);
}

/* "groups         treated 900 (mean reward 0.12), control 100 (mean reward 0.1); 40 repeats" */
static void print_guard(const log_summary *of)
{
    const char *between = "";
    size_t decided = 0;
    for (size_t i = LOG_GROUP_TREATED; i < LOG_GROUPS; i++) decided += of->groups[i].count;
    if (decided) printf("  %-14s ", "groups");
    for (size_t i = LOG_GROUP_TREATED; i < LOG_GROUPS; i++) {
        const log_range *group = &of->groups[i];
        if (!group->count) continue;
        printf("%s%s %zu (mean reward %s)", between, log_group_name((log_group)i), group->count,
               plain(log_range_mean(group)).text);
        between = ", ";
    }
    if (decided) printf("\n");
    if (of->repeats) printf("  %-14s %zu events repeat an earlier decision\n", "repeats", of->repeats);
    for (size_t i = 0; i < of->metric_count; i++) {
        char name[SHOWN_NAME_SIZE];
        const log_range *values = &of->metrics[i].values;
        show_name(of->metrics[i].name, name);
        printf("  %-14s %s: mean %s, %s to %s, in %zu events\n", i ? "" : "metrics", name,
               plain(log_range_mean(values)).text, plain(values->least).text, plain(values->largest).text,
               values->count);
    }
}

/* How a CSV log was read, and doubts about it. */
static void print_columns(const log_reader *log)
{
    char columns[LOG_COLUMNS_TEXT];
    log_columns_format(log, columns);
    if (columns[0]) {
        printf("  ");
        command_print_wrapped(columns, 2, command_line_width());
    }
    for (size_t i = 0; log_remark(log, i); i++) {
        printf("  - ");
        command_print_wrapped(log_remark(log, i), 4, command_line_width());
    }
}

static void print_problems(const diagnosis_report *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        printf("  %c ", problems->sentences[i].grave ? '!' : '-');
        command_print_wrapped(problems->sentences[i].text, 4, command_line_width());
    }
}

static void print_summary(const char *name, const log_reader *log, const survey *from, size_t kept)
{
    const log_counts *counts = log_read(log);
    const log_summary *of = &from->summary;
    printf("%s: %zu lines, %zu events", name, counts->lines, counts->events);
    print_passed(stdout, counts);
    if (kept < counts->events) printf("; %zu in the sample", kept);
    printf("\n");
    print_first(stdout, counts);
    print_columns(log);
    print_problems(&from->problems);
    if (!of->rewards.count) return;
    printf("\n");
    print_times(of);
    printf("  %-14s mean %s, %s to %s, %.1f%% are not 0\n", "rewards", plain(log_range_mean(&of->rewards)).text,
           plain(of->rewards.least).text, plain(of->rewards.largest).text, percent(of->rewarded, of->rewards.count));
    print_probabilities(of);
    print_range("actions", &of->counts, "per event");
    if (of->slots.count) print_range(of->slates ? "slates" : "slots", &of->slots, "slots per event");
    if (of->copies.sum > (double)of->copies.count)
        printf("  %-14s the events represent %s: the logger dropped some on purpose\n", "dropped",
               plain(of->copies.sum).text);
    print_guard(of);
    print_actions(of);
}

/* ---- the same as JSON ---- */

static void add_range(text *into, const char *key, const log_range *range);

/* {"control":{"count":3,...}}, of the groups that occur; the repeats; the metrics by name. */
static void add_guard(text *into, const log_summary *of)
{
    text_add(into, ",\"groups\":{");
    for (size_t i = LOG_GROUP_TREATED; i < LOG_GROUPS; i++)
        if (of->groups[i].count) add_range(into, log_group_name((log_group)i), &of->groups[i]);
    text_add(into, "},\"repeats\":%zu,\"metrics\":[", of->repeats);
    for (size_t i = 0; i < of->metric_count; i++) {
        text_add(into, i ? ",{\"name\":" : "{\"name\":");
        text_json(into, of->metrics[i].name);
        add_range(into, "values", &of->metrics[i].values);
        text_add(into, "}");
    }
    text_add(into, "]");
}

static void add_range(text *into, const char *key, const log_range *range)
{
    text_key(into, key);
    text_add(into, "{\"count\":%zu", range->count);
    text_member_number(into, "mean", log_range_mean(range));
    text_member_number(into, "least", range->count ? range->least : (double)NAN);
    text_member_number(into, "largest", range->count ? range->largest : (double)NAN);
    text_add(into, "}");
}

static void add_counts(text *into, const log_counts *counts)
{
    text_add(into,
             ",\"lines\":%zu,\"events\":%zu,\"skipped\":%zu,\"outside\":%zu,\"repeated\":%zu,\"foreign\":%zu,"
             "\"invalid\":%zu,\"broken\":%zu,\"passed_over\":[",
             counts->lines, counts->events, counts->skipped, counts->outside, counts->repeated, counts->foreign,
             counts->invalid, counts->broken);
    for (size_t i = 0; i < counts->first_count; i++) {
        text_add(into, "%s{\"line\":%zu,\"reason\":", i ? "," : "", counts->first_lines[i]);
        text_json(into, (json_text){counts->first_reasons[i], strlen(counts->first_reasons[i])});
        text_add(into, "}");
    }
    text_add(into, "]");
}

static void add_actions(text *into, const log_summary *of)
{
    text_add(into, ",\"by_action\":[");
    for (size_t i = 0; i < of->action_count; i++) {
        const log_action_summary *each = &of->actions[i];
        text_add(into, i ? ",{\"action\":" : "{\"action\":");
        text_json(into, each->name);
        text_add(into, ",\"taken\":%zu", each->taken);
        text_member_number(into, "reward", each->reward / (double)each->taken);
        text_member_number(into, "probability", each->probability / (double)each->taken);
        text_add(into, "}");
    }
    text_add(into, "]}\n");
}

static void add_columns(text *into, const log_reader *log)
{
    size_t count;
    const log_column *columns = log_columns_used(log, &count);
    text_add(into, ",\"columns\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(into, i ? ",{\"name\":" : "{\"name\":");
        text_json(into, (json_text){columns[i].name, strlen(columns[i].name)});
        if (columns[i].role) text_member(into, "role", columns[i].role);
        text_add(into, ",\"context\":%s", columns[i].context ? "true" : "false");
        if (columns[i].reason) text_member(into, "note", columns[i].reason);
        text_add(into, "}");
    }
    text_add(into, "],\"remarks\":[");
    for (size_t i = 0; log_remark(log, i); i++) {
        text_add(into, i ? "," : "");
        text_json(into, (json_text){log_remark(log, i), strlen(log_remark(log, i))});
    }
    text_add(into, "]");
}

static void add_problems(text *into, const diagnosis_report *problems)
{
    text_add(into, ",\"sentences\":[");
    for (size_t i = 0; i < problems->count; i++) {
        const diagnosis_sentence *one = &problems->sentences[i];
        text_add(into, "%s{\"grave\":%s,\"text\":", i ? "," : "", one->grave ? "true" : "false");
        text_json(into, (json_text){one->text, strlen(one->text)});
        text_add(into, "}");
    }
    text_add(into, "]");
}

static ee_status print_json(const char *name, const log_reader *log, const survey *from, size_t kept, ee_error *error)
{
    const log_counts *counts = log_read(log);
    const log_summary *of = &from->summary;
    text page = text_start(error);
    text_add(&page, "{\"log\":");
    text_json(&page, (json_text){name, strlen(name)});
    add_counts(&page, counts);
    text_add(&page, ",\"kept\":%zu", kept);
    add_columns(&page, log);
    text_member_time(&page, "first", of->times.count ? of->times.least : (double)NAN);
    text_member_time(&page, "last", of->times.count ? of->times.largest : (double)NAN);
    text_add(&page, ",\"backwards\":%zu,\"gaps\":[", of->backwards);
    for (size_t i = 0; i < LOG_GAPS && of->gaps[i].seconds > 0; i++) {
        text_add(&page, i ? ",{" : "{");
        text_member_time(&page, "after", of->gaps[i].start);
        text_member_number(&page, "seconds", of->gaps[i].seconds);
        text_add(&page, "}");
    }
    text_add(&page, "]");
    add_range(&page, "rewards", &of->rewards);
    text_add(&page, ",\"rewarded\":%zu", of->rewarded);
    add_range(&page, "probabilities", &of->probabilities);
    text_member_number(&page, "tenth_below", log_summary_quantile(of, 0.1));
    text_member_number(&page, "half_below", log_summary_quantile(of, 0.5));
    text_add(&page, ",\"known\":%zu,\"supported\":%zu,\"wrong_sums\":%zu", of->known, of->supported, of->wrong_sums);
    add_range(&page, "every_probability", &of->every_probability);
    add_range(&page, "actions", &of->counts);
    add_range(&page, "slots", &of->slots);
    text_add(&page, ",\"slates\":%zu", of->slates);
    add_range(&page, "copies", &of->copies);
    add_guard(&page, of);
    add_problems(&page, &from->problems);
    add_actions(&page, of);
    if (!page.status) fwrite(page.bytes, 1, page.length, stdout);
    memory_free(page.bytes);
    return page.status;
}

/* ---- the verb ---- */

static diagnosis_report find_problems(const log_tally *tally, const log_counts *counts)
{
    diagnosis facts = {.events = tally->rewards.events, .repeated = counts->repeated};
    log_tally_facts(tally, &facts);
    return diagnosis_explain_log(&facts);
}

static ee_status summarize(const request *wanted, log_reader *log, ee_error *error)
{
    survey found;
    size_t kept;
    log_tally_start(&found.tally, (value_range){0.0, 1.0, INFINITY}); /* bounds are not used */
    ee_status status = log_summary_start(&found.summary, error);
    if (!status) status = log_checks_create(&found.tally.checks, error);
    if (!status) status = read_all(wanted, log, &found, NULL, &kept, error);
    if (!status && !interrupt_came()) {
        log_summary_end(&found.summary);
        found.problems = find_problems(&found.tally, log_read(log));
        if (wanted->given[JSON])
            status = print_json(wanted->log, log, &found, kept, error);
        else
            print_summary(wanted->log, log, &found, kept);
    }
    memory_free(found.tally.checks);
    log_summary_release(&found.summary);
    return status;
}

/* Reads the log once before, for the columns of a CSV file. A log that can be read only once is not: then the first
 * event decides about the columns. */
static ee_status find_columns(const request *wanted, const log_reader *converted, log_writer *writer, ee_error *error)
{
    log_reader *log;
    log_event event;
    bool found = true;
    log_options reading = wanted->options;
    if (!log_names_columns(writer) || !log_can_repeat(converted)) return EE_OK;
    reading.bare = true;
    ee_status status = log_open(wanted->log, &reading, &log, error);
    if (status) return status;
    while (!status && !interrupt_came()) {
        status = log_next(log, &event, &found, error);
        if (status || !found) break;
        status = log_expect(writer, &event, error);
    }
    log_close(log);
    return status;
}

static ee_status convert(const command *self, const request *wanted, log_reader *log, ee_error *error)
{
    log_writer *writer;
    char columns[LOG_COLUMNS_TEXT];
    size_t kept;
    ee_status status = log_create(wanted->given[OUTPUT], log_dim(log), &writer, error);
    if (status) return status;
    status = find_columns(wanted, log, writer, error);
    if (!status) status = read_all(wanted, log, NULL, writer, &kept, error);
    ee_status ended = log_end(writer, !status && !interrupt_came(), status ? NULL : error);
    if (status || ended || interrupt_came()) return status ? status : ended;
    const log_counts *counts = log_read(log);
    fprintf(stderr, "eenet %s: %s: %zu events of %zu lines", self->name, wanted->given[OUTPUT], kept, counts->lines);
    print_passed(stderr, counts);
    fprintf(stderr, "\n");
    print_first(stderr, counts);
    log_columns_format(log, columns);
    if (columns[0]) fprintf(stderr, "  %s\n", columns);
    for (size_t i = 0; log_remark(log, i); i++) fprintf(stderr, "  - %s\n", log_remark(log, i));
    return EE_OK;
}

static int run(const command *self, int argc, char **argv)
{
    request wanted = {0};
    log_reader *log;
    ee_error error;
    int code = read_arguments(self, argc, argv, &wanted);
    if (code) return code;
    interrupt_catch(self->name);
    if (log_open(wanted.log, &wanted.options, &log, &error)) return command_refused(self, &error);
    ee_status status = wanted.given[OUTPUT] ? convert(self, &wanted, log, &error) : summarize(&wanted, log, &error);
    log_close(log);
    if (status) return command_refused(self, &error);
    if (!interrupt_came()) return EXIT_DONE;
    fprintf(stderr, "eenet %s: interrupted; nothing was written\n", self->name);
    return EXIT_INTERRUPTED;
}

const command command_log = {
    .name = "log",
    .form = "LOG [-o FILE] [--from TIME] [--until TIME] [--sample SHARE [-s SEED]] [--strict] [--reward WAY] "
            "[--default-reward REWARD] [--json]",
    .summary = "summarise a log of decisions, or convert it",
    .details =
        "LOG: a file of dsjson, CSV, Vowpal Wabbit's text (cb, cb_adf, ccb, slates) or eenet's compact format\n"
        "     (.eelog), plain, gzip or zstd, detected by its first\n"
        "     bytes; -: standard input; csv:FILE,action=COLUMN,probability=COLUMN,reward=COLUMN,\n"
        "     context=COLUMN+...,ignore=COLUMN+...,actions=NAME+...; vw:FILE,format=cb|cb_adf|ccb|slates|cb_eval,\n"
        "     actions=NUMBER,reward=-cost|cost; open-bandit:DIR, the Open Bandit Dataset.\n"
        "Lines that are not usable events are counted and left out: broken (invalid JSON, truncated), foreign\n"
        "(rewards without their decision, checkpoints, continuous actions), invalid (a probability of 0 or above 1,\n"
        "an unknown action), repeated (duplicate id). The first of them are shown.\n"
        "skipped counts deferred events that were never activated. -o - writes dsjson to standard output.\n"
        "Exit status: 0; 1 if it failed; 2 for wrong usage; 130 after Ctrl-C.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
