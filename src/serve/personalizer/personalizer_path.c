/* Finds the API and bandit of a path and removes the base, so that one table of routes serves all versions. */
#include "personalizer.h"

static const char v1_base[] = "/v1/bandits/", base[] = "/personalizer";

static bool begins(json_text path, const char *start, size_t length)
{
    return path.length >= length && memcmp(path.bytes, start, length) == 0;
}

static json_text without(json_text path, size_t length)
{
    return (json_text){path.bytes + length, path.length - length};
}

/* The first part of "/a/b": "a". */
static json_text first_part(json_text path)
{
    json_text part = {path.bytes + 1, 0};
    while (part.length + 1 < path.length && part.bytes[part.length] != '/') part.length++;
    return part;
}

/* "/personalizer", alone or before another part: *rest is what follows it. */
static bool cut_base(json_text path, json_text *rest)
{
    if (!begins(path, base, sizeof base - 1)) return false;
    *rest = without(path, sizeof base - 1);
    return !rest->length || rest->bytes[0] == '/';
}

/* The part of the path that says the generation, if it is one. */
static personalizer_generation cut_version(json_text *path)
{
    if (path->length < 2) return PERSONALIZER_2022;
    json_text part = first_part(*path);
    personalizer_generation found = begins(part, "v1.0", 4)   ? PERSONALIZER_1_0
                                    : begins(part, "v1.1", 4) ? PERSONALIZER_1_1
                                                              : PERSONALIZER_2022;
    if (found != PERSONALIZER_2022) *path = without(*path, part.length + 1);
    return found;
}

void personalizer_path_read(json_text path, personalizer_path *out)
{
    json_text rest;
    out->generation = PERSONALIZER_NONE;
    out->bandit = (json_text){NULL, 0};
    if (begins(path, v1_base, sizeof v1_base - 1)) {
        json_text behind = without(path, sizeof v1_base - 2), name = first_part(behind);
        behind = without(behind, name.length + 1);
        if (!behind.length || !cut_base(behind, &rest)) return;
        out->bandit = name;
    } else if (!cut_base(path, &rest)) {
        return;
    }
    out->generation = cut_version(&rest);
    size_t length = sizeof base - 1 + rest.length;
    bool fits = length <= sizeof out->room;
    out->path = (json_text){out->room, fits ? length : 0};
    if (!fits) return;
    memcpy(out->room, base, sizeof base - 1);
    memcpy(out->room + sizeof base - 1, rest.bytes, rest.length);
}
