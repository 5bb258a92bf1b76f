/* eenet complete: completions of a command line, for shells (cli/completion/). They come from the tables of commands,
 * flags, policies, data sets and options.
 *
 * Prints a line per completion of the last word: the word, a tab, its meaning. Words that end in ':', '=' or '.' are
 * incomplete: the shell adds no space. For a path the line is ":files" or ":folders", a tab, and the part of the last
 * word before the path, such as "mnist:". */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "data/sets/environment.h"
#include "evaluate/candidates/candidate.h"
#include "evaluate/evaluations/evaluation.h"

/* The last word. What is offered is to follow its first letters, which are settled, as "eenet," of "eenet,gre". */
typedef struct unfinished {
    const char *word;
    size_t settled;
} unfinished;

static const char *open_part(unfinished at)
{
    return at.word + at.settled;
}

/* Settles the word up to the last such letter in it. */
static unfinished settle_after_last(unfinished at, char letter)
{
    const char *last = strrchr(open_part(at), letter);
    if (last) at.settled = (size_t)(last + 1 - at.word);
    return at;
}

/* Prints the word that format makes, if the last one may become it. */
__attribute__((format(printf, 3, 4))) static void offer(unfinished at, const char *meaning, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (strncmp(text, open_part(at), strlen(open_part(at))) != 0) return;
    printf("%.*s%s\t%s\n", (int)at.settled, at.word, text, meaning);
}

static void offer_paths(unfinished at, const char *kind)
{
    printf(":%s\t%.*s\n", kind, (int)at.settled, at.word);
}

static void offer_files(unfinished at)
{
    offer_paths(at, "files");
}

static void offer_folders(unfinished at)
{
    offer_paths(at, "folders");
}

/* ---- options ---- */

/* The words of "all|ring:N, N 1 to 9"; other ranges, as "1 to 9", and words in capitals, as COLUMN, have none. */
static void offer_choices(unfinished at, const char *range)
{
    size_t whole = strcspn(range, ", []"), length;
    if (!memchr(range, '|', whole)) return;
    for (const char *piece = range; piece < range + whole; piece += length + 1) {
        length = strcspn(piece, "|, []");
        bool numbered = length > 2 && memcmp(piece + length - 2, ":N", 2) == 0;
        if (islower((unsigned char)*piece)) offer(at, "", "%.*s", (int)(length - numbered), piece);
    }
}

/* "PREFIXname=", or its values if that is typed already. */
static void offer_option(unfinished at, const char *prefix, const ee_option *entry)
{
    char assigned[128];
    int length = snprintf(assigned, sizeof assigned, "%s%s=", prefix, entry->name);
    if (strncmp(open_part(at), assigned, (size_t)length) != 0) {
        offer(at, entry->meaning, "%s", assigned);
        return;
    }
    at.settled += (size_t)length;
    offer_choices(settle_after_last(at, ','), entry->range); /* a list of values, for a grid */
}

/* ---- policies ---- */

static void offer_policies(unfinished at)
{
    ee_policy policy;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++) offer(at, policy.summary, "%s", policy.name);
}

static void offer_policy_list(unfinished at)
{
    at = settle_after_last(at, ',');
    offer_policies(at);
    offer(at, "every policy except presets", "all");
}

static void offer_settings(unfinished at)
{
    ee_policy policy;
    ee_option entry;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++) {
        char prefix[64];
        int length = snprintf(prefix, sizeof prefix, "%s.", policy.name);
        if (strncmp(open_part(at), prefix, (size_t)length) != 0)
            offer(at, policy.summary, "%s", prefix);
        else
            for (size_t k = 0; !ee_option_describe(policy.name, k, &entry, NULL); k++) offer_option(at, prefix, &entry);
    }
}

/* ---- data sets ---- */

/* What may follow the kind: its place, then its options. */
static void offer_within_dataset(unfinished at, size_t kind, const dataset_info *info)
{
    ee_option entry;
    const char *place = info->form + strlen(info->name);
    place += strspn(place, "[:");
    if (strchr(open_part(at), ',')) {
        at = settle_after_last(at, ',');
        for (size_t i = 0; !dataset_option_describe(kind, i, &entry, NULL); i++) offer_option(at, "", &entry);
        return;
    }
    at.settled += strlen(info->name) + 1;
    if (islower((unsigned char)*place))
        offer_choices(at, place);
    else
        offer_paths(at, strncmp(place, "DIR", 3) == 0 ? "folders" : "files");
}

