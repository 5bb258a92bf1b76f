/* Prometheus' text format, version 0.0.4. */
#define _GNU_SOURCE /* dirfd */
#include "metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The upper ends of the buckets, in seconds: three per decade, in the expected range of latencies. */
static const double ends[METRIC_BUCKETS] = {1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
                                            5e-2, 0.1,  0.2,  0.5,  1,    2,    5,    10};

void metric_observe(metric_histogram *self, double seconds)
{
    size_t bucket = 0;
    if (!(seconds > 0)) seconds = 0;
    while (bucket < METRIC_BUCKETS && seconds > ends[bucket]) bucket++;
    atomic_fetch_add_explicit(&self->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->nanoseconds, (uint_fast64_t)(seconds * 1e9), memory_order_relaxed);
}

/* Counts have the same buckets: 1 is in that of 0.1 ms. */
static const double count_scale = 1e4;

void metric_observe_count(metric_histogram *self, uint64_t count)
{
    metric_observe(self, (double)count / count_scale);
}

void metric_head(text *into, const char *name, const char *type, const char *help)
{
    text_add(into, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_value(text *into, double value)
{
    if (isnan(value))
        text_add(into, " NaN\n");
    else if (isinf(value))
        text_add(into, value > 0 ? " +Inf\n" : " -Inf\n");
    else {
        text_bytes(into, " ", 1);
        text_double(into, value);
        text_bytes(into, "\n", 1);
    }
}

void metric_sample(text *into, const char *name, const char *labels, double value)
{
    if (labels[0])
        text_add(into, "%s{%s}", name, labels);
    else
        text_add(into, "%s", name);
    add_value(into, value);
}

static void write_histogram(text *into, const char *name, const char *labels, const metric_histogram *from,
                            double scale)
{
    uint64_t count = 0;
    const char *comma = labels[0] ? "," : "";
    for (size_t i = 0; i <= METRIC_BUCKETS; i++) {
        count += atomic_load_explicit(&from->buckets[i], memory_order_relaxed);
        text_add(into, "%s_bucket{%s%sle=\"", name, labels, comma);
        if (i < METRIC_BUCKETS)
            text_double(into, scale > 1 ? round(scale * ends[i]) : ends[i]);
        else
            text_add(into, "+Inf");
        text_add(into, "\"} %" PRIu64 "\n", count);
    }
    char part[128];
    snprintf(part, sizeof part, "%s_sum", name);
    double sum = (double)atomic_load_explicit(&from->nanoseconds, memory_order_relaxed) * 1e-9;
    metric_sample(into, part, labels, scale > 1 ? round(scale * sum) : sum);
    snprintf(part, sizeof part, "%s_count", name);
    metric_sample(into, part, labels, (double)count);
}

void metric_histogram_write(text *into, const char *name, const char *labels, const metric_histogram *from)
{
    write_histogram(into, name, labels, from, 1);
}

void metric_count_histogram_write(text *into, const char *name, const char *labels, const metric_histogram *from)
{
    write_histogram(into, name, labels, from, count_scale);
}

void metric_mark_add(metric_mark *into, const metric_histogram *from)
{
    for (size_t i = 0; i <= METRIC_BUCKETS; i++)
        into->buckets[i] += atomic_load_explicit(&from->buckets[i], memory_order_relaxed);
}

double metric_quantile(const metric_mark *before, const metric_mark *now, double q)
{
    double counts[METRIC_BUCKETS + 1], total = 0, below = 0;
    for (size_t i = 0; i <= METRIC_BUCKETS; i++) total += counts[i] = (double)(now->buckets[i] - before->buckets[i]);
    if (!(total > 0)) return NAN;
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        double start = i ? ends[i - 1] : 0;
        if (counts[i] > 0 && below + counts[i] >= q * total)
            return start + (ends[i] - start) * fmax(0, q * total - below) / counts[i];
        below += counts[i];
    }
    return ends[METRIC_BUCKETS - 1]; /* or more */
}

void metric_label(text *into, const char *value)
{
    for (; *value; value++) {
        if (*value == '\\' || *value == '"') text_bytes(into, "\\", 1);
        if (*value == '\n')
            text_bytes(into, "\\n", 2);
        else
            text_bytes(into, value, 1);
    }
}

/* ---- the process ---- */

/* Reads a small file of /proc; false: there is none. */
static bool read_small(const char *path, char *into, size_t capacity)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t size = fread(into, 1, capacity - 1, file);
    into[size] = '\0';
    fclose(file);
    return size > 0;
}

/* When the process started, in seconds since 1970: the 22nd field of its line, in ticks since the machine started. */
static double start_time(void)
{
    char line[1024], *at;
    unsigned long long booted = 0, ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return NAN;
    while (fgets(line, sizeof line, file) && sscanf(line, "btime %llu", &booted) != 1) {
    }
    fclose(file);
    if (!booted || !read_small("/proc/self/stat", line, sizeof line)) return NAN;
    at = strrchr(line, ')'); /* the name before may hold anything */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &ticks) != 1) return NAN;
    return (double)booted + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the folder's own */
}

void metric_one(text *into, const char *name, const char *type, const char *help, double value)
{
    metric_head(into, name, type, help);
    metric_sample(into, name, "", value);
}

void metric_process(text *into)
{
    struct rusage use;
    char line[256];
    unsigned long long pages = 0;
    getrusage(RUSAGE_SELF, &use);
    double seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                     (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
    if (read_small("/proc/self/statm", line, sizeof line)) sscanf(line, "%*u %llu", &pages);
    metric_one(into, "process_cpu_seconds_total", "counter", "CPU time, in seconds.", seconds);
    metric_one(into, "process_resident_memory_bytes", "gauge", "Resident memory, in bytes.",
               (double)pages * (double)sysconf(_SC_PAGESIZE));
    metric_one(into, "process_open_fds", "gauge", "Open file descriptors, connections included.", (double)open_files());
    metric_one(into, "process_start_time_seconds", "gauge", "Start time, in seconds since 1970.", start_time());
}
