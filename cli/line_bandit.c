#define _POSIX_C_SOURCE 200809L
#include "line_bandit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/options.h"
#include "data/values/plain_number.h"
#include "engine/bandit.h"
#include "lab/runs/assignments.h"
#include "serve/requests/answers.h"

enum { MOST_ACTIONS = 1 << 20, MOST_FEATURES = 1 << 24 }; /* of a round: more than any sane one */

/* ---- the model ---- */

/* The value of the option `blocks`, if it is set; else 0. */
static size_t find_blocks(const ee_info *info)
{
    const char *options = info->options;
    assignment one;
    while (assignment_next(&options, &one))
        if (assignment_has_name(&one, "blocks")) return (size_t)strtoull(one.value, NULL, 10);
    return 0;
}

/* Reserves room for the context, and for the context in every block. */
static ee_status reserve_blocks(line_bandit *self, ee_error *error)
{
    size_t most = self->rows ? row_encoding_entries(self->rows) : self->dim / self->blocks, all = most * self->blocks;
    memory *owner = &self->memory;
    ee_status status = memory_create(owner, &self->indices, most, sizeof *self->indices, error);
    if (!status) status = memory_create(owner, &self->values, most, sizeof *self->values, error);
    if (!status) status = memory_create(owner, &self->room.starts, self->blocks + 1, sizeof *self->room.starts, error);
    if (!status) status = memory_create(owner, &self->room.indices, all, sizeof *self->room.indices, error);
    if (!status) status = memory_create(owner, &self->room.values, all, sizeof *self->room.values, error);
    return status;
}

ee_status line_bandit_start(ee_bandit *bandit, const row_encoding *rows, line_bandit *out, ee_error *error)
{
    ee_info info = ee_bandit_info(bandit);
    size_t blocks = rows ? row_encoding_classes(rows) : find_blocks(&info);
    *out = (line_bandit){.bandit = bandit, .rows = rows, .dim = info.features ? 0 : info.dim};
    out->request.owner = out->context.owner = &out->memory;
    if (out->dim && blocks > 1 && out->dim % blocks == 0) out->blocks = blocks;
    ee_status status = ee_round_create(NULL, &out->round, error);
    return status || !out->blocks ? status : reserve_blocks(out, error);
}

void line_bandit_release(line_bandit *self)
{
    ee_round_free(self->round);
    memory_release(&self->arms.memory);
    memory_release(&self->memory);
    *self = (line_bandit){0};
}

/* "age": 38.5, or "sex": "f": the column's name and one of its values. */
static void add_example_column(const row_column *column, text *into)
{
    text_json(into, (json_text){column->name, strlen(column->name)});
    text_add(into, ": ");
    if (column->kind == SURVEY_NUMERIC) {
        text_add(into, "%s", plain_number_of(column->mean, 4).text);
    } else {
        const char *category = column->categories.count ? column->categories.sorted[0].text : "";
        text_json(into, (json_text){category, strlen(category)});
    }
}

static void add_example_row(const row_encoding *rows, size_t most, text *into)
{
    bool first = true;
    text_add(into, "{\"context\": {");
    for (size_t i = 0; i < rows->width; i++) {
        const row_column *column = &rows->columns[i];
        size_t before = into->length;
        if (column->kind != SURVEY_NUMERIC && column->kind != SURVEY_CATEGORICAL) continue;
        if (!first) text_add(into, ", ");
        add_example_column(column, into);
        if (into->length + sizeof "}}" > most)
            into->length = before;
        else
            first = false;
    }
    text_add(into, "}}");
}

void line_bandit_example(const line_bandit *self, size_t most, text *into)
{
    if (self->rows)
        add_example_row(self->rows, most, into);
    else if (!self->dim)
        text_add(into, "{\"context\": {\"hour\": 9}, \"actions\": [{\"id\": \"a\", \"features\": {\"price\": 5}}, "
                       "{\"id\": \"b\", \"features\": {\"price\": 7}}]}");
    else if (self->blocks)
        text_add(into, "{\"context\": [%zu numbers]}", self->dim / self->blocks);
    else
        text_add(into, "{\"actions\": [[%zu numbers], ...]}", self->dim);
}

