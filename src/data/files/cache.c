/* A file is the bytes that are kept, then their checksum. */
#include "cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"

uint64_t cache_key(uint64_t fingerprint, uint32_t version, const char *options)
{
    uint64_t parts[3] = {fingerprint, version, archive_checksum((const uint8_t *)options, strlen(options))};
    return archive_checksum((const uint8_t *)parts, sizeof parts);
}

/* NULL if memory runs out. */
static char *make_path(const char *folder, const char *kind, uint64_t key)
{
    char name[64], *path;
    snprintf(name, sizeof name, "%s-%016" PRIx64 ".prepared", kind, key);
    return file_join(folder, name, &path, NULL) ? NULL : path;
}

bool cache_read(const char *folder, const char *kind, uint64_t key, uint8_t **bytes, size_t *size)
{
    *bytes = NULL;
    char *path = folder ? make_path(folder, kind, key) : NULL;
    if (!path) return false;
    ee_status status = file_read(path, bytes, size, NULL);
    memory_free(path);
    if (status) return false;
    uint64_t checksum;
    if (*size >= sizeof checksum) {
        *size -= sizeof checksum;
        memcpy(&checksum, *bytes + *size, sizeof checksum);
        if (checksum == archive_checksum(*bytes, *size)) return true;
    }
    memory_free(*bytes);
    *bytes = NULL;
    return false;
}

void cache_write(const char *folder, const char *kind, uint64_t key, const uint8_t *bytes, size_t size)
{
    if (!folder || file_make_folder(folder, NULL)) return;
    uint8_t *whole = NULL;
    uint64_t checksum = archive_checksum(bytes, size);
    char *path = make_path(folder, kind, key);
    if (path && !memory_create(NULL, &whole, size + sizeof checksum, 1, NULL)) {
        memcpy(whole, bytes, size);
        memcpy(whole + size, &checksum, sizeof checksum);
        file_write(path, whole, size + sizeof checksum, NULL);
    }
    memory_free(whole);
    memory_free(path);
}
