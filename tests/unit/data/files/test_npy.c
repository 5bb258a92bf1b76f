#include "data/files/npy.h"

#include "data/support_sets.h"
#include "support_files.h"

enum { FILE_MOST = 1024 };

/* A file made by hand, at the end of a page that nobody may read past. */
typedef struct made_file {
    guard wall;
    uint8_t *bytes;
    size_t size;
} made_file;

static size_t put_header(uint8_t *bytes, int version, const char *dictionary)
{
    size_t width = version == 1 ? 2 : 4, length = strlen(dictionary);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (uint8_t)version;
    bytes[7] = 0;
    for (size_t i = 0; i < width; i++) bytes[8 + i] = (uint8_t)(length >> (8 * i));
    memcpy(bytes + 8 + width, dictionary, length);
    return 8 + width + length;
}

static made_file make_file(int version, const char *dictionary, const void *data, size_t data_size)
{
    uint8_t bytes[FILE_MOST];
    size_t header = put_header(bytes, version, dictionary);
    assert_true(header + data_size <= FILE_MOST);
    if (data_size) memcpy(bytes + header, data, data_size);
    made_file file = {.size = header + data_size};
    file.bytes = guard_end_bytes(&file.wall, file.size);
    memcpy(file.bytes, bytes, file.size);
    return file;
}

static const double doubles[6] = {0.5, -1.25, 3, 1e300, -0.0, 7};
static const float floats[6] = {0.5f, -1.25f, 3, 1e30f, -0.0f, 7};
static const int64_t longs[6] = {1, -1, INT64_MAX, INT64_MIN, 0, 117907};
static const int32_t ints[6] = {1, -1, INT32_MAX, INT32_MIN, 0, 42};
static const int16_t shorts[6] = {1, -1, INT16_MAX, INT16_MIN, 0, 42};
static const int8_t bytes_signed[6] = {1, -1, INT8_MAX, INT8_MIN, 0, 42};
static const uint64_t whole_longs[6] = {1, UINT64_MAX, INT64_MAX, 0, 7, 117907};
static const uint32_t whole_ints[6] = {1, UINT32_MAX, INT32_MAX, 0, 7, 42};
static const uint16_t whole_shorts[6] = {1, UINT16_MAX, INT16_MAX, 0, 7, 42};
static const uint8_t whole_bytes[6] = {1, UINT8_MAX, INT8_MAX, 0, 7, 42};
static const uint8_t flags[6] = {0, 1, 1, 0, 0, 1};
/* 0.5, -1.25, 65504 (the largest), 2^-24 (the least), -0.0, 1/3 rounded: as numpy.float16(x).view('u2') has them */
static const uint16_t halves[6] = {0x3800, 0xbd00, 0x7bff, 0x0001, 0x8000, 0x3555};

