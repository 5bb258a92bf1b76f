/* The program: finds the command and gives it the rest of the arguments. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/status.h"
#include "command.h"
#include "math/kernels.h"
#include "ranks/launch.h"
#include "ranks/ranks.h"

static const command *const commands[] = {&command_run,     &command_grid,     &command_paper,    &command_merge,
                                          &command_report,  &command_evaluate, &command_log,      &command_rounds,
                                          &command_inspect, &command_policies, &command_describe, &command_datasets,
#if !defined(EENET_WITHOUT_SERVER) /* these need the server's code */
                                          &command_serve,   &command_keys,     &command_decide,   &command_explain,
                                          &command_backup,  &command_move,     &command_check,    &command_replay,
#endif
                                          &command_bench,   &command_complete};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const command *command_at(size_t index)
{
    return index < COMMANDS ? commands[index] : NULL;
}

/* Wraps between a flag with its value and the next. */
static void print_usage(FILE *stream, const char *lead, const command *about)
{
    enum { COLUMNS = 100, INDENT = 10 };
    int used = fprintf(stream, "%seenet %s", lead, about->name);
    for (const char *piece = about->form; *piece;) {
        size_t length = strcspn(piece, " ");
        while (piece[length] && piece[length + 1] != '[' && piece[length + 1] != '-') /* a flag and its value */
            length += 1 + strcspn(piece + length + 1, " ");
        if (used + 1 + (int)length > COLUMNS) used = fprintf(stream, "\n%*s", INDENT, "") - 1;
        used += fprintf(stream, " %.*s", (int)length, piece);
        piece += length + (piece[length] == ' ');
    }
    fputc('\n', stream);
}

static void print_overview(FILE *stream)
{
    fprintf(stream,
            "Neural contextual bandits: policies that learn which choice pays, and explore while they learn.\n\n"
            "Usage:\n"
            "  eenet COMMAND [FLAG]...\n"
            "  eenet help COMMAND    what the command does, and its flags\n"
            "  eenet --version\n\n"
            "Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++) fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream, "\nTo start, compare two policies on generated data (a few seconds):\n"
                    "  eenet run -d synthetic:cosine -p eenet,linucb -T 1000 -s 0-4\n");
}

static void print_flag(const flag *entry)
{
    char text[64];
    snprintf(text, sizeof text, "%c%c%c --%s%s%s", entry->letter ? '-' : ' ', entry->letter ? entry->letter : ' ',
             entry->letter ? ',' : ' ', entry->name, entry->value ? " " : "", entry->value ? entry->value : "");
    printf("  %-33s  %s\n", text, entry->meaning);
}

static void print_help(const command *about)
{
    flag entry;
    print_usage(stdout, "Usage: ", about);
    printf("\n%s: %s\n", about->name, about->summary);
    for (size_t i = 0; command_flag(about, i, &entry); i++) {
        if (i == 0) printf("\n");
        print_flag(&entry);
    }
    if (about->details[0]) printf("\n%s", about->details);
}

/* NULL, after an error on stderr, if no command has the name. */
static const command *find_command(const char *name)
{
    const char *names[COMMANDS + 1];
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0) return commands[i];
    }
    names[COMMANDS] = "help";
    const char *nearest = options_nearest(name, names, COMMANDS + 1);
    if (strcmp(name, "coverage") == 0)
        fprintf(stderr, "eenet: 'coverage' moved to the source tree: make coverage (docs/evaluation-checks.md)\n");
    else if (nearest)
        fprintf(stderr, "eenet: unknown command '%s'; did you mean '%s'?\n", name, nearest);
    else
        fprintf(stderr, "eenet: unknown command '%s'\n", name);
    fprintf(stderr, "Try 'eenet help'.\n");
    return NULL;
}

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* words: the command to explain, or none. Further requests for help are ignored. */
static int help(int argc, char **argv)
{
    const command *about = NULL;
    for (int i = 0; i < argc; i++) {
        if (is_help(argv[i])) continue;
        if (about) {
            fprintf(stderr, "eenet help: expected one command, got '%s' too\nTry 'eenet help'.\n", argv[i]);
            return EXIT_USAGE;
        }
        about = find_command(argv[i]);
        if (!about) return EXIT_USAGE;
    }
    if (about)
        print_help(about);
    else
        print_overview(stdout);
    return EXIT_DONE;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (argv[i][0] == '-' && is_help(argv[i])) return true;
    return false;
}

static int dispatch(int argc, char **argv)
{
    if (argc <= 0) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *verb = argv[0];
    if (strcmp(verb, "--version") == 0) {
        printf("eenet %s, kernels %s, %s\n", ee_version(), ee_kernels(), ranks_library());
        return EXIT_DONE;
    }
    if (is_help(verb)) return help(argc - 1, argv + 1);
    const command *chosen = find_command(verb);
    if (!chosen) return EXIT_USAGE;
    if (asks_for_help(argc - 1, argv + 1)) {
        print_help(chosen);
        return EXIT_DONE;
    }
    return chosen->run(chosen, argc - 1, argv + 1);
}

/* What was printed has not been written before the last flush: a full disk or a closed pipe shows only here. */
static int close_output(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    failed = fclose(stdout) != 0 || failed;
    if (!failed) return code;
    fprintf(stderr, "eenet: could not write to standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
    return code ? code : EXIT_FAILED;
}

/* EENET_KERNELS: the kernels to use, so that machines of several kinds come to the same last digit. */
static ee_status choose_kernels(ee_error *error)
{
    const char *name = getenv("EENET_KERNELS");
    if (!name || !name[0] || kernels_use(name)) return EE_OK;
    char known[128] = "";
    size_t length = 0;
    const kernel_table *table;
    for (size_t i = 0; (table = kernels_at(i)) && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", table->name);
    return status_fail(error, EE_BAD_OPTION,
                       "EENET_KERNELS: expected one of %s (what this machine supports), got '%.64s'", known, name);
}

int main(int argc, char **argv)
{
    static char output[1 << 16]; /* of all but lines of JSON, which are flushed: a full disk shows at the last flush */
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, output, _IOFBF, sizeof output);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is then an error of the write, and is reported as one */
    ee_error error;
    if (ranks_start(&error)) {
        if (launch_find().first) fprintf(stderr, "eenet: %s\n", error.message);
        return EXIT_USAGE;
    }
    ee_status unusable = choose_kernels(&error);
    if (!ranks_lead()) return ranks_serve(unusable ? &error : NULL);
    if (unusable) fprintf(stderr, "eenet: %s\n", error.message);
    int code = close_output(unusable ? EXIT_USAGE : dispatch(argc - 1, argv + 1));
    arguments_release();
    ranks_end();
    return code;
}
