#include "tuning.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "interrupt.h"
#include "lab/grids/study.h"
#include "lab/runs/assignments.h"
#include "plan.h"
#include "results_table.h"
#include "session.h"
#include "shards.h"
#include "trained_model.h"

static const char usual_seeds[] = "100-102"; /* apart from 0-9, which are reported unless others are given */

const flag tuning_flags[TUNING_FLAGS] = {
    REQUEST_FLAG_LIST,
    [TUNING_SEEDS] = {'\0', "tune", "SEEDS", "seeds to tune settings on (default: 100-102)"},
    [TUNING_HALVING] = {'\0', "halving", NULL, "drop weak settings early (successive halving)"},
    [TUNING_PAPER] = {'\0', "paper", NULL, "try the grids of the EE-Net paper"},
    [TUNING_SAVE] = TRAINED_MODEL_FLAG,
};

static int take(const command *self, int got, const char *value, void *context)
{
    tuning *plan = context;
    if (got < REQUEST_FLAGS) return run_request_take(self, got, value, &plan->request);
    if (got == TUNING_SEEDS && plan->seeds) return command_misused(self, "--tune is given twice");
    if (got == TUNING_SAVE && plan->save) return command_misused(self, "--save is given twice");
    if (got == TUNING_SEEDS) plan->seeds = value;
    if (got == TUNING_SAVE) plan->save = value;
    plan->halving = plan->halving || got == TUNING_HALVING;
    plan->paper = plan->paper || got == TUNING_PAPER;
    return EXIT_DONE;
}

int tuning_read(const command *self, int argc, char **argv, tuning *plan)
{
    return arguments_each(self, argc, argv, take, plan);
}

/* ---- what each policy tries ---- */

/* A policy of the grid, with what it points to. */
typedef struct tried {
    char *fixed;     /* options of all cells */
    char *lists;     /* the names and values of the axes, each ended by a zero */
    grid_axis *axes; /* (axis_count) */
    size_t axis_count, capacity;
} tried;

static ee_status add_axis(tried *into, const char *option, const char *values, ee_error *error)
{
    ee_status status = memory_grow(NULL, &into->axes, &into->capacity, into->axis_count + 1, sizeof *into->axes, error);
    if (!status) into->axes[into->axis_count++] = (grid_axis){option, values};
    return status;
}

/* Takes the assignments of --set apart: those with a list of values are axes. */
static ee_status split_options(const char *options, tried *into, ee_error *error)
{
    size_t capacity = strlen(options) + 1, used = 0;
    ee_status status = memory_create(NULL, &into->fixed, capacity, 1, error);
    if (!status) status = memory_create(NULL, &into->lists, capacity, 1, error);
    if (status) return status;
    strcpy(into->lists, options);
    for (char *next, *word = into->lists; word && *word && !status; word = next) {
        next = strchr(word, ' ');
        if (next) *next++ = '\0';
        char *values = strchr(word, '=');
        *values++ = '\0';
        if (next && assignments_set(next, word)) continue; /* what is given later wins */
        if (strchr(values, ','))
            status = add_axis(into, word, values, error);
        else
            used += (size_t)snprintf(into->fixed + used, capacity - used, "%s%s=%s", used ? " " : "", word, values);
    }
    return status;
}

static ee_status make_tried(const requested_policy *from, bool paper, tried *into, ee_error *error)
{
    const char *options = from->options ? from->options : "";
    size_t count = 0;
    const grid_axis *axes = paper ? grid_of_paper(from->name, &count) : NULL;
    ee_status status = split_options(options, into, error);
    for (size_t i = 0; i < count && !status; i++)
        if (!assignments_set(options, axes[i].option)) status = add_axis(into, axes[i].option, axes[i].values, error);
    return status;
}

/* ---- what came out ---- */

