/* Evaluates a log like `eenet evaluate`. */
#include "base/memory.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/evaluations/evaluation_warm.h"
#include "interruptible.h"
#include "lab_functions.h"
#include "request_settings.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* One call. It uses no Python object while the evaluation runs. */
typedef struct log_evaluation {
    evaluation_request request;
    candidate_request *candidates;
    evaluation_result *results;
    const char *warm_path; /* NULL: train and save nothing */
    uint64_t warm_place;   /* the candidate; candidate_count: the best */
    bool warmed;
    atomic_bool stop;
    ee_status status;
    ee_error error;
} log_evaluation;

/* ---- what is asked ---- */

static int read_mode(PyObject *settings, evaluation_request *request)
{
    static const char *const modes[] = {"progressive", "split", "cross"}, *const models[] = {"f1", "ridge"};
    static const char *const slots[] = {"cascade", "whole", "own", "first"};
    size_t mode, model, weighting;
    uint64_t folds = request->folds;
    if (settings_choice(settings, "mode", modes, 3, &mode) || settings_choice(settings, "model", models, 2, &model) ||
        settings_choice(settings, "slots", slots, 4, &weighting) ||
        settings_number(settings, "split", &request->split) || settings_count(settings, "folds", &folds) ||
        settings_time(settings, "judge_from", &request->judged_from))
        return -1;
    request->mode = (evaluation_mode)mode;
    request->model = (reward_model_kind)model;
    request->first_slot = weighting == 3;
    if (weighting < 3) request->slots = (slot_weighting)weighting;
    request->folds = (size_t)folds;
    return 0;
}

static int read_settings(PyObject *settings, log_evaluation *self)
{
    evaluation_request *request = &self->request;
    uint64_t threads = request->threads;
    const char *metrics;
    ee_error error;
    if (settings_text(settings, "metrics", &metrics)) return -1;
    ee_status status = evaluation_metrics_parse(metrics, request, &error);
    if (status) {
        raise_status(status, &error);
        return -1;
    }
    if (settings_estimates(settings, request) || settings_reading(settings, &request->reading) ||
        read_mode(settings, request) || settings_count(settings, "threads", &threads) ||
        settings_text(settings, "features", &request->features) ||
        settings_text(settings, "folder", &request->folder) || settings_text(settings, "warm", &self->warm_path) ||
        settings_count(settings, "warm_place", &self->warm_place))
        return -1;
    request->threads = threads ? (size_t)threads : 1;
    return 0;
}

static int read_candidate(PyObject *from, candidate_request *into)
{
    unsigned long long seed;
    PyObject *options;
    char *text;
    if (!PyTuple_Check(from) || !PyArg_ParseTuple(from, "yOK", &into->text, &options, &seed)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a tuple for each candidate");
        return -1;
    }
    if (options != Py_None && PyBytes_AsStringAndSize(options, &text, NULL)) return -1;
    into->options = options != Py_None ? text : NULL;
    into->seed = seed;
    return 0;
}

static int read_candidates(PyObject *list, log_evaluation *self)
{
    size_t count = (size_t)PyTuple_Size(list);
    if (!count) return raise_bad_input("candidates: expected at least one, got none");
    if (memory_create(NULL, &self->candidates, count, sizeof *self->candidates, &self->error) ||
        memory_create(NULL, &self->results, count, sizeof *self->results, &self->error)) {
        raise_status(EE_NO_MEMORY, &self->error);
        return -1;
    }
    self->request.candidates = self->candidates;
    self->request.candidate_count = count;
    self->warm_place = count;
    for (size_t i = 0; i < count; i++)
        if (read_candidate(PyTuple_GetItem(list, (Py_ssize_t)i), &self->candidates[i])) return -1;
    return 0;
}

/* ---- playing ---- */

static bool on_wanted(void *context)
{
    return !atomic_load_explicit((atomic_bool *)context, memory_order_relaxed);
}

