#define _XOPEN_SOURCE 700 /* realpath */
#include "report_place.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* Bytes that have a meaning in a link, and those that are not ASCII, as %20. */
static void add_path(text *link, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *path; path++) text_add(link, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

/* Where the two part: the number of bytes of the folders that both begin with. */
static size_t common_folders(const char *left, const char *right)
{
    size_t end = 0;
    for (size_t i = 0;; i++) {
        bool left_ends = left[i] == '\0' || left[i] == '/', right_ends = right[i] == '\0' || right[i] == '/';
        if (left_ends && right_ends) end = i;
        if (left[i] != right[i] || left[i] == '\0') return end;
    }
}

/* Both are absolute, without links and dots. */
static void add_way(text *way, const char *from, const char *to)
{
    size_t common = common_folders(from, to);
    for (const char *at = from + common; *at; at++)
        if (*at == '/' && at[1]) text_add(way, "../");
    to += common + (to[common] == '/');
    add_path(way, to);
    if (*to) text_add(way, "/");
}

ee_status report_place_find(const char *folder, const char *page, report_place *out, ee_error *error)
{
    *out = (report_place){NULL};
    text way = text_start(error), copy = text_start(error);
    text_add(&copy, "%s", page);
    char *from = copy.bytes ? realpath(dirname(copy.bytes), NULL) : NULL, *to = realpath(folder, NULL);
    text_add(&way, "%s", ""); /* so that there is a text, however short */
    if (from && to) add_way(&way, from, to);
    free(from);
    free(to);
    memory_free(copy.bytes);
    out->way = way.bytes;
    return copy.status ? copy.status : way.status;
}

void report_place_release(report_place *of)
{
    memory_free(of->way);
    *of = (report_place){0};
}

void report_place_link(text *page, const report_place *place, const char *name)
{
    text_add(page, " For papers: <a href=\"%sfigures/", place->way);
    add_path(page, name);
    text_add(page, ".svg\">figures/");
    text_html(page, name);
    text_add(page, ".svg</a>");
}
