#include "upload_sweep.h"

#include <stdlib.h>

enum { EVENT_BITS = 40 }; /* versions of checkpoints are numbers of events; those of uploads are larger */

typedef struct version_list {
    uint64_t *versions;
    size_t count, capacity;
} version_list;

/* The uploads that MODEL events name. A reset has no body. */
static ee_status find_named(store_reader *log, uint32_t bandit, version_list *out)
{
    event_batch batch = {0};
    ee_status status;
    do {
        status = store_read(log, bandit, batch.last, 1U << EVENT_MODEL, SIZE_MAX, &batch, NULL);
        for (size_t i = 0; !status && i < batch.count; i++) {
            checkpoint_body body;
            if (!batch.events[i].size) continue;
            status = checkpoint_body_read(batch.events[i].body, batch.events[i].size, &body, NULL);
            if (!status)
                status = memory_grow(NULL, &out->versions, &out->capacity, out->count + 1, sizeof *out->versions, NULL);
            if (!status) out->versions[out->count++] = body.version;
        }
    } while (!status && batch.count);
    event_batch_free(&batch);
    return status;
}

static bool is_named(const version_list *named, uint64_t version)
{
    for (size_t i = 0; i < named->count; i++)
        if (named->versions[i] == version) return true;
    return false;
}

void upload_sweep(store_reader *log, blobs *models, uint32_t bandit, uint64_t before)
{
    version_list named = {0};
    blob_key *keys = NULL;
    size_t count = 0;
    ee_status status = find_named(log, bandit, &named);
    if (!status) status = blob_list(models, bandit, BLOB_MODEL, &keys, &count, NULL);
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t version = strtoull(keys[i], NULL, 10);
        if (version >> EVENT_BITS && version < before && !is_named(&named, version))
            blob_remove(models, blob_model(bandit, version), NULL);
    }
    memory_free(keys);
    memory_free(named.versions);
}
