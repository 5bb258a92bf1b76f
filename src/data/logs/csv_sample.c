#include "csv_sample.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "data/files/column_names.h"
#include "data/tables/missing_words.h"
#include "data/values/date_text.h"
#include "data/values/id_set.h"
#include "data/values/log_time.h"

/* Fewer different values may be categories, whatever they look like. */
enum { MANY_VALUES = 20 };

/* Fewer events say nothing about what follows from the action or the reward. */
enum { MANY_EVENTS = 50 };

/* Share of the reward's variance that a column must predict to be reported. */
static const double almost_all = 0.9;

typedef struct sample_cell {
    uint64_t hash; /* of the value; 0: missing */
    double number; /* NaN: text or missing */
} sample_cell;

/* What the values of a column are like. */
typedef struct column_kind {
    bool text, fraction; /* some value is text; not whole */
    bool other;          /* some text is not a date */
} column_kind;

struct csv_sample {
    memory owner;
    size_t width, capacity, count;
    sample_cell *cells; /* (capacity, width) */
    column_kind *kinds; /* (width) */
    uint64_t *actions;  /* (capacity) */
    double *rewards;    /* (capacity) */
};

ee_status csv_sample_create(size_t width, csv_sample **out, ee_error *error)
{
    csv_sample *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    size_t most = CSV_SAMPLE_CELLS / width;
    self->width = width;
    self->capacity = most > CSV_SAMPLE_EVENTS ? CSV_SAMPLE_EVENTS : most < MANY_EVENTS ? MANY_EVENTS : most;
    status = memory_create(&self->owner, &self->cells, self->capacity * width, sizeof *self->cells, error);
    if (!status) status = memory_create(&self->owner, &self->kinds, width, sizeof *self->kinds, error);
    if (!status) status = memory_create(&self->owner, &self->actions, self->capacity, sizeof *self->actions, error);
    if (!status) status = memory_create(&self->owner, &self->rewards, self->capacity, sizeof *self->rewards, error);
    if (status)
        csv_sample_free(self);
    else
        *out = self;
    return status;
}

void csv_sample_free(csv_sample *self)
{
    if (self) memory_release(&self->owner);
}

bool csv_sample_is_full(const csv_sample *self)
{
    return self->count == self->capacity;
}

static bool is_date(const field *from)
{
    double seconds;
    return date_text_is(from->text) || log_time_parse((json_text){from->text, from->length}, &seconds);
}

static sample_cell read_cell(const field *from, column_kind *kind)
{
    static const option_text words = "auto";
    field value = field_trim(*from);
    sample_cell out = {0, (double)NAN};
    if (!value.length || missing_words_have(words, &(cell){value.text, (double)NAN}, true)) return out;
    if (field_number(&value, &out.number)) {
        double number = out.number + 0.0; /* -0 is 0 */
        out.hash = id_hash((const char *)&number, sizeof number);
        kind->fraction = kind->fraction || number != floor(number);
    } else {
        out.number = (double)NAN;
        out.hash = id_hash(value.text, value.length);
        kind->text = true;
        kind->other = kind->other || !is_date(&value);
    }
    out.hash += out.hash == 0;
    return out;
}

void csv_sample_add(csv_sample *self, const field *fields, json_text action, double reward)
{
    if (csv_sample_is_full(self)) return;
    sample_cell *into = self->cells + self->count * self->width;
    for (size_t i = 0; i < self->width; i++) into[i] = read_cell(&fields[i], &self->kinds[i]);
    self->actions[self->count] = id_hash(action.bytes, action.length);
    self->rewards[self->count++] = reward;
}

/* ---- the values of one column ---- */

typedef struct sample_value {
    sample_cell cell;
    uint64_t action;
    double reward;
} sample_value;

/* By number, then text, then missing values: equal values are neighbours. */
static int compare_values(const void *a, const void *b)
{
    const sample_cell *one = &((const sample_value *)a)->cell, *other = &((const sample_value *)b)->cell;
    bool numbers[2] = {!isnan(one->number), !isnan(other->number)};
    if (numbers[0] != numbers[1]) return numbers[0] ? -1 : 1;
    if (numbers[0] && one->number != other->number) return one->number < other->number ? -1 : 1;
    return (one->hash < other->hash) - (one->hash > other->hash);
}

static int compare_actions(const void *a, const void *b)
{
    uint64_t one = ((const sample_value *)a)->action, other = ((const sample_value *)b)->action;
    return (one > other) - (one < other);
}

static size_t run_of(const sample_value *values, size_t start, size_t count)
{
    size_t end = start + 1;
    while (end < count && values[end].cell.hash == values[start].cell.hash) end++;
    return end - start;
}

/* ---- keys and times ---- */

/* "user_id", "userId", "ID", "session key". */
static bool is_key_name(const char *name)
{
    static const char *const words[] = {"id", "uuid", "guid", "key", "hash"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (length < size || strcasecmp(name + length - size, words[i]) != 0) continue;
        if (length == size) return true;
        unsigned char before = (unsigned char)name[length - size - 1], first = (unsigned char)name[length - size];
        if (!isalpha(before) || (islower(before) && isupper(first))) return true;
    }
    return false;
}

