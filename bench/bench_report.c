#include "bench_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 46 };

void bench_report_begin(bench_report *self, const char *part, const char *title)
{
    self->part = part;
    self->title = title;
    self->title_printed = self->columns_printed = false;
}

bool bench_report_wants(const bench_report *self, const char *name)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s/%s", self->part, self->title, name);
    for (int i = 0; i < self->request->filter_count; i++)
        if (strstr(full, self->request->filters[i])) return true;
    return self->request->filter_count == 0;
}

bench_report_text bench_report_seconds(double value)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    bench_report_text text = {"-"};
    if (!isfinite(value)) return text;
    size_t unit = 0;
    for (value *= 1e9; value >= 1000 && unit < 3; unit++) value /= 1000;
    snprintf(text.text, sizeof text.text, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value, units[unit]);
    return text;
}

static bench_report_text count_text(double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    bench_report_text text = {"-"};
    if (!isfinite(value)) return text;
    size_t unit = 0;
    for (; value >= 10000 && unit < 4; unit++) value /= 1000;
    snprintf(text.text, sizeof text.text, "%.0f%s", value, units[unit]);
    return text;
}

/* As "12.3 41%": in thousands of millions a second, and the share of the peak. */
static bench_report_text rate_text(double rate, double peak)
{
    bench_report_text text = {"-"};
    if (isfinite(rate) && rate > 0)
        snprintf(text.text, sizeof text.text, "%.*f %3.0f%%", rate < 1e11 ? 2 : 0, rate / 1e9, 100 * rate / peak);
    return text;
}

static void print_title(bench_report *self)
{
    if (!self->title_printed) printf("\n%s\n", self->title);
    self->title_printed = true;
}

static void print_columns(bench_report *self)
{
    if (!self->columns_printed)
        printf("  %-*s %9s %9s %9s %9s %7s %12s %12s %8s\n", NAME_WIDTH, "", "median", "quarter", "3/4", "cpu",
               "instr.", "Gflop/s peak", "GB/s peak", "x floor");
    self->columns_printed = true;
}

void bench_report_row(bench_report *self, const char *name, const measurement *taken, const work *needed)
{
    static const work unknown = {0};
    if (!needed) needed = &unknown;
    print_title(self);
    print_columns(self);
    double median = measure_quantile(taken, 0.5), cpu = measure_cpu(taken), floor = machine_floor(&self->peak, needed);
    bool spread = taken->count > 1;
    bench_report_text ratio = {"-"};
    if (floor > 0) snprintf(ratio.text, sizeof ratio.text, "%.1f", cpu / floor);
    printf("  %-*s %9s %9s %9s %9s %7s %12s %12s %8s\n", NAME_WIDTH, name, bench_report_seconds(median).text,
           spread ? bench_report_seconds(measure_quantile(taken, 0.25)).text : "-",
           spread ? bench_report_seconds(measure_quantile(taken, 0.75)).text : "-", bench_report_seconds(cpu).text,
           count_text(measure_instructions(taken)).text, rate_text(needed->flops / cpu, self->peak.flops).text,
           rate_text(needed->bytes / cpu, machine_rate(&self->peak, needed->span)).text, ratio.text);
    fflush(stdout);
}

void bench_report_say(bench_report *self, const char *name, const char *format, ...)
{
    print_title(self);
    printf("  %-*s ", NAME_WIDTH, name);
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}