static const struct {
    const char *descr, *turned; /* little-endian, and with the bytes in the other order */
    npy_type type;
    const void *data; /* (6) */
    size_t size;
    double numbers[6];
} kinds[] = {
    {"<f8", ">f8", NPY_FLOAT64, doubles, 8, {0.5, -1.25, 3, 1e300, -0.0, 7}},
    {"<f4", ">f4", NPY_FLOAT32, floats, 4, {0.5, -1.25, 3, (double)1e30f, -0.0, 7}},
    {"<f2", ">f2", NPY_FLOAT16, halves, 2, {0.5, -1.25, 65504, 0x1p-24, -0.0, 0.333251953125}},
    {"<i8", ">i8", NPY_INT64, longs, 8, {1, -1, 0x1p63, -0x1p63, 0, 117907}},
    {"<i4", ">i4", NPY_INT32, ints, 4, {1, -1, 0x1p31 - 1, -0x1p31, 0, 42}},
    {"<i2", ">i2", NPY_INT16, shorts, 2, {1, -1, 32767, -32768, 0, 42}},
    {"|i1", ">i1", NPY_INT8, bytes_signed, 1, {1, -1, 127, -128, 0, 42}},
    {"<u8", ">u8", NPY_UINT64, whole_longs, 8, {1, 0x1p64, 0x1p63, 0, 7, 117907}},
    {"<u4", ">u4", NPY_UINT32, whole_ints, 4, {1, 0x1p32 - 1, 0x1p31 - 1, 0, 7, 42}},
    {"<u2", ">u2", NPY_UINT16, whole_shorts, 2, {1, 65535, 32767, 0, 7, 42}},
    {"|u1", "<u1", NPY_UINT8, whole_bytes, 1, {1, 255, 127, 0, 7, 42}},
    {"|b1", ">b1", NPY_BOOL, flags, 1, {0, 1, 1, 0, 0, 1}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* An array of three rows and two columns, from a file with the bytes in either order. */
static npy_array parse_kind(size_t kind, int version, bool turned)
{
    uint8_t data[sizeof doubles];
    size_t size = kinds[kind].size;
    const char *dictionary = formatted("{'descr': '%s', 'fortran_order': False, 'shape': (3, 2), }    \n",
                                       turned ? kinds[kind].turned : kinds[kind].descr);
    for (size_t i = 0; i < 6 * size; i++)
        data[i] = ((const uint8_t *)kinds[kind].data)[turned ? i / size * size + size - 1 - i % size : i];
    made_file file = make_file(version, dictionary, data, 6 * size);
    npy_array array;
    ok(npy_parse(file.bytes, file.size, "made.npy", &array, &last_error));
    guard_free(&file.wall);
    return array;
}

/* The machines that the tests run on are little-endian, as most files are. */
TEST(every_type_and_version)
{
    assert_int_equal(KINDS, NPY_TYPES);
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < 2 * KINDS; i++) {
            size_t kind = i / 2;
            RELEASED_BY(npy_release) npy_array array = parse_kind(kind, version, i % 2);
            assert_int_equal(array.type, kinds[kind].type);
            assert_int_equal(npy_size(array.type), kinds[kind].size);
            assert_int_equal(array.rank, 2);
            assert_int_equal(array.shape[0], 3);
            assert_int_equal(array.shape[1], 2);
            assert_int_equal(array.count, 6);
            assert_memory_equal(array.data, kinds[kind].data, 6 * kinds[kind].size);
        }
    }
}

TEST(entries_as_numbers)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        npy_array array = {kinds[kind].type, 1, {6}, 6, (void *)(uintptr_t)kinds[kind].data};
        for (size_t i = 0; i < 6; i++) {
            double number = kinds[kind].numbers[i], got = npy_real(&array, i);
            if (got != number || signbit(got) != signbit(number))
                fail_msg("%s, entry %zu: %g, expected %g", npy_type_name(array.type), i, got, number);
            if (npy_is_whole(array.type) && fabs(number) < 0x1p53)
                assert_int_equal(npy_whole(&array, i), (int64_t)number);
        }
    }
    assert_true(npy_entry_whole(NPY_INT64, longs, 3) == INT64_MIN);
    assert_true(npy_entry_whole(NPY_INT64, longs, 2) == INT64_MAX);
    assert_true(npy_entry_whole(NPY_UINT64, whole_longs, 1) == INT64_MAX);
}

/* What NumPy would call infinite or no number is that here; whoever takes the numbers refuses them. */
TEST(halves_without_a_number)
{
    static const uint16_t odd[4] = {0x7c00, 0xfc00, 0x7e00, 0x03ff};
    assert_true(npy_entry_real(NPY_FLOAT16, odd, 0) == INFINITY);
    assert_true(npy_entry_real(NPY_FLOAT16, odd, 1) == -INFINITY);
    assert_true(isnan(npy_entry_real(NPY_FLOAT16, odd, 2)));
    assert_true(npy_entry_real(NPY_FLOAT16, odd, 3) == 1023 * 0x1p-24); /* the largest that is denormal */
}

TEST(any_byte_but_zero_is_true)
{
    made_file file = make_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\xff", 2);
    RELEASED_BY(npy_release) npy_array array;
    ok(npy_parse(file.bytes, file.size, "made.npy", &array, NULL));
    assert_true(npy_real(&array, 0) == 1 && npy_real(&array, 1) == 0);
    guard_free(&file.wall);
}