/* Whether the typed text contains the whole name and continues after it. */
static bool is_within(const char *typed, const char *name)
{
    size_t length = strlen(name);
    return strncmp(typed, name, length) == 0 && (typed[length] == ':' || typed[length] == ',');
}

static void offer_datasets(unfinished at)
{
    dataset_info info;
    const char *typed = open_part(at);
    bool is_form = false; /* "synthetic:clicks," is a separate kind within "synthetic:" */
    for (size_t kind = 0; !dataset_describe(kind, &info, NULL); kind++)
        if (strchr(info.name, ':') && is_within(typed, info.name)) is_form = true;
    for (size_t kind = 0; !dataset_describe(kind, &info, NULL); kind++) {
        if (is_form && !strchr(info.name, ':')) continue;
        if (is_within(typed, info.name))
            offer_within_dataset(at, kind, &info);
        else
            offer(at, info.summary, "%s%s", info.name, info.form[strlen(info.name)] == ':' ? ":" : "");
    }
}

static void offer_delays(unfinished at)
{
    offer(at, "a random number of rounds late, with this mean", "geometric:");
    offer(at, "clicks after a random time with this mean, all others at the timeout", "clicks:");
}

/* ---- logs ---- */

static void offer_logs(unfinished at)
{
    static const struct {
        const char *head, *paths, *meaning;
    } kinds[] = {{"csv:", "files", "a table with columns for action, propensity and reward"},
                 {"vw:", "files", "Vowpal Wabbit's text format"},
                 {"open-bandit:", "folders", "the Open Bandit Dataset"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].head);
        if (strncmp(open_part(at), kinds[i].head, length) == 0) {
            at.settled += length;
            offer_paths(at, kinds[i].paths);
            return;
        }
        offer(at, kinds[i].meaning, "%s", kinds[i].head);
    }
    offer_files(at);
}

static void offer_ways(unfinished at)
{
    offer_choices(at, "label|first|last|sum|mean|max");
}

/* ---- evaluations ---- */

/* What follows the colon of a candidate is a file, or the name of an action. */
static void offer_candidates(unfinished at)
{
    const candidate_class *class;
    at = settle_after_last(at, ',');
    for (size_t i = 0; (class = candidate_class_at(i)); i++) {
        if (!class->name) continue;
        size_t length = strcspn(class->form, ":");
        bool within = class->file && strncmp(open_part(at), class->form, length + 1) == 0;
        unfinished inside = {at.word, at.settled + length + 1};
        if (within) offer_files(inside);
        if (!within) offer(at, class->summary, "%.*s", (int)(length + (class->form[length] == ':')), class->form);
    }
    ee_policy policy;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++)
        if (strcmp(policy.name, candidate_uniform.name) != 0) offer(at, policy.summary, "%s", policy.name);
}

static void offer_estimators(unfinished at)
{
    at = settle_after_last(at, ',');
    for (int i = 0; i < ESTIMATOR_KINDS; i++) {
        const estimator_info *info = estimator_describe((estimator_kind)i);
        offer(at, info->summary, "%s", info->name);
    }
    offer(at, "DR with a model trained to minimise DR's variance", "mrdr");
}

static void offer_intervals(unfinished at)
{
    for (int i = 0; i < INTERVAL_KINDS; i++) offer(at, "", "%s", interval_name((interval_kind)i));
}

static void offer_modes(unfinished at)
{
    offer(at, "score each event before learning from it", "progressive");
    offer(at, "learn from the first part, evaluate on the rest", "split");
    offer(at, "cross-validation: evaluate each fold with a model of the others", "cross");
}

/* ---- verbs and flags ---- */

/* By what the tables of flags, and the forms of the verbs, call a value. */
static const struct {
    const char *value;
    void (*offer)(unfinished at);
} values[] = {
    {"DATASET", offer_datasets},
    {"POLICY[,POLICY...]", offer_policy_list},
    {"POLICY", offer_policies},
    {"POLICY.OPTION=VALUE", offer_settings},
    {"NAME", offer_policies},
    {"DIR", offer_folders},
    {"FROM", offer_folders},
    {"FILE", offer_files},
    {"MODEL", offer_files},
    {"DELAY", offer_delays},
    {"LOG", offer_logs},
    {"WAY", offer_ways},
    {"CANDIDATE[,...]", offer_candidates},
    {"ESTIMATOR[,...]", offer_estimators},
    {"INTERVAL", offer_intervals},
    {"MODE", offer_modes},
};

