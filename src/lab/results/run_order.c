#include "run_order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/files/line_file.h"
#include "data/values/text.h"
#include "run_index.h"

static const char file_name[] = "order";

typedef struct key_list {
    uint64_t *keys;
    size_t count, capacity;
} key_list;

static ee_status take_key(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    key_list *into = context;
    char *end;
    uint64_t key = strtoull(line, &end, 16);
    if (length != 16 || end != line + length)
        return status_fail(error, EE_BAD_INPUT, "line %zu: expected the key of a run", number);
    ee_status status = memory_grow(NULL, &into->keys, &into->capacity, into->count + 1, sizeof *into->keys, error);
    if (!status) into->keys[into->count++] = key;
    return status;
}

ee_status run_order_read(const char *folder, uint64_t **keys, size_t *count, ee_error *error)
{
    key_list list = {0};
    ee_status status = line_file_each_if_any(folder, file_name, take_key, &list, error);
    if (status) memory_free(list.keys);
    *keys = status ? NULL : list.keys;
    *count = status ? 0 : list.count;
    return status;
}

ee_status run_order_add(const char *folder, const uint64_t *keys, size_t count, ee_error *error)
{
    char *path = NULL;
    uint64_t *old = NULL;
    size_t old_count = 0, added = 0;
    run_index index = {0};
    text lines = text_start(error);
    ee_status status = run_order_read(folder, &old, &old_count, error);
    if (!status) status = run_index_create(old, old_count, &index, error);
    for (size_t i = 0; i < old_count && !status; i++) text_add(&lines, "%016" PRIx64 "\n", old[i]);
    for (size_t i = 0; i < count && !status; i++) {
        if (run_index_find(&index, keys[i], NULL)) continue;
        text_add(&lines, "%016" PRIx64 "\n", keys[i]);
        added++;
    }
    if (!status) status = file_join(folder, file_name, &path, error);
    if (!status && added) status = text_save(&lines, path);
    run_index_release(&index);
    memory_free(lines.bytes);
    memory_free(old);
    memory_free(path);
    return status;
}