/* An entry is what its indices say: 100 i + 10 j + k. */
TEST(fortran_order)
{
    enum { I = 2, J = 3, K = 4 };
    int32_t data[I * J * K];
    for (int32_t i = 0; i < I; i++)
        for (int32_t j = 0; j < J; j++)
            for (int32_t k = 0; k < K; k++) data[i + I * (j + J * k)] = 100 * i + 10 * j + k;
    made_file file = make_file(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4), }\n", data, sizeof data);
    RELEASED_BY(npy_release) npy_array array;
    ok(npy_parse(file.bytes, file.size, "made.npy", &array, NULL));
    for (size_t i = 0; i < I; i++)
        for (size_t j = 0; j < J; j++)
            for (size_t k = 0; k < K; k++)
                assert_int_equal(npy_whole(&array, (i * J + j) * K + k), 100 * i + 10 * j + k);
    guard_free(&file.wall);
}

/* Other ways to write a dictionary, all of which Python reads. */
TEST(other_spellings)
{
    static const char *const spellings[] = {
        "{\"shape\":(6,),\"fortran_order\":False,\"descr\":\"<f8\"}",
        "  { 'fortran_order' : True , 'descr' : '<f8' , 'shape' : ( 6 , ) , } \n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,1,1,1,1,1,1,1)}",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        made_file file = make_file(1, spellings[i], doubles, sizeof doubles);
        RELEASED_BY(npy_release) npy_array array;
        ok(npy_parse(file.bytes, file.size, "made.npy", &array, NULL));
        assert_memory_equal(array.data, doubles, sizeof doubles);
        guard_free(&file.wall);
    }
}

TEST(one_entry_and_none)
{
    RELEASED_BY(npy_release) npy_array array;
    made_file file = make_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", doubles, 8);
    ok(npy_parse(file.bytes, file.size, "made.npy", &array, NULL));
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.count, 1);
    assert_true(npy_real(&array, 0) == 0.5);
    npy_release(&array);
    guard_free(&file.wall);

    file = make_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (99999999999, 0, 10)}", NULL, 0);
    ok(npy_parse(file.bytes, file.size, "made.npy", &array, NULL));
    assert_int_equal(array.count, 0);
    guard_free(&file.wall);
}

TEST(cut_at_every_length)
{
    static const char dictionary[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }   \n";
    for (int version = 1; version <= 3; version++) {
        made_file whole = make_file(version, dictionary, doubles, sizeof doubles);
        for (size_t size = 0; size < whole.size; size++) {
            RELEASED_BY(guard_free) guard wall;
            uint8_t *bytes = guard_end_bytes(&wall, size);
            memcpy(bytes, whole.bytes, size);
            npy_array array;
            fails_saying(npy_parse(bytes, size, "made.npy", &array, &last_error), EE_BAD_INPUT, "made.npy");
            assert_null(array.data);
            assert_non_null(strstr(last_error.message, "expected"));
        }
        guard_free(&whole.wall);
    }
}

