/* Files, gzip or plain: whole, cut at every byte, damaged, several streams in one. */
#include "data/files/source.h"

#include "data/support_sets.h"
#include "support_files.h"

static const char text[] = "label,a,b\n1,2.5,3\n0,2.5,4\n1,2.5,3\n";

enum { TEXT = sizeof text - 1 };

static source read_file(const test_folder *folder, const char *name, uint64_t *fingerprint)
{
    source file;
    *fingerprint = 0;
    if (source_load(folder->path, name, fingerprint, &file, &last_error) || source_unpack(&file, &last_error))
        fail_msg("%s", last_error.message);
    assert_int_equal(file.bytes[file.size], 0);
    return file;
}

static void expect_text(const test_folder *folder, const char *name, const char *found)
{
    uint64_t fingerprint;
    RELEASED_BY(source_release) source file = read_file(folder, name, &fingerprint);
    assert_string_equal(file.path, folder_path(folder, found));
    assert_int_equal(file.size, TEXT);
    assert_memory_equal(file.bytes, text, TEXT);
    source_release(&file);
}

TEST_IN_FOLDER(plain_and_packed_read_the_same)
{
    size_t size;
    auto_free uint8_t *packed = gzip_pack(text, TEXT, &size);
    folder_write(&here, "one", text, TEXT);
    folder_write(&here, "two.gz", packed, size);
    folder_write(&here, "three", packed, size); /* the name tells nothing */
    folder_write(&here, "four", text, TEXT);    /* the plain one comes first */
    folder_write(&here, "four.gz", packed, 5);
    expect_text(&here, "one", "one");
    expect_text(&here, "two", "two.gz");
    expect_text(&here, "two.gz", "two.gz");
    expect_text(&here, "three", "three");
    expect_text(&here, "four", "four");
}

static void expect_failure(const test_folder *folder, const char *name, ee_status expected, const char *part)
{
    RELEASED_BY(source_release) source file;
    uint64_t fingerprint = 0;
    ee_status status = source_load(folder->path, name, &fingerprint, &file, &last_error);
    if (status)
        assert_true(!file.path && !file.bytes && !file.size);
    else
        status = source_unpack(&file, &last_error);
    assert_int_equal(status, expected);
    assert_message_has(last_error.message, part);
}

TEST_IN_FOLDER(a_missing_file_is_named)
{
    expect_failure(&here, "none", EE_FILE_ERROR, "/none: No such file");
}

TEST_IN_FOLDER(what_is_cut_is_refused)
{
    size_t size;
    auto_free uint8_t *packed = gzip_pack(text, TEXT, &size);
    for (size_t cut = 1; cut < size; cut++) {
        folder_write(&here, "cut", packed, cut);
        expect_failure(&here, "cut", EE_BAD_INPUT,
                       formatted("cut, byte %zu: the file ends inside its compressed data", cut));
    }
}

/* Every bit but those of the header that gzip itself passes over: the time, the compression level and the system. The
 * bits that fill the last byte of the packed data say nothing either: what they pack is whole. */
TEST(what_is_damaged_is_refused)
{
    size_t size, harmless = 0;
    auto_free uint8_t *packed = gzip_pack(text, TEXT, &size);
    for (size_t bit = 16; bit < 8 * size; bit++) {
        if (bit / 8 >= 3 && bit / 8 < 10) continue;
        char name[] = "bad";
        source file = {.path = name, .size = size};
        ok(memory_create(NULL, &file.bytes, size + 1, 1, NULL));
        memcpy(file.bytes, packed, size);
        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (source_unpack(&file, &last_error) == EE_OK) {
            harmless++;
            assert_int_equal(bit / 8, size - 9); /* the checksum and the size take the last eight */
            assert_int_equal(file.size, TEXT);
            assert_memory_equal(file.bytes, text, TEXT);
        } else {
            fails_saying(last_error.status, EE_BAD_INPUT, "gzip: bad, byte ");
        }
        memory_free(file.bytes);
    }
    assert_true(harmless < 8);
}

TEST_IN_FOLDER(streams_follow_each_other)
{
    size_t first, second, none;
    auto_free uint8_t *a = gzip_pack(text, 7, &first), *b = gzip_pack(text + 7, TEXT - 7, &second),
                      *c = gzip_pack("", 0, &none);
    uint8_t whole[1024];
    memcpy(whole, a, first);
    memcpy(whole + first, c, none);
    memcpy(whole + first + none, b, second);
    size_t size = first + none + second;
    folder_write(&here, "all.gz", whole, size);
    expect_text(&here, "all", "all.gz");
    folder_write(&here, "all.gz", whole, size - 1);
    expect_failure(&here, "all", EE_BAD_INPUT, "the file ends inside");
    whole[size] = 'x'; /* what follows a stream must be another */
    folder_write(&here, "all.gz", whole, size + 1);
    expect_failure(&here, "all", EE_BAD_INPUT, "all.gz, byte ");
}

TEST_IN_FOLDER(empty_files)
{
    size_t size;
    auto_free uint8_t *packed = gzip_pack("", 0, &size);
    folder_write(&here, "plain", "", 0);
    folder_write(&here, "packed", packed, size);
    static const char *const names[] = {"plain", "packed"};
    for (int i = 0; i < 2; i++) {
        uint64_t fingerprint;
        RELEASED_BY(source_release) source file = read_file(&here, names[i], &fingerprint);
        assert_int_equal(file.size, 0);
    }
}

TEST_IN_FOLDER(fingerprints_tell_files_and_their_order)
{
    folder_write_text(&here, "a", "one");
    folder_write_text(&here, "b", "two");
    static const char orders[][3] = {"ab", "ab", "ba", "aa", "a", "b"};
    uint64_t found[6] = {0};
    for (int i = 0; i < 6; i++) {
        for (const char *name = orders[i]; *name; name++) {
            RELEASED_BY(source_release) source file;
            char one[2] = {*name, '\0'};
            ok(source_load(here.path, one, &found[i], &file, NULL));
        }
        for (int j = 0; j < i; j++) assert_true((found[i] == found[j]) == (i == 1 && j == 0));
    }
}
