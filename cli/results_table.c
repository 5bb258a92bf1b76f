#include "results_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "command.h"
#include "data/sets/environment.h"
#include "seeds.h"

typedef struct row {
    const char *label;
    run_summary summary;
    bool best;
    char regret[32], deviation[32], optimal[16], seconds[32], runs[48];
} row;

static void format_row(row *into, size_t seeds)
{
    const run_summary *summary = &into->summary;
    snprintf(into->runs, sizeof into->runs, "%zu/%zu", summary->runs, seeds);
    if (!summary->runs) {
        strcpy(into->regret, "-");
        strcpy(into->optimal, "-");
        strcpy(into->seconds, "-");
        return;
    }
    snprintf(into->regret, sizeof into->regret, "%.1f", summary->regret);
    snprintf(into->optimal, sizeof into->optimal, "%.1f%%", 100.0 * summary->optimal);
    snprintf(into->seconds, sizeof into->seconds, "%.2f", summary->seconds);
    if (summary->runs > 1) snprintf(into->deviation, sizeof into->deviation, "%.1f", summary->regret_deviation);
}

/* Marks the least regret, among policies that have met the same rounds: all of them. */
static void mark_best(row *rows, size_t count, size_t seeds)
{
    size_t compared = 0;
    double least = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].summary.runs < seeds) continue;
        if (!compared || rows[i].summary.regret < least) least = rows[i].summary.regret;
        compared++;
    }
    for (size_t i = 0; i < count && compared > 1; i++)
        rows[i].best = rows[i].summary.runs == seeds && rows[i].summary.regret <= least;
}

/* The widths in columns of the terminal. The plus-minus sign is two bytes and one column, so printf cannot pad it. */
static void print_rows(const row *rows, size_t count, bool whole)
{
    size_t policy = strlen("policy"), regret = 0, deviation = 0;
    for (size_t i = 0; i < count; i++) {
        policy = command_wider(policy, rows[i].label);
        regret = command_wider(regret, rows[i].regret);
        deviation = command_wider(deviation, rows[i].deviation);
    }
    size_t both = regret + (deviation ? 3 + deviation : 0);
    if (both < strlen("regret")) both = strlen("regret");
    size_t fill = both - regret - (deviation ? 3 + deviation : 0);
    printf("  %-*s  %*s  optimal  seconds%s\n", (int)policy, "policy", (int)both, "regret", whole ? "" : "  runs");
    for (size_t i = 0; i < count; i++) {
        const row *entry = &rows[i];
        const char *sign = entry->deviation[0] ? " \302\261 " : "   ";
        printf("%c %-*s  %*s%*s", entry->best ? '*' : ' ', (int)policy, entry->label, (int)fill, "", (int)regret,
               entry->regret);
        if (deviation) printf("%s%*s", sign, (int)deviation, entry->deviation);
        printf("  %7s  %7s", entry->optimal, entry->seconds);
        if (!whole) printf("  %4s", entry->runs);
        printf("\n");
    }
}

/* What each slot lost, below the table. */
static void print_slots(const row *rows, size_t count, size_t slots)
{
    size_t policy = strlen("policy");
    for (size_t i = 0; i < count; i++) policy = command_wider(policy, rows[i].label);
    printf("\n  %-*s", (int)policy, "policy");
    for (size_t k = 0; k < slots; k++) printf("   slot %2zu", k + 1);
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        printf("  %-*s", (int)policy, rows[i].label);
        for (size_t k = 0; k < slots && rows[i].summary.runs; k++) printf("  %8.1f", rows[i].summary.slot_regrets[k]);
        printf("\n");
    }
}

static void print_head(const results_table *of)
{
    char words[DELAY_TEXT];
    delay_format(of->late, words);
    printf("%s: %zu arms of %zu features, %" PRIu64 " rounds, ", of->name, dataset_arms(of->data),
           dataset_dim(of->data), of->rounds);
    if (!delay_is_none(of->late)) printf("delay %s, ", words);
    if (of->slots > 1) printf("%zu slots, ", of->slots);
    printf("seed%s ", of->seed_count > 1 ? "s" : "");
    seeds_print(stdout, of->seeds, of->seed_count);
    printf("\n\n");
}

ee_status results_table_print(const results_table *of, ee_error *error)
{
    row *rows;
    size_t seeds = of->seed_count;
    ee_status status = memory_create(NULL, &rows, of->count, sizeof *rows, error);
    if (status) return status;
    bool whole = true;
    for (size_t i = 0; i < of->count && !status; i++) {
        rows[i].label = of->series[i].label;
        status = runner_summarize(of->series[i].results, seeds, &rows[i].summary, error);
        if (!status) format_row(&rows[i], seeds);
        whole = whole && rows[i].summary.runs == seeds;
    }
    if (!status) {
        mark_best(rows, of->count, seeds);
        print_head(of);
        print_rows(rows, of->count, whole);
        if (of->slots > 1) print_slots(rows, of->count, of->slots);
    }
    memory_free(rows);
    return status;
}
