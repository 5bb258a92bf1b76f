#include "alarm_consequence.h"

#include <stdio.h>

static ee_status find_last(const succession *self, uint64_t *last, ee_error *error)
{
    static const event_kind kinds[] = {EVENT_SETTINGS, EVENT_MODEL, EVENT_ALARM};
    store_reader *log = NULL;
    ee_status status = store_reader_create(self->kept, &log, error);
    *last = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !status; i++) {
        uint64_t found;
        status = store_last(log, served_bandit_number(self->bandit), kinds[i], UINT64_MAX, &found, error);
        if (!status && found > *last) *last = found;
    }
    store_reader_free(log);
    return status;
}

static held_state held_by(guard_consequence then)
{
    return then == GUARD_FALLBACK ? HELD_FALLBACK : then == GUARD_FREEZE ? HELD_FROZEN : HELD_NOT;
}

static ee_status write_events(const succession *self, const live_alarm *alarm, ee_error *error)
{
    uint32_t bandit = served_bandit_number(self->bandit);
    bandit_settings settings = served_bandit_settings(self->bandit);
    bool holds = held_by(alarm->then) > settings.held; /* one that is held back more stays so */
    text body = text_start(error), said = text_start(error);
    if (holds) {
        settings.held = held_by(alarm->then);
        memset(settings.held_because, 0, sizeof settings.held_because);
        snprintf(settings.held_because, sizeof settings.held_because, "%s", alarm->sentence);
    }
    live_alarm_write(alarm, &body);
    bandit_settings_write(&settings, &said);
    journal_entry entries[] = {
        {.bandit = bandit, .event = {.kind = EVENT_ALARM, .body = body.bytes, .size = body.length}},
        {.bandit = bandit,
         .event = {.kind = EVENT_SETTINGS, .body = said.bytes, .size = said.length},
         .settings = &settings}};
    ee_status status = body.status ? body.status : said.status;
    if (!status) status = journal_write_together(self->written, entries, holds ? 2 : 1, error);
    if (!status && holds) served_bandits_change(self->bandits, bandit, &settings, false);
    memory_free(body.bytes);
    memory_free(said.bytes);
    return status;
}

ee_status alarm_consequence_write(const succession *self, const live_alarm *alarm, uint64_t followed, bool *written,
                                  ee_error *error)
{
    uint64_t last;
    *written = false;
    ee_status status = find_last(self, &last, error);
    if (status || last > followed) return status;
    status = write_events(self, alarm, error);
    *written = !status;
    return status;
}
