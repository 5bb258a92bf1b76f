/* Archives: what is written is read back, and nothing that is read is trusted. */
#include "support.h"

#include "base/archive.h"

/* One of everything. */
typedef struct sample {
    uint8_t bytes[5];
    uint32_t u32s[3];
    uint64_t u64;
    float floats[4];
    random_stream stream;
    size_t size;
    char text[12];
} sample;

enum { SAMPLE_HIGH = 1000 };

static void sample_visit(archive *a, sample *s)
{
    archive_bytes(a, s->bytes, sizeof s->bytes);
    archive_u32s(a, s->u32s, 3);
    archive_u64(a, &s->u64);
    archive_floats(a, s->floats, 4);
    archive_stream(a, &s->stream);
    archive_size(a, &s->size, 0, SAMPLE_HIGH, "the size");
    archive_text(a, s->text, sizeof s->text, "the text");
}

/* Where each field ends in the archive, and where it lies in the struct. */
static const struct {
    size_t end, offset, size;
} sample_fields[] = {
    {5, offsetof(sample, bytes), 5},    {17, offsetof(sample, u32s), 12},
    {25, offsetof(sample, u64), 8},     {41, offsetof(sample, floats), 16},
    {73, offsetof(sample, stream), 32}, {81, offsetof(sample, size), sizeof(size_t)},
    {100, offsetof(sample, text), 12},
};

enum { SAMPLE_FIELDS = sizeof sample_fields / sizeof *sample_fields, SAMPLE_SIZE = 100 };

static sample sample_make(void)
{
    sample s;
    memset(&s, 0, sizeof s);
    memcpy(s.bytes, "\xff\x01\x02\x03\x04", sizeof s.bytes);
    s.u32s[0] = 1;
    s.u32s[1] = UINT32_MAX;
    s.u32s[2] = 0x01020304;
    s.u64 = 0x0102030405060708;
    s.floats[0] = 1.5f;
    s.floats[1] = -INFINITY;
    s.floats[2] = NAN;
    s.floats[3] = 1e-42f;
    s.stream = random_named(7, "archive");
    s.size = SAMPLE_HIGH;
    strcpy(s.text, "eleven char");
    return s;
}

/* The sample as an archive; to be freed with memory_free. */
static archive sample_write(sample *s)
{
    archive a = archive_writer(NULL);
    sample_visit(&a, s);
    ok(a.status);
    assert_int_equal(a.size, SAMPLE_SIZE);
    return a;
}

static void assert_field_equal(const sample *a, const sample *b, size_t field)
{
    size_t offset = sample_fields[field].offset;
    assert_memory_equal((const char *)a + offset, (const char *)b + offset, sample_fields[field].size);
}

TEST(what_is_written_is_little_endian_and_read_back)
{
    sample original = sample_make(), visited = original, copy;
    auto_archive writer = sample_write(&visited);
    assert_memory_equal(&visited, &original, sizeof original);

    memset(&copy, 0xaa, sizeof copy);
    archive reader = archive_reader(writer.bytes, writer.size, NULL);
    assert_int_equal(archive_remaining(&reader), SAMPLE_SIZE);
    sample_visit(&reader, &copy);
    ok(reader.status);
    assert_int_equal(archive_remaining(&reader), 0);
    for (size_t i = 0; i < SAMPLE_FIELDS; i++) assert_field_equal(&copy, &original, i);
    uint32_t number = 0x01020304;
    uint64_t wide = 0x1112131415161718;
    float one = 1.0f;
    size_t size = 258;
    char text[] = "ab";
    auto_archive a = archive_writer(NULL);
    archive_u32s(&a, &number, 1);
    archive_u64(&a, &wide);
    archive_floats(&a, &one, 1);
    archive_size(&a, &size, 0, 258, "");
    archive_text(&a, text, sizeof text, "");
    static const uint8_t expected[] = {4, 3, 2,    1,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
                                       0, 0, 0x80, 0x3f, 2,    1,    0,    0,    0,    0,    0,    0,
                                       2, 0, 0,    0,    0,    0,    0,    0,    'a',  'b'};
    assert_int_equal(a.size, sizeof expected);
    assert_memory_equal(a.bytes, expected, sizeof expected);
}

