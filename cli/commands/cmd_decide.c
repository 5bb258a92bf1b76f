/* eenet decide: a saved bandit that decides and learns, line by line. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/input_lines.h"
#include "cli/line_bandit.h"
#include "cli/model_files.h"

enum { EVERY, OUTPUT, POLICY, DIM, FEATURES, OPTIONS, SEED, FLAGS };

static const flag flags[FLAGS] = {
    [EVERY] = {'\0', "every", "N", "also save after every N changes (default: only at the end)"},
    [OUTPUT] = {'o', "output", "FILE", "save to FILE and keep MODEL unchanged"},
    [POLICY] = {'p', "policy", "POLICY", "create a new bandit if MODEL does not exist"},
    [DIM] = {'\0', "dim", "N", "new bandit: arms are vectors of N numbers instead of named features"},
    [FEATURES] = {'\0', "features", "OPTIONS", "new bandit: options of its named features, such as names=1000"},
    [OPTIONS] = {'\0', "options", "OPTIONS", "new bandit: options of its policy, such as 'alpha=0.5 wait=3600'"},
    [SEED] = {'\0', "seed", "N", "new bandit: seed of its random numbers (default: 0)"},
};

/* ---- arguments ---- */

typedef struct wishes {
    const char *given[FLAGS];
    const char *model, *output; /* files: to read, and to write */
    uint64_t every;             /* 0: only at the end */
    ee_settings settings;       /* of a new bandit; policy NULL: do not create one */
} wishes;

static int read_words(const command *self, int argc, char **argv, wishes *out)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == ARGUMENT_WORD && out->model) return command_misused(self, "unexpected '%s'", value);
        if (got == ARGUMENT_WORD)
            out->model = value;
        else if (out->given[got])
            return command_misused(self, "--%s is given twice", flags[got].name);
        else
            out->given[got] = value;
    }
    if (!out->model || !out->model[0]) return command_misused(self, "expected one MODEL");
    return EXIT_DONE;
}

static int read_settings(const command *self, wishes *out)
{
    const char *const *given = out->given;
    ee_policy policy;
    uint64_t dim = 0;
    for (int i = DIM; i < FLAGS && !given[POLICY]; i++)
        if (given[i]) return command_misused(self, "--%s is for a new bandit: add -p POLICY", flags[i].name);
    if (!given[POLICY]) return EXIT_DONE;
    if (!command_find_policy(self, given[POLICY], &policy)) return EXIT_USAGE;
    if (given[DIM] && given[FEATURES])
        return command_misused(self, "give --dim (vectors) or --features (named features), not both");
    int code = arguments_number(self, DIM, given[DIM], 1, UINT32_MAX, &dim);
    if (!code) code = arguments_number(self, SEED, given[SEED], 0, UINT64_MAX, &out->settings.seed);
    out->settings.policy = policy.name;
    out->settings.dim = (size_t)dim;
    out->settings.options = given[OPTIONS];
    if (!dim) out->settings.features = given[FEATURES] ? given[FEATURES] : "";
    return code;
}

static int read_arguments(const command *self, int argc, char **argv, wishes *out)
{
    *out = (wishes){0};
    int code = read_words(self, argc, argv, out);
    if (!code) code = arguments_number(self, EVERY, out->given[EVERY], 1, UINT32_MAX, &out->every);
    if (!code) code = read_settings(self, out);
    out->output = out->given[OUTPUT] ? out->given[OUTPUT] : out->model;
    if (!code && !out->output[0]) return command_misused(self, "--output: expected a file, got ''");
    return code;
}

/* ---- the model ---- */

static bool same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* The same command creates a model and continues it; the second time its flags must match the model. */
static ee_status check_same(const wishes *wanted, const ee_bandit *fresh, const ee_bandit *loaded, ee_error *error)
{
    ee_info asked = ee_bandit_info(fresh), there = ee_bandit_info(loaded);
    const char *what = !same(asked.policy, there.policy)                 ? "policy"
                       : !same(asked.features, there.features)           ? "features"
                       : asked.dim != there.dim                          ? "dim"
                       : !same(asked.options, there.options)             ? "options"
                       : wanted->given[SEED] && asked.seed != there.seed ? "seed"
                                                                         : NULL;
    if (!what) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "--%s: the existing model has another value; to continue with it, leave out -p and its flags, "
                       "or choose another file",
                       what);
}

