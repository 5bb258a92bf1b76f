#include "lab/report/summary.h"

#include <unistd.h>

#include "data/support_sets.h"
#include "support_files.h"

/* Runs in memory. The strings are borrowed, so there is nothing to release. */
typedef struct made_runs {
    stored_run runs[160];
    stored_runs list;
} made_runs;

static made_runs made;
static summary all;
static const summary_group *group; /* the first */

static int release(void **state)
{
    (void)state;
    made = (made_runs){0};
    summary_release(&all);
    return 0;
}

#define TEST_OF_RUNS(name) TEST_WITH(name, NULL, release)

static stored_run *add(const char *data, const char *policy, const char *options, uint64_t seed, double regret)
{
    stored_run *run = &made.runs[made.list.count++];
    made.list.runs = made.runs;
    *run = (stored_run){.dataset = data,
                        .dim = 3,
                        .arms = 2,
                        .policy = policy,
                        .options = options,
                        .seed = seed,
                        .rounds = 100,
                        .result = {.finished = true, .rounds = 100, .optimal = 60, .regret = regret, .seconds = 2.0},
                        .version = "0",
                        .kernels = "none"};
    return run;
}

static void summarize(const char *reference)
{
    summary_release(&all);
    ok(summary_create(&made.list, "nowhere", reference, &all, NULL));
    group = all.results.groups;
}

TEST_OF_RUNS(groups_and_cells)
{
    add("b", "greedy", "x=1", 0, 10);
    add("a", "greedy", "x=1", 0, 10);
    add("b", "eenet", "y=1", 0, 7);
    add("b", "greedy", "x=1", 1, 14);
    add("b", "greedy", "x=1", 1, 99); /* the same once more */
    add("b", "greedy", "x=1", 0, 11)->rounds = 200;
    summarize(NULL);
    assert_int_equal(all.results.count, 3);
    const summary_group *b = group;
    assert_string_equal(b->label, "b, 100 rounds");
    assert_string_equal(b->file, "b-100-rounds");
    assert_string_equal(all.results.groups[1].label, "a");
    assert_string_equal(all.results.groups[2].label, "b, 200 rounds");
    assert_int_equal(b->count, 2);
    const summary_cell *greedy = &b->cells[0];
    assert_int_equal(greedy->count, 2);
    assert_string_equal(greedy->labels[SUMMARY_MAIN], "greedy");
    assert_close(greedy->mean, 12.0, 1e-15);
    assert_close(greedy->deviation, sqrt(8.0), 1e-15);
    assert_close(greedy->margin, 12.706204736174698 * 2.0, 1e-12);
    assert_close(greedy->optimal, 0.6, 1e-15);
    assert_close(greedy->seconds, 2.0, 1e-15);
    assert_true(isnan(greedy->growth));
    assert_true(greedy->best);
    assert_false(b->cells[1].best); /* it has fewer seeds */
}

TEST_OF_RUNS(delays_are_groups_of_their_own)
{
    static const delay ten = {.rounds = 10}, clicks = {.kind = DELAY_CLICKS, .rounds = 60, .mean = 10.0};
    for (uint64_t seed = 0; seed < 2; seed++) {
        add("d", "greedy", "", seed, 5);
        add("d", "greedy", "", seed, 7)->late = ten;
        add("d", "eenet", "", seed, 6)->late = ten;
        add("d", "greedy", "", seed, 9)->late = clicks;
        stored_run *tuned = add("d", "greedy", "", seed, 8);
        tuned->tuning = true;
        tuned->late = ten;
    }
    summarize(NULL);
    static const char *const labels[] = {"d", "d, delay 10", "d, delay clicks:10,60"};
    static const char *const files[] = {"d", "d-delay-10", "d-delay-clicks-10-60"};
    static const double means[] = {5, 7, 9};
    assert_int_equal(all.results.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(all.results.groups[i].label, labels[i]);
        assert_string_equal(all.results.groups[i].file, files[i]);
        assert_int_equal(all.results.groups[i].cells[0].count, 2);
        assert_close(all.results.groups[i].cells[0].mean, means[i], 1e-15);
        assert_int_equal(all.results.groups[i].cells[0].against.pairs, i == 1 ? 2 : 0);
    }
    assert_int_equal(all.grids.count, 1);
    assert_string_equal(all.grids.groups[0].label, "d, delay 10");
}