TEST(a_writer_grows_and_nothing_is_nothing)
{
    auto_archive a = archive_writer(NULL);
    uint8_t piece[100];
    for (size_t i = 0; i < sizeof piece; i++) piece[i] = (uint8_t)(i * 7 + 1);
    size_t total = 0;
    for (size_t size = 0; size <= sizeof piece; total += size++) archive_bytes(&a, piece, size);
    ok(a.status);
    assert_int_equal(a.size, total);
    const uint8_t *at = a.bytes;
    for (size_t size = 0; size <= sizeof piece; at += size++) assert_memory_equal(at, piece, size);
    auto_archive writer = archive_writer(NULL);
    archive_bytes(&writer, NULL, 0);
    ok(writer.status);
    assert_int_equal(writer.size, 0);
    archive reader = archive_reader(NULL, 0, NULL);
    archive_floats(&reader, NULL, 0);
    ok(reader.status);
    uint64_t value = 5;
    archive_u64(&reader, &value);
    assert_int_equal(reader.status, EE_BAD_MODEL);
    assert_int_equal(value, 0);
}

/* Each length ends at an inaccessible page, so a read past the cut kills the test. */
TEST(a_cut_at_any_length_is_a_bad_model_and_zeros)
{
    sample original = sample_make(), zero;
    memset(&zero, 0, sizeof zero);
    auto_archive writer = sample_write(&original);
    for (size_t length = 0; length < SAMPLE_SIZE; length++) {
        RELEASED_BY(guard_free) guard g;
        void *bytes = guard_end_bytes(&g, length);
        memcpy(bytes, writer.bytes, length);
        archive reader = archive_reader(bytes, length, &last_error);
        sample copy;
        memset(&copy, 0xaa, sizeof copy);
        sample_visit(&reader, &copy);
        assert_int_equal(reader.status, EE_BAD_MODEL);
        assert_int_equal(last_error.status, EE_BAD_MODEL);
        assert_int_equal(archive_remaining(&reader), 0);
        for (size_t i = 0; i + 1 < SAMPLE_FIELDS; i++)
            assert_field_equal(&copy, sample_fields[i].end <= length ? &original : &zero, i);
        assert_string_equal(copy.text, "");
    }
    uint32_t values[4];
    archive reader = archive_reader("123456789", 9, &last_error);
    archive_u32s(&reader, values, 1);
    archive_u32s(&reader, values, 2);
    fails_with(reader.status, EE_BAD_MODEL, "model: truncated: expected 8 more bytes at byte 4");
}

/* Reads `stored` as a size of 10 to 20. */
static ee_status read_size(uint64_t stored, size_t *value, ee_error *error)
{
    archive reader = archive_reader(&stored, sizeof stored, error);
    archive_size(&reader, value, 10, 20, "model width");
    return reader.status;
}

TEST(a_size_out_of_range_or_a_long_text_is_a_bad_model)
{
    size_t value;
    ok(read_size(10, &value, NULL));
    assert_int_equal(value, 10);
    ok(read_size(20, &value, NULL));
    assert_int_equal(value, 20);
    static const uint64_t wrong[] = {0, 9, 21, (uint64_t)1 << 32 | 15, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        value = 77;
        assert_int_equal(read_size(wrong[i], &value, NULL), EE_BAD_MODEL);
        assert_int_equal(value, 10); /* the lowest: safe to go on with until the status is looked at */
    }
    fails_with(read_size(UINT64_MAX, &value, &last_error), EE_BAD_MODEL,
               "model: model width must be 10 to 20, got 18446744073709551615 at byte 8");
    char stored[] = "\x05\0\0\0\0\0\0\0hello";
    char room[6], tight[5];
    archive reader = archive_reader(stored, 13, NULL);
    archive_text(&reader, room, sizeof room, "policy");
    ok(reader.status);
    assert_string_equal(room, "hello");

    memset(tight, 'x', sizeof tight);
    reader = archive_reader(stored, 13, &last_error);
    archive_text(&reader, tight, sizeof tight, "policy");
    fails_with(reader.status, EE_BAD_MODEL, "model: policy must be 0 to 4, got 5 at byte 8");
    assert_string_equal(tight, "");
}

