#include <zlib.h>
#include <zstd.h>

#include "serve/http/content_coding.h"
#include "support.h"

TEST(the_client_chooses)
{
    static const struct {
        const char *header;
        content_coding coding;
    } cases[] = {{NULL, CODING_IDENTITY},
                 {"", CODING_IDENTITY},
                 {"identity", CODING_IDENTITY},
                 {"br, deflate", CODING_IDENTITY},
                 {"gzip", CODING_GZIP},
                 {"x-gzip", CODING_GZIP},
                 {"GZip", CODING_GZIP},
                 {"gzipped", CODING_IDENTITY},
                 {"zstd", CODING_ZSTD},
                 {"gzip, zstd", CODING_ZSTD},
                 {"zstd;q=0.5 , gzip;q=0.8", CODING_GZIP},
                 {"gzip;q=0", CODING_IDENTITY},
                 {"gzip; q=0.000, zstd ;Q=0.001", CODING_ZSTD},
                 {"*", CODING_ZSTD},
                 {"*;q=0.1, gzip;q=0.2", CODING_GZIP},
                 {"zstd;q=0, *", CODING_GZIP},
                 {"*;q=0", CODING_IDENTITY},
                 {"gzip;q=2", CODING_IDENTITY},
                 {"gzip;q=x", CODING_IDENTITY},
                 {",,gzip,", CODING_GZIP},
                 {"gzip;level=1;q=0.5", CODING_GZIP},
                 {";;", CODING_IDENTITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (content_coding_choose(cases[i].header) != cases[i].coding) fail_msg("'%s'", cases[i].header);
}

/* Encodes lines in pieces of uneven sizes. */
static text encode(content_coding coding, const char *bytes, size_t size)
{
    text packed = text_start(NULL);
    content_encoder *encoder;
    ok(content_encoder_create(coding, &encoder, NULL));
    for (size_t at = 0, part = 1; at < size; at += part, part = part * 3 + 1) {
        if (part > size - at) part = size - at;
        ok(content_encode(encoder, bytes + at, part, false, &packed, NULL));
    }
    ok(content_encode(encoder, NULL, 0, true, &packed, NULL));
    content_encoder_free(encoder);
    return packed;
}

TEST(what_is_encoded_is_the_same)
{
    enum { SIZE = 1 << 20 };
    char *bytes = test_malloc(SIZE), *back = test_malloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (char)("{\"a\":0.25}\n"[i % 11] + (i % 997 == 0));

    text zstd = encode(CODING_ZSTD, bytes, SIZE);
    assert_true(zstd.length < SIZE / 4);
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {zstd.bytes, zstd.length, 0};
    ZSTD_outBuffer out = {back, SIZE + 1, 0};
    assert_int_equal(ZSTD_decompressStream(stream, &out, &in), 0); /* 0: the frame is complete */
    ZSTD_freeDStream(stream);
    assert_int_equal(out.pos, SIZE);
    assert_memory_equal(back, bytes, SIZE);

    text gzip = encode(CODING_GZIP, bytes, SIZE);
    assert_true(gzip.length < SIZE / 4);
    z_stream z = {.next_in = (Bytef *)gzip.bytes,
                  .avail_in = (uInt)gzip.length,
                  .next_out = (Bytef *)back,
                  .avail_out = SIZE + 1};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_int_equal(z.total_out, SIZE);
    assert_memory_equal(back, bytes, SIZE);

    text plain = encode(CODING_IDENTITY, bytes, SIZE);
    assert_int_equal(plain.length, SIZE);
    assert_memory_equal(plain.bytes, bytes, SIZE);
    memory_free(zstd.bytes);
    memory_free(gzip.bytes);
    memory_free(plain.bytes);
    test_free(bytes);
    test_free(back);
}
