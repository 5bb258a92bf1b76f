#define _DEFAULT_SOURCE /* for mkdtemp */
#include "support_files.h"

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

test_folder folder_make(void)
{
    test_folder folder = {"test_folder.XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

const char *folder_path(const test_folder *folder, const char *name)
{
    static char path[512];
    assert_true(snprintf(path, sizeof path, "%s/%s", folder->path, name) < (int)sizeof path);
    return path;
}

static void remove_all(const char *path)
{
    DIR *files = opendir(path);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        char name[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        assert_true(snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name);
        if (unlink(name)) remove_all(name);
    }
    closedir(files);
    assert_int_equal(rmdir(path), 0);
}

void folder_remove(const test_folder *folder)
{
    remove_all(folder->path);
}

test_folder here;

int folder_enter(void **state)
{
    (void)state;
    here = folder_make();
    return 0;
}

int folder_leave(void **state)
{
    (void)state;
    folder_remove(&here);
    return 0;
}

void folder_write(const test_folder *folder, const char *name, const void *bytes, size_t size)
{
    ok(file_write(folder_path(folder, name), bytes, size, NULL));
}

void folder_write_text(const test_folder *folder, const char *name, const char *text)
{
    folder_write(folder, name, text, strlen(text));
}

void folder_write_packed(const test_folder *folder, const char *name, const void *bytes, size_t size)
{
    size_t packed_size;
    auto_free uint8_t *packed = gzip_pack(bytes, size, &packed_size);
    folder_write(folder, name, packed, packed_size);
}

uint8_t *gzip_pack(const void *bytes, size_t size, size_t *packed_size)
{
    enum { GZIP = 15 + 16 };
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t capacity = deflateBound(&stream, size);
    uint8_t *packed = malloc(capacity), *copy = malloc(size + 1);
    assert_non_null(packed);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    stream.next_in = copy;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    free(copy);
    return packed;
}

void assert_message_has(const char *message, const char *part)
{
    if (!strstr(message, part)) fail_msg("'%s' is not in '%s'", part, message);
}