/* Any byte before the entries may be any other: it is refused, or the entries are as many as the file has. */
TEST(any_byte_changed)
{
    made_file file = make_file(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", doubles, 48);
    for (size_t place = 0; place + 48 < file.size; place++) {
        uint8_t before = file.bytes[place];
        for (int byte = 0; byte < 256; byte++) {
            file.bytes[place] = (uint8_t)byte;
            RELEASED_BY(npy_release) npy_array array;
            ee_status status = npy_parse(file.bytes, file.size, "made.npy", &array, NULL);
            if (status)
                assert_int_equal(status, EE_BAD_INPUT);
            else
                assert_int_equal(array.count * npy_size(array.type), 48);
        }
        file.bytes[place] = before;
    }
    guard_free(&file.wall);
}

#define NO_NUMBERS "npy: made.npy, byte 21: expected a numeric type such as <f8, <f2, <i4, |u1 or |b1, got "
#define CONVERT "; convert the array first: array.astype('float64')"

TEST(refusals_say_why)
{
    static const struct {
        int version;
        const char *dictionary;
        const char *message;
    } cases[] = {
        {4, "{}", "npy: made.npy, byte 6: expected version 1.0, 2.0 or 3.0, got 4.0"},
        {1, "", "npy: made.npy, byte 10: expected '{', found the end of the header"},
        {1, "descr", "npy: made.npy, byte 10: expected '{', found 'd'"},
        {1, "{descr: 1}", "npy: made.npy, byte 11: expected a quoted name, found 'd'"},
        {1, "{'descr", "npy: made.npy, byte 17: expected a closing quote, found the end of the header"},
        {1, "{'colour': 1}", "npy: made.npy, byte 12: expected descr, fortran_order and shape, once each, found 'c'"},
        {1, "{'descr' '<f8'}", "npy: made.npy, byte 19: expected ':', found '''"},
        {1, "{'descr': 8}", "npy: made.npy, byte 20: expected a quoted type, found '8'"},
        {1, "{'descr': '|O'}", NO_NUMBERS "|O" CONVERT},
        {1, "{'descr': '<c8'}", NO_NUMBERS "<c8" CONVERT},
        {1, "{'descr': '<f1'}", NO_NUMBERS "<f1" CONVERT},
        {1, "{'descr': '|f8'}", NO_NUMBERS "|f8" CONVERT},
        {1, "{'descr': '<U12'}", NO_NUMBERS "<U12" CONVERT},
        {1, "{'descr': '<f8' 'shape': ()}", "npy: made.npy, byte 26: expected ',' or '}', found '''"},
        {1, "{'descr': '<f8', 'descr': '<f8'}",
         "npy: made.npy, byte 28: expected descr, fortran_order and shape, once each, found 'd'"},
        {1, "{'fortran_order': 1}", "npy: made.npy, byte 28: expected True or False, found '1'"},
        {1, "{'fortran_order': Trueish}", "npy: made.npy, byte 32: expected ',' or '}', found 'i'"},
        {1, "{'shape': [6]}", "npy: made.npy, byte 20: expected '(', found '['"},
        {1, "{'shape': (-6,)}", "npy: made.npy, byte 21: expected a number, found '-'"},
        {1, "{'shape': (6 7)}", "npy: made.npy, byte 23: expected ',' or ')', found '7'"},
        {1, "{'shape': (99999999999999999999,)}", "npy: made.npy, byte 40: expected a smaller number, found '9'"},
        {1, "{'shape': (1,1,1,1,1,1,1,1,1)}", "npy: made.npy, byte 37: expected at most 8 dimensions, found '1'"},
        {1, "{'descr': '<f8', 'shape': (6,)}",
         "npy: made.npy, byte 40: expected descr, fortran_order and shape, once each, found '}'"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)} x",
         "npy: made.npy, byte 66: expected nothing after the '}', found 'x'"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (7,)}",
         "npy: made.npy is truncated: expected 56 bytes after byte 65, got 48"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (5,)}",
         "npy: made.npy is too long: expected 40 bytes after byte 65, got 48"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "npy: made.npy: the array is too large for memory"},
        {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}",
         "npy: made.npy: the array is too large for memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_file file = make_file(cases[i].version, cases[i].dictionary, doubles, sizeof doubles);
        npy_array array;
        refuses(npy_parse(file.bytes, file.size, "made.npy", &array, &last_error), cases[i].message);
        guard_free(&file.wall);
    }
}

TEST(not_an_npy_file)
{
    npy_array array;
    const uint8_t text[] = "user,item,rating\n";
    refuses(npy_parse(text, sizeof text, "made.npy", &array, &last_error),
            "npy: made.npy is not an .npy file: expected \\x93NUMPY at byte 0");
    assert_int_equal(npy_parse(text, 0, "made.npy", &array, &last_error), EE_BAD_INPUT);
    made_file file = make_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", doubles, sizeof doubles);
    file.bytes[7] = 1;
    refuses(npy_parse(file.bytes, file.size, "made.npy", &array, &last_error),
            "npy: made.npy, byte 6: expected version 1.0, 2.0 or 3.0, got 1.1");
    guard_free(&file.wall);
}

