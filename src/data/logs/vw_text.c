#include "vw_text.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"

/* ---- words ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_between(char byte, char separator)
{
    return separator == ' ' ? is_blank(byte) : byte == separator;
}

bool vw_next_word(json_text *rest, char separator, json_text *word)
{
    size_t start = 0, end;
    while (separator == ' ' && start < rest->length && is_blank(rest->bytes[start])) start++;
    if (!rest->bytes || (separator == ' ' && start == rest->length)) return false;
    for (end = start; end < rest->length && !is_between(rest->bytes[end], separator);) end++;
    *word = (json_text){rest->bytes + start, end - start};
    bool last = end == rest->length;
    *rest = last ? (json_text){NULL, 0} : (json_text){rest->bytes + end + 1, rest->length - end - 1};
    return true;
}

/* VW also takes +1, .5, 5. and 007, which JSON does not have. */
bool vw_number(json_text word, double *number)
{
    enum { LONGEST = 100 };
    char plain[LONGEST + 2];
    size_t at = 0, length = 0;
    if (!word.length || word.length > LONGEST) return false;
    if (word.bytes[at] == '-') plain[length++] = '-';
    if (word.bytes[at] == '-' || word.bytes[at] == '+') at++;
    bool digits = at < word.length && is_digit(word.bytes[at]);
    while (at + 1 < word.length && word.bytes[at] == '0' && is_digit(word.bytes[at + 1])) at++;
    if (!digits) plain[length++] = '0';
    while (at < word.length && is_digit(word.bytes[at])) plain[length++] = word.bytes[at++];
    bool fraction = at + 1 < word.length && word.bytes[at] == '.' && is_digit(word.bytes[at + 1]);
    if (!digits && !fraction) return false;
    if (!fraction && at < word.length && word.bytes[at] == '.') at++;
    memcpy(plain + length, word.bytes + at, word.length - at);
    length += word.length - at;
    decimal_end end = decimal_read(plain, plain + length, number);
    return end.fault == DECIMAL_FINE && end.at == plain + length;
}

size_t vw_whole(json_text word)
{
    uint64_t number = 0;
    if (!word.length || word.length > 10) return SIZE_MAX;
    for (size_t i = 0; i < word.length; i++) {
        if (!is_digit(word.bytes[i])) return SIZE_MAX;
        number = 10 * number + (uint64_t)(word.bytes[i] - '0');
    }
    return number <= UINT32_MAX ? (size_t)number : SIZE_MAX;
}

/* ---- a line ---- */

/* A number and a ':' after it; a time such as 2026-01-31T10:30 is a tag. */
static bool looks_like_label(json_text word)
{
    json_text rest = word, first = {"", 0};
    double number;
    vw_next_word(&rest, ':', &first);
    return json_is(word, "shared") || (rest.bytes && vw_number(first, &number));
}

/* VW ignores what is before a tab, such as the key of a record. A label before a tab would be lost. */
static bool skip_key(json_text *head, log_note *note)
{
    size_t end = head->length;
    while (end && head->bytes[end - 1] != '\t') end--;
    if (!end) return true;
    json_text key = {head->bytes, end - 1}, rest = key, word;
    while (vw_next_word(&rest, ' ', &word)) {
        if (!looks_like_label(word)) continue;
        log_skip(note, LOG_INVALID, "a tab follows the label '%.*s', so that VW ignores it; write a space",
                 json_shown(word), word.bytes);
        return false;
    }
    *head = (json_text){head->bytes + end, head->length - end};
    return true;
}

/* The last word is a tag if it begins with a quote or touches the '|'. */
static bool split_tag(json_text head, vw_line *out, log_note *note)
{
    size_t end = head.length, start;
    while (end && is_blank(head.bytes[end - 1])) end--;
    for (start = end; start && !is_blank(head.bytes[start - 1]);) start--;
    json_text last = {head.bytes + start, end - start};
    bool quoted = last.length && last.bytes[0] == '\'', touches = last.length && end == head.length;
    out->label = (json_text){head.bytes, quoted || touches ? start : end};
    out->tag = (json_text){"", 0};
    if (quoted) out->tag = (json_text){last.bytes + 1, last.length - 1};
    if (quoted || !touches) return true;
    out->tag = last;
    if (!looks_like_label(last)) return true;
    log_skip(note, LOG_INVALID, "'%.*s' touches the '|', so that VW reads it as a tag; put a space between them",
             json_shown(last), last.bytes);
    return false;
}