static ee_status print_table(const run_request *request, const study_plan *plan, size_t place, const study *done,
                             ee_error *error)
{
    results_series *series = NULL;
    char(*labels)[64] = NULL;
    size_t count = 0;
    ee_status status = memory_create(NULL, &series, done->count, sizeof *series, error);
    if (!status) status = memory_create(NULL, &labels, done->count, sizeof *labels, error);
    for (size_t i = 0; i < done->count && !status; i++) {
        const study_series *from = &done->series[i];
        if (from->dataset != place) continue;
        snprintf(labels[count], sizeof labels[count], "%s%s%s", plan->grid.policies[from->policy].name,
                 from->ablation ? " " : "", from->ablation ? from->ablation : "");
        series[count] = (results_series){labels[count], from->results};
        count++;
    }
    const dataset *data = plan->grid.datasets[place];
    results_table of = {run_request_label(request, data),
                        data,
                        plan->grid.rounds[place],
                        series,
                        count,
                        plan->seeds,
                        plan->seed_count,
                        &plan->grid.late,
                        plan->grid.slots};
    if (!status) status = results_table_print(&of, error);
    memory_free(labels);
    memory_free(series);
    return status;
}

static void print_choices(const study_plan *plan, size_t place, const study *done)
{
    size_t width = strlen("policy");
    bool any = false;
    for (size_t i = 0; i < plan->grid.policy_count; i++) width = command_wider(width, plan->grid.policies[i].name);
    for (size_t i = 0; i < done->count; i++) {
        const study_series *from = &done->series[i];
        if (from->dataset != place || from->choice.cells < 2) continue;
        if (!any) {
            printf("\nsettings tuned on seed%s ", plan->grid.seed_count > 1 ? "s" : "");
            seeds_print(stdout, plan->grid.seeds, plan->grid.seed_count);
            printf("\n\n  %-*s  settings  best\n", (int)width, "policy");
        }
        any = true;
        printf("  %-*s  %8zu  %s\n", (int)width, plan->grid.policies[from->policy].name, from->choice.cells,
               from->choice.options ? from->choice.options : "none: every setting failed");
    }
}

static ee_status print_all(const run_request *request, const study_plan *plan, const study *done, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < plan->grid.dataset_count && !status; i++) {
        if (i) printf("\n");
        status = print_table(request, plan, i, done, error);
        if (!status) print_choices(plan, i, done);
    }
    return status;
}

/* ---- all of it ---- */

/* Whether each policy had a setting that could be played, and each run that counts was finished. */
static bool all_finished(const study_plan *plan, const study *done)
{
    for (size_t i = 0; i < done->count; i++)
        for (size_t k = 0; k < plan->seed_count; k++)
            if (!done->series[i].results[k].finished) return false;
    return true;
}

static int save_best(const command *self, trained_model *model, const study_plan *plan, const study *done)
{
    training_candidate *candidates;
    ee_error error;
    if (!model->path) return EXIT_DONE;
    if (memory_create(NULL, &candidates, done->count, sizeof *candidates, &error)) return command_refused(self, &error);
    for (size_t i = 0; i < done->count; i++)
        candidates[i] = (training_candidate){study_job(plan, &done->series[i], 0), done->series[i].results};
    int code = trained_model_save(self, model, candidates, done->count, plan->seed_count, stdout);
    memory_free(candidates);
    return code;
}

static void tell_interrupted(const session *here)
{
    fprintf(stderr, "eenet %s: interrupted%s\n", here->self->name,
            here->request->output ? "; the same command resumes it" : "");
}

typedef struct tuning_play {
    session here;
    trained_model *model;
} tuning_play;

static void leave(void *context)
{
    tuning_play *of = context;
    tell_interrupted(&of->here);
    trained_model_release(of->model);
}

/* A shard has no table: it stops where it needs the runs of others. */
static int end_shard(const session *here, const study_plan *plan, const study *done)
{
    if (done->stopped && interrupt_came()) {
        tell_interrupted(here);
        return EXIT_INTERRUPTED;
    }
    shard_end end = {.played = here->played, .tuning = done->count == 0, .complete = !done->stopped};
    shards_print_end(here->request, &end);
    for (size_t i = 0; i < done->count; i++)
        for (size_t k = 0; k < plan->seed_count; k++)
            if (done->series[i].results[k].status) return EXIT_FAILED;
    return EXIT_DONE;
}