/* Text is a key if more than half of the values differ. Whole numbers may be quantities: more than 90%. */
static csv_verdict judge_key(const sample_value *values, size_t count, const column_kind *kind, const char *name)
{
    size_t different = 0, given = 0;
    if (kind->fraction && !kind->text) return CSV_CONTEXT;
    for (size_t i = 0; i < count; i += run_of(values, i, count)) different += values[i].cell.hash != 0;
    for (size_t i = 0; i < count; i++) given += values[i].cell.hash != 0;
    if (different <= MANY_VALUES) return CSV_CONTEXT;
    if (kind->text ? 2 * different > given : 10 * different > 9 * given) return CSV_UNIQUE;
    return is_key_name(name) ? CSV_KEY : CSV_CONTEXT;
}

/* Dates, or seconds or milliseconds since 1970 in the years 2000 to 2036, or dates in digits (20260131). */
static bool is_time(const sample_value *values, size_t count, const column_kind *kind)
{
    static const double first = 946684800, last = 2114380800;
    bool seconds = true, thousandths = true, digits = true;
    size_t given = 0;
    for (size_t i = 0; i < count; i++) {
        double number = values[i].cell.number;
        given += values[i].cell.hash != 0;
        if (isnan(number)) continue;
        seconds = seconds && number >= first && number <= last;
        thousandths = thousandths && number >= 1000 * first && number <= 1000 * last;
        digits = digits && date_number_is(number);
    }
    return given && !kind->other && (seconds || thousandths || digits);
}

/* ---- consequences ---- */

/* Whether each action has a single value, but not all the same one. values must be ordered by action. */
static bool follows_action(const sample_value *values, size_t count)
{
    size_t compared = 0;
    uint64_t first = 0;
    bool several = false, any = false;
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && values[end].action == values[start].action; end++, compared++)
            if (values[end].cell.hash != values[start].cell.hash) return false;
        if (end - start < 2) continue; /* one event shows nothing */
        if (!any) first = values[start].cell.hash;
        several = several || values[start].cell.hash != first;
        any = true;
    }
    return several && compared >= MANY_EVENTS;
}

/* Rewards less their overall mean. */
typedef struct reward_group {
    size_t count;
    double sum, squares;
} reward_group;

static void group_add(reward_group *group, double difference)
{
    group->count++;
    group->sum += difference;
    group->squares += difference * difference;
}

/* The squared errors if each reward is predicted by the mean of the others in its group. */
static double group_errors(const reward_group *group)
{
    double count = (double)group->count;
    if (group->count < 2) return group->squares;
    return (group->squares - group->sum * group->sum / count) * (count / (count - 1)) * (count / (count - 1));
}

/* Equal values form a group. Numbers that are rare form one with their neighbours. */
static size_t group_size(const sample_value *values, size_t start, size_t count)
{
    size_t least = count / MANY_EVENTS, size = run_of(values, start, count);
    while (start + size < count && size < least && !isnan(values[start + size].cell.number)) {
        size_t next = run_of(values, start + size, count);
        if (next >= least) break;
        size += next;
    }
    return size;
}

/* The reward, or only whether there is one. */
static double outcome_of(const sample_value *value, bool any)
{
    return any ? value->reward != 0 : value->reward;
}

/* Whether the column predicts the outcomes almost perfectly. Texts that occur once form one group. */
static bool leaks_outcome(const sample_value *values, size_t count, bool any)
{
    double mean = 0, errors = 0;
    bool varies = false; /* rounding gives equal outcomes a variance */
    reward_group all = {0}, once = {0};
    for (size_t i = 0; i < count; i++) {
        mean += outcome_of(&values[i], any) / (double)count;
        varies = varies || outcome_of(&values[i], any) != outcome_of(&values[0], any);
    }
    if (!varies) return false;
    for (size_t i = 0, size; i < count; i += size) {
        reward_group equal = {0};
        size = group_size(values, i, count);
        bool single = size == 1 && isnan(values[i].cell.number);
        for (size_t k = i; k < i + size; k++) {
            group_add(single ? &once : &equal, outcome_of(&values[k], any) - mean);
            group_add(&all, outcome_of(&values[k], any) - mean);
        }
        errors += group_errors(&equal);
    }
    errors += group_errors(&once);
    return errors <= (1 - almost_all) * all.squares;
}

/* values must be ordered by value. */
static bool leaks_reward(const sample_value *values, size_t count)
{
    return count >= MANY_EVENTS && (leaks_outcome(values, count, false) || leaks_outcome(values, count, true));
}

ee_status csv_sample_judge(const csv_sample *self, size_t column, const char *name, csv_verdict *out, ee_error *error)
{
    sample_value *values;
    size_t count = self->count;
    const column_kind *kind = &self->kinds[column];
    ee_status status = memory_create(NULL, &values, count, sizeof *values, error);
    if (status) return status;
    for (size_t i = 0; i < count; i++)
        values[i] = (sample_value){self->cells[i * self->width + column], self->actions[i], self->rewards[i]};
    qsort(values, count, sizeof *values, compare_values);
    *out = leaks_reward(values, count)    ? CSV_LEAKS
           : is_time(values, count, kind) ? CSV_TIME
                                          : judge_key(values, count, kind, name);
    qsort(values, count, sizeof *values, compare_actions);
    if (*out == CSV_CONTEXT && follows_action(values, count)) *out = CSV_FOLLOWS;
    memory_free(values);
    return EE_OK;
}