/* Loads the model, or creates one; *is_new says which. */
static ee_status open_bandit(const wishes *wanted, ee_bandit **out, bool *is_new, ee_error *error)
{
    ee_bandit *fresh = NULL;
    ee_status status = wanted->settings.policy ? ee_bandit_create(&wanted->settings, &fresh, error) : EE_OK;
    *out = NULL;
    *is_new = false;
    if (status) return status;
    status = ee_bandit_load(wanted->model, NULL, out, error);
    *is_new = status == EE_NO_FILE && fresh;
    if (*is_new) {
        *out = fresh;
        return EE_OK;
    }
    if (status == EE_NO_FILE)
        status =
            status_fail(error, EE_NO_FILE, "%s does not exist; check the name, or add -p POLICY to create a new bandit",
                        file_tail(wanted->model));
    if (!status && fresh) status = check_same(wanted, fresh, *out, error);
    ee_bandit_free(fresh);
    return status;
}

/* ---- line by line ---- */

typedef struct conversation {
    const command *self;
    const wishes *wanted;
    ee_bandit *bandit;
    row_encoding *rows; /* NULL: not the model of a table */
    bool *warned;       /* (columns of the rows) an unknown value was reported */
    line_bandit answers;
    input_lines lines;
    text answer;
    uint64_t unsaved;   /* lines that changed something since the model was saved */
    uint64_t good, bad; /* lines */
    bool save_failed;   /* the last time */
    bool unheard;       /* an answer could not be written: stop */
} conversation;

static void save(conversation *here)
{
    ee_error error;
    here->save_failed = ee_bandit_save(here->bandit, here->wanted->output, &error) != EE_OK;
    if (here->save_failed)
        command_failed(here->self, "%s", error.message);
    else
        here->unsaved = 0;
}

static bool is_blank(json_text line)
{
    for (size_t i = 0; i < line.length; i++)
        if (!strchr(" \t\r", line.bytes[i]) || !line.bytes[i]) return false;
    return true;
}

static void refuse_line(conversation *here, const ee_error *error)
{
    char sentence[sizeof error->message + 40];
    snprintf(sentence, sizeof sentence, "line %" PRIu64 ": %s", here->lines.number, error->message);
    here->bad++;
    text_add(&here->answer, "{\"error\":");
    text_json(&here->answer, (json_text){sentence, strlen(sentence)});
    text_add(&here->answer, "}");
}

/* With --every 1 the model is saved before the answer is sent. */
static void answer_line(conversation *here, line_kind kind, json_text line)
{
    ee_error error;
    if (kind == LINE_WHOLE && is_blank(line)) return;
    here->answer.length = 0;
    ee_status status = kind == LINE_TOO_LONG
                           ? status_fail(&error, EE_BAD_INPUT, "the line is longer than %d bytes", LONGEST_LINE)
                           : line_bandit_answer(&here->answers, line, &here->answer, &error);
    if (status)
        refuse_line(here, &error);
    else {
        here->unsaved++;
        here->good++;
    }
    if (!status && here->wanted->every && here->unsaved >= here->wanted->every) save(here);
    text_add(&here->answer, "\n");
    if (here->answer.status) {
        command_failed(here->self, "out of memory for the answer to line %" PRIu64, here->lines.number);
        here->unheard = true;
    } else if (fwrite(here->answer.bytes, 1, here->answer.length, stdout) < here->answer.length || fflush(stdout)) {
        command_failed(here->self, "could not write to standard output: %s", strerror(errno));
        clearerr(stdout); /* it has been reported */
        here->unheard = true;
    }
}

/* Once per column: a stream may have many such values. */
static void warn_unknown(void *context, size_t column, const char *value, const char *hint)
{
    conversation *here = context;
    if (here->warned[column]) return;
    here->warned[column] = true;
    fprintf(stderr,
            "eenet %s: line %" PRIu64
            ": column '%.60s': '%.60s' is not in the training table, so it is ignored%s (reported once per column)\n",
            here->self->name, here->lines.number, here->rows->columns[column].name, value, hint);
}

