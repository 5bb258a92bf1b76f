#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results.h"

/* The members of one line. The first error stays: after it every visit does nothing. */
typedef struct line_reader {
    const json_t *members;
    size_t number; /* of the line */
    ee_status status;
    ee_error *error;
} line_reader;

static const json_t *find(line_reader *from, const char *name, bool right_type, const char *type, const json_t *value)
{
    if (from->status) return NULL;
    if (right_type) return value;
    from->status = status_fail(from->error, EE_BAD_INPUT, "line %zu: expected %s in '%s'", from->number, type, name);
    return NULL;
}

static char *read_text(line_reader *from, const char *name)
{
    const json_t *value = json_object_get(from->members, name);
    value = find(from, name, json_is_string(value), "text", value);
    char *copy = NULL;
    if (!value) return NULL;
    from->status = memory_create(NULL, &copy, json_string_length(value) + 1, 1, from->error);
    if (copy) memcpy(copy, json_string_value(value), json_string_length(value));
    return copy;
}

static uint64_t whole_of(line_reader *from, const char *name, const json_t *value)
{
    value = find(from, name, json_is_integer(value) && json_integer_value(value) >= 0, "a whole number", value);
    return value ? (uint64_t)json_integer_value(value) : 0;
}

static uint64_t read_whole(line_reader *from, const char *name)
{
    return whole_of(from, name, json_object_get(from->members, name));
}

static double real_of(line_reader *from, const char *name, const json_t *value)
{
    value = find(from, name, json_is_number(value), "a number", value);
    return value ? json_number_value(value) : 0.0;
}

static double read_real(line_reader *from, const char *name)
{
    return real_of(from, name, json_object_get(from->members, name));
}

static uint64_t read_seed(line_reader *from)
{
    const json_t *value = json_object_get(from->members, "seed");
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : whole_of(from, "seed", value);
}

static uint64_t read_fingerprint(line_reader *from)
{
    const json_t *value = json_object_get(from->members, "fingerprint");
    value = find(from, "fingerprint", json_is_string(value), "text", value);
    return value ? strtoull(json_string_value(value), NULL, 16) : 0;
}

static bool read_flag(line_reader *from, const char *name)
{
    const json_t *value = json_object_get(from->members, name);
    value = find(from, name, json_is_boolean(value), "true or false", value);
    return value && json_is_true(value);
}

static void read_marks(line_reader *from, double *marks)
{
    const json_t *list = json_object_get(from->members, "marks");
    list = find(from, "marks", json_array_size(list) == RUN_PARTS, "20 numbers", list);
    for (size_t i = 0; i < RUN_PARTS; i++) marks[i] = real_of(from, "marks", json_array_get(list, i));
}

static void read_direction(line_reader *from, const json_t *list, run_direction *part)
{
    static const char name[] = "directions";
    enum { MEMBERS = 10 };
    list = find(from, name, json_array_size(list) == MEMBERS, "10 numbers in each of 20", list);
    uint64_t *counts[] = {&part->arms, &part->up, &part->down, &part->up_right, &part->down_right};
    double *sums[] = {&part->gain, &part->exploration, &part->gain_squares, &part->exploration_squares,
                      &part->products};
    for (size_t i = 0; i < 5; i++) *counts[i] = whole_of(from, name, json_array_get(list, i));
    for (size_t i = 0; i < 5; i++) *sums[i] = real_of(from, name, json_array_get(list, 5 + i));
}

static void read_directions(line_reader *from, run_direction *directions)
{
    const json_t *list = json_object_get(from->members, "directions");
    if (!list) return;
    for (size_t i = 0; i < RUN_PARTS; i++) read_direction(from, json_array_get(list, i), &directions[i]);
}

static void read_delay(line_reader *from, delay *late)
{
    const json_t *value = json_object_get(from->members, "delay");
    if (!value) return;
    bool right = json_is_string(value) && delay_parse(json_string_value(value), late, NULL) == EE_OK;
    find(from, "delay", right, "a delay", value);
}

static void read_slots(line_reader *from, run_result *result)
{
    const json_t *value = json_object_get(from->members, "slots");
    if (!value) return;
    uint64_t slots = whole_of(from, "slots", value);
    find(from, "slots", slots >= 2 && slots <= RUN_SLOTS, "2 to 16", value);
    if (from->status) return;
    result->slots = (size_t)slots;
    const json_t *list = json_object_get(from->members, "slot_regrets");
    list = find(from, "slot_regrets", json_array_size(list) == slots, "a number a slot", list);
    for (size_t k = 0; k < slots; k++) result->slot_regrets[k] = real_of(from, "slot_regrets", json_array_get(list, k));
}

static void read_members(line_reader *from, stored_run *out)
{
    out->dataset = read_text(from, "dataset");
    out->fingerprint = read_fingerprint(from);
    out->dim = (size_t)read_whole(from, "dim");
    out->arms = (size_t)read_whole(from, "arms");
    if (json_object_get(from->members, "rows")) out->rows = read_whole(from, "rows");
    out->policy = read_text(from, "policy");
    out->options = read_text(from, "options");
    out->seed = read_seed(from);
    out->rounds = read_whole(from, "rounds");
    out->tuning = read_flag(from, "tuning");
    read_delay(from, &out->late);
    run_result *result = &out->result;
    read_slots(from, result);
    out->slots = result->slots;
    result->finished = true;
    result->rounds = out->rounds;
    result->regret = read_real(from, "regret");
    result->reward = read_real(from, "reward");
    double optimal = read_real(from, "optimal");
    find(from, "optimal", optimal >= 0.0 && optimal <= 1.0, "a share", NULL);
    if (!from->status) result->optimal = (uint64_t)llround(optimal * (double)out->rounds);
    result->seconds = read_real(from, "seconds");
    result->bytes = (size_t)read_whole(from, "bytes");
    read_marks(from, result->marks);
    read_directions(from, result->directions);
    if (json_object_get(from->members, "curve")) {
        out->curve = read_text(from, "curve");
        out->curve_row = (size_t)read_whole(from, "row");
    }
    if (json_object_get(from->members, "machine")) out->machine = read_text(from, "machine");
    out->version = read_text(from, "version");
    out->kernels = read_text(from, "kernels");
}

ee_status results_parse(const char *line, size_t length, size_t number, stored_run *out, ee_error *error)
{
    json_error_t problem;
    json_t *members = json_loadb(line, length, 0, &problem);
    line_reader from = {members, number, EE_OK, error};
    if (json_is_object(members))
        read_members(&from, out);
    else
        from.status = status_fail(error, EE_BAD_INPUT, "line %zu, byte %d: %s", number,
                                  members ? 1 : problem.position + 1, members ? "expected {" : problem.text);
    json_decref(members);
    return from.status;
}

/* The strings are const for those that are borrowed; these are not. */
void results_release_run(stored_run *run)
{
    const char *owned[] = {run->dataset, run->policy,  run->options, run->curve,
                           run->version, run->kernels, run->machine};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) memory_free((char *)owned[i]);
    *run = (stored_run){0};
}