TEST_OF_RUNS(numbers_of_slots_are_groups_of_their_own)
{
    for (size_t slots = 0; slots < 4; slots += 3) {
        add("d", "greedy", "", 0, 5 + (double)slots)->slots = slots;
        add("d", "eenet", "", 0, 4)->slots = slots;
    }
    summarize(NULL);
    assert_int_equal(all.results.count, 2);
    assert_string_equal(all.results.groups[1].label, "d, 3 slots");
    assert_close(group->cells[0].against.difference, 1.0, 1e-15);
    assert_close(all.results.groups[1].cells[0].against.difference, 4.0, 1e-15);
}

TEST_OF_RUNS(compares_common_seeds_with_the_reference)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        add("d", "uniform", "", seed, 20.0 + (double)seed);
        add("d", "greedy", "", seed, 9.0 + (double)(seed % 2));
        if (seed < 4) add("d", "eenet:paper", "", seed, 10.0 + (double)seed);
    }
    summarize(NULL);
    assert_int_equal(group->references[SUMMARY_MAIN], 2);
    const summary_cell *uniform = &group->cells[0], *greedy = &group->cells[1], *eenet = &group->cells[2];
    assert_int_equal(uniform->against.pairs, 4);
    assert_close(uniform->against.difference, 10.0, 1e-15);
    assert_true(uniform->against.p == 0.125 && uniform->p_holm == 0.25);
    /* -1, -1, -3, -3: only all signs alike are as far out. */
    assert_close(greedy->against.difference, -2.0, 1e-15);
    assert_true(greedy->against.p == 0.125 && greedy->p_holm == 0.25);
    assert_int_equal(eenet->against.pairs, 0);
    assert_true(isnan(eenet->p_holm));
    assert_int_equal(eenet->style, 0);
    assert_int_equal(uniform->style, 1);
    assert_int_equal(greedy->style, 2);
    size_t order[3];
    assert_int_equal(summary_order(group, SUMMARY_MAIN, order), 3);
    assert_true(order[0] == 1 && order[1] == 2 && order[2] == 0);

    summarize("greedy");
    assert_int_equal(group->references[SUMMARY_MAIN], 1);
    assert_close(group->cells[0].against.difference, 12.6, 1e-14);
    summary_release(&all);

    fails_saying(summary_create(&made.list, "nowhere", "gredy", &all, &last_error), EE_BAD_INPUT, "gredy");
}

/* Runs end in any order, and some are missing: the seed alone says which belong together. Each policy's regret grows
 * much with the seed, so a wrong pair would change every number. */
TEST_OF_RUNS(pairs_have_the_same_seed)
{
    static const uint64_t reference[] = {7, 2, 0, 5, 6, 1, 3}, other[] = {3, 6, 9, 0, 5, 1, 8, 2};
    static const double differences[] = {1.0, 2.0, 4.0, -8.0, NAN, 16.0, -32.0}; /* by seed */
    for (size_t i = 0; i < 7; i++) add("d", "eenet", "", reference[i], 100.0 * (double)reference[i]);
    for (size_t i = 0; i < 8; i++) {
        uint64_t seed = other[i];
        add("d", "linucb", "", seed, 100.0 * (double)seed + (seed < 7 ? differences[seed] : 1000.0));
    }
    summarize(NULL);
    const comparison *found = &group->cells[1].against;
    assert_int_equal(found->pairs, 6); /* 0, 1, 2, 3, 5, 6 */
    assert_close(found->difference, -17.0 / 6.0, 1e-13);
    assert_close(found->low, -32.0, 1e-13); /* six pairs: the smallest and the largest */
    assert_close(found->high, 16.0, 1e-13);
    /* The sums of the flips are all odd numbers from -63 to 63, each once; 48 of the 64 are at least 17. */
    assert_true(found->p == 48.0 / 64.0);
    assert_int_equal(group->lead.best, 1); /* it has most seeds */
    assert_int_equal(group->lead.by.pairs, 6);
    assert_close(group->lead.by.difference, 17.0 / 6.0, 1e-13);
}

