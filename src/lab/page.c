#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{--ink:#1b2330;--muted:#5a6472;--line:#d8dee7;--paper:#fff;--tint:#f4f6fa;--accent:#0b5cad;--mark:#fff6df}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--muted:#a2acba;--line:#343c49;--paper:#12161c;"
    "--tint:#1b212b;--accent:#82b8f2;--mark:#2d2816}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,-apple-system,'Segoe UI',Roboto,"
    "'Helvetica Neue','Liberation Sans',Arial,sans-serif}\n"
    "main{max-width:1300px;margin:0 auto;padding:2.5rem clamp(1rem,4vw,3rem) 4rem}\n"
    "h1{font-size:clamp(1.5rem,4.5vw,2.2rem);line-height:1.2;letter-spacing:-.015em;margin:0 0 .4rem}\n"
    "h2{font-size:1.45rem;line-height:1.3;letter-spacing:-.01em;margin:3.2rem 0 .4rem;padding-top:1.1rem;"
    "border-top:1px solid var(--line);overflow-wrap:anywhere}\n"
    "h3{font-size:1.08rem;margin:2.2rem 0 .5rem}\n"
    "p,ol,ul{max-width:46rem;margin:.5rem 0 1rem}\n"
    "a{color:var(--accent)}\n"
    ".lead,.facts,figcaption,.legend{color:var(--muted)}\n"
    ".lead{font-size:1.05rem;margin:0 0 1.4rem}\n"
    ".facts{margin-top:0}\n"
    ".headline{font-size:1.3rem;line-height:1.4;font-weight:600;margin:.6rem 0}\n"
    "figcaption,.legend{font-size:.875rem;line-height:1.5;max-width:52rem;margin:.6rem 0 0}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;font-size:.92rem;margin:1.2rem 0}\n"
    "nav a{text-decoration:none}nav a:hover{text-decoration:underline}\n"
    ".note{background:var(--mark);border-left:3px solid #e69f00;padding:.6rem .9rem;margin:.8rem 0;max-width:52rem;"
    "font-size:.94rem;overflow-wrap:anywhere}\n"
    ".scroll{overflow-x:auto;margin:.8rem 0 0}\n"
    "table{border-collapse:separate;border-spacing:0;font-size:.9rem;line-height:1.4;font-variant-numeric:tabular-nums}"
    "\n"
    "th,td{padding:.42rem .65rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "thead th{vertical-align:bottom;font-weight:600;color:var(--muted);border-bottom:1.5px solid var(--ink)}\n"
    "th:first-child,td.words{text-align:left}\n"
    "tbody th{font-weight:500;white-space:normal;min-width:10rem;max-width:22rem;overflow-wrap:break-word}\n"
    "@media(max-width:600px){tbody th{min-width:9.5rem;max-width:9.5rem}th,td{padding:.4rem .5rem}}\n"
    "th:first-child{position:sticky;left:0;background:var(--paper);padding-left:.1rem}\n"
    "tbody tr:last-child>*{border-bottom:1.5px solid var(--ink)}\n"
    "tr.reference>*,tr.reference>th:first-child{background:var(--tint)}\n"
    ".faint{color:var(--muted)}\n"
    "sup{font-size:.7em;line-height:0;margin-left:.1em}sup a{text-decoration:none}\n"
    ".swatch{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.5em;vertical-align:-.06em;"
    "background:var(--c);border:2px solid var(--c)}\n"
    ".swatch.hollow{background:none}\n"
    ".tag{font-size:.74rem;color:var(--muted);border:1px solid var(--line);border-radius:99px;padding:.05em .55em;"
    "margin-left:.5em;font-weight:400;display:inline-block;line-height:1.5;white-space:nowrap}\n";

/* In two parts, since C promises no more than 4095 letters in one. */
static const char style_of_figures[] =
    "figure{margin:1.2rem 0 1.6rem;max-width:1020px}figcaption code{display:inline-block;overflow-wrap:anywhere}\n"
    "figure .scroll{background:#fff;border:1px solid var(--line);border-radius:8px;padding:.6rem;margin:0}\n"
    "figure svg{display:block;width:100%;min-width:600px;height:auto}\n"
    "figure svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif}\n"
    "details{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem;margin:.6rem 0}\n"
    "details details{border:0;border-top:1px solid var(--line);border-radius:0;padding:.4rem 0;margin:0}\n"
    "summary{cursor:pointer;overflow-wrap:anywhere}details[open]>summary{margin-bottom:.4rem}\n"
    "code,pre{font:.86em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace}\n"
    ".options{display:flex;flex-wrap:wrap;gap:.1rem .9rem;margin:.3rem 0 .6rem}\n"
    ".options code{color:var(--muted);overflow-wrap:anywhere}.options b{color:var(--ink)}\n"
    "pre{background:var(--tint);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;margin:.6rem 0}\n"
    "li:target{background:var(--mark)}\n"
    "footer{color:var(--muted);font-size:.875rem;margin-top:3rem}\n"
    "@media print{body{font-size:10.5pt}main{max-width:none;padding:0}.scroll{overflow:visible}nav{display:none}"
    "figure,tr{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:7.5pt}th,td{padding:.25rem .35rem}"
    "figure svg{min-width:0}}\n";

void page_begin(text *page, const char *title)
{
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    text_html(page, title);
    text_add(page, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n", style, style_of_figures);
}

void page_end(text *page)
{
    text_add(page, "</main>\n</body>\n</html>\n");
}

static void add_number(text *page, double value, int decimals, bool with_plus)
{
    if (isnan(value)) {
        text_add(page, "<span class=\"faint\">–</span>");
        return;
    }
    char digits[64];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    /* What is shown as zero has no sign. */
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
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:=/+@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        text_html(page, word);
        return;
    }
    text_add(page, "'");
    for (; *word; word++) {
        char one[] = {*word, '\0'};
        text_html(page, *word == '\'' ? "'\\''" : one);
    }
    text_add(page, "'");
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
