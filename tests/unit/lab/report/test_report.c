/* What the page says of results that are made up, word by word. */
#include "lab/report/report.h"

#include <unistd.h>

#include "data/support_sets.h"
#include "lab/report/report_parts.h"
#include "support_files.h"

/* Runs in memory, without curves. The strings are borrowed. */
typedef struct made_runs {
    stored_run runs[128];
    stored_runs list;
} made_runs;

static made_runs made; /* empty again when it was compared */

/* A run a seed; the regret changes from seed to seed by the same for all policies. */
static void add(const char *data, const char *policy, size_t seeds, double regret)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        made.list.runs = made.runs;
        made.runs[made.list.count++] = (stored_run){
            .dataset = data,
            .dim = 3,
            .arms = 2,
            .policy = policy,
            .options = "",
            .seed = seed,
            .rounds = 100,
            .result = {.finished = true, .rounds = 100, .optimal = 60, .regret = regret + (double)(seed % 3) - 1.0},
            .version = "0",
            .kernels = "none"};
    }
}

static void add_three(const char *data, size_t seeds, double eenet, double linucb, double uniform)
{
    add(data, "eenet", seeds, eenet);
    add(data, "uniform", seeds, uniform);
    add(data, "linucb", seeds, linucb);
}

/* The words of a part of the page, without markup. */
static void read_words(text *page, char *words, size_t capacity)
{
    size_t length = 0;
    bool inside = false;
    ok(page->status);
    for (const char *at = page->bytes ? page->bytes : ""; *at && length + 1 < capacity; at++) {
        if (*at == '<') inside = true;
        if (!inside) words[length++] = *at;
        if (*at == '>') inside = false;
    }
    words[length] = '\0';
    memory_free(page->bytes);
}

typedef void add_part(text *page, const summary *of);

static void assert_says(add_part *part, const char *expected)
{
    RELEASED_BY(summary_release) summary all = {0};
    ok(summary_create(&made.list, "nowhere", NULL, &all, NULL));
    text page = text_start(NULL);
    part(&page, &all);
    char words[2048];
    read_words(&page, words, sizeof words);
    assert_string_equal(words, expected);
    made = (made_runs){0};
}

static void expect_headlines(const char *expected)
{
    assert_says(report_headlines, expected);
}

static void assert_table_has(const char *expected)
{
    RELEASED_BY(summary_release) summary all = {0};
    ok(summary_create(&made.list, "nowhere", NULL, &all, NULL));
    text page = text_start(NULL);
    report_group(&page, &all.results.groups[0], "");
    char words[4096];
    read_words(&page, words, sizeof words);
    if (!strstr(words, expected)) fail_msg("'%s' is not in: %s", expected, words);
    made = (made_runs){0};
}

/* The row of linucb: regret, sd, interval of the mean, difference with its interval, p. */
TEST(differences_have_intervals)
{
    add("d", "eenet", 6, 14);
    add("d", "linucb", 6, 20);
    made.runs[6].result.regret += 1.8;
    assert_table_has("+6.3 [+6.0, +7.8]0.031");

    add("d", "eenet", 5, 14);
    add("d", "linucb", 5, 20);
    assert_table_has("+6.0 [unbounded]–");
}

TEST(a_winner)
{
    add_three("d", 9, 1401, 1486, 3000);
    expect_headlines(
        "eenet leads on d with mean regret 1401: 85 (5.7%) lower than linucb, significant (p = 0.008, 9 seeds).\n");
}

/* By three tenths in a hundred; what changes from seed to seed is the same for both, so that the pairs show it. */
TEST(a_winner_that_is_not_the_reference)
{
    add_three("d", 12, 100.3, 100, 300);
    expect_headlines(
        "linucb leads on d with mean regret 100.0: 0.3 (0.3%) lower than eenet, significant (p &lt;0.001, 12 "
        "seeds).\n");
}

TEST(chance)
{
    add_three("d", 8, 11, 12, 30);
    for (size_t seed = 0; seed < 5; seed++) made.runs[seed].result.regret += 1.0; /* then there is no difference */
    expect_headlines(
        "eenet leads on d with mean regret 11.5: 0.4 (3.2%) lower than linucb, but not significantly different "
        "(p = 0.250, 8 seeds).\n");
}

