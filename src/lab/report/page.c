#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "chart.h"
#include "page_assets.h"

void page_begin(text *page, const char *title)
{
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    text_html(page, title);
    text_add(page, "</title>\n<style>\n:root{");
    chart_colours(page, false);
    text_add(page, "}\n@media screen and (prefers-color-scheme:dark){:root{");
    chart_colours(page, true);
    text_add(page, "}}\n%s</style>\n</head>\n<body>\n<main>\n", report_css);
}

void page_end(text *page)
{
    text_add(page, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", report_js);
}

static void add_number(text *page, double value, int decimals, bool with_plus)
{
    if (isnan(value)) {
        text_add(page, "<span class=\"faint\">–</span>");
        return;
    }
    char digits[64];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    /* A value that rounds to zero has no sign. */
    const char *sign = strpbrk(digits, "123456789if") == NULL ? "" : value < 0.0 ? "−" : with_plus ? "+" : "";
    text_add(page, "%s%s", sign, digits);
}

void page_number(text *page, double value, int decimals)
{
    add_number(page, value, decimals, false);
}

void page_signed(text *page, double value, int decimals)
{
    add_number(page, value, decimals, true);
}

int page_decimals(double smallest)
{
    return smallest >= 1000.0 ? 0 : smallest >= 10.0 ? 1 : smallest >= 1.0 ? 2 : 3;
}

void page_amount(text *page, double value)
{
    if (value > 0.0 && value < 0.0005)
        text_add(page, "&lt;0.001");
    else
        page_number(page, value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3);
}

void page_share(text *page, double value)
{
    page_number(page, 100.0 * value, 1);
    if (!isnan(value)) text_add(page, "%%");
}

void page_p(text *page, double value)
{
    if (value < 0.001)
        text_add(page, "&lt;0.001");
    else
        page_number(page, value, 3);
}

void page_piece(text *page, const char *bytes, size_t size)
{
    char piece[256];
    snprintf(piece, sizeof piece, "%.*s", (int)size, bytes);
    text_html(page, piece);
}

void page_shell_word(text *page, const char *word)
{
    text quoted = text_start(page->error);
    text_shell(&quoted, word);
    if (!page->status) page->status = quoted.status;
    if (!quoted.status) text_html(page, quoted.bytes);
    memory_free(quoted.bytes);
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void page_seeds(text *page, uint64_t *seeds, size_t count)
{
    qsort(seeds, count, sizeof *seeds, ascending);
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && seeds[end] - seeds[end - 1] <= 1) end++;
        text_add(page, "%s%" PRIu64, i ? "," : "", seeds[i]);
        if (seeds[end - 1] > seeds[i]) text_add(page, "-%" PRIu64, seeds[end - 1]);
    }
}
