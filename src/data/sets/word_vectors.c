#include "word_vectors.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

enum { MOST_NUMBERS = 65536, FLOAT_BYTES = 4 };

static const size_t any_number = SIZE_MAX;

typedef struct reader {
    const source *file;
    const vocabulary *words;
    word_vectors *out;
    size_t position; /* of the next byte */
    size_t line;     /* of the next byte, from 1 */
    size_t promised; /* number of words in the first line; any_number without such a line */
    size_t read;     /* words */
    ee_error *error;
} reader;

__attribute__((format(printf, 4, 5))) static ee_status fail(const reader *from, const char *unit, size_t place,
                                                            const char *format, ...)
{
    char sentence[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return status_fail(from->error, EE_BAD_INPUT, "%s, %s %zu: %s", file_tail(from->file->path), unit, place, sentence);
}

/* Destination of a word's numbers; NULL if they are not needed. */
static float *find_row(const reader *from, const char *letters, size_t length)
{
    size_t number = vocabulary_find(from->words, letters, length);
    if (number == from->words->count || from->out->known[number]) return NULL;
    from->out->known[number] = true;
    return from->out->values + number * from->out->dim;
}

/* ---- text ---- */

/* The rest of the present line, without its end. */
static field peek_line(const reader *from)
{
    const char *start = (const char *)from->file->bytes + from->position;
    size_t left = from->file->size - from->position;
    const char *end = memchr(start, '\n', left);
    return (field){start, end ? (size_t)(end - start) : left};
}

static void skip_line(reader *from)
{
    from->position += peek_line(from).length;
    if (from->position < from->file->size) from->position++;
    from->line++;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

/* Removes the first token of the line; false if there is none. */
static bool take_token(field *line, field *token)
{
    while (line->length && is_blank(*line->text)) line->text++, line->length--;
    *token = (field){line->text, 0};
    while (line->length && !is_blank(*line->text)) line->text++, line->length--, token->length++;
    return token->length > 0;
}

static size_t count_tokens(field line)
{
    field token;
    size_t count = 0;
    while (take_token(&line, &token)) count++;
    return count;
}

/* The token is followed by a blank, a line end or the zero after the file: strtof ends there at the latest. */
static bool token_float(const field *token, float *number)
{
    char *end;
    *number = strtof(token->text, &end);
    return end == token->text + token->length && isfinite(*number);
}

static bool token_whole(const field *token, size_t *number)
{
    enum { MOST_DIGITS = 15 };
    *number = 0;
    for (size_t i = 0; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9' || i == MOST_DIGITS) return false;
        *number = 10 * *number + (size_t)(token->text[i] - '0');
    }
    return token->length > 0;
}

static ee_status read_line(reader *from)
{
    field line = peek_line(from), name, token;
    if (!take_token(&line, &name)) return EE_OK;
    size_t dim = from->out->dim, count = count_tokens(line);
    if (count != dim) return fail(from, "line", from->line, "expected a word and %zu numbers, got %zu", dim, count);
    float *row = find_row(from, name.text, name.length);
    for (size_t i = 0; row && i < dim && take_token(&line, &token); i++)
        if (!token_float(&token, &row[i]))
            return fail(from, "line", from->line, "expected a finite number, got '%.*s'",
                        (int)(token.length < 40 ? token.length : 40), token.text);
    from->read++;
    return EE_OK;
}

static ee_status read_text(reader *from)
{
    for (; from->position < from->file->size; skip_line(from)) {
        ee_status status = read_line(from);
        if (status) return status;
    }
    if (from->promised == any_number || from->read == from->promised) return EE_OK;
    return fail(from, "line", from->line, "expected %zu words as in the first line, got %zu", from->promised,
                from->read);
}

/* ---- binary ---- */

static float decode_float(const uint8_t *bytes)
{
    uint32_t bits = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void skip_line_ends(reader *from)
{
    while (from->position < from->file->size && from->file->bytes[from->position] == '\n') from->position++;
}

static ee_status read_binary_word(reader *from)
{
    const uint8_t *bytes = from->file->bytes;
    size_t size = from->file->size, dim = from->out->dim, start = from->position;
    const uint8_t *blank = start < size ? memchr(bytes + start, ' ', size - start) : NULL;
    if (!blank)
        return fail(from, "byte", start, "expected word %zu of %zu and a space", from->read + 1, from->promised);
    size_t numbers = (size_t)(blank - bytes) + 1;
    if ((size - numbers) / FLOAT_BYTES < dim)
        return fail(from, "byte", numbers, "expected %zu bytes of numbers for word %zu of %zu, got %zu",
                    FLOAT_BYTES * dim, from->read + 1, from->promised, size - numbers);
    float *row = find_row(from, (const char *)bytes + start, (size_t)(blank - bytes) - start);
    for (size_t i = 0; row && i < dim; i++) {
        size_t place = numbers + FLOAT_BYTES * i;
        row[i] = decode_float(bytes + place);
        if (!isfinite(row[i])) return fail(from, "byte", place, "expected a finite number");
    }
    from->position = numbers + FLOAT_BYTES * dim;
    from->read++;
    return EE_OK;
}

static ee_status read_binary(reader *from)
{
    while (from->read < from->promised) {
        skip_line_ends(from);
        ee_status status = read_binary_word(from);
        if (status) return status;
    }
    skip_line_ends(from);
    if (from->position == from->file->size) return EE_OK;
    return fail(from, "byte", from->position, "expected the end of the file after %zu words", from->promised);
}

/* ---- which of the two ---- */

/* Reads the line with the number of words and the dimension; without it, counts the first word's numbers. */
static ee_status read_header(reader *from)
{
    field line = peek_line(from), count, dim;
    size_t tokens = count_tokens(line);
    bool whole = tokens == 2 && take_token(&line, &count) && token_whole(&count, &from->promised) &&
                 take_token(&line, &dim) && token_whole(&dim, &from->out->dim);
    if (whole) {
        skip_line(from);
    } else {
        from->promised = any_number;
        from->out->dim = tokens ? tokens - 1 : 0;
    }
    if (from->out->dim >= 1 && from->out->dim <= MOST_NUMBERS) return EE_OK;
    return fail(from, "line", 1, "expected a word and 1 to %d numbers, or the number of words and the dimension",
                MOST_NUMBERS);
}

/* Whether the first word's numbers are binary: a control character or a byte beyond ASCII in the first line. Binary
 * floats without either are rare, and vectors of them rarer. */
static bool is_binary(const reader *from)
{
    const uint8_t *bytes = from->file->bytes;
    size_t i = from->position, left = 1 + FLOAT_BYTES * from->out->dim; /* a blank and the numbers */
    if (from->promised == any_number) return false;
    while (i < from->file->size && !is_blank((char)bytes[i])) i++;
    for (bool first_line = true; i < from->file->size && left; i++, left--) {
        if (bytes[i] == '\n') first_line = false;
        if (bytes[i] < '\t' || (bytes[i] > '\r' && bytes[i] < ' ') || (bytes[i] >= 0x7f && first_line)) return true;
    }
    return false;
}

static ee_status expect_any(const reader *from)
{
    for (size_t i = 0; i < from->words->count; i++)
        if (from->out->known[i]) return EE_OK;
    return status_fail(from->error, EE_BAD_INPUT, "%s: none of its %zu words occurs in the texts",
                       file_tail(from->file->path), from->read);
}

ee_status word_vectors_read(const source *file, const vocabulary *words, word_vectors *out, ee_error *error)
{
    *out = (word_vectors){0};
    reader from = {.file = file, .words = words, .out = out, .line = 1, .error = error};
    ee_status status = read_header(&from);
    if (!status) status = memory_create(NULL, &out->values, words->count * out->dim, sizeof *out->values, error);
    if (!status) status = memory_create(NULL, &out->known, words->count, sizeof *out->known, error);
    if (!status) status = is_binary(&from) ? read_binary(&from) : read_text(&from);
    if (!status) status = expect_any(&from);
    if (status) word_vectors_release(out);
    return status;
}

void word_vectors_release(word_vectors *vectors)
{
    memory_free(vectors->values);
    memory_free(vectors->known);
    *vectors = (word_vectors){0};
}