TEST(three_seeds)
{
    add_three("d", 3, 14, 10, 30);
    expect_headlines("linucb leads on d with mean regret 10.0: 4.0 (29%) lower than eenet (not tested).\n");
}

TEST(nobody_to_compare_with)
{
    add("<d>", "eenet", 2, 14);
    expect_headlines("eenet ran on &lt;d&gt; with mean regret 13.5; nothing to compare with.\n");
    add("<d>", "eenet", 2, 14);
    add("<d>", "linucb", 1, 5); /* goes on yet */
    expect_headlines(
        "eenet ran on &lt;d&gt; with mean regret 13.50; nothing to compare with yet: no other policy has finished "
        "the same seeds.\n");
    expect_headlines("");
}

TEST(the_same_regret)
{
    add_three("d", 8, 14, 14, 30);
    expect_headlines("eenet and linucb are tied on d with mean regret 13.9.\n");
    add_three("d", 8, 14, 14, 14);
    expect_headlines("eenet, uniform and 1 other are tied on d with mean regret 13.9.\n");
}

/* Two data sets, one policy: nobody is led, and no seeds are too few. */
TEST(alone_on_two_data_sets)
{
    add("one", "linucb", 8, 14);
    add("two", "linucb", 8, 20);
    expect_headlines("Nothing to compare with: no data set has two policies with the same seeds.\n\n"
                     "one: linucb ran with mean regret 13.9; nothing to compare with\n"
                     "two: linucb ran with mean regret 19.9; nothing to compare with\n\n");
}

TEST(several_data_sets)
{
    add_three("one", 9, 14, 10, 30);
    add_three("two", 9, 14, 14, 30);
    add_three("three", 3, 10, 14, 30);
    expect_headlines(
        "eenet leads on 1 of 3 data sets, linucb on 1; tied on 1. The lead is significant on 1, not "
        "tested on 1.\n\n"
        "one: linucb leads with mean regret 10.0: 4.0 (29%) lower than eenet, significant (p = 0.008, 9 seeds)\n"
        "two: eenet and linucb are tied with mean regret 14.0\n"
        "three: eenet leads with mean regret 10.0: 4.0 (29%) lower than linucb (not tested"
        ")\n\n");
    add_three("one", 8, 10, 14, 30);
    add_three("two", 8, 10, 14, 30);
    expect_headlines(
        "eenet leads on both data sets. The lead is significant on each.\n\n"
        "one: eenet leads with mean regret 9.88: 4.00 (29%) lower than linucb, significant (p = 0.016, 8 seeds)\n"
        "two: eenet leads with mean regret 9.88: 4.00 (29%) lower than linucb, significant (p = 0.016, 8 "
        "seeds)\n\n");
    add_three("one", 2, 10, 14, 30);
    add_three("two", 2, 14, 10, 30);
    expect_headlines("eenet leads on 1 of 2 data sets, linucb on 1. The lead is not tested.\n\n"
                     "one: eenet leads with mean regret 9.50: 4.00 (30%) lower than linucb\n"
                     "two: linucb leads with mean regret 9.50: 4.00 (30%) lower than eenet\n\n");
    add_three("one", 8, 14, 14, 30);
    add("two", "eenet", 8, 20);
    expect_headlines("No policy leads: tied on 1; nothing to compare with on 1.\n\n"
                     "one: eenet and linucb are tied with mean regret 13.9\n"
                     "two: eenet ran with mean regret 19.9; nothing to compare with\n\n");
}

