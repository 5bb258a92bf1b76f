/* eenet explain: what the features contribute to a decision, of a saved model or of a server's log. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/explain_request.h"
#include "data/values/plain_number.h"
#include "serve/requests/explain_answer.h"

enum { CONTEXT, DATA, SLOT, FEATURES, JSON, FLAGS };

static const flag flags[FLAGS] = {
    [CONTEXT] = {'c', "context", "FILE", "round to explain, as JSON; -: standard input"},
    [DATA] = {'d', "data", "DIR", "folder of a server: explain its decision ID"},
    [SLOT] = {'s', "slot", "SLOT", "with --data: slot of the decision to explain"},
    [FEATURES] = {'f', "features", "COUNT", "number of features to show per action (default: 10)"},
    [JSON] = {'\0', "json", NULL, "print the explanation as one line of JSON"},
};

/* ---- arguments ---- */

typedef struct wishes {
    explain_request request;
    uint64_t features;
    bool json;
} wishes;

static int read_words(const command *self, arguments *from, const char **given, const char *words[2], size_t *count)
{
    const char *value;
    int got;
    while ((got = arguments_next(from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got != ARGUMENT_WORD)
            given[got] = value ? value : "";
        else if (*count == 2)
            return command_misused(self, "unexpected '%s'", value);
        else
            words[(*count)++] = value;
    }
    return EXIT_DONE;
}

static int read_arguments(const command *self, int argc, char **argv, wishes *out)
{
    const char *given[FLAGS] = {NULL}, *named[2] = {NULL};
    size_t names = 0;
    arguments from = arguments_of(self, argc, argv);
    *out = (wishes){.features = 10};
    int code = read_words(self, &from, given, named, &names);
    if (!code) code = arguments_number(self, FEATURES, given[FEATURES], 1, 1000000, &out->features);
    if (code) return code;
    out->json = given[JSON];
    if (given[SLOT] && !given[DATA]) return command_misused(self, "--slot needs --data");
    if (given[DATA] && given[CONTEXT]) return command_misused(self, "give --data or --context, not both");
    if (given[DATA] && names != 2) return command_misused(self, "with --data, expected BANDIT and ID");
    if (!given[DATA] && names != 1) return command_misused(self, "expected one MODEL");
    if (!given[DATA] && !given[CONTEXT])
        return command_misused(self, "expected --context FILE, or - for standard input");
    out->request =
        given[DATA] ? (explain_request){.folder = given[DATA], .bandit = named[0], .id = named[1], .slot = given[SLOT]}
                    : (explain_request){.model = named[0], .context = given[CONTEXT]};
    return EXIT_DONE;
}

/* ---- printing ---- */

static void print_action_name(const decision_body *body, size_t action)
{
    if (body->names)
        printf("%.*s", (int)body->names[action].length, body->names[action].bytes);
    else
        printf("%zu", action);
}

static void print_head(const explained *what)
{
    const decision_body *body = what->of.body;
    if (!what->id[0]) return;
    printf("decision %s: ", what->id);
    print_action_name(body, body->action);
    printf(", with probability %s\ndecided by version %" PRIu64 ", explained by version %" PRIu64 "\n\n",
           plain_number_of(body->probabilities[body->action], 4).text, body->version, what->version);
}

static void print_entry(text *name, const explained *what, size_t arm, const explained_entry *entry, double largest)
{
    enum { BAR = 20 };
    static const char marks[] = "++++++++++++++++++++", minus[] = "--------------------";
    double size = entry->contribution < 0 ? -(double)entry->contribution : (double)entry->contribution;
    int length = largest > 0 ? (int)(BAR * size / largest + 0.5) : 0;
    name->length = 0;
    explain_name(name, &what->of, arm, entry);
    printf("  %+10.4f  %-*.*s  %.*s = %s\n", (double)entry->contribution, BAR, length,
           entry->contribution < 0 ? minus : marks, (int)name->length, name->bytes ? name->bytes : "",
           plain_number_of((double)entry->value, 4).text);
}

static void print_arm(const explained *what, size_t arm, uint64_t features)
{
    const explained_arm *own = &what->of.explanation->arms[arm];
    const explained_entry *entries = what->of.explanation->entries + own->first;
    text name = text_start(NULL);
    double others = 0, largest = own->count ? (double)entries[0].contribution : 0;
    print_action_name(what->of.body, decision_arms_action(what->of.body, arm));
    printf(": expected %.4f, exploration %+.4f", (double)own->score.exploitation, (double)own->score.exploration);
    if (own->recalled != 0) printf(", remembered %+.4f", (double)own->recalled);
    printf(", score %.4f", (double)own->score.score);
    if (own->probability == own->probability) printf(", probability %.4f", own->probability);
    printf("\n  %10.4f  %-20s  (base: not due to any feature)\n", (double)own->base, "");
    for (size_t i = 0; i < own->count; i++) {
        if (i < features)
            print_entry(&name, what, arm, &entries[i], largest < 0 ? -largest : largest);
        else
            others += (double)entries[i].contribution;
    }
    if (own->count > features) printf("  %+10.4f  %-20s  (%zu others)\n", others, "", own->count - (size_t)features);
    memory_free(name.bytes);
}

static void print_json(const explained *what, uint64_t features)
{
    text line = text_start(NULL);
    text_add(&line, "{");
    if (what->id[0]) {
        text_add(&line, "\"id\":");
        text_json(&line, (json_text){what->id, strlen(what->id)});
        text_add(&line, ",\"index\":%zu,\"decided_by\":%" PRIu64 ",\"version\":%" PRIu64 ",", what->of.body->action,
                 what->of.body->version, what->version);
    }
    text_add(&line, "\"actions\":");
    explain_answer_actions(&line, &what->of, (size_t)features);
    text_add(&line, "}\n");
    if (line.bytes) fwrite(line.bytes, 1, line.length, stdout);
    memory_free(line.bytes);
}

static int run(const command *self, int argc, char **argv)
{
    wishes wanted;
    explained what;
    ee_error error;
    int code = read_arguments(self, argc, argv, &wanted);
    if (code) return code;
    if (explain_run(&wanted.request, &what, &error)) {
        explain_end(&what);
        return command_failed(self, "%s", error.message);
    }
    if (wanted.json) {
        print_json(&what, wanted.features);
    } else {
        print_head(&what);
        for (size_t arm = 0; arm < what.of.explanation->arm_count; arm++) {
            if (arm) printf("\n");
            print_arm(&what, arm, wanted.features);
        }
    }
    explain_end(&what);
    return EXIT_DONE;
}

const command command_explain = {
    .name = "explain",
    .form = "MODEL --context FILE | --data DIR BANDIT ID [-s SLOT] [-f COUNT] [--json]",
    .summary = "show what each feature contributes to a decision",
    .details =
        "MODEL is a model file, from ee_bandit_save or from a server. FILE is a round in the form of the server's\n"
        "decide request, {\"context\": {...}, \"actions\": [...]}, or in Vowpal Wabbit's form, with \"_multi\".\n"
        "For each action it prints the expected reward, the exploration bonus, and how much each feature adds to\n"
        "the expected reward: the slope at this round times the normalised value. A number at its mean adds 0.\n"
        "With --data it explains a decision from a server's log, with the server's latest model.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
