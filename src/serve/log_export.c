#include "log_export.h"

#include "data/dsjson.h"

enum { TOGETHER = 8 }; /* lines between two looks at the size */

struct log_export {
    memory memory;
    store_reader *reader;
    uint32_t bandit;
    uint64_t after, end, left; /* events above, and before; lines */
    uint64_t settings;         /* number of the SETTINGS event that was read last; 0: none */
    learning_mode mode;        /* by it */
    learning_mode mode_now;    /* of the bandit */
    event_room room;

    /* The line that is being made. */
    text *into;
    const event *settled;
    ee_status status;
};

ee_status log_export_create(store_reader *reader, uint32_t bandit, const log_range *range, log_export **out,
                            ee_error *error)
{
    log_export *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) {
        store_reader_free(reader);
        return status;
    }
    self->reader = reader;
    self->bandit = bandit;
    self->after = range->after;
    self->left = range->limit ? range->limit : UINT64_MAX;
    self->mode = self->mode_now = range->mode;
    self->room.owner = &self->memory;
    uint64_t first = 0;
    status = store_find_time(reader, bandit, range->until, &self->end, error);
    if (!status) status = store_find_time(reader, bandit, range->from, &first, error);
    if (first > self->after + 1) self->after = first - 1;
    if (status)
        log_export_free(self);
    else
        *out = self;
    return status;
}

void log_export_free(log_export *self)
{
    if (!self) return;
    store_reader_free(self->reader);
    memory_release(&self->memory);
}

static ee_status read_mode(void *context, const event *found, ee_error *error)
{
    log_export *self = context;
    bandit_settings settings = bandit_settings_usual();
    self->status = bandit_settings_read(&settings, found->body, found->size, false, error);
    self->mode = settings.mode;
    return EE_OK;
}

/* The mode in which a decision was made. */
static ee_status find_mode(log_export *self, uint64_t decision, ee_error *error)
{
    uint64_t number;
    ee_status status = store_last(self->reader, self->bandit, EVENT_SETTINGS, decision, &number, error);
    if (status || number == self->settings) return status;
    self->settings = number;
    self->mode = self->mode_now;
    if (!number) return EE_OK;
    status = store_read_one(self->reader, self->bandit, number, read_mode, self, error);
    return status ? status : self->status;
}

/* Completes the line that ends the text: it ends with the model, which dsjson_format does not know. */
static void end_line(const log_export *self, uint64_t version)
{
    static const char unknown[] = "N/A\"}}\n";
    text *into = self->into;
    into->length -= strlen(unknown);
    text_add(into, "%llu\"}", (unsigned long long)version);
    if (self->mode == MODE_APPRENTICE) {
        text_add(into, ",\"_original_label_cost\":");
        text_double(into, -self->settled->value);
    }
    text_add(into, ",\"_cursor\":%llu}\n", (unsigned long long)self->settled->number);
}

static void add_line(const log_export *self, const event *made, const decision_body *body)
{
    double learned = self->mode == MODE_APPRENTICE ? body->own == body->baseline : self->settled->value;
    log_event line = {
        .id = made->id,
        .time = (double)made->time / 1e6,
        .count = body->count,
        .action = body->action,
        .probability = body->probabilities[body->action],
        .probabilities = body->probabilities,
        .reward = learned,
        .copies = 1,
        .skipped = self->settled->outcome == SETTLED_NOTHING,
        .baseline = body->baseline,
        .actions = body->names,
    };
    if (body->dim)
        line.arms = ee_arms_dense(body->values, body->count, body->dim);
    else
        line.context = body->context;
    dsjson_format(self->into, &line);
    if (!self->into->status) end_line(self, body->version);
}

static ee_status take_decision(void *context, const event *made, ee_error *error)
{
    log_export *self = context;
    decision_body body;
    self->status = decision_body_read(made->body, made->size, &self->room, &body, error);
    if (!self->status) add_line(self, made, &body);
    return EE_OK;
}

static ee_status take_settled(void *context, const event *settled, ee_error *error)
{
    log_export *self = context;
    if (settled->number >= self->end || !self->left) return EE_OK;
    ee_status status = find_mode(self, settled->decision, error);
    if (status) return status;
    self->settled = settled;
    self->status = EE_OK;
    status = store_read_one(self->reader, self->bandit, settled->decision, take_decision, self, error);
    if (status == EE_BAD_INPUT) return EE_OK; /* it is too old, and was removed meanwhile */
    self->left--;
    return status ? status : self->status;
}

ee_status log_export_fill(log_export *self, text *into, size_t size, bool *over, ee_error *error)
{
    self->into = into;
    *over = false;
    while (!*over && into->length < size) {
        uint64_t last;
        ee_status status = store_read(self->reader, self->bandit, self->after, 1u << EVENT_SETTLED, TOGETHER,
                                      take_settled, self, &last, error);
        if (!status) status = into->status;
        if (status) return status;
        *over = last <= self->after || last + 1 >= self->end || !self->left;
        self->after = last;
    }
    return EE_OK;
}
