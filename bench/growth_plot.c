#include "growth_plot.h"

#include <math.h>
#include <stdio.h>

#include "lab/report/chart.h"

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

ee_status growth_plot(const char *folder, const char *axis, const series *list, size_t count, ee_error *error)
{
    chart_point points[SERIES_MOST][SERIES_POINTS];
    chart_line lines[SERIES_MOST];
    char labels[SERIES_MOST][80], name[40];
    double low = INFINITY, high = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(labels[i], sizeof labels[i], "%s: %.2f", list[i].name, series_slope(&list[i], NULL));
        lines[i] = (chart_line){.style = i + 1, .name = labels[i], .points = points[i], .count = list[i].count};
        for (size_t k = 0; k < list[i].count; k++) {
            points[i][k] = (chart_point){list[i].sizes[k], 1e6 * list[i].costs[k], NAN, NAN};
            low = fmin(low, points[i][k].y);
            high = fmax(high, points[i][k].y);
            least = fmin(least, list[i].sizes[k]);
            most = fmax(most, list[i].sizes[k]);
        }
    }
    snprintf(name, sizeof name, "growth_%s", axis);
    chart drawn = {
        .name = name,
        .frames = {{.lines = lines,
                    .count = count,
                    .x = chart_logarithmic(axis, 0.9 * least, 1.1 * most),
                    .y = chart_logarithmic("microseconds (with the slope of each line)", 0.8 * low, 1.2 * high)}},
        .count = 1};
    return chart_save(&drawn, folder, error);
}
