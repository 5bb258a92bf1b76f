/* Data sets and logs of a test, released where the scope of their variable ends; texts, refusals. */
#ifndef EENET_TEST_SUPPORT_SETS_H
#define EENET_TEST_SUPPORT_SETS_H

#include "data/kind/survey.h"
#include "data/logs/log.h"
#include "data/sets/environment.h"
#include "support.h"

#define auto_dataset RELEASED_BY(release_dataset) dataset
#define auto_environment RELEASED_BY(release_environment) environment
#define auto_log_reader RELEASED_BY(release_log_reader) log_reader
#define auto_survey RELEASED_BY(release_survey) survey

static inline void release_dataset(dataset **place)
{
    dataset_free(*place);
}

static inline void release_environment(environment **place)
{
    environment_free(*place);
}

static inline void release_log_reader(log_reader **place)
{
    log_close(*place);
}

static inline void release_survey(survey **place)
{
    survey_free(*place);
}

/* A text as printf writes it, valid until the eighth call after this one. */
__attribute__((format(printf, 1, 2))) static inline const char *formatted(const char *format, ...)
{
    static char made[8][4096];
    static size_t calls;
    char *out = made[calls++ % 8];
    va_list values;
    va_start(values, format);
    assert_in_range(vsnprintf(out, sizeof made[0], format, values), 0, sizeof made[0] - 1);
    va_end(values);
    return out;
}

/* Fails the test unless a call returned this status and wrote a sentence with this part to last_error. */
static inline void fails_saying(ee_status got, ee_status status, const char *part)
{
    assert_int_equal(got, status);
    if (!strstr(last_error.message, part)) fail_msg("'%s' is not in '%s'", part, last_error.message);
}

static inline dataset *open_data(const char *name)
{
    dataset *data;
    if (dataset_open(name, NULL, &data, &last_error)) fail_msg("%s: %s", name, last_error.message);
    return data;
}

static inline environment *start_rounds(const dataset *data, uint64_t seed)
{
    environment *world;
    ok(environment_create(data, seed, &world, NULL));
    return world;
}

static inline environment_round next_round(environment *world)
{
    environment_round round;
    ok(environment_next(world, &round, NULL));
    return round;
}

/* The folder of real data; the test is skipped without it. */
static inline const char *real_data(void)
{
    const char *folder = getenv("EENET_DATA");
    if (!folder) skip();
    return folder;
}

#endif
