#define _POSIX_C_SOURCE 200809L
#include "kind_guess.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"

/* Files that identify the kind of a folder. */
static const struct {
    const char *name, *kind;
} folder_files[] = {
    {"rewards.npy", "rounds"},
    {"ratings.csv", "movielens"},
    {"ratings.dat", "movielens"},
    {"u.data", "movielens"},
    {"train-images-idx3-ubyte", "mnist"},
    {"t10k-images-idx3-ubyte", "mnist"},
    {"yelp_2000users_10000items_entry.npy", "yelp"},
};

static bool has_file(const char *folder, const char *name, const char *suffix)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    return length < (int)sizeof path && access(path, F_OK) == 0;
}

static const char *kind_of_folder(const char *folder)
{
    for (size_t i = 0; i < sizeof folder_files / sizeof folder_files[0]; i++)
        if (has_file(folder, folder_files[i].name, "") || has_file(folder, folder_files[i].name, ".gz"))
            return folder_files[i].kind;
    return NULL;
}

/* Whether a name ends so, or so with .gz behind it. */
static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    if (length > 3 && strcasecmp(name + length - 3, ".gz") == 0) length -= 3;
    return length > tail && strncasecmp(name + length - tail, ending, tail) == 0;
}

static const char *kind_of_name(const char *path)
{
    static const char *const tables[] = {".csv", ".tsv", ".txt", ".dat", ".data", ".svm", ".libsvm", ".tab"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strncasecmp(name, "ratings.", 8) == 0 || strncmp(name, "u.data", 6) == 0) return "movielens";
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (ends_in(name, tables[i])) return strstr(name, "rating") ? "ratings" : "table";
    return NULL;
}

/* Reduces place to its folder if the kind takes a folder. */
static const char *kind_of_place(char *place)
{
    struct stat about;
    bool there = stat(place, &about) == 0;
    if (there && S_ISDIR(about.st_mode)) return kind_of_folder(place);
    if (ends_in(place, ".npy")) {
        char *slash = strrchr(place, '/');
        strcpy(slash ? slash : place, slash ? "" : ".");
        return "rounds";
    }
    const char *kind = kind_of_name(place);
    return kind || !there ? kind : "table";
}

/* Whether it is a form of synthetic data. */
static bool is_form(const char *place)
{
    static const char *const forms[] = {"inner", "quadratic", "cosine", "clicks"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(place, forms[i]) == 0) return true;
    return false;
}

bool kind_guess(const char *text, char *meant, size_t capacity)
{
    char copy[2048], *place = copy;
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *options = options_find(copy), *colon = strchr(copy, ':');
    const char *rest = options ? text + (options - copy) : "";
    if (options) *options = '\0';
    if (colon && access(copy, F_OK) != 0) place = colon + 1; /* a kind that there is not, as csv:FILE */
    const char *kind = is_form(place) ? "synthetic" : kind_of_place(place);
    return kind && (size_t)snprintf(meant, capacity, "%s:%s%s", kind, place, rest) < capacity;
}
