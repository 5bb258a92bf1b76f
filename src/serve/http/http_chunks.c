#include "http_chunks.h"

#include "http_characters.h"

enum {
    SIZE,
    EXTENSION,
    SIZE_END, /* LF */
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* the start of a line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    ENDED
};

enum { MOST_DIGITS = 15, MOST_IGNORED = 4096 };

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_size(http_chunks *self, unsigned char c)
{
    int digit = hex_digit(c);
    if (digit >= 0) {
        self->left = 16 * self->left + (uint64_t)digit;
        return ++self->digits <= MOST_DIGITS;
    }
    self->state = c == ';' ? EXTENSION : SIZE_END;
    return self->digits && (c == ';' || c == '\r');
}

/* Bytes that are ignored, up to the CR of their line. */
static bool ignore(http_chunks *self, unsigned char c, int next)
{
    if (c == '\r') self->state = next;
    return c == '\r' || (!http_is_control(c) && ++self->ignored <= MOST_IGNORED);
}

static bool read_trailer_name(http_chunks *self, unsigned char c)
{
    if (c == ':' && self->name) {
        self->state = TRAILER_VALUE;
        return true;
    }
    self->name++;
    return http_is_token(c) && ++self->ignored <= MOST_IGNORED;
}

static bool expect(http_chunks *self, unsigned char c, char wanted, int next)
{
    self->state = next;
    return c == (unsigned char)wanted;
}

/* One byte outside of the data; false: it is not allowed here. */
static bool take(http_chunks *self, unsigned char c)
{
    switch (self->state) {
    case SIZE:
        return read_size(self, c);
    case EXTENSION:
        return ignore(self, c, SIZE_END);
    case SIZE_END:
        self->digits = self->name = 0;
        return expect(self, c, '\n', self->left ? DATA : TRAILER);
    case DATA_CR:
        return expect(self, c, '\r', DATA_LF);
    case DATA_LF:
        return expect(self, c, '\n', SIZE);
    case TRAILER:
        if (c == '\r') return expect(self, c, '\r', LAST_LF);
        self->state = TRAILER_NAME;
        self->name = 0;
        return read_trailer_name(self, c);
    case TRAILER_NAME:
        return read_trailer_name(self, c);
    case TRAILER_VALUE:
        return ignore(self, c, TRAILER_LF);
    case TRAILER_LF:
        return expect(self, c, '\n', TRAILER);
    case LAST_LF:
        return expect(self, c, '\n', ENDED);
    default:
        return false;
    }
}

static void take_data(http_chunks *self, json_text *input, json_text *data)
{
    *data = (json_text){input->bytes, self->left < input->length ? (size_t)self->left : input->length};
    *input = (json_text){input->bytes + data->length, input->length - data->length};
    self->left -= data->length;
    if (!self->left) self->state = DATA_CR;
}

chunks_result http_chunks_next(http_chunks *self, json_text *input, json_text *data)
{
    while (input->length) {
        if (self->state == DATA) {
            take_data(self, input, data);
            return CHUNKS_DATA;
        }
        if (!take(self, (unsigned char)input->bytes[0])) return CHUNKS_INVALID;
        input->bytes++;
        input->length--;
        if (self->state == ENDED) return CHUNKS_END;
    }
    return CHUNKS_MORE;
}
