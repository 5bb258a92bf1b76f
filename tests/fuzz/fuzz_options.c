/* Options texts that nobody meant: reading them ends, and what is accepted is printed so that it reads back the same,
 * by the parser alone and through a bandit of some policies and presets. */
#include <float.h>

#include "base/options.h"
#include "fuzz.h"
#include "fuzz_limits.h"

/* ---- the parser alone, on a made schema with every type, whose options need each other ---- */

typedef struct made {
    int64_t whole;
    double real;
    bool flag;
    option_choice choice;
    option_text text;
} made;

static const option rows[] = {
    OPTION_ROW_INTEGER(made, whole, "whole", "1", -0x1p63, 0x1p63, ""),
    OPTION_ROW_REAL(made, real, "real", "0.5", -DBL_MAX, DBL_MAX, "", .needs = "whole>0 or whole<-9"),
    OPTION_ROW_FLAG(made, flag, "flag", "on", "", .needs = "text!=none"),
    OPTION_ROW_NUMBERED(made, choice, "choice", "all", "all|ring:N|reservoir:N", 0, 1e6, ""),
    OPTION_ROW_TEXT(made, text, "text", "none", "any text", "", .needs = "flag=on and choice=ring|reservoir"),
};
static const option_table made_option_table = OPTION_TABLE(rows);

typedef struct both {
    made general, f2;
} both;

static const option_group groups[] = {
    OPTION_GROUP(both, general, made, made_option_table, "", "in general"),
    OPTION_GROUP(both, f2, made, made_option_table, "f2.", "the second", .defaults = "choice=ring:3 flag=off",
                 .needs = "whole<100 or real>0"),
};
static const option_schema schema = OPTION_SCHEMA("made", groups, both, NULL);

static ee_status read(const char *text, both *target, ee_error *error)
{
    options_set_defaults(&schema, target);
    ee_status status = options_parse(&schema, text, target, error);
    return status ? status : options_settle(&schema, text, target, error);
}

static void try_parser(const char *text)
{
    both target, again;
    char first[2048], second[2048];
    ee_error error = {EE_OK, ""};
    ee_status status = read(text, &target, &error);
    require_status(status, &error, EE_BAD_OPTION);
    if (status) return;
    require_of(options_format(&schema, &target, first, sizeof first) < sizeof first, "a text without an end", text);
    require_of(read(first, &again, NULL) == EE_OK, "what was printed is not read", first);
    options_format(&schema, &again, second, sizeof second);
    require_of(strcmp(first, second) == 0, "what was printed reads as something else", first);
}

/* ---- a bandit of some policies and presets ---- */

enum { DIM = 12, LARGEST_NUMBER = 32, LONGEST_TEXT = 512 };

/* Small sizes, so that what a text does not set costs little: it comes after them, and the last word counts. */
#define COMMON "pending=4 arms=3 nonzeros=4 "
#define F1 "f1.width=4 f1.history=ring:8 "
#define NETWORKS "exploration=network f2.width=4 f2.history=ring:8 decision=hybrid f3.width=4 f3.history=ring:8 "

static const struct {
    const char *policy, *small;
} kinds[] = {
    {"eenet", COMMON F1},
    {"eenet", COMMON F1 NETWORKS},
    {"eenet:paper", COMMON "f1.width=4 f2.width=4 f3.width=4 "},
    {"eenet:authors", COMMON "f1.width=4 f2.width=4 "},
    {"greedy", COMMON F1},
    {"neural-ts", COMMON F1},
    {"uniform", COMMON},
};

static void try_bandit(const char *policy, const char *small, const char *given)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s", small, given);
    ee_settings settings = {.policy = policy, .dim = DIM, .seed = 1, .options = text};
    ee_bandit *bandit, *again;
    ee_error error = {EE_OK, ""};
    ee_status status = ee_bandit_create(&settings, &bandit, &error);
    require_of(status == error.status, "a status without its error", text);
    require_of((status == EE_OK) == (bandit != NULL), "a bandit where there is none", text);
    if (status) return;
    settings.options = ee_bandit_info(bandit).options;
    require_of(ee_bandit_create(&settings, &again, &error) == EE_OK, "a bandit's options do not make one", text);
    require_of(strcmp(ee_bandit_info(again).options, settings.options) == 0, "a bandit's options make another", text);
    ee_bandit_free(again);
    ee_bandit_free(bandit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = calloc(1, size + 1);
    memcpy(text, bytes, size);
    try_parser(text);
    if (size < LONGEST_TEXT && !fuzz_has_large_number(bytes, size, LARGEST_NUMBER))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) try_bandit(kinds[i].policy, kinds[i].small, text);
    free(text);
    return 0;
}
