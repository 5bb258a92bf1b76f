/* Bodies of events that nobody wrote: what is read lies within the bytes, and is written again as the same. */
#include "fuzz.h"
#include "serve/store/metric_values.h"

static void write_again(const decision_body *body, memory *owner)
{
    event_room room = {.owner = owner};
    decision_body again;
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    if (decision_body_write(body, owner, &bytes, &size, &capacity, NULL)) return;
    require(decision_body_read(bytes, size, &room, &again, NULL) == EE_OK, "what was written is not read");
    require(again.count == body->count && again.dim == body->dim && again.action == body->action, "other numbers");
    require(memcmp(again.probabilities, body->probabilities, body->count * sizeof(double)) == 0, "probabilities");
    require(!body->dim || memcmp(again.values, body->values, body->count * body->dim * sizeof(float)) == 0, "values");
    require(again.context.length == body->context.length && again.record_size == body->record_size, "lengths");
    require(!body->record_size || memcmp(again.record, body->record, body->record_size) == 0, "records");
}

static void check_metrics(const uint8_t *bytes, size_t size)
{
    metric_values read;
    uint8_t again[METRIC_VALUES_SIZE];
    if (metric_values_read(bytes, size, &read, NULL)) return;
    require(metric_values_write(&read, again) == size, "metrics of another size");
    require(metric_values_read(again, size, &read, NULL) == EE_OK, "written metrics are not read");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_metrics(bytes, size);
    memory owner = {0};
    event_room room = {.owner = &owner};
    decision_body decision;
    checkpoint_body checkpoint;
    step_body step;
    if (decision_body_read(bytes, size, &room, &decision, NULL) == EE_OK) write_again(&decision, &owner);
    require(memory_bytes(&owner) <= 64 * size + 4096, "more memory than the bytes are worth");
    if (step_body_read(bytes, size, &step, NULL) == EE_OK) require(step.stride > 0, "a stride of 0");
    if (checkpoint_body_read(bytes, size, &checkpoint, NULL) == EE_OK)
        require(checkpoint.state_size == size - CHECKPOINT_HEAD_SIZE, "another size");
    memory_release(&owner);
    return 0;
}