/* form: what the value is called, which may be followed by a blank and more. */
static void offer_value(unfinished at, const char *form)
{
    size_t length = strcspn(form, " ");
    offer_choices(at, form);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strlen(values[i].value) == length && memcmp(values[i].value, form, length) == 0) values[i].offer(at);
}

static void offer_verbs(unfinished at)
{
    const command *verb;
    for (size_t i = 0; (verb = command_at(i)); i++) offer(at, verb->summary, "%s", verb->name);
}

static void offer_flags(unfinished at, const command *verb)
{
    flag entry;
    for (size_t i = 0; command_flag(verb, i, &entry); i++) {
        if (entry.letter) offer(at, entry.meaning, "-%c", entry.letter);
        offer(at, entry.meaning, "--%s", entry.name);
    }
    offer(at, "show all flags", "--help");
}

/* The value of the flag in a word; NULL if it takes none or the word is not a flag. *attached is the start of a value
 * in the same word, as in --set=VALUE or -dVALUE; 0 if the value is the next word. */
static const char *find_value(const command *verb, const char *word, size_t *attached)
{
    flag entry;
    *attached = 0;
    for (size_t i = 0; command_flag(verb, i, &entry); i++) {
        size_t length = strlen(entry.name);
        if (!entry.value || word[0] != '-') continue;
        if (entry.letter && word[1] == entry.letter) {
            if (word[2]) *attached = 2;
            return entry.value;
        }
        if (word[1] != '-' || strncmp(word + 2, entry.name, length) != 0) continue;
        if (word[2 + length] == '=') *attached = 2 + length + 1;
        if (word[2 + length] == '=' || !word[2 + length]) return entry.value;
    }
    return NULL;
}

/* words follow the verb; the last is unfinished. */
static void offer_arguments(const command *verb, int argc, char **argv)
{
    const char *waiting = NULL; /* what the next word must be */
    bool only_words = false;    /* "--" was passed */
    size_t attached;
    for (int i = 0; i + 1 < argc; i++) {
        if (waiting || only_words) {
            waiting = NULL;
            continue;
        }
        only_words = strcmp(argv[i], "--") == 0;
        waiting = find_value(verb, argv[i], &attached);
        if (attached) waiting = NULL;
    }
    unfinished at = {argv[argc - 1], 0};
    if (waiting) {
        offer_value(at, waiting);
    } else if (at.word[0] != '-' || only_words) {
        offer_value(at, verb->form);
    } else {
        const char *form = find_value(verb, at.word, &attached);
        at.settled = attached;
        if (attached)
            offer_value(at, form);
        else
            offer_flags(at, verb);
    }
}

static int run(const command *self, int argc, char **argv)
{
    if (argc && strcmp(argv[0], "--") == 0) {
        argc--;
        argv++;
    }
    if (!argc) return command_misused(self, "expected the words of a command line (the last may be empty)");
    unfinished last = {argv[argc - 1], 0};
    const command *verb;
    if (argc == 1) {
        offer_verbs(last);
        offer(last, "show the flags of a verb", "help");
        offer(last, "show the version", "--version");
    } else if (argc == 2 && strcmp(argv[0], "help") == 0) {
        offer_verbs(last);
    }
    for (size_t i = 0; argc > 1 && (verb = command_at(i)); i++)
        if (strcmp(verb->name, argv[0]) == 0) offer_arguments(verb, argc - 1, argv + 1);
    return EXIT_DONE;
}

const command command_complete = {
    .name = "complete",
    .form = "-- WORD...",
    .summary = "print the completions of a command line, for shells",
    .details =
        "Give the words after 'eenet' up to the cursor; the last may be empty. Prints a line per completion of the\n"
        "last word: the word, a tab, its meaning. For a path it prints ':files' or ':folders', a tab, and the part of\n"
        "the word before the path. The completions for bash and zsh that 'make install' installs call this.\n",
    .run = run,
};
