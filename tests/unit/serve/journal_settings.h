/* SETTINGS events by a journal. */
#ifndef EENET_JOURNAL_SETTINGS_H
#define EENET_JOURNAL_SETTINGS_H

#include "serve/journal/journal.h"
#include "support_files.h"

/* Writes settings; bandit 0: of a new bandit with this name, whose number *bandit becomes. */
static inline ee_status write_settings(journal *into, const char *name, const char *json, uint32_t *bandit,
                                       bool archived, ee_error *error)
{
    bandit_settings settings = bandit_settings_usual();
    ok(bandit_settings_read(&settings, json, strlen(json), SETTINGS_NEW, NULL));
    text body = text_start(NULL);
    bandit_settings_write(&settings, &body);
    journal_entry entry = {.bandit = *bandit,
                           .event = {.kind = EVENT_SETTINGS, .body = body.bytes, .size = body.length},
                           .settings = &settings,
                           .archived = archived,
                           .name = words(name)};
    ee_status status = journal_write(into, &entry, error);
    *bandit = entry.bandit;
    memory_free(body.bytes);
    return status;
}

static inline uint32_t make_bandit(journal *into, const char *name, const char *json)
{
    uint32_t bandit = 0;
    ok(write_settings(into, name, json, &bandit, false, &last_error));
    return bandit;
}

#endif
