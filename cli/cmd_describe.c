/* eenet describe: a policy and its options. */
#include <stdio.h>
#include <string.h>

#include "command.h"

/* Ranges that are lists of words are long: past this the meaning goes to the next line. */
enum { WIDEST_RANGE = 32 };

typedef struct widths {
    size_t name, value, range;
} widths;

static void print_row(const widths *wide, const char *name, const char *value, const char *range, const char *meaning)
{
    printf("%-*s  ", (int)wide->name, name);
    command_print_column(value, wide->value, wide->name + 2);
    printf("  ");
    command_print_column(range, wide->range, wide->name + wide->value + 4);
    printf("  %s\n", meaning);
}

static void print_options(const char *policy)
{
    ee_option entry;
    widths wide = {strlen("option"), strlen("default"), strlen("range")};
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++) {
        wide.name = command_wider(wide.name, entry.name);
        wide.value = command_wider(wide.value, entry.value);
        wide.range = command_wider(wide.range, entry.range);
    }
    if (wide.range > WIDEST_RANGE) wide.range = WIDEST_RANGE;
    print_row(&wide, "option", "default", "range", "meaning");
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++)
        print_row(&wide, entry.name, entry.value, entry.range, entry.meaning);
}

/* A line for each part. */
static void print_preset(const char *preset)
{
    printf("preset:\n");
    for (size_t length; *preset; preset += length + (preset[length] == '\n')) {
        length = strcspn(preset, "\n");
        printf("    %.*s\n", (int)length, preset);
    }
}

static int run(const command *self, int count, char **words)
{
    arguments from = arguments_of(self, count, words);
    const char *name = NULL, *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (name) return command_misused(self, "expected one name, got '%s' too", value);
        name = value;
    }
    if (!name) return command_misused(self, "expected the name of a policy; 'eenet policies' lists them");
    ee_policy policy;
    if (!command_find_policy(self, name, &policy)) return EXIT_USAGE;

    printf("%s: %s\n", policy.name, policy.summary);
    if (policy.paper[0]) printf("paper: %s\n", policy.paper);
    if (policy.preset[0]) print_preset(policy.preset);
    ee_option first;
    if (ee_option_describe(policy.name, 0, &first, NULL)) {
        printf("It has no options.\n");
        return EXIT_DONE;
    }
    printf("\n");
    print_options(policy.name);
    return EXIT_DONE;
}

const command command_describe = {
    .name = "describe",
    .form = "NAME",
    .summary = "show a policy: its paper, its preset and its options",
    .details = "The options are given to 'eenet run' as --set NAME.OPTION=VALUE.\n",
    .run = run,
};