/* With the option `wait`, decisions expire by the system's clock, in seconds. It may have been set back. */
static ee_status tell_time(line_bandit *self, ee_error *error)
{
    struct timespec now;
    if (self->bandit->pending.wait == 0) return EE_OK;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return seconds > self->bandit->now ? ee_bandit_set_time(self->bandit, seconds, error) : EE_OK;
}

/* ---- reading a line ---- */

/* what: "a round", for example. The message must fit into an error. */
static ee_status refuse_round(const line_bandit *self, const char *what, ee_error *error)
{
    enum { SHORT_EXAMPLE = 160 };
    text example = text_start(NULL);
    line_bandit_example(self, SHORT_EXAMPLE, &example);
    ee_status status =
        status_fail(error, EE_BAD_INPUT, "expected %s, such as %s, or a reward, {\"id\": 1, \"reward\": 0.5}", what,
                    example.bytes ? example.bytes : "");
    memory_free(example.bytes);
    return status;
}

static ee_status refuse_actions(const line_bandit *self, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT,
                       "the actions are the model's %s: leave out \"actions\"; to rule some out, use \"exclude\"",
                       self->rows ? "classes" : "blocks");
}

enum { CONTEXT, ACTIONS, EXCLUDE, TAG, ID, REWARD, MEMBERS };

/* The parsed line; the rest is in the request. */
typedef struct line_members {
    unsigned seen; /* one bit per member */
    json_text tag; /* as it came */
    json_text row; /* the same: the context of a model of a table */
    double id, reward;
} line_members;

static bool has(const line_members *line, int member)
{
    return line->seen >> member & 1u;
}

static ee_status read_number(const json_token *token, const char *name, double *out, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER) return status_fail(error, EE_BAD_INPUT, "%s must be a number", name);
    *out = token->number;
    return EE_OK;
}

/* The context of a model with blocks is a vector or a row. */
static ee_status read_context(line_bandit *self, json_reader *reader, const decide_limits *limits,
                              const json_token *token, json_text *row, ee_error *error)
{
    if (self->rows) return json_skip(reader, token, row, error);
    if (!self->dim) return decide_read_context(&self->request, reader, limits, token, error);
    if (!self->blocks)
        return status_fail(error, EE_BAD_INPUT,
                           "\"context\" is not supported: this bandit takes vectors; to decide on rows, put "
                           "MODEL.rows.json next to the model");
    decide_limits own = {.dim = self->dim / self->blocks};
    if (token->kind != JSON_KIND_ARRAY)
        return status_fail(
            error, EE_BAD_INPUT,
            "context must be an array of %zu numbers; to decide on rows, put MODEL.rows.json next to the model",
            own.dim);
    return decide_read_vector(&self->request, reader, &own, "context", "", error);
}

/* With the model of a table, actions that cannot be read are not misspelled: there should be none. */
static ee_status read_actions(line_bandit *self, json_reader *reader, const decide_limits *limits,
                              const json_token *token, ee_error *error)
{
    static const char invalid[] = "invalid JSON";
    ee_status status = decide_read_actions(&self->request, reader, limits, token, error);
    if (status != EE_BAD_INPUT || !self->rows || !strncmp(error->message, invalid, strlen(invalid))) return status;
    return refuse_actions(self, error);
}

static ee_status read_member(line_bandit *self, json_reader *reader, size_t which, const json_token *token,
                             line_members *line, ee_error *error)
{
    decide_limits limits = {self->dim, MOST_ACTIONS, MOST_FEATURES};
    switch (which) {
    case CONTEXT:
        return read_context(self, reader, &limits, token, &line->row, error);
    case ACTIONS:
        return read_actions(self, reader, &limits, token, error);
    case EXCLUDE:
        return decide_read_request_excludes(&self->request, reader, &limits, token, error);
    case TAG:
        return json_skip(reader, token, &line->tag, error);
    case ID:
        return read_number(token, "id", &line->id, error);
    default:
        return read_number(token, "reward", &line->reward, error);
    }
}