bool vw_line_split(json_text bytes, vw_line *out, log_note *note)
{
    if (!json_is_utf8(bytes)) {
        log_skip(note, LOG_BROKEN, "the line is not UTF-8");
        return false;
    }
    const char *bar = bytes.length ? memchr(bytes.bytes, '|', bytes.length) : NULL;
    if (!bar) {
        log_skip(note, LOG_INVALID, "expected '|' between label and features, got '%.*s'", json_shown(bytes),
                 bytes.bytes);
        return false;
    }
    json_text head = {bytes.bytes, (size_t)(bar - bytes.bytes)};
    out->features = (json_text){bar, bytes.length - head.length};
    return skip_key(&head, note) && split_tag(head, out, note);
}

/* ---- features ---- */

typedef enum vw_kind { VW_SPACE, VW_FLAG, VW_NUMBER, VW_WORD } vw_kind;

enum { NONE = -1, MOST_BLANKS = 16 };

/* A member of the object that a line becomes, or of a namespace in it. */
typedef struct vw_member {
    vw_kind kind;
    json_text name;
    size_t number;   /* of a feature without a name, instead of it */
    unsigned blanks; /* written before the name: see find_member */
    int64_t space;   /* the namespace it is in; NONE: the object */
    int64_t first, last, next;
    double value;
    json_text word;
    size_t repeats; /* of a flag after the first */
} vw_member;

struct vw_features {
    memory *owner;
    vw_member *members;
    size_t count, capacity;
    int64_t first, last; /* of the object's */
    uint32_t *table;     /* (table_size) 1 + number of a member, by its hash; 0: none */
    size_t table_size, table_capacity;
    /* While a line is read: */
    json_text rest;
    int64_t space; /* NONE: without a name */
    double weight;
    size_t unnamed; /* features without a name so far in this namespace */
};

ee_status vw_features_create(memory *owner, vw_features **out, ee_error *error)
{
    ee_status status = memory_create(owner, out, 1, sizeof **out, error);
    if (!status) (*out)->owner = owner;
    return status;
}

static uint64_t hash_of(const vw_member *member)
{
    uint64_t place = (uint64_t)(member->space + 1) * 0x9e3779b97f4a7c15U + member->blanks;
    uint64_t name_hash = member->name.length ? id_hash(member->name.bytes, member->name.length) : member->number + 1;
    return (name_hash ^ place) * 0xff51afd7ed558ccdU;
}

static bool is_same_name(const vw_member *a, const vw_member *b)
{
    return a->space == b->space && a->blanks == b->blanks && a->number == b->number &&
           a->name.length == b->name.length &&
           (!a->name.length || memcmp(a->name.bytes, b->name.bytes, a->name.length) == 0);
}

/* Doubles the table. */
static ee_status grow_table(vw_features *self, ee_error *error)
{
    size_t size = self->table_size ? 2 * self->table_size : 64;
    ee_status status = memory_grow(self->owner, &self->table, &self->table_capacity, size, sizeof *self->table, error);
    if (status) return status;
    memset(self->table, 0, size * sizeof *self->table);
    self->table_size = size;
    for (size_t i = 0; i < self->count; i++) {
        size_t at = (size_t)(hash_of(&self->members[i]) >> 20) & (size - 1);
        while (self->table[at]) at = (at + 1) & (size - 1);
        self->table[at] = (uint32_t)i + 1;
    }
    return EE_OK;
}

/* Adds the member at a free place of the table, as the last one of its object. */
static ee_status append(vw_features *self, const vw_member *member, size_t at, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &self->members, &self->capacity, self->count + 1, sizeof *self->members, error);
    if (status) return status;
    int64_t number = (int64_t)self->count++;
    self->members[number] = *member;
    self->table[at] = (uint32_t)self->count;
    int64_t *first = member->space == NONE ? &self->first : &self->members[member->space].first;
    int64_t *last = member->space == NONE ? &self->last : &self->members[member->space].last;
    if (*last == NONE)
        *first = number;
    else
        self->members[*last].next = number;
    *last = number;
    return 2 * self->count > self->table_size ? grow_table(self, error) : EE_OK;
}

/* The names of an object are different. Flags and numbers of one name are one member, and so are namespaces. A member
 * that cannot share its name gets a blank before it, and so does a name that begins with _, which JSON has other uses
 * for: VW's hash ignores blanks at the ends. *found: SIZE_MAX if there are too many. */
static ee_status find_member(vw_features *self, vw_member *member, size_t *found, ee_error *error)
{
    bool counts = member->kind == VW_FLAG || member->kind == VW_NUMBER;
    ee_status status = self->table_size ? EE_OK : grow_table(self, error);
    if (status) return status;
    member->blanks = member->name.length && member->name.bytes[0] == '_';
    for (; member->blanks <= MOST_BLANKS; member->blanks++) {
        size_t at = (size_t)(hash_of(member) >> 20) & (self->table_size - 1);
        while (self->table[at] && !is_same_name(&self->members[self->table[at] - 1], member))
            at = (at + 1) & (self->table_size - 1);
        if (!self->table[at]) {
            *found = self->count;
            return append(self, member, at, error);
        }
        *found = self->table[at] - 1;
        vw_kind kind = self->members[*found].kind;
        if (counts && (kind == VW_FLAG || kind == VW_NUMBER)) return EE_OK;
        if (kind == VW_SPACE && member->kind == VW_SPACE) return EE_OK;
    }
    *found = SIZE_MAX;
    return EE_OK;
}

