/* eenet describe: a policy and its options. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

typedef struct columns {
    size_t name, value, line; /* widths */
} columns;

static columns measure(const char *policy)
{
    ee_option entry;
    columns wide = {strlen("option"), strlen("default"), command_line_width()};
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++) {
        wide.name = command_wider(wide.name, entry.name);
        wide.value = command_wider(wide.value, entry.value);
    }
    return wide;
}

static void print_option(const columns *wide, const ee_option *entry)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s%s (%s)", entry->acts ? "" : "needs ", entry->acts ? "" : entry->needs,
             entry->acts ? "" : ": ", entry->meaning, entry->range);
    printf("  %-*s  %-*s  ", (int)wide->name, entry->name, (int)wide->value, entry->value);
    command_print_wrapped(text, wide->name + wide->value + 6, wide->line);
}

/* Those that people change first, where `first`; else the others, under the title of their part. */
static void print_acting(const char *policy, const columns *wide, bool first)
{
    ee_option entry;
    const char *title = "";
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++) {
        if (!entry.acts || (entry.first != 0) != first) continue;
        const char *own = first ? "change these first" : entry.part;
        if (strcmp(own, title) != 0) printf("\n%s\n", own);
        title = own;
        print_option(wide, &entry);
    }
}

static void print_idle(const char *policy, const columns *wide)
{
    ee_option entry;
    bool any = false;
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++) {
        if (entry.acts) continue;
        if (!any) printf("\nnot used by %s: first set what they need\n", policy);
        any = true;
        print_option(wide, &entry);
    }
}

/* A line for each part, wrapped where it is too long. */
static void print_preset(const char *preset)
{
    char part[1024];
    printf("preset:\n");
    for (size_t length; *preset; preset += length + (preset[length] == '\n')) {
        length = strcspn(preset, "\n");
        snprintf(part, sizeof part, "%.*s", (int)length, preset);
        printf("  ");
        command_print_wrapped(part, 6, command_line_width());
    }
}

static void print_head(const ee_policy *policy)
{
    printf("%s: ", policy->name);
    command_print_wrapped(policy->summary, strlen(policy->name) + 2, command_line_width());
    if (policy->paper[0]) {
        printf("paper: ");
        command_print_wrapped(policy->paper, strlen("paper: "), command_line_width());
    }
    if (policy->preset[0]) print_preset(policy->preset);
}

static int run(const command *self, int argc, char **argv)
{
    arguments from = arguments_of(self, argc, argv);
    const char *name = NULL, *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (name) return command_misused(self, "expected one name, got '%s' too", value);
        name = value;
    }
    if (!name) return command_misused(self, "expected the name of a policy; 'eenet policies' lists them");
    ee_policy policy = {.name = "features",
                        .summary = "named features: contexts and actions as JSON, with any policy",
                        .paper = "",
                        .preset = ""};
    if (strcmp(name, policy.name) != 0 && !command_find_policy(self, name, &policy)) return EXIT_USAGE;

    print_head(&policy);
    columns wide = measure(policy.name);
    printf("\n  %-*s  %-*s  meaning (range)\n", (int)wide.name, "option", (int)wide.value, "default");
    print_acting(policy.name, &wide, true);
    print_acting(policy.name, &wide, false);
    print_idle(policy.name, &wide);
    return EXIT_DONE;
}

const command command_describe = {
    .name = "describe",
    .form = "NAME",
    .summary = "show a policy: its paper, its preset and its options",
    .details = "Set an option with 'eenet run --set NAME.OPTION=VALUE'. 'eenet describe features' shows the options of "
               "named\nfeatures, which every policy shares. Output width: COLUMNS; default: the terminal's width.\n",
    .run = run,
};
