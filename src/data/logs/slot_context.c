#include "slot_context.h"

static const char mark[] = "{\"_slot\":";

static void add_members(text *into, json_text members)
{
    if (!members.length) return;
    text_bytes(into, ",", 1);
    text_one_line(into, members);
}

static json_text members_of(json_text object)
{
    return object.length > 2 ? json_members(object) : (json_text){"", 0};
}

void slot_context(text *into, json_text context, json_text features)
{
    json_text slot = members_of(features);
    text_add(into, "%s%zu", mark, slot.length);
    add_members(into, slot);
    add_members(into, members_of(context));
    text_bytes(into, "}", 1);
}

/* The members in the next bytes; false if there are not enough bytes. */
static bool take_members(const char **at, const char *end, size_t length, json_text *members)
{
    *members = (json_text){*at, 0};
    if (!length) return true;
    if (length >= (size_t)(end - *at) || **at != ',') return false;
    *members = (json_text){*at + 1, length};
    *at += length + 1;
    return true;
}

bool slot_context_split(json_text joined, json_text *context, json_text *features)
{
    size_t length = 0;
    if (joined.length <= sizeof mark || memcmp(joined.bytes, mark, sizeof mark - 1) != 0) return false;
    const char *at = joined.bytes + sizeof mark - 1, *end = joined.bytes + joined.length - 1; /* its brace */
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (length > joined.length) return false;
        length = 10 * length + (size_t)(*at - '0');
    }
    if (!take_members(&at, end, length, features)) return false;
    size_t rest = (size_t)(end - at);
    return rest != 1 && take_members(&at, end, rest ? rest - 1 : 0, context);
}
