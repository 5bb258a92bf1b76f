#define _POSIX_C_SOURCE 200809L
#include "growth_plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void series_add(series *to, double size, const measurement *taken)
{
    double median = measure_quantile(taken, 0.5);
    double spread = (measure_quantile(taken, 0.75) - measure_quantile(taken, 0.25)) / median;
    to->sizes[to->count] = size;
    to->costs[to->count++] = measure_cpu(taken);
    if (spread > to->spread) to->spread = spread;
}

double series_slope(const series *of, double *factor)
{
    double n = (double)of->count, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < of->count; i++) {
        double size = log(of->sizes[i]), cost = log(of->costs[i]);
        x += size / n;
        y += cost / n;
        xx += size * size / n;
        xy += size * cost / n;
    }
    double slope = (xy - x * y) / (xx - x * x);
    if (factor) *factor = exp(y - slope * x);
    return slope;
}

static void write_script(FILE *to, const char *axis, const series *list, size_t count)
{
    fprintf(to, "set logscale xy\nset xlabel '%s'\nset ylabel 'seconds'\nset format y '10^{%%T}'\n", axis);
    fprintf(to, "set key left top noenhanced\nset grid\nplot ");
    for (size_t i = 0; i < count; i++) {
        double factor, slope = series_slope(&list[i], &factor);
        fprintf(to, "%s'-' with points pt 7 lc %zu title '%s: %.2f', %.9g * x**%.9g with lines lc %zu notitle",
                i ? ", " : "", i + 1, list[i].name, slope, factor, slope, i + 1);
    }
    fputc('\n', to);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < list[i].count; j++) fprintf(to, "%.9g %.9g\n", list[i].sizes[j], list[i].costs[j]);
        fprintf(to, "e\n");
    }
}

ee_status growth_plot(const char *folder, const char *axis, const series *list, size_t count, ee_error *error)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return status_fail(error, EE_FILE_ERROR, "%.120s: %s", folder, strerror(errno));
    FILE *to = popen("gnuplot 2>/dev/null", "w");
    if (!to) return status_fail(error, EE_FILE_ERROR, "gnuplot: %s", strerror(errno));
    fprintf(to, "set terminal svg size 720,480 background 'white'\nset output '%s/growth_%s.svg'\n", folder, axis);
    write_script(to, axis, list, count);
    return pclose(to) ? status_fail(error, EE_FILE_ERROR, "gnuplot is not there, or failed: no figure of growth")
                      : EE_OK;
}