TEST(too_few_seeds_are_told_once)
{
    static const char rest[] =
        ". No difference there can be significant, so the p column shows a dash. To test, repeat the command with more "
        "seeds, such as -s 0-6; it runs only those that are missing.\n";
    char expected[512];
    add_three("one", 3, 14, 10, 30);
    add_three("two", 6, 14, 10, 30);
    add_three("enough", 7, 14, 10, 30);
    snprintf(expected, sizeof expected,
             "Too few seeds to test for significance: one has 3 and needs 7, two has 6 and needs 7%s", rest);
    assert_says(report_warnings, expected);
    add_three("enough", 7, 14, 10, 30);
    assert_says(report_warnings, "");

    /* Where the reference was not played, the headline has a test all the same. */
    for (size_t i = 0; i < 3; i++) add("one", (const char *[]){"linucb", "ucb1", "uniform"}[i], 3, (double)i);
    snprintf(expected, sizeof expected, "Too few seeds to test for significance: one has 3 and needs 7%s", rest);
    assert_says(report_warnings, expected);
}

/* The page, to be freed with memory_free. */
static char *write_page(void)
{
    const char *folder = here.path;
    uint8_t *bytes;
    size_t size;
    RELEASED_BY(summary_release) summary all = {0};
    const evaluation_groups none = {0};
    const char *path = formatted("%s/page.html", folder);
    ok(summary_create(&made.list, folder, NULL, &all, NULL));
    ok(report_page(&all, &none, folder, path, NULL));
    ok(file_read(path, &bytes, &size, NULL));
    assert_int_equal(unlink(path), 0);
    return (char *)bytes;
}

/* The words of the table that follows a heading of the page, a blank for each piece of markup. */
static const char *table_after(const char *heading)
{
    static char words[1024];
    auto_memory char *page = write_page();
    const char *at = strstr(page, heading);
    assert_non_null(at);
    at = strstr(at, "<tbody>");
    assert_non_null(at);
    const char *end = strstr(at, "</tbody>");
    size_t length = 0;
    for (bool inside = false; at < end && length + 1 < sizeof words; at++) {
        if (*at == '<') inside = true;
        char next = inside || *at == '\n' ? ' ' : *at;
        if (*at == '>') inside = false;
        if (next != ' ' || (length && words[length - 1] != ' ')) words[length++] = next;
    }
    words[length] = '\0';
    return words;
}

static int forget(void **state)
{
    made = (made_runs){0};
    return folder_leave(state);
}

TEST_WITH(marks_are_explained_where_there_are_some, folder_enter, forget)
{
    add("one", "linucb", 7, 14);
    add("one", "uniform", 7, 30);
    auto_memory char *page = write_page();
    assert_null(strstr(page, "No mark: significantly different"));
    assert_non_null(strstr(page, "No comparison"));
    memory_free(page);
    add("one", "eenet", 7, 10);
    page = write_page();
    assert_non_null(strstr(page, "No mark: significantly different"));
}

TEST_WITH(the_overview_is_in_order, folder_enter, forget)
{
    add_three("one", 7, 14, 10, 30);
    assert_string_equal(table_after("id=\"overview\""),
                        "linucb 9.86 ± 0.90 &ensp; eenet reference 13.86 ± 0.90 &ensp; uniform 29.86 ± 0.90 "
                        "&ensp; ");

    /* Of several data sets by the mean rank; who played fewer comes last, and a seed alone has no deviation. */
    add_three("two", 1, 10, 20, 15);
    add("one", "greedy", 7, 1);
    assert_string_equal(table_after("id=\"overview\""), "eenet reference 13.857 ± 0.900 &ensp; 9.00 &ensp; 2.0 "
                                                        "linucb 9.857 ± 0.900 &ensp; 19.00 ? 2.5 "
                                                        "uniform 29.857 ± 0.900 &ensp; 14.00 ? 3.0 "
                                                        "greedy 0.857 ± 0.900 &ensp; – 1.0 ");
}

TEST_WITH(a_dash_where_no_test_is_possible, folder_enter, forget)
{
    add_three("one", 6, 14, 10, 30);
    assert_non_null(strstr(table_after("<h2 id=\"one\">"), "linucb 10.0 0.9 9.1 to 10.9 −4.0 [−4.0, −4.0] – – 60.0%"));
    add_three("two", 7, 14, 14, 30);
    const char *words = table_after("<h2 id=\"two\">");
    assert_non_null(strstr(words, "[0.0, 0.0] ≈ 1.000 – 60.0%"));
    assert_non_null(strstr(words, "[+16.0, +16.0] 0.031 – 60.0%"));
}