static ee_status start_answers(conversation *here, ee_error *error)
{
    ee_status status = line_bandit_start(here->bandit, here->rows, &here->answers, error);
    if (!status && here->rows)
        status = memory_create(NULL, &here->warned, here->rows->width, sizeof *here->warned, error);
    here->answers.unknown = (row_unknown){warn_unknown, here};
    return status;
}

static void greet(const conversation *here)
{
    text example = text_start(NULL);
    if (!isatty(STDIN_FILENO)) return;
    line_bandit_example(&here->answers, LONG_EXAMPLE, &example);
    fprintf(stderr,
            "eenet %s: enter a round, such as %s, or a reward, {\"id\": 1, \"reward\": 0.5}; Ctrl-D saves and exits\n",
            here->self->name, example.bytes ? example.bytes : "");
    memory_free(example.bytes);
}

static ee_status talk(conversation *here, ee_error *error)
{
    json_text line;
    line_kind kind = LINE_WHOLE;
    ee_status status = input_lines_start(&here->lines, error);
    while (!status && !here->unheard) {
        status = input_lines_next(&here->lines, &kind, &line, error);
        if (status || kind == LINE_END || kind == LINE_STOPPED) break;
        answer_line(here, kind, line);
    }
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    wishes wanted;
    conversation here = {.self = self, .wanted = &wanted, .answer = text_start(NULL)};
    model_lock lock = {NULL, -1};
    ee_error error;
    bool is_new = false;
    int code = read_arguments(self, argc, argv, &wanted);
    if (code) return code;
    bool elsewhere = strcmp(wanted.output, wanted.model) != 0;
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a disk that is full */
    ee_status status = model_lock_take(wanted.output, &lock, &error);
    if (!status) status = open_bandit(&wanted, &here.bandit, &is_new, &error);
    if (!status) status = model_rows_read(wanted.model, here.bandit, &here.rows, &error);
    if (!status && elsewhere) status = model_rows_write(wanted.output, here.rows, &error);
    if (!status) status = start_answers(&here, &error);
    bool ready = !status;
    if (ready) greet(&here);
    if (ready) status = talk(&here, &error);
    bool useless = is_new && here.bad && !here.good; /* probably a wrong name or format: leave no file behind */
    if (ready && useless) command_failed(self, "no line was accepted, so %s was not saved", file_tail(wanted.output));
    if (ready && !useless && (here.unsaved || is_new || elsewhere)) save(&here);
    if (status) code = command_refused(self, &error);
    if (!code && (here.bad || here.save_failed || here.unheard)) code = EXIT_FAILED;
    input_lines_release(&here.lines);
    line_bandit_release(&here.answers);
    memory_free(here.warned);
    row_encoding_free(here.rows);
    ee_bandit_free(here.bandit);
    memory_free(here.answer.bytes);
    model_lock_release(&lock);
    return code;
}

const command command_decide = {
    .name = "decide",
    .form = "MODEL [--every N] [-o FILE] [-p POLICY [--dim N | --features OPTIONS] [--options OPTIONS] [--seed N]]",
    .summary = "decide and learn with a saved bandit, line by line",
    .details =
        "Reads JSON lines from standard input and answers each one immediately with a line on standard output.\n"
        "Round: {\"context\": {...}, \"actions\": [{\"id\": \"a\", \"features\": {...}}, ...]}, as the server's decide "
        "takes\n"
        "it; for a bandit of vectors {\"actions\": [[...], ...]}. The answer has an id, the action and all "
        "probabilities.\n"
        "Optional: \"exclude\" lists actions that may not be chosen; \"tag\" is copied to the answer.\n"
        "Reward: {\"id\": 17, \"reward\": 1} reports the reward of decision 17.\n"
        "Model of a table (with MODEL.rows.json next to it): a round is {\"context\": {\"column\": value, ...}}, and "
        "the\n"
        "classes are the actions.\n"
        "A bad line is answered with {\"error\": \"line 12: ...\"} and changes nothing.\n"
        "The model is saved, atomically, at the end of the input and on SIGTERM, SIGINT and SIGHUP. Pending decisions\n"
        "are saved too, so a later run can report their rewards. A crash loses what came after the last save; with\n"
        "--every 1 each answer is sent only after the model is saved.\n"
        "MODEL is written by 'eenet run --save', 'eenet grid --save' or the library, or downloaded from a server.\n"
        "Exit status: 0; 1 if a line was bad or the model could not be saved; 2 for wrong usage.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