/* Such a stream would draw 0 for ever, and a draw under a bound never end. */
TEST(a_stream_of_zeros_is_a_bad_model)
{
    static const uint64_t words[4] = {0}, last_only[4] = {0, 0, 0, 1};
    random_stream stream;
    archive reader = archive_reader(words, sizeof words, &last_error);
    archive_stream(&reader, &stream);
    fails_with(reader.status, EE_BAD_MODEL, "model: invalid random stream: all zeros");
    reader = archive_reader(last_only, sizeof last_only, NULL);
    archive_stream(&reader, &stream);
    ok(reader.status);
}

TEST(zeros_take_a_byte_a_block)
{
    enum { COUNT = 3 * ARCHIVE_BLOCK + 5 };
    static float values[COUNT], read[COUNT];
    values[ARCHIVE_BLOCK + 7] = 2;
    values[COUNT - 1] = -0.0f; /* not all its bits are zero */
    auto_archive writer = archive_writer(NULL);
    archive_sparse_floats(&writer, values, COUNT);
    assert_int_equal(writer.size, 4 + (ARCHIVE_BLOCK + 5) * sizeof(float));
    for (size_t i = 0; i < COUNT; i++) read[i] = 9; /* what was there is gone, zeros too */
    archive reader = archive_reader(writer.bytes, writer.size, NULL);
    archive_sparse_floats(&reader, read, COUNT);
    ok(reader.status);
    assert_int_equal(archive_remaining(&reader), 0);
    assert_memory_equal(read, values, sizeof values);
}

TEST(the_first_error_stays)
{
    archive reader = archive_reader("12345678abcd", 12, &last_error);
    archive_fail(&reader, EE_BAD_MODEL, "model: the first");
    archive_fail(&reader, EE_NO_MEMORY, "model: the second");
    uint64_t value = 9;
    archive_u64(&reader, &value); /* there would be enough bytes */
    assert_int_equal(value, 0);
    uint32_t more[9];
    memset(more, 0xff, sizeof more);
    archive_u32s(&reader, more, 9); /* here there would not */
    for (size_t i = 0; i < 9; i++) assert_int_equal(more[i], 0);
    size_t size = 99;
    archive_size(&reader, &size, 3, 4, "size");
    assert_int_equal(size, 3);
    assert_int_equal(archive_remaining(&reader), 0);
    assert_int_equal(reader.position, 0);
    fails_with(reader.status, EE_BAD_MODEL, "model: the first");
    /* Saving must not change what is saved, even where it fails half-way. */
    sample original = sample_make();
    auto_archive writer = archive_writer(NULL);
    archive_u64(&writer, &original.u64);
    archive_fail(&writer, EE_NO_MEMORY, "memory: none");
    sample visited = original;
    sample_visit(&writer, &visited);
    assert_int_equal(writer.status, EE_NO_MEMORY);
    assert_int_equal(writer.size, 8);
    assert_memory_equal(&visited, &original, sizeof original);
}

TEST(a_writer_refuses_what_no_reader_would_take)
{
    size_t size = 21;
    char text[] = "hello";
    auto_archive writer = archive_writer(NULL), other = archive_writer(NULL);
    archive_size(&writer, &size, 10, 20, "width");
    assert_int_equal(writer.status, EE_BAD_MODEL);
    assert_int_equal(size, 21);
    archive_text(&other, text, 5, "policy");
    assert_int_equal(other.status, EE_BAD_MODEL);
    assert_string_equal(text, "hello");
}

/* Bit by bit, as it is defined. */
static uint64_t plain_checksum(const uint8_t *bytes, size_t size)
{
    uint64_t crc = ~(uint64_t)0;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0xc96c5795d7870f42u : 0);
    }
    return ~crc;
}

/* The check value is the one that the catalogues of CRCs give for CRC-64/XZ. */
TEST(the_checksum_is_the_one_of_xz)
{
    uint8_t bytes[600];
    assert_true(archive_checksum((const uint8_t *)"123456789", 9) == 0x995dc9bbdf1939fau);
    assert_true(archive_checksum(NULL, 0) == 0);
    random_stream stream = random_named(1, "long");
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_below(&stream, 256);
    for (size_t size = 490; size < 540; size++)
        assert_true(archive_checksum(bytes + size % 3, size) == plain_checksum(bytes + size % 3, size));
}
