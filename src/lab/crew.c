#include "crew.h"

static ee_status play_on_threads(const run_crew *self, const run_job *jobs, size_t count, bool curves,
                                 const run_watch *watch, run_result *results, ee_error *error)
{
    return runner_run_all(jobs, count, self->hands, curves, watch, results, error);
}

run_crew crew_of_threads(size_t threads)
{
    return (run_crew){.hands = threads ? threads : 1, .play = play_on_threads};
}