static bool is_column(const row_encoding *rows, json_text key)
{
    for (size_t i = 0; rows && i < rows->width; i++)
        if (json_is(key, rows->columns[i].name)) return true;
    return false;
}

/* Whether the line has the key "id", before or after the place that was read. */
static bool has_id(json_text line)
{
    json_reader reader = json_start(line.bytes, line.length, NULL);
    json_token token;
    if (json_next(&reader, &token, NULL)) return false;
    while (!json_next(&reader, &token, NULL) && token.kind != JSON_KIND_OBJECT_END) {
        if (json_is(token.key, "id")) return true;
        if (json_skip(&reader, &token, NULL, NULL)) return false;
    }
    return false;
}

/* The usual mistakes: a column outside "context", and a reward with another name. */
static ee_status refuse_key(const line_bandit *self, json_text line, const member_reader *at, ee_error *error)
{
    char shown[64] = "";
    json_text key = at->token.key;
    memcpy(shown, key.bytes, (size_t)request_shown(key));
    const char *nearest = options_nearest(shown, at->names, at->count);
    if (!nearest && !(at->seen & 1u << REWARD) && !is_column(self->rows, key) && has_id(line))
        nearest = at->names[REWARD];
    if (nearest) return status_fail(error, EE_BAD_INPUT, "unknown key \"%s\"; did you mean \"%s\"?", shown, nearest);
    return status_fail(error, EE_BAD_INPUT, "unknown key \"%s\"; expected \"context\"%s", shown,
                       self->rows ? ", which holds the columns" : " or \"actions\", or \"id\" and \"reward\"");
}

/* Other lines, such as CSV, need no position of the mistake but an example. */
static bool begins_object(json_text line)
{
    size_t i = 0;
    while (i < line.length && (line.bytes[i] == ' ' || line.bytes[i] == '\t')) i++;
    return i < line.length && line.bytes[i] == '{';
}

static ee_status read_line(line_bandit *self, json_text bytes, line_members *line, ee_error *error)
{
    static const char *const names[MEMBERS] = {"context", "actions", "exclude", "tag", "id", "reward"};
    json_reader reader = decide_request_start(&self->request, bytes);
    member_reader at = {.reader = &reader, .names = names, .count = MEMBERS};
    *line = (line_members){0};
    decide_request_clear(&self->request);
    if (!begins_object(bytes)) return refuse_round(self, "a JSON object: a round", error);
    at.status = json_next(&reader, &at.token, error);
    while (member_next(&at, error)) {
        line->seen = at.seen;
        at.status = read_member(self, &reader, at.which, &at.token, line, error);
    }
    if (at.status && at.which == MEMBERS) return refuse_key(self, bytes, &at, error);
    return member_end_body(&at, error);
}

/* ---- rewards ---- */

static void add_tag(text *answer, const line_members *line)
{
    if (has(line, TAG)) {
        text_add(answer, ",\"tag\":");
        text_bytes(answer, line->tag.bytes, line->tag.length);
    }
    text_add(answer, "}");
}

static ee_status learn(line_bandit *self, const line_members *line, text *answer, ee_error *error)
{
    if (!has(line, REWARD))
        return status_fail(
            error, EE_BAD_INPUT,
            "\"id\" without \"reward\": the answer to a round assigns its id; use \"tag\" for your own name");
    if (!has(line, ID))
        return status_fail(error, EE_BAD_INPUT, "\"reward\" without \"id\": expected the id of the decision");
    if (has(line, CONTEXT) || has(line, ACTIONS) || has(line, EXCLUDE))
        return status_fail(error, EE_BAD_INPUT, "expected a round or a reward, got keys of both");
    if (!(line->id >= 1 && line->id < 0x1p53 && line->id == (double)(uint64_t)line->id))
        return status_fail(error, EE_BAD_INPUT, "id must be a whole number, 1 or more, got %g", line->id);
    ee_status status = ee_bandit_learn(self->bandit, (uint64_t)line->id, line->reward, error);
    if (status) return status;
    text_add(answer, "{\"id\":%" PRIu64 ",\"learned\":true", (uint64_t)line->id);
    add_tag(answer, line);
    return EE_OK;
}

/* ---- arms ---- */