static ee_status warm(log_evaluation *self, const evaluation_watch *watch)
{
    size_t place = (size_t)self->warm_place;
    if (place >= self->request.candidate_count) place = evaluation_best(&self->request, self->results, true);
    if (place == self->request.candidate_count)
        return status_fail(&self->error, EE_BAD_INPUT,
                           "warm: no policy has a reliable value; choose one, such as warm={\"%.80s\": FILE}",
                           self->candidates[0].text);
    ee_status status = evaluation_warm(&self->request, place, watch, self->warm_path, &self->warmed, &self->error);
    self->warm_place = place;
    return status;
}

static void play(void *context)
{
    log_evaluation *self = context;
    evaluation_watch watch = {.wanted = on_wanted, .context = &self->stop};
    const char *path = self->warm_path;
    self->status = path ? evaluation_check_warm(&self->request, path, &self->error) : EE_OK;
    if (!self->status) self->status = evaluation_run(&self->request, &watch, self->results, &self->error);
    if (!self->status && path && !atomic_load(&self->stop)) self->status = warm(self, &watch);
}

/* ---- what is given ---- */

static PyObject *line_of(const log_evaluation *self, const evaluation_result *result, const pareto_place *front)
{
    char *line = NULL;
    size_t length;
    ee_error error;
    if (!result->finished) Py_RETURN_NONE;
    ee_status status = evaluations_format(&self->request, result, front, &line, &length, &error);
    PyObject *bytes = status ? raise_status(status, &error) : PyBytes_FromStringAndSize(line, (Py_ssize_t)length);
    memory_free(line);
    return bytes;
}

/* The error of the first candidate if all failed, otherwise NULL. */
static const ee_error *failure_of_all(const log_evaluation *self)
{
    for (size_t i = 0; i < self->request.candidate_count; i++)
        if (self->results[i].finished) return NULL;
    return self->results[0].failure.status ? &self->results[0].failure : NULL;
}

/* (lines, failures, the place of the trained candidate or None) */
static PyObject *make_result(const log_evaluation *self)
{
    const ee_error *all_failed = failure_of_all(self);
    if (all_failed) return raise_status(all_failed->status, all_failed);
    pareto_place *fronts = NULL;
    ee_error error;
    ee_status status = pareto_create(&self->request, self->results, &fronts, &error);
    if (status) return raise_status(status, &error);
    PyObject *lines = PyList_New(0), *failures = PyList_New(0);
    for (size_t i = 0; i < self->request.candidate_count && lines && failures; i++) {
        const ee_error *failure = &self->results[i].failure;
        list_append(&lines, line_of(self, &self->results[i], fronts ? &fronts[i] : NULL));
        list_append(&failures, text_from_bytes(failure->status ? failure->message : NULL));
    }
    memory_free(fronts);
    PyObject *trained = self->warmed ? PyLong_FromUnsignedLongLong(self->warm_place) : text_from_bytes(NULL);
    return Py_BuildValue("NNN", lines, failures, trained);
}

PyObject *log_evaluate(PyObject *module, PyObject *args)
{
    (void)module;
    log_evaluation self = {.request = evaluation_usual()};
    PyObject *candidates, *settings, *names, *result = NULL;
    if (!PyArg_ParseTuple(args, "yO!O!:log_evaluate", &self.request.log, &PyTuple_Type, &candidates, &PyDict_Type,
                          &settings))
        return NULL;
    names = PyDict_GetItemString(settings, "estimators");
    bool usual = names == Py_None;
    if (!read_candidates(candidates, &self) && !read_settings(settings, &self)) {
        if (usual) self.status = evaluation_usual_estimators(&self.request, &self.error);
        int raised = self.status ? 0 : interruptible_run(play, &self, &self.stop);
        if (!raised) result = self.status ? raise_status(self.status, &self.error) : make_result(&self);
    }
    if (self.results) evaluation_release(self.results, self.request.candidate_count);
    memory_free(self.results);
    memory_free(self.candidates);
    return result;
}
