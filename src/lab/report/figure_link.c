#define _XOPEN_SOURCE 700 /* realpath */
#include "figure_link.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* Escapes bytes that have a meaning in a link or are not ASCII, as %20. */
static void add_path(text *link, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *path; path++) text_add(link, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

/* The length of the leading folders that both paths share. */
static size_t common_folders(const char *left, const char *right)
{
    size_t end = 0;
    for (size_t i = 0;; i++) {
        bool left_ends = left[i] == '\0' || left[i] == '/', right_ends = right[i] == '\0' || right[i] == '/';
        if (left_ends && right_ends) end = i;
        if (left[i] != right[i] || left[i] == '\0') return end;
    }
}

/* Both paths are absolute, without links and dots. */
static void add_relative_path(text *link, const char *from, const char *to)
{
    size_t common = common_folders(from, to);
    for (const char *at = from + common; *at; at++)
        if (*at == '/' && at[1]) text_add(link, "../");
    to += common + (to[common] == '/');
    add_path(link, to);
    if (*to) text_add(link, "/");
}

ee_status figure_link_folder(const char *folder, const char *page, char **out, ee_error *error)
{
    text link = text_start(error), copy = text_start(error);
    text_add(&copy, "%s", page);
    char *from = copy.bytes ? realpath(dirname(copy.bytes), NULL) : NULL, *to = realpath(folder, NULL);
    text_add(&link, "%s", ""); /* not NULL if it is empty */
    if (from && to) add_relative_path(&link, from, to);
    free(from);
    free(to);
    memory_free(copy.bytes);
    *out = link.bytes;
    return copy.status ? copy.status : link.status;
}

void figure_link(text *page, const char *folder, const char *name)
{
    text_add(page, " For papers: <a href=\"%sfigures/", folder);
    add_path(page, name);
    text_add(page, ".svg\">figures/");
    text_html(page, name);
    text_add(page, ".svg</a>");
}
