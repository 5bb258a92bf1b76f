#include "inspection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "data/values/plain_number.h"
#include "shown_name.h"

/* What a terminal shows without scrolling far; --json has all. */
enum { ROWS_SHOWN = 40, CLASSES_SHOWN = 20, ARMS_SHOWN = 20, ENTRIES_SHOWN = 20, VALUES_SHOWN = 6 };

/* ---- the round ---- */

bool inspection_has_context(const inspection *of)
{
    return dataset_blocks(of->data) > 1 && of->round.arms.count > 0;
}

bool inspection_next_entry(const inspection *of, size_t arm, size_t *at, arm_entry *entry)
{
    const ee_arms *arms = &of->round.arms;
    size_t block = arms->dim / (inspection_has_context(of) ? dataset_blocks(of->data) : 1);
    if (arms->starts) {
        size_t place = arms->starts[arm] + *at;
        if (place == arms->starts[arm + 1]) return false;
        *entry = (arm_entry){arms->indices[place] % block, arms->values[place]};
        ++*at;
        return true;
    }
    for (; *at < arms->dim; ++*at) {
        float value = arms->values[arm * arms->dim + *at];
        if (value == 0.0f) continue;
        *entry = (arm_entry){(*at)++ % block, value};
        return true;
    }
    return false;
}

void inspection_feature_name(const inspection *of, size_t index, char *name, size_t capacity)
{
    if (of->encoding)
        row_encoding_feature_name(of->encoding, index, name, capacity);
    else
        snprintf(name, capacity, "%zu", index);
}

/* ---- printed ---- */

static json_text text_of(const char *words)
{
    return (json_text){words, strlen(words)};
}

static size_t wider_name(size_t width, const char *name)
{
    char shown[SHOWN_NAME_SIZE];
    size_t characters = show_name(text_of(name), shown);
    return characters > width ? characters : width;
}