static int play(const command *self, const run_request *request, const study_plan *plan, trained_model *model,
                bool *ended)
{
    int joined = shards_join(self, request);
    if (joined) return joined;
    tuning_play of = {session_start(self, request), model};
    of.here.leave = leave;
    of.here.leave_context = &of;
    run_watch watch = session_watch(&of.here);
    study done = {0};
    ee_error error;
    experiment_site site = shards_site(request);
    ee_status status = study_run(plan, &site, &watch, &done, &error);
    session_end(&of.here);
    *ended = !status && !done.stopped && !shard_is_part(request->shard);
    if (*ended) status = print_all(request, plan, &done, &error);
    if (*ended && !status) run_request_print_output(request);
    int code = all_finished(plan, &done) ? EXIT_DONE : EXIT_FAILED;
    if (status) {
        code = command_refused(self, &error);
    } else if (shard_is_part(request->shard)) {
        code = end_shard(&of.here, plan, &done);
    } else if (done.stopped) {
        tell_interrupted(&of.here);
        code = EXIT_INTERRUPTED;
    } else {
        int saved = save_best(self, model, plan, &done);
        if (saved) code = saved;
    }
    study_release(&done);
    return code;
}

/* A setting that is chosen by the number that is shown looks better than it is. */
static int check_seeds(const command *self, const seed_list *tuned, const seed_list *reported)
{
    for (size_t i = 0; i < tuned->count; i++)
        for (size_t k = 0; k < reported->count; k++)
            if (tuned->values[i] == reported->values[k])
                return command_misused(
                    self,
                    "seed %" PRIu64
                    " is in both --tune and --seeds; expected disjoint seeds, or results would be biased",
                    tuned->values[i]);
    return EXIT_DONE;
}

static ee_status make_plan(const tuning *from, tried *tries, grid_policy *policies, uint64_t *rounds, ee_error *error)
{
    const run_request *request = &from->request;
    ee_status status = EE_OK;
    for (size_t i = 0; i < request->policy_count && !status; i++) {
        status = make_tried(&request->policies[i], from->paper, &tries[i], error);
        policies[i] = (grid_policy){request->policies[i].name, tries[i].fixed, tries[i].axes, tries[i].axis_count};
    }
    for (size_t i = 0; i < request->dataset_texts.count; i++)
        rounds[i] = run_request_rounds(request, request->datasets[i]);
    return status;
}

/* With --plan, the plan is the output, without a prefix. */
static ee_status tell_plan(const command *self, const tuning *from, const study_plan *plan, ee_error *error)
{
    const run_request *request = &from->request;
    plan_page page = {request->plan ? stdout : stderr, request->plan ? NULL : self};
    if (!request->plan && (!from->announced || request->quiet)) return EE_OK;
    return plan_print(page, request, plan, error);
}

int tuning_run(const command *self, tuning *from)
{
    run_request *request = &from->request;
    seed_list tuned = {0};
    tried *tries = NULL;
    grid_policy *policies = NULL;
    uint64_t *rounds = NULL;
    trained_model model = {0};
    ee_error error;
    request->lists = true;
    int code = shards_read(self, request);
    if (!code) code = shards_refuse_halving(self, request, from->halving);
    if (!code) code = shards_refuse_save(self, request, from->save);
    if (!code) code = run_request_open(self, request);
    if (!code && seeds_parse(from->seeds ? from->seeds : usual_seeds, &tuned, &error))
        code = command_refused(self, &error);
    if (!code) code = check_seeds(self, &tuned, &request->seeds);
    if (!code && !request->plan) code = trained_model_open(self, request, from->save, &model);
    if (code) goto done;
    ee_status status = memory_create(NULL, &tries, request->policy_count, sizeof *tries, &error);
    if (!status) status = memory_create(NULL, &policies, request->policy_count, sizeof *policies, &error);
    if (!status) status = memory_create(NULL, &rounds, request->dataset_texts.count, sizeof *rounds, &error);
    if (!status) status = make_plan(from, tries, policies, rounds, &error);
    study_plan plan = {.grid = {request->datasets, rounds, request->dataset_texts.count, policies,
                                request->policy_count, tuned.values, tuned.count, from->halving, request->late,
                                request->slots},
                       .seeds = request->seeds.values,
                       .seed_count = request->seeds.count,
                       .ablations = from->ablations};
    if (!status) run_request_print_remarks(self, request);
    if (!status) status = tell_plan(self, from, &plan, &error);
    if (status)
        code = command_refused(self, &error);
    else if (!request->plan)
        code = play(self, request, &plan, &model, &from->ended);
done:
    for (size_t i = 0; tries && i < request->policy_count; i++) {
        memory_free(tries[i].fixed);
        memory_free(tries[i].lists);
        memory_free(tries[i].axes);
    }
    memory_free(tries);
    memory_free(policies);
    memory_free(rounds);
    memory_free(tuned.values);
    trained_model_release(&model);
    return code;
}
