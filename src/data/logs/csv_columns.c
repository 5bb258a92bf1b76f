#include "csv_columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define ROLE_ROW(role_, name_, form_, meaning_)                                                                        \
    OPTION_ROW_TEXT(csv_options, columns[role_], name_, "auto", form_, meaning_)

static const option entries[] = {
    ROLE_ROW(CSV_ACTION, "action", "auto|COLUMN", "the column with the chosen action"),
    ROLE_ROW(CSV_PROBABILITY, "probability", "auto|COLUMN", "the column with its probability"),
    ROLE_ROW(CSV_REWARD, "reward", "auto|COLUMN", "the column with the reward"),
    ROLE_ROW(CSV_TIME_COLUMN, "time", "auto|none|COLUMN", "the column with the time (ISO 8601, or seconds since 1970)"),
    ROLE_ROW(CSV_ID, "id", "auto|none|COLUMN", "the column with the event's id"),
    ROLE_ROW(CSV_COUNT, "count", "auto|none|COLUMN",
             "the column with the number of available actions, which are numbered from 0"),
    ROLE_ROW(CSV_COPIES, "copies", "auto|none|COLUMN", "the column with the number of events that a row represents"),
    ROLE_ROW(CSV_SKIPPED, "skipped", "auto|none|COLUMN", "the column with 1 for decisions that were never shown"),
    ROLE_ROW(CSV_GROUP, "group", "auto|none|COLUMN", "the column with treated, control, waiting or fallback"),
    ROLE_ROW(CSV_TREATED_SHARE, "treated_share", "auto|none|COLUMN",
             "the column with the share of the persons who were treated then"),
    ROLE_ROW(CSV_BASELINE_UNIFORM, "baseline_uniform", "auto|none|COLUMN",
             "the column with 1 if the baseline draws uniformly"),
    ROLE_ROW(CSV_PERSON, "key", "auto|none|COLUMN", "the column with the person's key"),
    ROLE_ROW(CSV_SEGMENT, "segment", "auto|none|COLUMN", "the column with the person's segment"),
    ROLE_ROW(CSV_RULES, "rules", "auto|none|COLUMN",
             "the column with the names of the rules that applied, joined by |"),
    ROLE_ROW(CSV_REPEATS, "repeats", "auto|none|COLUMN", "the column with the id of the decision that a row repeats"),
    OPTION_ROW_PATH(csv_options, context, "context", "auto", "auto|none|all|COLUMN+...",
                    "columns with context features; all: every column without another role; auto: the same without "
                    "keys, times, and columns that follow from the action or the reward"),
    OPTION_ROW_PATH(csv_options, ignore, "ignore", "none", "none|COLUMN+...", "columns that are not context"),
    OPTION_ROW_PATH(csv_options, actions, "actions", "auto", "auto|NUMBER|NAME+...|@FILE",
                    "number of actions (numbered from 0), their names, or a file with a name in each line; auto: the "
                    "names in the log"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("csv", groups, csv_options, NULL);

static const char *const usual_names[CSV_ROLES][9] = {
    [CSV_ACTION] = {"action", "action_id", "arm", "arm_id", "item_id", "item", "a"},
    [CSV_PROBABILITY] = {"probability", "propensity", "propensity_score", "pscore", "action_prob", "prob", "p"},
    [CSV_REWARD] = {"reward", "click", "rewards", "outcome", "y", "r"},
    [CSV_TIME_COLUMN] = {"time", "timestamp", "datetime", "date"},
    [CSV_ID] = {"id", "event_id", "eventid"},
    [CSV_COUNT] = {"count", "n_actions"},
    [CSV_COPIES] = {"copies"},
    [CSV_SKIPPED] = {"skipped"},
    [CSV_GROUP] = {"group"},
    [CSV_TREATED_SHARE] = {"treated_share"},
    [CSV_BASELINE_UNIFORM] = {"baseline_uniform"},
    [CSV_PERSON] = {"key"},
    [CSV_SEGMENT] = {"segment"},
    [CSV_RULES] = {"rules"},
    [CSV_REPEATS] = {"repeats"},
};

const char csv_metric_start[] = "metric.";

ee_status csv_options_read(const char *options, csv_options *out, ee_error *error)
{
    options_set_defaults(&schema, out);
    return options_parse_once(&schema, options, out, error);
}

const char *csv_role_name(csv_role role)
{
    return entries[role].name;
}

/* ---- roles ---- */

/* Warns if another column has a usual name of the role. */
static void remark_others(log_reader *log, const log_rows *rows, csv_role role, size_t used)
{
    char list[80] = "";
    size_t others = 0;
    for (size_t i = 0; usual_names[role][i]; i++) {
        size_t column = log_rows_find(rows, usual_names[role][i]);
        if (column == SIZE_MAX || column == used) continue;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", others++ ? ", " : "", rows->columns[column].text);
    }
    if (others)
        log_remark_add(log, "The %s is read from column '%s', but it could also be %s; choose with %s=COLUMN.",
                       csv_role_name(role), rows->columns[used].text, list, csv_role_name(role));
}

/* Warns if another column has the same name: only one of them is read. wanted: the name in the options; NULL if they
 * have none, and then names in any case are the same. */
static void remark_twins(log_reader *log, const log_rows *rows, csv_role role, size_t used, const char *wanted)
{
    size_t twins = 0;
    const char *name = rows->columns[used].text;
    bool exact = wanted && strcmp(wanted, name) == 0;
    for (size_t i = 0; i < rows->width; i++)
        twins += i != used && (exact ? strcmp : strcasecmp)(rows->columns[i].text, name) == 0;
    if (twins)
        log_remark_add(log,
                       "%zu columns are named '%.60s'; the %s is read from column %zu of the file. If that is the "
                       "wrong one, every number is wrong: rename the others.",
                       twins + 1, name, csv_role_name(role), used + 1);
}

/* Warns of a column whose usual name may mean something else, and which changes every number: rows are left out, or
 * count several times. eenet writes these columns together with count. */
static void remark_guess(log_reader *log, const log_rows *rows, const csv_columns *self, csv_role role)
{
    size_t column = self->roles[role];
    if (column == SIZE_MAX || self->roles[CSV_COUNT] != SIZE_MAX) return;
    log_remark_add(log, "Column '%.60s' is read as %s. If it means something else, rename it or add %s=none.",
                   rows->columns[column].text,
                   role == CSV_SKIPPED ? "a mark of decisions that were never shown: rows with 1 are left out"
                                       : "the number of events that a row represents",
                   csv_role_name(role));
}

/* Whether a name is a number, as in a file without a header. */
static bool has_number(const log_rows *rows)
{
    double number;
    for (size_t i = 0; i < rows->width; i++)
        if (field_number(&rows->columns[i], &number)) return true;
    return false;
}

static ee_status find_role(csv_columns *self, log_reader *log, const log_rows *rows, csv_role role, const char *wanted,
                           ee_error *error)
{
    const char *name = csv_role_name(role);
    size_t *column = &self->roles[role];
    bool needed = role <= CSV_REWARD;
    *column = SIZE_MAX;
    if (!needed && strcmp(wanted, "none") == 0) return EE_OK;
    if (strcmp(wanted, "auto") != 0) {
        *column = log_rows_find(rows, wanted);
        if (*column != SIZE_MAX) {
            remark_twins(log, rows, role, *column, wanted);
            return EE_OK;
        }
        return log_rows_fail(rows, error, "there is no column '%.30s' (option %s=)", wanted, name);
    }
    for (size_t i = 0; usual_names[role][i] && *column == SIZE_MAX; i++)
        *column = log_rows_find(rows, usual_names[role][i]);
    if (*column == SIZE_MAX && needed && has_number(rows))
        return log_rows_fail(rows, error, "found no column for the %s; the first row must name the columns", name);
    if (*column == SIZE_MAX && needed)
        return log_rows_fail(rows, error, "found no column for the %s; name it: csv:FILE,%s=COLUMN", name, name);
    if (needed) remark_others(log, rows, role, *column);
    if (*column != SIZE_MAX) remark_twins(log, rows, role, *column, NULL);
    if (role == CSV_COPIES || role == CSV_SKIPPED) remark_guess(log, rows, self, role);
    return EE_OK;
}

/* ---- context ---- */

static bool begins_with(const char *name, const char *start)
{
    return strncasecmp(name, start, strlen(start)) == 0;
}

/* Named features have other uses for such names, or ignore them: docs/features.md. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && strcmp(name, "_text") != 0;
}

/* Why a column without a role is no context, by its name alone; NULL: its values decide. */
static const char *reason_of_name(const csv_columns *self, const char *name)
{
    static const char *const named_like[CSV_ROLES] = {
        [CSV_ACTION] = "named like an action",
        [CSV_PROBABILITY] = "named like a probability",
        [CSV_REWARD] = "named like a reward",
        [CSV_TIME_COLUMN] = "named like a time",
        [CSV_ID] = "named like an id",
        [CSV_COUNT] = "named like a number of actions",
        [CSV_COPIES] = "named like a number of events",
        [CSV_SKIPPED] = "named like a mark of skipped events",
    };
    if (!name[0]) return "no name";
    if (self->roles[CSV_COUNT] != SIZE_MAX && strcasecmp(name, "name") == 0) return "name of the action";
    if (begins_with(name, "prob") || begins_with(name, "propensity") || begins_with(name, "pscore"))
        return named_like[CSV_PROBABILITY];
    for (csv_role role = 0; role < CSV_GROUP; role++)
        for (size_t i = 0; usual_names[role][i]; i++)
            if (strcasecmp(name, usual_names[role][i]) == 0) return named_like[role];
    return NULL;
}

/* Makes the columns of a list "COLUMN+COLUMN" context, or ignores them. */
static ee_status mark_list(csv_columns *self, const log_rows *rows, const char *list, bool context, ee_error *error)
{
    option_path copy;
    memcpy(copy, list, sizeof copy);
    for (char *word = copy, *plus; word; word = plus) {
        plus = strchr(word, '+');
        if (plus) *plus++ = '\0';
        size_t column = log_rows_find(rows, word);
        if (column == SIZE_MAX)
            return log_rows_fail(rows, error, "there is no column '%.30s' (option %s=)", word,
                                 context ? "context" : "ignore");
        if (context && is_reserved(rows->columns[column].text))
            return log_rows_fail(rows, error, "column '%.30s' cannot be context: remove _ from its start", word);
        self->all[column].context = context;
        if (!context) self->all[column].reason = "ignored";
    }
    return EE_OK;
}

static ee_status find_context(csv_columns *self, const log_rows *rows, const csv_options *asked, ee_error *error)
{
    bool guessed = strcmp(asked->context, "auto") == 0, every = strcmp(asked->context, "all") == 0;
    ee_status status = EE_OK;
    self->given = !guessed;
    for (size_t i = 0; i < self->width && (guessed || every); i++) {
        log_column *one = &self->all[i];
        if (one->role) continue;
        one->reason = is_reserved(one->name) ? "name starts with _" : guessed ? reason_of_name(self, one->name) : NULL;
        one->context = one->name[0] && !one->reason;
    }
    if (!guessed && !every && strcmp(asked->context, "none") != 0)
        status = mark_list(self, rows, asked->context, true, error);
    if (!status && strcmp(asked->ignore, "none") != 0) status = mark_list(self, rows, asked->ignore, false, error);
    return status;
}

/* Columns "metric.NAME". */
static void find_metrics(csv_columns *self)
{
    for (size_t i = 0; i < self->width; i++) {
        log_column *one = &self->all[i];
        if (one->role || !begins_with(one->name, csv_metric_start) || !one->name[strlen(csv_metric_start)]) continue;
        one->role = "metric";
        self->metrics[self->metric_count++] = i;
    }
}

ee_status csv_columns_find(log_reader *log, const log_rows *rows, const csv_options *asked, csv_columns *out,
                           ee_error *error)
{
    *out = (csv_columns){.width = rows->width};
    ee_status status = memory_create(&log->owner, &out->all, rows->width, sizeof *out->all, error);
    if (!status) status = memory_create(&log->owner, &out->features, rows->width, sizeof *out->features, error);
    if (!status) status = memory_create(&log->owner, &out->metrics, rows->width, sizeof *out->metrics, error);
    for (size_t i = 0; !status && i < rows->width; i++) out->all[i].name = rows->columns[i].text;
    for (csv_role i = 0; i < CSV_ROLES && !status; i++) {
        status = find_role(out, log, rows, i, asked->columns[i], error);
        if (!status && out->roles[i] != SIZE_MAX) out->all[out->roles[i]].role = csv_role_name(i);
    }
    if (!status) find_metrics(out);
    if (!status) status = find_context(out, rows, asked, error);
    log->columns = status ? NULL : out->all;
    log->column_count = status ? 0 : out->width;
    return status;
}

bool csv_columns_any(const csv_columns *self)
{
    bool any = false;
    for (size_t i = 0; i < self->width; i++) any = any || self->all[i].context;
    return any;
}

/* ---- the sample ---- */

/* A name as text: control characters become question marks, and a long name is cut between characters. */
static void format_name(const char *name, char into[LOG_COLUMN_NAME])
{
    size_t length = strlen(name);
    bool cut = length >= LOG_COLUMN_NAME;
    if (cut) {
        length = LOG_COLUMN_NAME - sizeof "...";
        while (length && ((unsigned char)name[length] & 0xc0) == 0x80) length--;
    }
    snprintf(into, LOG_COLUMN_NAME, "%.*s%s", (int)length, name, cut ? "..." : "");
    for (; *into; into++)
        if ((unsigned char)*into < ' ' || *into == 0x7f) *into = '?';
}

/* Columns that the options name, although they have the same verdict. */
typedef struct doubtful {
    const char *first;
    size_t count;
} doubtful;

static void remark_doubtful(log_reader *log, const doubtful *columns, const char *what)
{
    char name[LOG_COLUMN_NAME], others[48] = "";
    if (!columns->count) return;
    format_name(columns->first, name);
    if (columns->count > 1)
        snprintf(others, sizeof others, " (and %zu other column%s)", columns->count - 1,
                 columns->count == 2 ? "" : "s");
    log_remark_add(log, "Context column '%s'%s %s. Was it known when the decision was made? If not, leave it out: %s",
                   name, others, what, "otherwise the numbers are too good.");
}

/* "Candidates see only the actions" although columns are left. */
static void remark_none(const csv_columns *self, log_reader *log)
{
    size_t left = 0;
    for (size_t i = 0; i < self->width; i++) {
        if (self->all[i].context) return;
        left += !self->all[i].role && self->all[i].name[0] && strcmp(self->all[i].name, "name") != 0;
    }
    if (left && !self->given)
        log_remark_add(log, "No column is used as context, so policies cannot personalise; choose some with "
                            "context=COLUMN+COLUMN.");
}

/* Sorts the features by name, by insertion because they are few. Of columns with the same name only the first is
 * context: features with one name would be added up. */
static void order_features(csv_columns *self)
{
    for (size_t i = 0; i < self->width; i++) {
        log_column *one = &self->all[i];
        size_t place = self->feature_count;
        if (!one->context) continue;
        while (place && strcmp(self->all[self->features[place - 1]].name, one->name) > 0) place--;
        if (place && strcmp(self->all[self->features[place - 1]].name, one->name) == 0) {
            one->context = false;
            one->reason = "same name as another column";
            continue;
        }
        memmove(self->features + place + 1, self->features + place,
                (self->feature_count++ - place) * sizeof *self->features);
        self->features[place] = i;
    }
}

ee_status csv_columns_judge(csv_columns *self, log_reader *log, const csv_sample *sample, ee_error *error)
{
    static const char *const reasons[] = {
        [CSV_CONTEXT] = NULL,
        [CSV_KEY] = "a key",
        [CSV_UNIQUE] = "almost unique",
        [CSV_TIME] = "a time",
        [CSV_FOLLOWS] = "follows from the action",
        [CSV_LEAKS] = "predicts the reward almost perfectly",
    };
    doubtful named[CSV_LEAKS + 1] = {{0}};
    for (size_t i = 0; i < self->width && sample; i++) {
        log_column *one = &self->all[i];
        csv_verdict verdict;
        if (!one->context) continue;
        ee_status status = csv_sample_judge(sample, i, one->name, &verdict, error);
        if (status) return status;
        if (self->given) {
            if (!named[verdict].count++) named[verdict].first = one->name;
            continue;
        }
        one->reason = reasons[verdict];
        one->context = !one->reason;
    }
    remark_doubtful(log, &named[CSV_LEAKS], "predicts the reward almost perfectly");
    remark_doubtful(log, &named[CSV_FOLLOWS], "has one value per chosen action");
    remark_none(self, log);
    order_features(self);
    return EE_OK;
}

/* ---- words ---- */

/* A list of columns in a sentence: those that fit, then how many more there are. */
typedef struct name_list {
    char *into; /* the whole text, (LOG_COLUMNS_TEXT) */
    size_t end; /* the list must end before this byte */
    size_t shown, more;
} name_list;

static name_list list_start(char *into, const char *title, size_t room)
{
    size_t length = strlen(into);
    snprintf(into + length, LOG_COLUMNS_TEXT - length, "%s", title);
    return (name_list){into, length + room, 0, 0};
}

static void list_add(name_list *list, const char *role, const log_column *column, bool reason)
{
    char name[LOG_COLUMN_NAME], one[LOG_COLUMN_NAME + 96];
    format_name(column->name, name);
    bool same = !role || strcmp(role, name) == 0;
    int size = snprintf(one, sizeof one, "%s%s%s%s", list->shown ? ", " : "", same ? "" : role, same ? "" : "=", name);
    if (reason && column->reason) snprintf(one + size, sizeof one - (size_t)size, " (%s)", column->reason);
    size_t length = strlen(list->into);
    if (list->more || length + strlen(one) >= list->end) {
        list->more++;
        return;
    }
    strcpy(list->into + length, one);
    list->shown++;
}

static void list_end(name_list *list)
{
    size_t length = strlen(list->into);
    if (!list->shown && !list->more)
        snprintf(list->into + length, LOG_COLUMNS_TEXT - length, "none");
    else if (list->more)
        snprintf(list->into + length, LOG_COLUMNS_TEXT - length, " and %zu more", list->more);
}

static bool is_left_out(const log_column *column)
{
    return !column->role && !column->context && column->name[0];
}

void log_columns_format(const log_reader *log, char into[LOG_COLUMNS_TEXT])
{
    enum { ROLE_ROOM = 500, LIST_ROOM = 240 };
    const log_column *all = log->columns;
    size_t context = 0, left = 0;
    into[0] = '\0';
    if (!log->column_count) return;
    name_list list = list_start(into, "Columns: ", ROLE_ROOM);
    for (size_t i = 0; i < log->column_count; i++)
        if (all[i].role) list_add(&list, all[i].role, &all[i], true);
    list_end(&list);
    list = list_start(into, "; context: ", LIST_ROOM);
    for (size_t i = 0; i < log->column_count; i++) {
        if (all[i].context) list_add(&list, NULL, &all[i], false);
        context += all[i].context;
        left += is_left_out(&all[i]);
    }
    list_end(&list);
    if (left) list = list_start(into, "; left out: ", LIST_ROOM);
    for (size_t i = 0; i < log->column_count; i++)
        if (is_left_out(&all[i])) list_add(&list, NULL, &all[i], true);
    if (left) list_end(&list);
    size_t length = strlen(into);
    snprintf(into + length, LOG_COLUMNS_TEXT - length, ".%s",
             context || left ? " Change with context=COLUMN+COLUMN or ignore=COLUMN." : "");
}