/* Adds a feature; like VW, adds up repeated ones. */
static ee_status add_feature(vw_features *self, vw_member *member, log_note *note, ee_error *error)
{
    static const double largest = 1e100; /* what named features may have */
    size_t before = self->count, number = 0;
    member->space = self->space;
    member->first = member->last = member->next = NONE;
    ee_status status = find_member(self, member, &number, error);
    if (status) return status;
    if (number == SIZE_MAX) {
        log_skip(note, LOG_INVALID, "too many values of the feature '%.*s'", json_shown(member->name),
                 member->name.bytes);
        return EE_OK;
    }
    vw_member *kept = &self->members[number];
    if (self->count == before && kept->kind == VW_FLAG && member->kind == VW_FLAG) {
        kept->repeats++;
    } else if (self->count == before) {
        kept->value += (double)kept->repeats + member->value;
        kept->repeats = 0;
        kept->kind = VW_NUMBER;
    }
    if (!(fabs(kept->value) <= largest))
        log_skip(note, LOG_INVALID, "the value of '%.*s' must be -1e100 to 1e100", json_shown(member->name),
                 member->name.bytes);
    return EE_OK;
}

/* Up to a blank, ':' or '|'. */
static json_text take_name(json_text *rest)
{
    size_t end = 0;
    while (end < rest->length && !is_blank(rest->bytes[end]) && rest->bytes[end] != ':' && rest->bytes[end] != '|')
        end++;
    json_text name = {rest->bytes, end};
    *rest = (json_text){rest->bytes + end, rest->length - end};
    return name;
}

static char first_byte(json_text rest)
{
    return rest.length ? rest.bytes[0] : '\0';
}

static void skip_bytes(json_text *rest, size_t count)
{
    *rest = (json_text){rest->bytes + count, rest->length - count};
}

static void skip_blanks(json_text *rest)
{
    while (rest->length && is_blank(rest->bytes[0])) skip_bytes(rest, 1);
}

/* Whether the word is the name, in letters of either case. */
static bool is_named(json_text word, const char *name)
{
    size_t same = 0;
    while (same < word.length && name[same] && (word.bytes[same] | 0x20) == name[same]) same++;
    return same == word.length && !name[same];
}

/* What follows the colon of a feature: a number or a word. A word may have ':' and '|'. For VW nan is 0, and so is a
 * space at the end of the line, but "name:" is "name". VW reads '|' after the colon as part of a word; that is refused
 * here as a mistake. */
static bool take_value(vw_features *self, vw_member *member, log_note *note)
{
    bool space = first_byte(self->rest) == ' ';
    skip_blanks(&self->rest);
    json_text rest = self->rest, number = take_name(&rest), word = number;
    while (word.length < self->rest.length && !is_blank(self->rest.bytes[word.length])) word.length++;
    bool missing = is_named(number, "nan") || (space && !self->rest.length);
    if (first_byte(rest) != ':' && (missing || vw_number(number, &member->value))) {
        member->kind = VW_NUMBER;
        member->value = missing ? 0 : member->value * self->weight;
        self->rest = rest;
        return true;
    }
    char first = first_byte(word);
    bool infinite = is_named(word, "inf") || is_named(word, "infinity");
    if (first && (infinite || is_digit(first) || memchr(".+-|", first, 4))) {
        log_skip(note, LOG_INVALID, "expected a number after '%.*s:', got '%.*s'", json_shown(member->name),
                 member->name.bytes, json_shown(word), word.bytes);
        return false;
    }
    if (!first) {
        if (self->weight != 1) member->kind = VW_NUMBER; /* 1: VW does not weigh it */
        return true;
    }
    member->kind = VW_WORD;
    member->word = word;
    skip_bytes(&self->rest, word.length);
    return true;
}

static ee_status take_feature(vw_features *self, log_note *note, ee_error *error)
{
    vw_member member = {.kind = VW_FLAG, .name = take_name(&self->rest), .value = 1};
    if (first_byte(self->rest) == ':') {
        skip_bytes(&self->rest, 1);
        if (!take_value(self, &member, note)) return EE_OK;
    }
    if (!member.name.length && member.kind == VW_FLAG) {
        log_skip(note, LOG_INVALID, "expected a number after ':'");
        return EE_OK;
    }
    if (!member.name.length && member.kind == VW_NUMBER) member.number = ++self->unnamed;
    if (member.kind == VW_FLAG && self->weight != 1) {
        member.kind = VW_NUMBER;
        member.value = self->weight;
    }
    return add_feature(self, &member, note, error);
}

