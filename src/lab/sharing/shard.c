#include "shard.h"

#include <math.h>

#include "base/memory.h"
#include "schedule.h"
#include "usual_pace.h"

/* Rounded to ten binary digits, because the last ones may differ between machines and would change the assignment. */
static double round_seconds(double seconds)
{
    int exponent;
    double digits = frexp(seconds, &exponent);
    return ldexp(rint(ldexp(digits, 10)), exponent - 10);
}

ee_status shard_choose(run_shard shard, const run_job *jobs, size_t count, bool *mine, ee_error *error)
{
    double *seconds = NULL;
    size_t *owner = NULL;
    ee_status status = memory_create(NULL, &seconds, count, sizeof *seconds, error);
    if (!status) status = memory_create(NULL, &owner, count, sizeof *owner, error);
    for (size_t i = 0; i < count && !status; i++) seconds[i] = round_seconds(usual_pace_seconds(&jobs[i]));
    if (!status) status = schedule_assign(seconds, count, shard.count, owner, error);
    for (size_t i = 0; i < count && !status; i++) mine[i] = !shard_is_part(shard) || owner[i] == shard.index;
    memory_free(owner);
    memory_free(seconds);
    return status;
}
