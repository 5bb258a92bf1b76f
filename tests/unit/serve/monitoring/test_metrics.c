#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/monitoring/metrics.h"
#include "support.h"

TEST(samples_have_their_form)
{
    text page = text_start(NULL), label = text_start(NULL);
    metric_label(&label, "a\\b\"c\nd");
    assert_string_equal(label.bytes, "a\\\\b\\\"c\\nd");
    metric_head(&page, "x_total", "counter", "Things.");
    metric_sample(&page, "x_total", "", 3);
    metric_sample(&page, "x_total", "bandit=\"shop\"", 0.1);
    metric_sample(&page, "x_total", "", INFINITY);
    metric_sample(&page, "x_total", "", NAN);
    assert_string_equal(page.bytes, "# HELP x_total Things.\n# TYPE x_total counter\nx_total 3\n"
                                    "x_total{bandit=\"shop\"} 0.1\nx_total +Inf\nx_total NaN\n");
    memory_free(page.bytes);
    memory_free(label.bytes);
}

TEST(histograms_are_cumulative)
{
    static metric_histogram seconds;
    text page = text_start(NULL);
    const double observed[] = {0, 1e-4, 0.00011, 0.003, 7, 11, -1};
    for (size_t i = 0; i < sizeof observed / sizeof *observed; i++) metric_observe(&seconds, observed[i]);
    metric_histogram_write(&page, "s", "route=\"r\"", &seconds);
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"0.0001\"} 3\n"));
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"0.0002\"} 4\n"));
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"0.005\"} 5\n"));
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"5\"} 5\n"));
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"10\"} 6\n"));
    assert_non_null(strstr(page.bytes, "s_bucket{route=\"r\",le=\"+Inf\"} 7\n"));
    assert_non_null(strstr(page.bytes, "s_count{route=\"r\"} 7\n"));
    const char *sum = strstr(page.bytes, "s_sum{route=\"r\"} ");
    assert_non_null(sum);
    assert_true(fabs(atof(strchr(sum, ' ')) - 18.00321) < 1e-6);
    memory_free(page.bytes);
}

TEST(counts_have_buckets_too)
{
    static metric_histogram events;
    text page = text_start(NULL);
    const uint64_t observed[] = {0, 1, 2, 3, 4096, 100000, 100001};
    for (size_t i = 0; i < sizeof observed / sizeof *observed; i++) metric_observe_count(&events, observed[i]);
    metric_count_histogram_write(&page, "e", "", &events);
    assert_non_null(strstr(page.bytes, "e_bucket{le=\"1\"} 2\n"));
    assert_non_null(strstr(page.bytes, "e_bucket{le=\"2\"} 3\n"));
    assert_non_null(strstr(page.bytes, "e_bucket{le=\"5000\"} 5\n"));
    assert_non_null(strstr(page.bytes, "e_bucket{le=\"100000\"} 6\n"));
    assert_non_null(strstr(page.bytes, "e_bucket{le=\"+Inf\"} 7\n"));
    assert_non_null(strstr(page.bytes, "e_sum 204103\n"));
    memory_free(page.bytes);
}

TEST(quantiles_are_of_what_came_since)
{
    static metric_histogram seconds;
    metric_mark before = {{0}}, now = {{0}};
    assert_true(isnan(metric_quantile(&before, &now, 0.5)));
    for (int i = 0; i < 1000; i++) metric_observe(&seconds, 5); /* long ago */
    metric_mark_add(&before, &seconds);
    for (int i = 0; i < 50; i++) metric_observe(&seconds, 1.5e-4);
    for (int i = 0; i < 49; i++) metric_observe(&seconds, 1.5e-3);
    metric_observe(&seconds, 100);
    metric_mark_add(&now, &seconds);
    assert_true(fabs(metric_quantile(&before, &now, 0.25) - 1.5e-4) < 1e-12);
    assert_true(fabs(metric_quantile(&before, &now, 0.5) - 2e-4) < 1e-12);
    assert_true(fabs(metric_quantile(&before, &now, 0.99) - 2e-3) < 1e-12);
    assert_true(fabs(metric_quantile(&before, &now, 1) - 10) < 1e-12); /* 10 s or more */
}

static double value_of(const char *page, const char *name)
{
    char line[64];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(page, line);
    assert_non_null(at);
    return atof(at + strlen(line));
}

TEST(the_process_is_seen)
{
    text page = text_start(NULL);
    metric_process(&page);
    assert_true(value_of(page.bytes, "process_resident_memory_bytes") > 100000);
    assert_true(value_of(page.bytes, "process_open_fds") >= 1);
    assert_true(value_of(page.bytes, "process_cpu_seconds_total") >= 0);
    assert_true(value_of(page.bytes, "process_start_time_seconds") > 1.6e9);
    memory_free(page.bytes);
}
