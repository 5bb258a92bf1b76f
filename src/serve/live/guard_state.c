/* The guardrails in the state of a live evaluation. */
#include "live_guard.h"

enum { SETTINGS_MOST = 1 << 20 };

static void archive_flag(archive *a, bool *flag)
{
    size_t value = *flag;
    archive_size(a, &value, 0, 1, "flag");
    *flag = value;
}

static void write_settings(live_guard *self, archive *a)
{
    text json = text_start(a->error);
    bandit_settings_write(&self->known, &json);
    size_t length = json.status ? 0 : json.length;
    if (json.status) archive_fail(a, json.status, "live: the settings cannot be written");
    archive_size(a, &length, 0, SETTINGS_MOST, "settings");
    archive_bytes(a, json.bytes, length);
    memory_free(json.bytes);
}

static void read_settings(live_guard *self, archive *a)
{
    size_t length = 0;
    char *json = NULL;
    archive_size(a, &length, 0, SETTINGS_MOST, "settings");
    if (a->status) return;
    if (memory_create(NULL, &json, length + 1, 1, NULL)) {
        archive_fail(a, EE_NO_MEMORY, "live: out of memory");
        return;
    }
    archive_bytes(a, json, length);
    self->known = bandit_settings_usual();
    ee_status status = bandit_settings_read(&self->known, json, length, SETTINGS_STORED, NULL);
    if (!status) status = live_guard_read_tables(&self->known, &self->tables, NULL);
    if (status) archive_fail(a, EE_BAD_MODEL, "live: the settings in the state are damaged");
    memory_free(json);
}

static void archive_lifts(archive *a, lift **lifts, size_t count)
{
    bool any = *lifts != NULL;
    archive_flag(a, &any);
    if (a->status || !any) return;
    if (a->reading && memory_create(NULL, lifts, count, sizeof **lifts, NULL)) {
        archive_fail(a, EE_NO_MEMORY, "live: out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) lift_archive(a, &(*lifts)[i]);
}

static void archive_part(archive *a, guard_part *part, size_t values)
{
    archive_text(a, part->name, sizeof part->name, "segment");
    archive_u64(a, &part->hash);
    archive_u64(a, &part->decisions);
    archive_lifts(a, &part->lifts, values);
}

static void archive_test(archive *a, guard_test *test)
{
    live_alarm_archive(a, &test->alarm);
    archive_u64(a, &test->from);
    archive_u64(a, &test->logged);
    archive_lifts(a, &test->measured, 1);
    if (!a->status && !test->measured) archive_fail(a, EE_BAD_MODEL, "live: a test in the state is damaged");
}

void live_guard_archive(live_guard *self, archive *a)
{
    archive_flag(a, &self->started);
    archive_u64(a, &self->followed);
    archive_u64(a, &self->taken);
    if (a->reading)
        read_settings(self, a);
    else
        write_settings(self, a);
    archive_u64(a, &self->from);
    for (size_t i = 0; i < GUARD_GROUPS; i++) archive_u64(a, &self->groups[i]);
    archive_u64(a, &self->numbered);
    archive_u64(a, &self->starts);
    archive_u64(a, &self->last_start);
    archive_u64(a, &self->alarms);
    size_t parts = self->part_count, tests = self->test_count;
    archive_size(a, &parts, 0, 1 + GUARD_SEGMENTS, "segments");
    self->part_count = parts;
    for (size_t i = 0; i < parts && !a->status; i++) archive_part(a, &self->parts[i], live_guard_values(self));
    archive_part(a, &self->other, live_guard_values(self));
    archive_size(a, &tests, 0, GUARD_BOUNDS, "tests");
    self->test_count = tests;
    for (size_t i = 0; i < tests && !a->status; i++) archive_test(a, &self->tests[i]);
    live_drift_archive(a, &self->drift);
    bool sound = !self->tables || (self->drift.count >= DRIFT_NUMBER && tests == self->tables->bound_count);
    if (!a->status && !sound) archive_fail(a, EE_BAD_MODEL, "live: the guardrails in the state are damaged");
}
