#include <math.h>

#include "base/memory.h"
#include "data/files/line_members.h"
#include "results.h"

static void read_marks(line_members *from, double *marks)
{
    const json_value *list = json_member(from->line, "marks");
    list = members_expect(from, "marks", json_count(list) == RUN_PARTS, "20 numbers", list);
    for (size_t i = 0; i < RUN_PARTS; i++) marks[i] = members_real_of(from, "marks", json_element(list, i));
}

static void read_direction(line_members *from, const json_value *list, run_direction *part)
{
    static const char name[] = "directions";
    enum { MEMBERS = 10 };
    list = members_expect(from, name, json_count(list) == MEMBERS, "20 lists of 10 numbers", list);
    uint64_t *counts[] = {&part->arms, &part->up, &part->down, &part->up_right, &part->down_right};
    double *sums[] = {&part->gain, &part->exploration, &part->gain_squares, &part->exploration_squares,
                      &part->products};
    for (size_t i = 0; i < 5; i++) *counts[i] = members_whole_of(from, name, json_element(list, i));
    for (size_t i = 0; i < 5; i++) *sums[i] = members_real_of(from, name, json_element(list, 5 + i));
}

static void read_directions(line_members *from, run_direction *directions)
{
    const json_value *list = json_member(from->line, "directions");
    if (!list) return;
    for (size_t i = 0; i < RUN_PARTS; i++) read_direction(from, json_element(list, i), &directions[i]);
}

static void read_delay(line_members *from, delay *late)
{
    const json_value *value = json_member(from->line, "delay");
    if (!value) return;
    bool right = json_has_kind(value, JSON_KIND_TEXT) && delay_parse(json_text_of(value), late, NULL) == EE_OK;
    members_expect(from, "delay", right, "a delay", value);
}

static void read_slots(line_members *from, run_result *result)
{
    const json_value *value = json_member(from->line, "slots");
    if (!value) return;
    uint64_t slots = members_whole_of(from, "slots", value);
    members_expect(from, "slots", slots >= 2 && slots <= RUN_SLOTS, "2 to 16", value);
    if (from->status) return;
    result->slots = (size_t)slots;
    const json_value *list = json_member(from->line, "slot_regrets");
    list = members_expect(from, "slot_regrets", json_count(list) == slots, "one number per slot", list);
    for (size_t k = 0; k < slots; k++)
        result->slot_regrets[k] = members_real_of(from, "slot_regrets", json_element(list, k));
}

static void read_run(line_members *from, stored_run *out)
{
    const json_value *line = from->line;
    out->dataset = members_copy(from, line, "dataset");
    if (json_member(line, "source")) out->source = members_copy(from, line, "source");
    out->fingerprint = members_fingerprint(from);
    out->dim = (size_t)members_whole(from, line, "dim");
    out->arms = (size_t)members_whole(from, line, "arms");
    if (json_member(line, "rows")) out->rows = members_whole(from, line, "rows");
    out->policy = members_copy(from, line, "policy");
    out->options = members_copy(from, line, "options");
    out->seed = members_seed(from);
    out->rounds = members_whole(from, line, "rounds");
    out->tuning = members_flag(from, line, "tuning");
    read_delay(from, &out->late);
    run_result *result = &out->result;
    read_slots(from, result);
    out->slots = result->slots;
    result->finished = true;
    result->rounds = out->rounds;
    result->regret = members_real(from, line, "regret");
    result->reward = members_real(from, line, "reward");
    double optimal = members_real(from, line, "optimal");
    members_expect(from, "optimal", optimal >= 0.0 && optimal <= 1.0, "a share", NULL);
    if (!from->status) result->optimal = (uint64_t)llround(optimal * (double)out->rounds);
    result->seconds = members_real(from, line, "seconds");
    result->bytes = (size_t)members_whole(from, line, "bytes");
    read_marks(from, result->marks);
    read_directions(from, result->directions);
    if (json_member(line, "curve")) {
        out->curve = members_copy(from, line, "curve");
        out->curve_row = (size_t)members_whole(from, line, "row");
    }
    if (json_member(line, "machine")) out->machine = members_copy(from, line, "machine");
    out->version = members_copy(from, line, "version");
    out->kernels = members_copy(from, line, "kernels");
}

ee_status results_parse(const char *line, size_t length, size_t number, stored_run *out, ee_error *error)
{
    line_members from = line_members_open(line, length, number, error);
    if (!from.status) read_run(&from, out);
    line_members_close(&from);
    return from.status;
}

/* The strings are const for those that are borrowed; these are not. */
void results_release_run(stored_run *run)
{
    const char *owned[] = {run->dataset, run->source,  run->policy,  run->options,
                           run->curve,   run->version, run->kernels, run->machine};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) memory_free((char *)owned[i]);
    *run = (stored_run){0};
}
