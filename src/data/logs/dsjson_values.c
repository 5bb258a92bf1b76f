#include "dsjson_values.h"

#include <string.h>
#include <strings.h>

void line_set_problem(dsjson_line *self, const char *what)
{
    if (!self->of.wrong) self->of.wrong = what;
}

bool line_is_word(json_text key, const char *word)
{
    return key.length == strlen(word) && strncasecmp(key.bytes, word, key.length) == 0;
}

json_text line_keep_text(dsjson_line *self, json_text string)
{
    if (string.bytes >= self->bytes && string.bytes <= self->bytes + self->size) return string;
    char *copy = self->texts + self->texts_size;
    memcpy(copy, string.bytes, string.length);
    self->texts_size += string.length;
    return (json_text){copy, string.length};
}

bool line_next(dsjson_line *self, json_token *item, ee_status *status, ee_error *error)
{
    if (!*status) *status = json_next(&self->reader, item, error);
    return !*status && item->kind != JSON_KIND_OBJECT_END && item->kind != JSON_KIND_ARRAY_END;
}

ee_status line_skip(dsjson_line *self, const json_token *token, ee_error *error)
{
    return json_skip(&self->reader, token, NULL, error);
}

ee_status line_take_number(dsjson_line *self, const json_token *token, maybe *into, const char *wrong, ee_error *error)
{
    *into = (maybe){token->kind == JSON_KIND_NUMBER, token->number};
    if (!into->known && token->kind != JSON_KIND_NULL) line_set_problem(self, wrong);
    return line_skip(self, token, error);
}

ee_status line_add_number(dsjson_line *self, number_list *list, double number, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &list->values, &list->capacity, list->count + 1, sizeof *list->values, error);
    if (!status) list->values[list->count++] = number;
    return status;
}

ee_status line_take_numbers(dsjson_line *self, const json_token *token, number_list *list, const char *wrong,
                            ee_error *error)
{
    if (token->kind != JSON_KIND_ARRAY) {
        if (token->kind != JSON_KIND_NULL) line_set_problem(self, wrong);
        return line_skip(self, token, error);
    }
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        bool number = item.kind == JSON_KIND_NUMBER;
        if (!number) line_set_problem(self, wrong);
        status = number ? line_add_number(self, list, item.number, error) : line_skip(self, &item, error);
    }
    return status;
}

static void observe(observations *seen, double reward)
{
    if (!seen->count++)
        *seen = (observations){1, reward, reward, reward, reward, seen->activated};
    else {
        seen->last = reward;
        seen->sum += reward;
        seen->max = reward > seen->max ? reward : seen->max;
    }
}

/* One of `o`: {"v": 1, "ActionTaken": true}. v may be anything, but only a number is a reward. */
static ee_status take_observation(dsjson_line *self, observations *seen, ee_error *error)
{
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        if (item.kind == JSON_KIND_NUMBER && json_is(item.key, "v")) observe(seen, item.number);
        if (item.kind == JSON_KIND_TRUE && json_is(item.key, "ActionTaken")) seen->activated = true;
        status = line_skip(self, &item, error);
    }
    return status;
}

ee_status line_take_observations(dsjson_line *self, const json_token *token, observations *seen, ee_error *error)
{
    *seen = (observations){0};
    if (token->kind != JSON_KIND_ARRAY) return line_skip(self, token, error);
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error))
        status = item.kind == JSON_KIND_OBJECT ? take_observation(self, seen, error) : line_skip(self, &item, error);
    return status;
}

/* Appends a member, with a comma if it is not the first, to the copy at the end of the texts. */
static void copy_member(dsjson_line *self, char *copy, const char *from, const char *end)
{
    bool first = self->texts + self->texts_size == copy + 1;
    while (first && from < end && strchr(" \t\r\n,", *from)) from++;
    memcpy(self->texts + self->texts_size, from, (size_t)(end - from));
    self->texts_size += (size_t)(end - from);
}

ee_status line_copy_without(dsjson_line *self, json_text object, const char *const *names, size_t count, json_text *out,
                            ee_error *error)
{
    json_reader reader = json_start(object.bytes, object.length, &self->room);
    json_token token;
    char *copy = self->texts + self->texts_size;
    *out = (json_text){0};
    ee_status status = json_next(&reader, &token, error); /* its brace */
    self->texts[self->texts_size++] = '{';
    while (!status) {
        const char *before = reader.next;
        status = json_next(&reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        bool wanted = true;
        for (size_t i = 0; i < count; i++) wanted = wanted && !json_is(token.key, names[i]);
        status = json_skip(&reader, &token, NULL, error);
        if (!status && wanted) copy_member(self, copy, before, reader.next);
    }
    self->texts[self->texts_size++] = '}';
    size_t length = (size_t)(self->texts + self->texts_size - copy);
    if (!status && length > 2) *out = (json_text){copy, length};
    return status;
}
