#include "erased_event.h"

#include "base/archive.h"

/* Format, counts, numbers, and the models: each with its size first. */
enum { FORMAT = 1 };

static void write_numbers(archive *a, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count && !a->status; i++) {
        uint64_t number = numbers[i];
        archive_u64(a, &number);
    }
}

static void write_model(archive *a, const checkpoint_body *model)
{
    uint64_t head[] = {model->version, model->upto, model->checksum, model->size, model->state_size};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) archive_u64(a, &head[i]);
    archive_bytes(a, (void *)(uintptr_t)model->state, model->state_size);
}

ee_status erased_body_write(const erased_body *body, uint8_t **bytes, size_t *size, ee_error *error)
{
    archive a = archive_writer(error);
    uint64_t head[] = {FORMAT, body->decision_count, body->other_count, body->model_count, body->settled_to};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) archive_u64(&a, &head[i]);
    write_numbers(&a, body->decisions, body->decision_count);
    write_numbers(&a, body->others, body->other_count);
    for (size_t i = 0; i < body->model_count && !a.status; i++) write_model(&a, &body->models[i]);
    *bytes = a.bytes;
    *size = a.size;
    return a.status;
}

static void read_numbers(archive *a, memory *owner, size_t count, const uint64_t **out)
{
    uint64_t *numbers = NULL;
    if (a->status) return;
    if (count > archive_remaining(a) / 8)
        archive_fail(a, EE_BAD_INPUT, "log: an ERASED event is damaged");
    else if (memory_create(owner, &numbers, count ? count : 1, sizeof *numbers, NULL))
        archive_fail(a, EE_NO_MEMORY, "log: not enough memory for an ERASED event");
    for (size_t i = 0; i < count && !a->status; i++) archive_u64(a, &numbers[i]);
    *out = numbers;
}

static void read_model(archive *a, const uint8_t *bytes, size_t size, checkpoint_body *out)
{
    uint64_t head[5] = {0};
    for (size_t i = 0; i < 5; i++) archive_u64(a, &head[i]);
    if (!a->status && head[4] > archive_remaining(a)) archive_fail(a, EE_BAD_INPUT, "log: an ERASED event is damaged");
    if (a->status) return;
    *out = (checkpoint_body){head[0], head[1], head[2], head[3], bytes + size - archive_remaining(a), head[4]};
    a->position += head[4];
}

ee_status erased_body_read(const void *bytes, size_t size, memory *owner, erased_body *out, ee_error *error)
{
    archive a = archive_reader(bytes, size, error);
    uint64_t head[5] = {0};
    checkpoint_body *models = NULL;
    *out = (erased_body){0};
    for (size_t i = 0; i < 5; i++) archive_u64(&a, &head[i]);
    if (!a.status && (head[0] != FORMAT || head[3] > size / 40))
        archive_fail(&a, EE_BAD_INPUT, "log: an ERASED event has an unknown format");
    read_numbers(&a, owner, head[1], &out->decisions);
    read_numbers(&a, owner, head[2], &out->others);
    if (!a.status && memory_create(owner, &models, head[3] + 1, sizeof *models, NULL))
        archive_fail(&a, EE_NO_MEMORY, "log: not enough memory for an ERASED event");
    for (size_t i = 0; i < head[3] && !a.status; i++) read_model(&a, bytes, size, &models[i]);
    out->decision_count = head[1];
    out->other_count = head[2];
    out->models = models;
    out->model_count = head[3];
    out->settled_to = head[4];
    return a.status;
}