/* Reads the nonzero entries of the context, from the row or the vector. */
static ee_status read_entries(line_bandit *self, const line_members *line, ee_error *error)
{
    const row_unknown *unknown = self->unknown.report ? &self->unknown : NULL;
    if (self->rows)
        return row_encoding_json(self->rows, line->row, unknown, self->indices, self->values, &self->entries, error);
    self->entries = 0;
    for (size_t i = 0; i < self->dim / self->blocks; i++) {
        if (self->request.values[i] == 0) continue;
        self->indices[self->entries] = (uint32_t)i;
        self->values[self->entries++] = self->request.values[i];
    }
    return EE_OK;
}

/* Makes the blocks the actions of the request, named by the classes of a table. */
static ee_status name_blocks(line_bandit *self, ee_error *error)
{
    decide_request *request = &self->request;
    ee_status status = EE_OK;
    request->named = self->rows != NULL;
    for (request->count = 0; request->count < self->blocks && !status; request->count++) {
        if (!self->rows) continue;
        const char *name = row_encoding_class(self->rows, request->count);
        status = decide_room_for_action(request, error);
        if (!status) request->names[request->count] = (json_text){name, strlen(name)};
    }
    return status;
}

/* The context is the round: each block is an action. */
static ee_status spread(line_bandit *self, const line_members *line, decision_body *body, ee_arms *arms,
                        ee_error *error)
{
    if (has(line, ACTIONS)) return refuse_actions(self, error);
    ee_status status = name_blocks(self, error);
    if (!status) status = decide_request_settle(&self->request, false, error);
    if (!status) status = request_body_make(&self->context, &self->request, self->dim, body, error);
    if (!status) status = read_entries(self, line, error);
    block_context context = {self->indices, self->values, self->entries, self->dim / self->blocks};
    if (!status) *arms = block_arms_make(&context, self->blocks, body->excluded, &self->room);
    return status;
}

static ee_status make_arms(line_bandit *self, const line_members *line, decision_body *body, ee_arms *arms,
                           ee_error *error)
{
    if (self->blocks && has(line, CONTEXT)) return spread(self, line, body, arms, error);
    if (!has(line, ACTIONS)) return refuse_round(self, "a round", error);
    ee_status status = decide_request_settle(&self->request, false, error);
    if (!status) status = request_body_make(&self->context, &self->request, self->dim, body, error);
    if (!status) status = decision_arms_make(&self->arms, body, self->round, arms, error);
    if (status || self->dim) return status;
    return ee_bandit_arms(self->bandit, self->round, arms, error);
}

/* ---- rounds ---- */

static ee_status reserve_probabilities(line_bandit *self, size_t arms, size_t actions, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->of_arms, &self->of_arms_capacity, arms, sizeof(double), error);
    if (status) return status;
    return memory_grow(&self->memory, &self->probabilities, &self->probability_capacity, actions, sizeof(double),
                       error);
}

static ee_status decide(line_bandit *self, const line_members *line, text *answer, ee_error *error)
{
    decision_body body;
    ee_arms arms;
    ee_decision decision;
    ee_status status = make_arms(self, line, &body, &arms, error);
    if (!status) status = reserve_probabilities(self, arms.count, body.count, error);
    if (!status) status = ee_bandit_decide(self->bandit, &arms, &decision, NULL, self->of_arms, error);
    if (status) return status;
    decision_answer(&body, MODE_ONLINE, decision.arm, self->of_arms, self->probabilities);
    text_add(answer, "{\"id\":%" PRIu64 ",\"arm\":%zu,\"action\":", decision.id, body.action);
    answer_action(answer, &body);
    text_add(answer, ",");
    answer_probabilities(answer, &body);
    add_tag(answer, line);
    return EE_OK;
}

ee_status line_bandit_answer(line_bandit *self, json_text bytes, text *answer, ee_error *error)
{
    line_members line;
    ee_status status = read_line(self, bytes, &line, error);
    if (!status) status = tell_time(self, error);
    if (status) return status;
    return has(&line, ID) || has(&line, REWARD) ? learn(self, &line, answer, error)
                                                : decide(self, &line, answer, error);
}