static void add_seeds(const char *policy, const char *options, size_t seeds, double regret)
{
    for (uint64_t seed = 0; seed < seeds; seed++) add("d", policy, options, seed, regret + (double)(seed % 2));
}

/* With n seeds no p is below 2 / 2^n, and Holm's correction multiplies the least by the number of comparisons. */
TEST_OF_RUNS(a_test_needs_seeds)
{
    static const char *const others[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    static const struct {
        size_t seeds, others;
        bool testable;
    } cases[] = {{1, 1, false}, {3, 1, false}, {5, 1, false},  {6, 1, true}, {6, 2, false},
                 {7, 2, true},  {7, 4, false}, {8, 12, false}, {9, 12, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made = (made_runs){0};
        add_seeds("eenet", "", cases[i].seeds, 20.0);
        for (size_t k = 0; k < cases[i].others; k++)
            add_seeds(others[k], "", cases[i].seeds, 21.0 + (double)k); /* always the same way */
        summarize(NULL);
        assert_false(group->cells[0].testable);
        for (size_t k = 1; k < group->count; k++) {
            assert_int_equal(group->cells[k].testable, cases[i].testable);
            assert_int_equal(group->cells[k].p_holm < COMPARISON_LEVEL, cases[i].testable);
        }
        assert_int_equal(group->lead.testable, cases[i].testable);
    }
}

TEST_OF_RUNS(who_leads_and_by_how_much)
{
    add_seeds("eenet", "", 7, 12.0);
    add_seeds("linucb", "", 7, 10.0);
    add_seeds("uniform", "", 7, 30.0);
    add_seeds("greedy", "", 2, 1.0); /* has fewer seeds */
    summarize(NULL);
    const summary_lead *lead = &group->lead;
    assert_int_equal(lead->best, 1);
    assert_int_equal(lead->next, 0);
    assert_close(lead->by.difference, 2.0, 1e-15);
    assert_int_equal(lead->by.pairs, 7);
    /* 2 / 2^7 for linucb against eenet and uniform, 2 / 2^2 against greedy. */
    assert_close(lead->p_holm, 3.0 / 64.0, 1e-15);
    assert_true(lead->testable);
    assert_int_equal(lead->tests, 3); /* not with itself */

    /* Where the best is the reference, it is what the table has. */
    summarize("linucb");
    assert_int_equal(group->references[SUMMARY_MAIN], group->lead.best);
    assert_true(group->lead.p_holm == group->cells[0].p_holm);
    assert_true(group->lead.by.low == group->cells[0].against.low);

    made = (made_runs){0};
    add_seeds("eenet", "", 3, 12.0);
    summarize(NULL);
    assert_int_equal(group->lead.best, 0);
    assert_int_equal(group->lead.next, 1); /* there is none */
}

/* The cell that is the reference of the first group; its number of cells where there is none. */
static size_t reference_of(const char *words)
{
    summary_release(&all);
    ee_status status = summary_create(&made.list, "nowhere", words, &all, NULL);
    return status ? all.results.groups[0].count : all.results.groups[0].references[SUMMARY_MAIN];
}

/* A policy with fewer seeds is not the best, even with the same mean; equal means keep their order. */
TEST_OF_RUNS(equal_means)
{
    add("d", "greedy", "", 0, 10.5);
    add_seeds("linucb", "", 2, 10.0);
    add_seeds("uniform", "", 2, 10.0);
    summarize(NULL);
    assert_true(!group->cells[0].best && group->cells[1].best && group->cells[2].best);
    size_t order[3];
    assert_int_equal(summary_order(group, SUMMARY_MAIN, order), 3);
    assert_true(order[0] == 0 && order[1] == 1 && order[2] == 2);
}

TEST_OF_RUNS(a_variant_can_be_the_reference)
{
    add("d", "eenet:paper", "label=gain w1=1", 0, 4);
    add("d", "eenet", "label=gain w1=1", 0, 5);
    add("d", "eenet", "label=abs w1=1", 0, 6);
    add("d", "linucb", "alpha=0.1", 0, 7);
    add("d", "linucb", "alpha=1", 0, 8);
    add("d", "greedy", "a=1000000000000000 b=1000000000000000 c=1000000000000000 d=1000000000000000", 0, 9);
    add("d", "greedy", "a=2000000000000000 b=2000000000000000 c=2000000000000000 d=2000000000000000", 0, 9);
    assert_int_equal(reference_of(NULL), 1); /* the very policy goes before its presets */
    assert_int_equal(reference_of("eenet"), 1);
    assert_int_equal(reference_of("eenet:paper"), 0);
    assert_int_equal(reference_of("eenet label=abs"), 2); /* as the ablation is called */
    assert_int_equal(reference_of("linucb"), 3);
    assert_int_equal(reference_of("linucb alpha=1"), 4);
    assert_int_equal(reference_of("greedy #2"), 6);
    assert_int_equal(reference_of("eenet w1=1 label=abs"), 2); /* in any order */
    assert_int_equal(reference_of("linucb alpha=2"), 7);
    assert_int_equal(reference_of("linucb alpha"), 7);
    assert_int_equal(reference_of("lin"), 7);

    /* Its ablations are those of EE-Net with its own label. */
    summarize("eenet label=abs");
    assert_string_equal(group->cells[2].labels[SUMMARY_MAIN], "eenet");
    assert_string_equal(group->cells[1].labels[SUMMARY_LABEL], "eenet label=gain");
    assert_close(group->cells[1].against.difference, -1.0, 1e-15);
    assert_close(group->cells[4].against.difference, 2.0, 1e-15);
    summary_release(&all);

    refuses(summary_create(&made.list, "nowhere", "gredy", &all, &last_error),
            "no runs of the reference 'gredy'; the results have eenet:paper, "
            "eenet, eenet label=abs, linucb alpha=0.1, linucb alpha=1, greedy #1, greedy #2");
}

/* What does not fit into a message is counted. */
TEST_OF_RUNS(many_names_are_counted)
{
    char options[20][32];
    for (size_t i = 0; i < 20; i++) {
        snprintf(options[i], sizeof options[i], "alpha=%zu", 100 + i);
        add("d", "linucb", options[i], 0, 5);
    }
    fails_saying(summary_create(&made.list, "nowhere", "eenet", &all, &last_error), EE_BAD_INPUT,
                 "; the results have linucb alpha=100, linucb alpha=101, ");
    assert_string_equal(strstr(last_error.message, " and "), " and 13 more");
}

TEST_OF_RUNS(labels_tell_what_differs)
{
    add("d", "neural-ucb", "nu=0.1 lambda=1 f1.width=100", 0, 1);
    add("d", "neural-ucb", "nu=1 lambda=1 f1.width=100", 0, 2);
    add("d", "linucb", "alpha=1", 0, 3);
    add("e", "neural-ucb", "nu=1 lambda=1 f1.width=100", 0, 2);
    add("f", "greedy", "a=1000000000000000 b=1000000000000000 c=1000000000000000 d=1000000000000000 e=1000000000000000",
        0, 1);
    add("f", "greedy", "a=2 b=2 c=2 d=2 e=2", 0, 1);
    summarize(NULL);
    const summary_cell *cells = group->cells;
    assert_string_equal(cells[0].labels[SUMMARY_MAIN], "neural-ucb nu=0.1");
    assert_string_equal(cells[1].labels[SUMMARY_MAIN], "neural-ucb nu=1");
    assert_string_equal(cells[2].labels[SUMMARY_MAIN], "linucb");
    assert_string_equal(all.results.groups[1].cells[0].labels[SUMMARY_MAIN], "neural-ucb");
    assert_string_equal(all.results.groups[2].cells[0].labels[SUMMARY_MAIN], "greedy #1");
    assert_string_equal(all.results.groups[2].cells[1].labels[SUMMARY_MAIN], "greedy a=2 b=2 c=2 d=2 e=2");
    /* What has the same options is the same line, whatever it is called. */
    assert_int_equal(all.results.groups[1].cells[0].style, cells[1].style);
    assert_int_equal(group->references[SUMMARY_MAIN], 3);
    assert_int_equal(group->cells[0].against.pairs, 0);
}

TEST_OF_RUNS(ablations_are_found)
{
    add("d", "eenet", "label=gain recall=9 decision=linear w1=1", 0, 5);
    add("d", "eenet", "label=abs decision=linear w1=1", 0, 6); /* and what does not act there is not said */
    add("d", "eenet", "label=gain recall=9 decision=hybrid hybrid_after=100 w1=1 f3.width=20", 0, 7);
    add("d", "eenet", "label=abs decision=neural f3.width=20", 0, 8); /* differs in both */
    add("d", "eenet:paper", "label=abs decision=linear w1=1", 0, 4);
    for (int i = 0; i < 2; i++) {
        summarize(i ? "eenet:paper" : NULL);
        const summary_cell *cells = group->cells;
        assert_string_equal(cells[4].labels[SUMMARY_MAIN], "eenet:paper");
        assert_int_equal(group->references[SUMMARY_MAIN], i ? 4 : 0);
        if (i) { /* that preset has no ablations */
            assert_non_null(cells[1].labels[SUMMARY_MAIN]);
            assert_int_equal(group->references[SUMMARY_LABEL], group->count);
        } else {
            assert_string_equal(cells[0].labels[SUMMARY_MAIN], "eenet label=gain decision=linear");
            assert_string_equal(cells[3].labels[SUMMARY_MAIN], "eenet label=abs decision=neural");
            assert_null(cells[1].labels[SUMMARY_MAIN]);
            assert_null(cells[2].labels[SUMMARY_MAIN]);
            assert_string_equal(cells[0].labels[SUMMARY_LABEL], "eenet label=gain");
            assert_string_equal(cells[1].labels[SUMMARY_LABEL], "eenet label=abs");
            assert_string_equal(cells[0].labels[SUMMARY_DECISION], "eenet decision=linear");
            assert_string_equal(cells[2].labels[SUMMARY_DECISION], "eenet decision=hybrid");
            assert_close(cells[2].against.difference, 2.0, 1e-15);
            assert_null(cells[3].labels[SUMMARY_LABEL]);
        }
    }
}

/* Seven seeds that all go the same way: p is 2 / 2^7. The ablations do not make the tests of the main part more. */
TEST_OF_RUNS(holm_counts_the_comparisons_of_a_part)
{
    add_seeds("eenet", "label=gain", 7, 5);
    add_seeds("eenet", "label=abs", 7, 7);
    add_seeds("eenet", "label=relu", 7, 8);
    add_seeds("linucb", "", 7, 9);
    summarize(NULL);
    assert_true(group->cells[1].p_holm == 2.0 / 64.0 && group->cells[2].p_holm == 2.0 / 64.0);
    assert_true(group->cells[3].p_holm == 1.0 / 64.0);
    assert_int_equal(group->lead.tests, 1);
}

TEST_OF_RUNS(ablations_of_eenet_beside_another_reference)
{
    add("d", "linucb", "alpha=1", 0, 9);
    add("d", "eenet", "label=gain", 0, 5);
    add("d", "eenet", "label=abs", 0, 6);
    summarize("linucb");
    assert_close(group->cells[1].against.difference, -4.0, 1e-15);
    assert_close(group->cells[2].against.difference, 1.0, 1e-15); /* to eenet with its own label */
}

TEST_OF_RUNS(other_files_are_another_group)
{
    add("yelp", "greedy", "", 0, 1)->fingerprint = 0x0123456789abcdefu;
    add("yelp", "greedy", "", 0, 1)->fingerprint = 0xfedcba9876543210u;
    summarize(NULL);
    assert_int_equal(all.results.count, 2);
    assert_true(group->other_files && all.results.groups[1].other_files);
    assert_string_equal(group->label, "yelp, files 01234567");
    assert_string_equal(all.results.groups[1].file, "yelp-files-fedcba98");
}

TEST_OF_RUNS(tuning_is_kept_apart)
{
    add("d", "greedy", "rate=0.1", 0, 10);
    add("d", "greedy", "rate=0.1", 100, 11)->tuning = true;
    add("d", "greedy", "rate=0.2", 100, 12)->tuning = true;
    stored_run *longer = add("d", "greedy", "rate=0.1", 100, 20);
    longer->tuning = true;
    longer->rounds = 200;
    summarize(NULL);
    assert_int_equal(all.results.count, 1);
    assert_int_equal(group->count, 1);
    assert_int_equal(group->cells[0].count, 1);
    assert_int_equal(all.grids.count, 1);
    assert_int_equal(all.grids.groups[0].count, 3);
    assert_string_equal(all.grids.groups[0].cells[1].labels[SUMMARY_MAIN], "greedy rate=0.2");
}

/* Exploration that is twice what f1 missed, plus a constant; in the second part it is always the same. */
TEST_OF_RUNS(directions_add_up)
{
    const double gains[] = {0.1, -0.2, 0.3};
    for (uint64_t seed = 0; seed < 2; seed++) {
        run_direction *first = add("d", "eenet", "", seed, 1)->result.directions, *second = first + 1;
        for (size_t i = 0; i < 3; i++) {
            double gain = gains[i], exploration = 2.0 * gain + 0.05;
            *first = (run_direction){first->arms + 1,
                                     first->up + (exploration > 0),
                                     first->down + (exploration < 0),
                                     first->up_right + (exploration > 0 && gain > 0),
                                     first->down_right + (exploration < 0 && gain < 0),
                                     first->gain + gain,
                                     first->exploration + exploration,
                                     first->gain_squares + gain * gain,
                                     first->exploration_squares + exploration * exploration,
                                     first->products + gain * exploration};
            second->arms++;
            second->up++;
            second->exploration += 0.1;
            second->exploration_squares += 0.1 * 0.1;
            second->gain += gain;
            second->gain_squares += gain * gain;
            second->products += 0.1 * gain;
        }
    }
    summarize(NULL);
    const summary_cell *cell = &group->cells[0];
    assert_close(cell->correlations[0], 1.0, 1e-12);
    assert_true(isnan(cell->correlations[1]) && isnan(cell->correlations[2]));
    assert_int_equal(cell->direction.arms, 12);
    assert_int_equal(cell->direction.up, 10);
    assert_int_equal(cell->direction.down_right, 2);
    assert_true(cell->correlation > 0.0 && cell->correlation < 1.0);
}

TEST_OF_RUNS(nothing_at_all)
{
    summarize(NULL);
    assert_int_equal(all.results.count + all.grids.count, 0);
}

/* What is played goes to `curves/` as version 1.0 of NumPy's format: (2, 1000) doubles, 3 round^0.6 and 5 round^0.6 in
 * the last half, after a steeper first one. */
static void write_curves(const char *path)
{
    static const char description[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1000), }";
    char head[128];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(head + 10, description, sizeof description - 1);
    head[127] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    for (int row = 0; row < 2; row++)
        for (int round = 1; round <= 1000; round++) {
            double value = (row ? 5.0 : 3.0) * (round > 500 ? pow(round, 0.6) : 0.08 * round);
            assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
        }
    assert_int_equal(fclose(file), 0);
}

static int leave(void **state)
{
    return release(state) + folder_leave(state);
}

TEST_WITH(curves_and_growth, folder_enter, leave)
{
    const char *folder = here.path, *path = folder_path(&here, "curves/c.npy");
    char curves[64];
    snprintf(curves, sizeof curves, "%s/curves", folder);
    ok(file_make_folder(curves, NULL));
    write_curves(path);
    for (uint64_t seed = 0; seed < 2; seed++) {
        stored_run *run = add("d", "eenet", "", seed, (seed ? 5.0 : 3.0) * pow(1000, 0.6));
        run->rounds = 1000;
        run->curve = "c.npy";
        run->curve_row = seed;
    }
    ok(summary_create(&made.list, folder, NULL, &all, NULL));
    const summary_cell *cell = &all.results.groups[0].cells[0];
    assert_close(cell->growth, 0.6, 1e-10);
    assert_int_equal(cell->points, SUMMARY_POINTS);
    assert_true(cell->curve[0].round == 2.0 && cell->curve[499].round == 1000.0);
    assert_close(cell->curve[499].mean, 4.0 * pow(1000, 0.6), 1e-12);
    assert_close(cell->curve[499].deviation, sqrt(2.0) * pow(1000, 0.6), 1e-12);
    summary_release(&all);

    /* A curve that should be there and is not is told. */
    assert_int_equal(unlink(folder_path(&here, "curves/c.npy")), 0);
    assert_int_not_equal(summary_create(&made.list, folder, NULL, &all, NULL), EE_OK);
}
