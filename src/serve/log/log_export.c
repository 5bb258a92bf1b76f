#include "log_export.h"

#include "data/logs/dsjson.h"

struct log_export {
    memory memory;
    settled_reader *decisions;
    uint64_t end; /* past the last event that is exported */
};

ee_status log_export_create(store_reader *reader, uint32_t bandit, const log_range *range, log_export **out,
                            ee_error *error)
{
    log_export *self;
    uint64_t end = 0;
    ee_status status = store_find_end(reader, bandit, range->until, &end, error);
    if (!status) status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) {
        store_reader_free(reader);
        return status;
    }
    self->end = end;
    status = settled_reader_create(reader, bandit, range, &self->decisions, error);
    if (status)
        log_export_free(self);
    else
        *out = self;
    return status;
}

void log_export_free(log_export *self)
{
    if (!self) return;
    settled_reader_free(self->decisions);
    memory_release(&self->memory);
}

ee_status log_export_fill(log_export *self, text *into, size_t size, bool *over, ee_error *error)
{
    *over = false;
    while (into->length < size) {
        log_event line;
        settled_decision facts;
        bool found;
        ee_status status = settled_next(self->decisions, &line, &facts, &found, error);
        if (status) return status;
        *over = !found || facts.number >= self->end;
        if (*over) return EE_OK;
        dsjson_format_served(into, &line, &(dsjson_source){facts.learned, facts.version, facts.number});
        if (into->status) return into->status;
    }
    return EE_OK;
}