static void print_more(size_t count, size_t shown)
{
    if (count > shown) printf("  and %zu more\n", count - shown);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void print_head(const inspection *of)
{
    const dataset *data = of->data;
    size_t blocks = dataset_blocks(data);
    printf("%s\n", dataset_name(data));
    if (dataset_rows(data))
        printf("  %" PRIu64 " rows, each a round of %zu arms\n", dataset_rows(data), dataset_arms(data));
    else if (dataset_rounds(data))
        printf("  %" PRIu64 " rounds of %zu arms\n", dataset_rounds(data), dataset_arms(data));
    else
        printf("  unlimited rounds of %zu arms\n", dataset_arms(data));
    if (blocks > 1)
        printf("  %zu features per context; an arm is the context in one of %zu blocks, %zu features in total\n",
               dataset_dim(data) / blocks, blocks, dataset_dim(data));
    else
        printf("  %zu features per arm\n", dataset_dim(data));
    if (dataset_exclusive(data)) printf("  at most one arm per round has more than the smallest reward\n");
    for (size_t i = 0; i < of->seen->number_count; i++)
        printf("  %s: %s\n", of->seen->numbers[i].name, plain_number_of(of->seen->numbers[i].value, 10).text);
}

static void print_count(uint64_t count, int width)
{
    if (count)
        printf("  %*" PRIu64, width, count);
    else
        printf("  %*s", width, "-");
}

static void print_columns(const survey *seen)
{
    size_t shown = least(seen->column_count, ROWS_SHOWN), width = strlen("column");
    if (!shown) return;
    for (size_t i = 0; i < shown; i++) width = wider_name(width, seen->columns[i].name);
    printf("\n  %-*s  %-11s  %8s  %8s  %8s  range\n", (int)width, "column", "kind", "missing", "values", "features");
    for (size_t i = 0; i < shown; i++) {
        const survey_column *column = &seen->columns[i];
        printf("  ");
        print_name(text_of(column->name), width);
        printf("  %-11s", survey_kind_name(column->kind));
        printf("  %8" PRIu64, column->missing);
        print_count(column->distinct, 8);
        print_count(column->features, 8);
        if (column->low <= column->high)
            printf("  %s to %s", plain_number_of(column->low, 6).text, plain_number_of(column->high, 6).text);
        printf("\n");
    }
    print_more(seen->column_count, shown);
}

static void print_classes(const survey *seen)
{
    size_t shown = least(seen->class_count, CLASSES_SHOWN), width = strlen("class");
    uint64_t all = 0;
    if (!shown) return;
    for (size_t i = 0; i < seen->class_count; i++) all += seen->classes[i].count;
    for (size_t i = 0; i < shown; i++) width = wider_name(width, seen->classes[i].name);
    printf("\n  %-*s  %8s  share\n", (int)width, "class", "rows");
    for (size_t i = 0; i < shown; i++) {
        printf("  ");
        print_name(text_of(seen->classes[i].name), width);
        printf("  %8" PRIu64 "  %4.1f%%\n", seen->classes[i].count,
               all ? 100.0 * (double)seen->classes[i].count / (double)all : 0.0);
    }
    print_more(seen->class_count, shown);
}

/* The first values of an arm that has no names. */
static void print_values(const inspection *of, size_t arm)
{
    arm_entry entry;
    size_t at = 0, count = 0;
    while (inspection_next_entry(of, arm, &at, &entry)) {
        if (count++ == VALUES_SHOWN) {
            printf(" ...");
            break;
        }
        printf("  %zu: %s", entry.index, plain_number_of((double)entry.value, 4).text);
    }
}

static void print_arms(const inspection *of)
{
    size_t arms = of->round.arms.count, shown = least(arms, ARMS_SHOWN), width = strlen("class");
    bool classes = of->seen->class_count == arms && inspection_has_context(of), context = inspection_has_context(of);
    for (size_t i = 0; i < shown && classes; i++) width = wider_name(width, of->seen->classes[i].name);
    printf("  arm  ");
    if (classes) printf("%-*s  ", (int)width, "class");
    printf("    reward  expected%s\n", context ? "" : "  nonzero features");
    for (size_t i = 0; i < shown; i++) {
        printf("  %3zu  ", i);
        if (classes) print_name(text_of(of->seen->classes[i].name), width);
        printf("%s%10s%10s", classes ? "  " : "", plain_number_of(of->round.rewards[i], 4).text,
               plain_number_of(of->round.expected[i], 4).text);
        if (!context) print_values(of, i);
        printf("\n");
    }
    print_more(arms, shown);
}

static void print_context(const inspection *of)
{
    char name[256];
    arm_entry entry;
    size_t width = strlen("feature"), count = 0;
    for (size_t at = 0; inspection_next_entry(of, 0, &at, &entry);) {
        inspection_feature_name(of, entry.index, name, sizeof name);
        if (count++ < ENTRIES_SHOWN) width = wider_name(width, name);
    }
    printf("\n  %-*s  value\n", (int)width, "feature");
    size_t at = 0;
    for (size_t i = 0; i < ENTRIES_SHOWN && inspection_next_entry(of, 0, &at, &entry); i++) {
        inspection_feature_name(of, entry.index, name, sizeof name);
        printf("  ");
        print_name(text_of(name), width);
        printf("  %s\n", plain_number_of((double)entry.value, 6).text);
    }
    print_more(count, ENTRIES_SHOWN);
}

/* The end of an option's value: the next comma outside quotes. */
static size_t value_length(const char *value)
{
    size_t length = 0;
    for (bool quoted = false; value[length] && (quoted || value[length] != ','); length++)
        if (value[length] == '"') quoted = !quoted;
    return length;
}

/* The data set as it was given, with the suggested value of `ignore` in place of the present one. */
static void print_corrected(const inspection *of)
{
    const char *given = dataset_text(of->data), *found = strstr(given, ",ignore="), *rest = "";
    size_t before = found ? (size_t)(found - given) : strlen(given);
    if (!of->seen->ignore || (!found && strstr(given, "ignore="))) return;
    if (found) {
        const char *value = found + strlen(",ignore=");
        rest = value + value_length(value);
        if (memchr(value, '=', (size_t)(rest - value))) return; /* separated by blanks: which are not always an end */
    }
    bool quotes = given[strcspn(given, " \t\"")] || strchr(of->seen->ignore, '"');
    const char *quote = quotes ? "'" : ""; /* for the shell */
    printf("\n"
           "data set without these columns\n"
           "  %s%.*s,ignore=%s%s%s\n",
           quote, (int)before, given, of->seen->ignore, rest, quote);
}

void inspection_print(const inspection *of)
{
    print_head(of);
    print_columns(of->seen);
    print_classes(of->seen);
    printf("\n"
           "first round of seed %" PRIu64 "\n",
           of->seed);
    print_arms(of);
    if (inspection_has_context(of)) print_context(of);
    if (of->seen->remark_count)
        printf("\n"
               "likely mistakes\n");
    for (size_t i = 0; i < of->seen->remark_count; i++) {
        printf("  ");
        command_print_wrapped(of->seen->remarks[i], 2, command_line_width());
    }
    print_corrected(of);
}
