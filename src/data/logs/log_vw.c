/* Logs in Vowpal Wabbit's text format. A cb event is one line; the examples of cb_adf, ccb and slates have several
 * lines and end with an empty one. Costs become rewards. Labels, as in VW's manual:
 *
 *     cb       ACTION:COST:PROBABILITY, actions from 1; several words list the actions that were possible
 *     cb_eval  the same with an action before it, which another policy would choose: it is ignored
 *     cb_adf   "shared", then a line for each action; the chosen one's has N:COST:PROBABILITY, whatever N
 *     ccb      "ccb shared", "ccb action", "ccb slot ACTION:COST:PROBABILITY,ACTION:PROBABILITY,... ALLOWED,..."
 *     slates   "slates shared COST", "slates action SLOT", "slates slot ACTION:PROBABILITY,..." */
#include "log_vw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct vw_options {
    option_choice format, reward;
    option_text actions;
} vw_options;

static const option entries[] = {
    OPTION_ROW_CHOICE(vw_options, format, "format", "auto", "auto|cb|cb_adf|ccb|slates|cb_eval",
                      "VW's label type; auto: detected from the first lines"),
    OPTION_ROW_TEXT(vw_options, actions, "actions", "auto", "auto|NUMBER",
                    "cb: number of actions, as in --cb NUMBER; auto: the ones in the file"),
    OPTION_ROW_CHOICE(vw_options, reward, "reward", "-cost", "-cost|cost",
                      "how a cost becomes a reward; cost: the file has rewards in place of costs"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("vw", groups, vw_options, NULL);

static const char *const form_names[] = {"auto", "cb", "cb_adf", "ccb", "slates", "cb_eval"};

enum { MOST_ACTIONS = 10000, MOST_NUMBERED = 100000 };

static bool is_one_line(vw_form form)
{
    return form == VW_CB || form == VW_CB_EVAL;
}

/* ---- lines ---- */

/* The next line without its end, an \r before it, or a byte order mark. */
static ee_status next_line(byte_stream *stream, size_t *lines, json_text *out, bool *found, ee_error *error)
{
    byte_line line;
    ee_status status = byte_stream_line(stream, false, &line, found, error);
    if (status || !*found) return status;
    *out = (json_text){line.bytes, line.size};
    if (!(*lines)++ && out->length >= 3 && memcmp(out->bytes, "\xef\xbb\xbf", 3) == 0)
        *out = (json_text){out->bytes + 3, out->length - 3};
    if (out->length && out->bytes[out->length - 1] == '\r') out->length--;
    return EE_OK;
}

static bool is_empty(json_text line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t' && line.bytes[i] != '\r') return false;
    return true;
}

/* ---- labels of cb and cb_adf ---- */

typedef struct vw_label {
    size_t action;
    bool has_cost, has_probability;
    double cost, probability;
} vw_label;

/* "ACTION:COST:PROBABILITY", of which the last two may be missing. */
static bool read_label(json_text word, vw_label *out, log_note *note)
{
    json_text rest = word, part[4];
    size_t parts = 0;
    while (parts < 4 && vw_next_word(&rest, ':', &part[parts])) parts++;
    *out = (vw_label){.has_cost = parts > 1, .has_probability = parts > 2};
    out->action = parts && parts < 4 ? vw_whole(part[0]) : SIZE_MAX;
    bool right = out->action != SIZE_MAX && (parts < 2 || vw_number(part[1], &out->cost)) &&
                 (parts < 3 || vw_number(part[2], &out->probability));
    if (!right)
        log_skip(note, LOG_INVALID, "expected a label ACTION:COST:PROBABILITY, got '%.*s'", json_shown(word),
                 word.bytes);
    return right;
}

/* Takes over cost and probability; false, with a note, if the probability is missing. */
static bool take_label(const vw_log *log, const vw_label *label, log_event *event, log_note *note)
{
    if (!label->has_probability) {
        log_skip(note, LOG_INVALID,
                 "the label has no probability: expected ACTION:COST:PROBABILITY, the propensity of the action");
        return false;
    }
    event->reward = log->sign * label->cost + 0.0; /* not -0 */
    event->probability = label->probability;
    return true;
}

/* ---- cb ---- */

static int compare_sizes(const void *a, const void *b)
{
    const size_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static size_t place_of(const vw_sizes *among, size_t action)
{
    if (!among->count) return SIZE_MAX;
    const size_t *at = bsearch(&action, among->values, among->count, sizeof action, compare_sizes);
    return at ? (size_t)(at - among->values) : SIZE_MAX;
}

/* The label of a cb line: one word, or all possible actions, one of which has a probability above 0. */
static ee_status read_cb_label(vw_log *log, json_text labels_text, vw_label *chosen, log_note *note, ee_error *error)
{
    json_text word;
    size_t labels = 0, costs = 0;
    log->listed.count = 0;
    vw_label label;
    if (log->form == VW_CB_EVAL && vw_next_word(&labels_text, ' ', &word) && !read_label(word, &label, note))
        return EE_OK;
    while (vw_next_word(&labels_text, ' ', &word)) {
        if (!read_label(word, &label, note)) return EE_OK;
        if (!label.action) {
            log_skip(note, LOG_INVALID,
                     "action 0: cb counts from 1; if the lines of an event are its actions, add "
                     "format=cb_adf");
            return EE_OK;
        }
        ee_status status = vw_sizes_add(log, &log->listed, label.action, error);
        if (status) return status;
        bool observed = label.has_probability && label.probability != 0;
        labels += observed;
        costs += label.has_cost;
        if (observed || !labels) *chosen = label;
    }
    if (labels > 1)
        log_skip(note, LOG_INVALID, "%zu actions have a probability; only one can be the chosen one", labels);
    else if (!labels && !costs)
        log_skip(note, LOG_FOREIGN, "no label: nothing was chosen");
    if (log->listed.count) qsort(log->listed.values, log->listed.count, sizeof(size_t), compare_sizes);
    for (size_t i = 1; i < log->listed.count && note->verdict == LOG_EVENT; i++)
        if (log->listed.values[i] == log->listed.values[i - 1])
            log_skip(note, LOG_INVALID, "action %zu is listed twice", log->listed.values[i]);
    return EE_OK;
}

/* "_multi":[{"_tag":"3","i":{"constant":1,"id":"3"}},...]}, as actions without features have it in CSV too. */
static void add_numbered(text *into, const vw_sizes *actions)
{
    text_add(into, "\"_multi\":[");
    for (size_t i = 0; i < actions->count; i++)
        text_add(into, "%s{\"_tag\":\"%zu\",\"i\":{\"constant\":1,\"id\":\"%zu\"}}", i ? "," : "", actions->values[i],
                 actions->values[i]);
    text_add(into, "]}");
}

static ee_status name_actions(vw_log *log, const vw_sizes *actions, ee_error *error)
{
    ee_status status =
        memory_grow(&log->head.owner, &log->names, &log->names_capacity, actions->count, sizeof *log->names, error);
    log->bytes.length = 0;
    log->bytes.error = error;
    for (size_t i = 0; i < actions->count && !status; i++) {
        size_t start = log->bytes.length;
        text_add(&log->bytes, "%zu", actions->values[i]);
        log->names[i] = (json_text){NULL, log->bytes.length - start};
        status = log->bytes.status;
    }
    for (size_t i = 0, start = 0; i < actions->count && !status; start += log->names[i++].length)
        log->names[i].bytes = log->bytes.bytes + start;
    return status;
}

/* Reads the parts of a cb line; the actions are checked by the caller. */
static ee_status read_cb_line(vw_log *log, json_text bytes, vw_label *chosen, log_note *note, ee_error *error)
{
    vw_line line;
    bool any;
    *chosen = (vw_label){0};
    log->context.length = 0;
    log->context.error = error;
    if (!vw_line_split(bytes, &line, note)) return EE_OK;
    ee_status status = read_cb_label(log, line.label, chosen, note, error);
    if (status || note->verdict != LOG_EVENT) return status;
    text_bytes(&log->context, "{", 1);
    status = vw_features_add(log->features, line.features, &log->context, &any, note, error);
    if (any) text_bytes(&log->context, ",", 1);
    return status;
}

static ee_status next_cb(vw_log *log, log_event *event, log_note *note, bool *found, ee_error *error)
{
    json_text bytes;
    vw_label chosen;
    ee_status status = next_line(log->head.stream, &log->head.counts.lines, &bytes, found, error);
    event->line = log->head.counts.lines;
    if (status || !*found) return status;
    note->verdict = is_empty(bytes) ? LOG_BLANK : LOG_EVENT;
    if (note->verdict == LOG_BLANK) return EE_OK;
    status = read_cb_line(log, bytes, &chosen, note, error);
    if (status || note->verdict != LOG_EVENT || !take_label(log, &chosen, event, note)) return status;
    if (!log_check(event, note)) return EE_OK; /* its actions are unknown */
    for (size_t i = 0; i < log->listed.count; i++) {
        if (place_of(&log->known, log->listed.values[i]) != SIZE_MAX) continue;
        log_skip(note, LOG_INVALID, "action %zu is not one of the %zu actions", log->listed.values[i],
                 log->known.count);
        return EE_OK;
    }
    const vw_sizes *possible = log->listed.count > 1 ? &log->listed : &log->known;
    event->count = possible->count;
    event->action = place_of(possible, chosen.action);
    status = name_actions(log, possible, error);
    if (possible == &log->known)
        text_bytes(&log->context, log->multi.bytes, log->multi.length);
    else
        add_numbered(&log->context, possible);
    event->actions = log->names;
    event->context = (json_text){log->context.bytes, log->context.length};
    return status ? status : log->context.status;
}

/* ---- examples of several lines ---- */

/* Reads the lines up to an empty one. Too long an example keeps its first lines. */
static ee_status read_example(vw_log *log, bool *too_long, ee_error *error)
{
    log->row_count = log->bytes.length = 0;
    log->bytes.error = error;
    *too_long = false;
    for (;;) {
        json_text line;
        bool found;
        ee_status status = next_line(log->head.stream, &log->head.counts.lines, &line, &found, error);
        if (status || !found) return status;
        if (is_empty(line) && log->row_count) return EE_OK;
        *too_long = *too_long || log->bytes.length + line.length > BYTE_STREAM_MOST || log->row_count > MOST_NUMBERED;
        if (is_empty(line) || *too_long) continue;
        status =
            memory_grow(&log->head.owner, &log->rows, &log->row_capacity, log->row_count + 1, sizeof *log->rows, error);
        if (status) return status;
        log->rows[log->row_count++] =
            (vw_row){.start = log->bytes.length, .size = line.length, .number = log->head.counts.lines};
        text_bytes(&log->bytes, line.bytes, line.length);
        if (log->bytes.status) return log->bytes.status;
    }
}

/* Splits the lines; event->line becomes the first wrong one. */
static bool split_example(vw_log *log, log_event *event, log_note *note)
{
    for (size_t i = 0; i < log->row_count; i++) {
        vw_row *row = &log->rows[i];
        if (vw_line_split((json_text){log->bytes.bytes + row->start, row->size}, &row->line, note)) continue;
        event->line = row->number;
        return false;
    }
    return true;
}

/* ---- cb_adf ---- */

/* The label of an action's line: one word, or none. */
static bool read_adf_label(const vw_row *row, vw_label *label, log_note *note)
{
    json_text rest = row->line.label, word, other;
    *label = (vw_label){0};
    if (!vw_next_word(&rest, ' ', &word)) return true;
    bool more = vw_next_word(&rest, ' ', &other);
    if (json_is(word, "shared") && more)
        log_skip(note, LOG_INVALID, "unexpected '%.*s' after 'shared'", json_shown(other), other.bytes);
    else if (json_is(word, "shared"))
        log_skip(note, LOG_INVALID,
                 "'shared' must be the first line of an example; is the empty line before it "
                 "missing?");
    else if (more)
        log_skip(note, LOG_INVALID, "two labels, '%.*s' and '%.*s'; if each line is an event, add format=cb",
                 json_shown(word), word.bytes, json_shown(other), other.bytes);
    else
        read_label(word, label, note);
    return note->verdict == LOG_EVENT;
}

static bool is_shared(const vw_row *row)
{
    json_text rest = row->line.label, word;
    return vw_next_word(&rest, ' ', &word) && json_is(word, "shared") && !vw_next_word(&rest, ' ', &word);
}

static ee_status read_adf(vw_log *log, log_event *event, log_note *note, ee_error *error)
{
    const vw_row *shared = is_shared(&log->rows[0]) ? &log->rows[0] : NULL;
    log->of_action.count = 0;
    event->action = SIZE_MAX;
    for (size_t i = shared != NULL; i < log->row_count; i++) {
        vw_label label;
        size_t line = log->rows[i].number;
        if (!read_adf_label(&log->rows[i], &label, note)) {
            event->line = line;
            return EE_OK;
        }
        if (label.has_cost && event->action != SIZE_MAX) {
            log_skip(note, LOG_INVALID,
                     "two actions have a label, on lines %zu and %zu; only one can be the chosen "
                     "one",
                     log->rows[log->of_action.values[event->action]].number, line);
            return EE_OK;
        }
        if (label.has_cost && !take_label(log, &label, event, note)) {
            event->line = line;
            return EE_OK;
        }
        if (label.has_cost) event->action = log->of_action.count;
        ee_status status = vw_sizes_add(log, &log->of_action, i, error);
        if (status) return status;
    }
    event->count = log->of_action.count;
    if (!event->count)
        log_skip(note, LOG_INVALID, "the example has no actions");
    else if (event->action == SIZE_MAX)
        log_skip(note, LOG_FOREIGN, "no label: nothing was chosen");
    else
        return vw_make_context(log, shared, event, note, error);
    return EE_OK;
}

static ee_status next_example(vw_log *log, log_event *event, log_note *note, bool *found, ee_error *error)
{
    bool too_long;
    ee_status status = read_example(log, &too_long, error);
    *found = log->row_count > 0;
    if (status || !*found) return status;
    event->line = log->rows[0].number;
    if (too_long) {
        log_skip(note, LOG_INVALID,
                 "an example of more than %d lines or 64 MiB; if each line is an event, add "
                 "format=cb",
                 (int)MOST_NUMBERED);
        return EE_OK;
    }
    if (!split_example(log, event, note)) return EE_OK;
    return log->form == VW_CB_ADF ? read_adf(log, event, note, error) : vw_read_slots(log, event, note, error);
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    vw_log *log = (vw_log *)head;
    *event = (log_event){.time = (double)NAN, .copies = 1};
    return is_one_line(log->form) ? next_cb(log, event, note, found, error)
                                  : next_example(log, event, note, found, error);
}

/* ---- which format ---- */

/* What a line shows about the format. */
typedef struct vw_hint {
    vw_form form; /* VW_AUTO: none */
    bool empty, labelled;
} vw_hint;

static vw_hint read_hint(json_text line)
{
    static const char *const heads[] = {[VW_CB_ADF] = "shared", [VW_CCB] = "ccb", [VW_SLATES] = "slates"};
    vw_hint hint = {.empty = is_empty(line)};
    vw_line parts;
    log_note note = {LOG_EVENT, ""};
    json_text word, rest;
    if (!vw_line_split(line, &parts, &note)) return hint;
    rest = parts.label;
    if (!vw_next_word(&rest, ' ', &word)) return hint;
    for (vw_form form = VW_CB_ADF; form <= VW_SLATES; form++)
        if (json_is(word, heads[form])) hint.form = form;
    vw_label label;
    if (hint.form || !read_label(word, &label, &note)) return hint;
    hint.labelled = label.has_cost;
    if (label.has_cost && !label.action) hint.form = VW_CB_ADF;
    size_t first = label.has_cost ? SIZE_MAX : label.action;
    while (vw_next_word(&rest, ' ', &word) && read_label(word, &label, &note)) {
        hint.form = label.action == first ? VW_CB_EVAL : VW_CB; /* a list has no action twice */
        hint.labelled = hint.labelled || label.has_cost;
    }
    return hint;
}

/* cb_adf has one label in several lines up to an empty one; cb has one in each line. Looks at the first lines. */
static ee_status guess_form(byte_stream *stream, vw_form *form, ee_error *error)
{
    enum { LOOKED_AT = 1 << 18 };
    char *bytes;
    size_t size, lines = 0, labels = 0;
    bool lists = false;
    ee_status status = byte_stream_peek(stream, LOOKED_AT, &bytes, &size, error);
    if (status) return status;
    json_text rest = {bytes, size}, line;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) rest = (json_text){bytes + 3, size - 3};
    *form = VW_CB;
    while (vw_next_word(&rest, '\n', &line)) {
        if (!rest.bytes && size >= LOOKED_AT) break; /* it may be cut */
        vw_hint hint = read_hint(line);
        lists = lists || hint.form == VW_CB;
        bool known = hint.form == VW_CB_EVAL || (hint.form && !lists);
        if (known) *form = hint.form;
        if (known) return EE_OK;
        if (lists) continue; /* a later line may show that they are labels of cb_eval */
        if (hint.empty && lines > 1) break;
        lines = hint.empty ? 0 : lines + 1;
        labels = hint.empty ? 0 : labels + hint.labelled;
        if (labels > 1) return EE_OK;
    }
    if (lines > 1 && !lists) *form = VW_CB_ADF;
    return EE_OK;
}

bool log_vw_recognize(const char *bytes, size_t size)
{
    json_text rest = {bytes, size}, line, word;
    vw_line parts;
    vw_label label;
    log_note note = {LOG_EVENT, ""};
    do
        if (!vw_next_word(&rest, '\n', &line)) return false;
    while (is_empty(line));
    if (!memchr(line.bytes, '|', line.length)) return false;
    if (!vw_line_split(line, &parts, &note)) return note.verdict == LOG_INVALID; /* a label that touches the '|' */
    rest = parts.label;
    if (!vw_next_word(&rest, ' ', &word)) return !parts.tag.length || line.bytes[0] == '\'';
    return json_is(word, "shared") || json_is(word, "ccb") || json_is(word, "slates") ||
           read_label(word, &label, &note);
}

/* ---- the actions of cb ---- */

/* Moves the last one to its place among the others, which ascend. */
static void sort_last(vw_sizes *of)
{
    size_t at = of->count - 1, value = of->values[at];
    for (; at > 0 && of->values[at - 1] > value; at--) of->values[at] = of->values[at - 1];
    of->values[at] = value;
}

/* Adds the actions of the usable lines, ascending. */
static ee_status collect(vw_log *log, byte_stream *stream, ee_error *error)
{
    for (size_t lines = 0;;) {
        json_text bytes;
        bool found;
        vw_label chosen;
        log_event event = {0};
        log_note note = {LOG_EVENT, ""};
        ee_status status = next_line(stream, &lines, &bytes, &found, error);
        if (status || !found) return status;
        if (is_empty(bytes)) continue;
        status = read_cb_line(log, bytes, &chosen, &note, error);
        if (status) return status;
        if (note.verdict != LOG_EVENT || !take_label(log, &chosen, &event, &note)) continue;
        if (!log_check(&event, &note)) continue;
        for (size_t i = 0; i < log->listed.count; i++) {
            if (place_of(&log->known, log->listed.values[i]) != SIZE_MAX) continue;
            status = vw_sizes_add(log, &log->known, log->listed.values[i], error);
            if (!status && log->known.count > MOST_ACTIONS)
                status =
                    status_fail(error, EE_BAD_INPUT, "%s: more than %d different actions; name them: actions=NUMBER",
                                byte_stream_name(stream), (int)MOST_ACTIONS);
            if (status) return status;
            sort_last(&log->known);
        }
    }
}

static ee_status find_actions(vw_log *log, const char *asked, const char *path, ee_error *error)
{
    const char *name = byte_stream_name(log->head.stream);
    ee_status status = EE_OK;
    if (strcmp(asked, "auto") != 0) {
        size_t number = vw_whole((json_text){asked, strlen(asked)});
        if (number < 1 || number > MOST_NUMBERED)
            return status_fail(error, EE_BAD_OPTION, "%s: actions must be 1 to %d, got '%.30s'", name,
                               (int)MOST_NUMBERED, asked);
        for (size_t i = 1; i <= number && !status; i++) status = vw_sizes_add(log, &log->known, i, error);
        return status;
    }
    if (!byte_stream_can_repeat(log->head.stream))
        return status_fail(error, EE_BAD_OPTION,
                           "%s: a stream cannot be read twice; add actions=NUMBER, as --cb NUMBER", name);
    byte_stream *stream;
    status = byte_stream_open(path, &stream, error);
    if (status) return status;
    status = collect(log, stream, error);
    byte_stream_close(stream);
    return status;
}

/* ---- opening ---- */

/* Says how the file is read. */
static void remark(vw_log *log, const vw_options *asked)
{
    size_t count = log->known.count;
    log_remark_add(&log->head, "Vowpal Wabbit text (%s): the reward is the %scost.", form_names[log->form],
                   asked->reward.pick ? "" : "negative ");
    if (!is_one_line(log->form) || !count || strcmp(asked->actions, "auto") != 0) return;
    size_t largest = log->known.values[count - 1];
    if (largest == count)
        log_remark_add(&log->head, "%zu actions, 1 to the largest in the file; otherwise add actions=N.", count);
    else
        log_remark_add(&log->head,
                       "%zu actions, the ones in the file, from %zu to %zu; to count all others too, add actions=%zu.",
                       count, log->known.values[0], largest, largest);
}

static ee_status prepare(vw_log *log, const char *path, const char *options, ee_error *error)
{
    vw_options asked;
    options_set_defaults(&schema, &asked);
    ee_status status = options_parse_once(&schema, options, &asked, error);
    if (status) return status;
    log->form = (vw_form)asked.format.pick;
    log->sign = asked.reward.pick ? 1 : -1;
    status = vw_features_create(&log->head.owner, &log->features, error);
    if (!status && !log->form) status = guess_form(log->head.stream, &log->form, error);
    if (!status && !is_one_line(log->form) && strcmp(asked.actions, "auto") != 0)
        status = status_fail(error, EE_BAD_OPTION, "%s: actions= is for cb; the examples of %s list their actions",
                             byte_stream_name(log->head.stream), form_names[log->form]);
    if (!status && is_one_line(log->form)) status = find_actions(log, asked.actions, path, error);
    if (status) return status;
    log->multi.error = error;
    if (is_one_line(log->form)) add_numbered(&log->multi, &log->known);
    remark(log, &asked);
    return log->multi.status;
}

ee_status log_open_vw(byte_stream *stream, const char *path, const char *options, const log_options *reading,
                      log_reader **out, ee_error *error)
{
    (void)reading;
    ee_status status = memory_create_owner(NULL, out, sizeof(vw_log), error);
    if (status) return status;
    vw_log *log = (vw_log *)*out;
    log->head.next = next;
    log->head.stream = stream;
    log->bytes.owner = log->context.owner = log->multi.owner = log->slot_features.owner = &log->head.owner;
    return prepare(log, path, options, error);
}
