#define _POSIX_C_SOURCE 200809L
#include "content_coding.h"

#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 1, GZIP_LEVEL = 1, PIECE = 16 << 10 };

/* ---- choosing ---- */

static const char *const names[] = {[CODING_IDENTITY] = NULL, [CODING_GZIP] = "gzip", [CODING_ZSTD] = "zstd"};
enum { CODINGS = sizeof names / sizeof *names };

const char *content_coding_name(content_coding coding)
{
    return names[coding];
}

static size_t skip_blanks(const char *at)
{
    return strspn(at, " \t");
}

/* The weight of ";q=0.5" at *at; 1 if there is none. *at becomes the end of the element. */
static double read_weight(const char **at)
{
    double weight = 1;
    *at += skip_blanks(*at);
    while (**at == ';') {
        *at += 1 + skip_blanks(*at + 1);
        char *end;
        if (strncasecmp(*at, "q=", 2) == 0) {
            weight = strtod(*at + 2, &end);
            if (end == *at + 2 || !(weight >= 0 && weight <= 1)) weight = 0;
        }
        *at += strcspn(*at, ";,");
    }
    *at += strcspn(*at, ",");
    return weight;
}

static bool is_name(const char *name, const char *at, size_t length)
{
    return name && strlen(name) == length && strncasecmp(name, at, length) == 0;
}

content_coding content_coding_choose(const char *header)
{
    double weights[CODINGS] = {0}, others = 0;
    bool named[CODINGS] = {false};
    content_coding best = CODING_IDENTITY;
    for (const char *at = header ? header : ""; *at; at += *at == ',') {
        at += skip_blanks(at);
        const char *word = at;
        size_t length = strcspn(at, " \t;,");
        at += length;
        double weight = read_weight(&at);
        if (length == 1 && *word == '*') others = weight;
        for (int i = 1; i < CODINGS; i++) {
            if (!is_name(names[i], word, length) && !(i == CODING_GZIP && is_name("x-gzip", word, length))) continue;
            weights[i] = weight;
            named[i] = true;
        }
    }
    for (int i = 1; i < CODINGS; i++) {
        double weight = named[i] ? weights[i] : others;
        if (weight > 0 && weight >= weights[best]) best = (content_coding)i;
        weights[i] = weight;
    }
    return best;
}

/* ---- encoding ---- */

struct content_encoder {
    content_coding coding;
    z_stream gzip;
    ZSTD_CStream *zstd;
};

ee_status content_encoder_create(content_coding coding, content_encoder **out, ee_error *error)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY = 8 };
    content_encoder *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->coding = coding;
    bool created = true;
    if (coding == CODING_GZIP)
        created = deflateInit2(&self->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    if (coding == CODING_ZSTD) {
        self->zstd = ZSTD_createCStream();
        created = self->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL));
    }
    if (!created) {
        ZSTD_freeCStream(self->zstd);
        memory_free(self);
        return status_no_memory(error, sizeof *self);
    }
    *out = self;
    return EE_OK;
}

void content_encoder_free(content_encoder *self)
{
    if (!self) return;
    if (self->coding == CODING_GZIP) deflateEnd(&self->gzip);
    ZSTD_freeCStream(self->zstd);
    memory_free(self);
}

static ee_status add_gzip(z_stream *z, const char *bytes, size_t size, bool last, text *into, ee_error *error)
{
    uint8_t piece[PIECE];
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)size;
    do {
        z->next_out = piece;
        z->avail_out = PIECE;
        if (deflate(z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            return status_fail(error, EE_FILE_ERROR, "gzip: the stream cannot be compressed");
        text_bytes(into, (const char *)piece, PIECE - z->avail_out);
    } while (z->avail_out == 0);
    return EE_OK;
}

static ee_status add_zstd(ZSTD_CStream *zstd, const char *bytes, size_t size, bool last, text *into, ee_error *error)
{
    char piece[PIECE];
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {piece, PIECE, 0};
        left = ZSTD_compressStream2(zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return status_fail(error, EE_FILE_ERROR, "zstd: %s", ZSTD_getErrorName(left));
        text_bytes(into, piece, out.pos);
    } while (last ? left > 0 : in.pos < in.size);
    return EE_OK;
}

ee_status content_encode(content_encoder *self, const char *bytes, size_t size, bool last, text *into, ee_error *error)
{
    ee_status status = EE_OK;
    if (self->coding == CODING_GZIP)
        status = add_gzip(&self->gzip, bytes, size, last, into, error);
    else if (self->coding == CODING_ZSTD)
        status = add_zstd(self->zstd, bytes, size, last, into, error);
    else if (size)
        text_bytes(into, bytes, size);
    if (!status && into->status) return status_no_memory(error, into->length + size);
    return status;
}