TEST(tables)
{
    npy_array array = {NPY_INT64, 2, {5, 3}, 15, NULL};
    ok(npy_expect_table(&array, 3, true, "made.npy", &last_error));
    ok(npy_expect_table(&array, 0, false, "made.npy", &last_error));
    refuses(npy_expect_table(&array, 4, true, "made.npy", &last_error), "npy: made.npy: expected 4 columns, got 3");
    array.type = NPY_FLOAT32;
    refuses(npy_expect_table(&array, 3, true, "made.npy", &last_error),
            "npy: made.npy: expected whole numbers such as int64, got float32");
    array.rank = 1;
    refuses(npy_expect_table(&array, 0, false, "made.npy", &last_error),
            "npy: made.npy: expected 2 dimensions, rows and columns, got 1");
    npy_array empty = {NPY_INT64, 2, {0, 3}, 0, NULL};
    refuses(npy_expect_table(&empty, 3, true, "made.npy", &last_error),
            "npy: made.npy: expected at least one row and one column, got 0 x 3");
}

TEST_IN_FOLDER(from_a_file)
{
    const char *path = folder_path(&here, "made.npy");
    npy_array array;
    assert_int_equal(npy_read(path, &array, &last_error), EE_FILE_ERROR);
    assert_null(array.data);
    made_file file = make_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }\n", doubles, 48);
    ok(file_write(path, file.bytes, file.size, &last_error));
    ok(npy_read(path, &array, &last_error));
    assert_memory_equal(array.data, doubles, sizeof doubles);
    npy_release(&array);
    ok(file_write(path, file.bytes, file.size - 1, &last_error));
    assert_int_equal(npy_read(path, &array, &last_error), EE_BAD_INPUT);
    assert_null(array.data);
    guard_free(&file.wall);
}

TEST(headers_have_one_size)
{
    static const struct {
        npy_type type;
        size_t rank, shape[NPY_MOST_DIMENSIONS];
        const char *dictionary;
    } cases[] = {
        {NPY_FLOAT32, 3, {10, 500, 20}, "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 500, 20), }"},
        {NPY_INT64, 1, {7}, "{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }"},
        {NPY_FLOAT64, 0, {0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
        {NPY_INT32,
         2,
         {0, 1000000000000000000},
         "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 1000000000000000000), }"},
        {NPY_FLOAT64,
         8,
         {180, 180, 180, 180, 180, 180, 180, 180},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (180, 180, 180, 180, 180, 180, 180, 180), }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RELEASED_BY(guard_free) guard wall;
        uint8_t *bytes = guard_end_bytes(&wall, NPY_HEADER_SIZE);
        npy_header(cases[i].type, cases[i].shape, cases[i].rank, bytes);
        size_t length = strlen(cases[i].dictionary);
        assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
        assert_memory_equal(bytes + 10, cases[i].dictionary, length);
        for (size_t k = 10 + length; k < NPY_HEADER_SIZE - 1; k++) assert_int_equal(bytes[k], ' ');
        assert_int_equal(bytes[NPY_HEADER_SIZE - 1], '\n');
    }
}

TEST_IN_FOLDER(what_is_written_reads_back)
{
    static const size_t shape[2] = {3, 2};
    const char *path = folder_path(&here, "made.npy");
    for (size_t kind = 0; kind < KINDS; kind++) {
        npy_type type = kinds[kind].type;
        RELEASED_BY(npy_release) npy_array array;
        ok(npy_write(path, type, shape, 2, kinds[kind].data, NULL));
        ok(npy_read(path, &array, NULL));
        assert_int_equal(array.type, type);
        assert_int_equal(array.rank, 2);
        assert_int_equal(array.shape[0], 3);
        assert_int_equal(array.count, 6);
        assert_memory_equal(array.data, kinds[kind].data, 6 * npy_size(type));
    }
    assert_int_equal(npy_write("nowhere/made.npy", NPY_INT32, shape, 2, ints, NULL), EE_FILE_ERROR);
}