/* What follows a '|': a name touches it, and may have a weight. */
static ee_status take_space(vw_features *self, log_note *note, ee_error *error)
{
    self->space = NONE;
    self->weight = 1;
    self->unnamed = 0;
    char first = first_byte(self->rest);
    if (!first || is_blank(first) || first == '|') return EE_OK;
    vw_member member = {.kind = VW_SPACE, .name = take_name(&self->rest), .space = NONE};
    member.first = member.last = member.next = NONE;
    bool right = member.name.length > 0;
    if (first_byte(self->rest) == ':') {
        skip_bytes(&self->rest, 1);
        right = right && vw_number(take_name(&self->rest), &self->weight) && first_byte(self->rest) != ':';
    }
    if (!right) {
        log_skip(note, LOG_INVALID, "expected |NAME or |NAME:NUMBER for the namespace '%.*s'", json_shown(member.name),
                 member.name.bytes);
        return EE_OK;
    }
    size_t number = 0;
    ee_status status = find_member(self, &member, &number, error);
    if (number == SIZE_MAX) log_skip(note, LOG_INVALID, "too many namespaces of one name");
    self->space = (int64_t)number;
    return status;
}

static ee_status take_all(vw_features *self, log_note *note, ee_error *error)
{
    ee_status status = EE_OK;
    while (self->rest.length && !status && note->verdict == LOG_EVENT) {
        if (first_byte(self->rest) == '|') {
            skip_bytes(&self->rest, 1);
            status = take_space(self, note, error);
        } else {
            status = take_feature(self, note, error);
        }
        skip_blanks(&self->rest);
    }
    return status;
}

/* ---- JSON ---- */

/* As text_json, without the quotes. */
static void add_escaped(text *into, json_text string)
{
    size_t start = into->length;
    text_json(into, string);
    if (into->status) return;
    into->length -= 2;
    memmove(into->bytes + start, into->bytes + start + 1, into->length - start);
    into->bytes[into->length] = '\0';
}

static void add_name(const vw_member *member, text *into)
{
    text_bytes(into, "\"", 1);
    for (unsigned i = 0; i < member->blanks; i++) text_bytes(into, " ", 1);
    if (member->number)
        text_add(into, "%zu", member->number - 1); /* VW hashes it like the number as a name */
    else
        add_escaped(into, member->name);
    text_bytes(into, "\":", 2);
}

/* Repeated flags become words of a text, where each counts. */
static void add_repeats(const vw_features *self, int64_t first, text *into, bool *any)
{
    bool open = false;
    for (int64_t i = first; i != NONE; i = self->members[i].next) {
        const vw_member *member = &self->members[i];
        for (size_t k = 0; k < member->repeats; k++) {
            if (open)
                text_bytes(into, " ", 1);
            else
                text_add(into, *any ? ",\"_text\":\"" : "\"_text\":\"");
            add_escaped(into, member->name);
            open = *any = true;
        }
    }
    if (open) text_bytes(into, "\"", 1);
}

static void add_members(const vw_features *self, int64_t first, text *into, bool *any)
{
    for (int64_t i = first; i != NONE; i = self->members[i].next) {
        const vw_member *member = &self->members[i];
        if (member->kind == VW_SPACE && member->first == NONE) continue;
        if (*any) text_bytes(into, ",", 1);
        *any = true;
        add_name(member, into);
        if (member->kind == VW_FLAG) text_bytes(into, "true", 4);
        if (member->kind == VW_NUMBER) text_double(into, member->value);
        if (member->kind == VW_WORD) text_json(into, member->word);
        if (member->kind != VW_SPACE) continue;
        bool within = false;
        text_bytes(into, "{", 1);
        add_members(self, member->first, into, &within); /* one level: a namespace has none in it */
        text_bytes(into, "}", 1);
    }
    add_repeats(self, first, into, any);
}

ee_status vw_features_add(vw_features *self, json_text features, text *into, bool *any, log_note *note, ee_error *error)
{
    *any = false;
    self->count = 0;
    self->first = self->last = NONE;
    if (self->table_size > 4096) self->table_size = 0; /* one long line must not slow all others */
    if (self->table_size) memset(self->table, 0, self->table_size * sizeof *self->table);
    self->rest = features;
    into->error = error;
    ee_status status = take_all(self, note, error);
    if (status || note->verdict != LOG_EVENT) return status;
    add_members(self, self->first, into, any);
    return into->status;
}
