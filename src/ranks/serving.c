/* Ranks other than 0: open the data sets and do runs for rank 0. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ranks.h"
#include "ranks_inside.h"
#include "transport.h"
#include "workers.h"

/* Data sets, which stay open between calls. */
typedef struct open_datasets {
    dataset **data; /* (count) */
    size_t count, capacity;
} open_datasets;

static const dataset *find_open(const open_datasets *all, const data_message *asked)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(dataset_text(all->data[i]), asked->text) == 0) return all->data[i];
    return NULL;
}

/* Opens it if it is not open yet. */
static ee_status open_data(open_datasets *all, const data_message *asked, const dataset **out, ee_error *error)
{
    ee_status status = EE_OK;
    *out = find_open(all, asked);
    if (!*out) {
        status = memory_grow(NULL, &all->data, &all->capacity, all->count + 1, sizeof *all->data, error);
        dataset **place = &all->data[all->count];
        const char *cache = asked->cache[0] ? asked->cache : NULL;
        if (!status) status = dataset_open_reading(asked->text, cache, place, error);
        if (status) return status;
        all->count++;
        *out = *place;
    }
    if (dataset_fingerprint(*out) == asked->fingerprint) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "%s: its files differ from those on rank 0: fingerprint %016" PRIx64 " here, %016" PRIx64
                       " there",
                       dataset_name(*out), dataset_fingerprint(*out), asked->fingerprint);
}

static ee_status check_version(const char *wanted, ee_error *error)
{
    char own[RANKS_VERSION];
    ranks_version(own);
    if (strcmp(own, wanted) == 0) return EE_OK;
    return status_fail(
        error, EE_BAD_INPUT,
        "eenet %s here, but %s on rank 0, so the last digits of results would differ: install the same version, "
        "and set the same kernels with mpirun -x EENET_KERNELS=avx2",
        own, wanted);
}

/* Receives all data sets, even if one cannot be opened. */
static ee_status open_all(open_datasets *all, size_t count, const dataset **data, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < count; i++) {
        incoming_message one = {0};
        transport_wait(TO_WORKERS, MAIN_THREAD, &one);
        if (one.what.kind != MESSAGE_DATA) transport_fail("MPI: expected a data set, got another message");
        if (!status && data) status = open_data(all, &one.what.data, &data[i], error);
        incoming_release(&one);
    }
    return status;
}

static void serve_call(open_datasets *all, const call_message *call, const ee_error *unusable)
{
    char host[RANKS_HOST];
    const dataset **data = NULL;
    worker *workers = NULL;
    message sent = {MESSAGE_ANSWER, .answer = {.host = ranks_host(host)}};
    ee_error *error = &sent.answer.error;
    ee_status status = EE_OK;
    if (unusable)
        status = status_fail(error, unusable->status, "%s", unusable->message);
    else
        status = check_version(call->version, error);
    if (!status) status = memory_create(NULL, &data, call->datasets, sizeof *data, error);
    ee_status opened = open_all(all, call->datasets, status ? NULL : data, error);
    if (!status) status = opened;
    if (!status) status = workers_start(data, call->datasets, call->workers, &workers, &sent.answer.workers, error);
    size_t count = sent.answer.workers;
    transport_send(TO_RANK_0, 0, MAIN_THREAD, &sent);
    if (!status) workers_join(workers, count);
    memory_free(data);
}

int ranks_serve(const ee_error *unusable)
{
    /* A stopped job signals all ranks; rank 0 ends the others after it has stored their runs. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    open_datasets all = {0};
    for (bool more = true; more;) {
        incoming_message one = {0};
        transport_wait(TO_WORKERS, MAIN_THREAD, &one);
        if (one.what.kind == MESSAGE_CALL) serve_call(&all, &one.what.call, unusable);
        more = one.what.kind != MESSAGE_LEAVE;
        incoming_release(&one);
    }
    for (size_t i = 0; i < all.count; i++) dataset_free(all.data[i]);
    memory_free(all.data);
    transport_close();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
