#include "lab_functions.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "dataset_object.h"
#include "lab/grids/experiment.h"
#include "lab/report/repeats.h"
#include "shared/call_arguments.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* ---- jobs ---- */

typedef struct job_list {
    run_job *jobs; /* (count) */
    size_t count;
    PyObject *kept; /* a list of the tuples whose strings and data sets the jobs borrow */
} job_list;

static bool read_job(PyObject *from, PyObject *kept, run_job *job)
{
    PyObject *data, *seed, *rounds;
    if (!PyTuple_Check(from))
        return PyErr_Format(PyExc_TypeError, "expected a job (dataset, policy, options, seed, rounds), got %R", from),
               false;
    if (PyList_Append(kept, from) ||
        !PyArg_ParseTuple(from, "OssOO:job", &data, &job->policy, &job->options, &seed, &rounds))
        return false;
    job->data = dataset_object_data(data);
    return job->data && !read_whole(seed, "seed", UINT64_MAX, &job->seed) &&
           !read_whole(rounds, "rounds", UINT64_MAX, &job->rounds);
}

/* The settings that all jobs share. As in run_job, slots is 0 for one slot. */
static bool read_terms(const char *late, PyObject *slots, run_job *terms)
{
    uint64_t count;
    ee_error error, named;
    if (read_whole(slots, "slots", UINT64_MAX, &count)) return false;
    if (count == 0 || count > RUN_SLOTS)
        return raise_bad_input("slots: expected 1 to %d, got %R", RUN_SLOTS, slots), false;
    terms->slots = count > 1 ? (size_t)count : 0;
    ee_status status = delay_parse(late, &terms->late, &error);
    if (!status) return true;
    snprintf(named.message, sizeof named.message, "delay: %.240s", error.message);
    raise_status(status, &named);
    return false;
}

static bool read_jobs(PyObject *from, const run_job *terms, job_list *out)
{
    ee_error error;
    *out = (job_list){.count = (size_t)PyList_Size(from), .kept = PyList_New(0)};
    if (!out->kept) return false;
    if (memory_create(NULL, &out->jobs, out->count, sizeof *out->jobs, &error)) {
        raise_status(error.status, &error);
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->jobs[i] = *terms;
        if (!read_job(PyList_GetItem(from, (Py_ssize_t)i), out->kept, &out->jobs[i])) return false;
    }
    return true;
}

static void release_jobs(job_list *list)
{
    memory_free(list->jobs);
    Py_XDECREF(list->kept);
}

PyObject *play_jobs_check(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *from, *slots, *kept = NULL, *texts = NULL;
    const char *late;
    run_job job = {0};
    char *options, delay_text[DELAY_TEXT];
    ee_error error;
    ee_status status;
    if (!PyArg_ParseTuple(arguments, "O!sO:check", &PyTuple_Type, &from, &late, &slots)) return NULL;
    if (!read_terms(late, slots, &job) || !(kept = PyList_New(0))) return NULL;
    if (read_job(from, kept, &job)) {
        Py_BEGIN_ALLOW_THREADS;
        status = runner_check(&job, &options, &error);
        Py_END_ALLOW_THREADS;
        delay_format(&job.late, delay_text);
        texts = status ? raise_status(status, &error) : Py_BuildValue("(ss)", options, delay_text);
        memory_free(options);
    }
    Py_DECREF(kept);
    return texts;
}

/* ---- progress ---- */

typedef struct run_observer {
    const job_list *list;
    PyObject *listener;                 /* or None */
    PyThreadState *thread;              /* of the caller, while the GIL is released */
    atomic_bool stop;                   /* all runs must stop */
    PyObject *type, *value, *traceback; /* the exception to raise afterwards */
    ee_error *failures;                 /* (list->count) zeroed for jobs that have not failed */
} run_observer;

static bool on_wanted(void *context)
{
    return !atomic_load_explicit(&((run_observer *)context)->stop, memory_order_relaxed);
}

static bool on_ended(void *context, const run_report *report)
{
    run_observer *self = context;
    if (report->result->status) self->failures[report->job - self->list->jobs] = *report->error;
    return on_wanted(context);
}

/* "yelp eenet seed 3: 512/10000" */
static PyObject *describe_shown(const run_standing *now)
{
    char text[300] = "";
    const run_playing *first = now->running ? &now->runs[0] : NULL;
    if (first)
        snprintf(text, sizeof text, "%.150s %s seed %" PRIu64 ": %" PRIu64 "/%" PRIu64, dataset_name(first->job->data),
                 first->job->policy, first->job->seed, first->played, first->job->rounds);
    return text_from_bytes(text);
}

static bool call_listener(PyObject *listener, const run_standing *now)
{
    if (listener == Py_None) return true;
    PyObject *result = PyObject_CallFunction(listener, "(nnnKKKdNdd)", (Py_ssize_t)now->jobs, (Py_ssize_t)now->ended,
                                             (Py_ssize_t)now->running, (unsigned long long)now->rounds,
                                             (unsigned long long)now->played, (unsigned long long)now->read,
                                             now->seconds, describe_shown(now), now->share, now->left);
    Py_XDECREF(result);
    return result != NULL;
}

/* Called in the caller's thread, which receives the signals. */
static void on_standing(void *context, const run_standing *now)
{
    run_observer *self = context;
    if (atomic_load(&self->stop)) return;
    PyEval_RestoreThread(self->thread);
    if (PyErr_CheckSignals() || !call_listener(self->listener, now)) {
        PyErr_Fetch(&self->type, &self->value, &self->traceback);
        atomic_store(&self->stop, true);
    }
    self->thread = PyEval_SaveThread();
}

/* Warns the caller of lab.run. Called in its thread, before the first run. */
static void on_noted(void *context, const char *sentence)
{
    run_observer *self = context;
    if (atomic_load(&self->stop)) return;
    PyEval_RestoreThread(self->thread);
    PyObject *text = text_from_bytes(sentence);
    if (!text || PyErr_WarnFormat(PyExc_UserWarning, 3, "%U", text)) {
        PyErr_Fetch(&self->type, &self->value, &self->traceback);
        atomic_store(&self->stop, true);
    }
    Py_XDECREF(text);
    self->thread = PyEval_SaveThread();
}

static PyObject *list_failures(const run_observer *self)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < self->list->count; i++) {
        const ee_error *failure = &self->failures[i];
        if (failure->status)
            list_append(&list, Py_BuildValue("(nN)", (Py_ssize_t)i, text_from_bytes(failure->message)));
    }
    return list;
}

/* ---- playing ---- */

static PyObject *play(const char *folder, const job_list *list, size_t threads, PyObject *listener)
{
    run_observer self = {.list = list, .listener = listener};
    run_watch watch = {
        .wanted = on_wanted, .standing = on_standing, .ended = on_ended, .context = &self, .noted = on_noted};
    run_result *results = NULL;
    ee_error error;
    ee_status status = memory_create(NULL, &self.failures, list->count, sizeof *self.failures, &error);
    if (!status) status = memory_create(NULL, &results, list->count, sizeof *results, &error);
    if (!status) {
        self.thread = PyEval_SaveThread();
        experiment_site site = {.folder = folder, .pool = run_pool_of_threads(threads)};
        status = experiment_run(&site, list->jobs, list->count, &watch, results, &error);
        PyEval_RestoreThread(self.thread);
    }
    PyObject *failures = NULL;
    if (self.type)
        PyErr_Restore(self.type, self.value, self.traceback);
    else if (status)
        raise_status(status, &error);
    else
        failures = list_failures(&self);
    memory_free(results);
    memory_free(self.failures);
    return failures;
}

PyObject *play_jobs_play(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *folder, *from, *slots, *thread_count, *listener, *failures = NULL;
    const char *late;
    run_job terms = {0};
    uint64_t threads;
    job_list list = {0};
    if (!PyArg_ParseTuple(arguments, "O&O!sOOO:play", PyUnicode_FSConverter, &folder, &PyList_Type, &from, &late,
                          &slots, &thread_count, &listener))
        return NULL;
    if (read_terms(late, slots, &terms) && !read_whole(thread_count, "threads", 1024, &threads) &&
        read_jobs(from, &terms, &list))
        failures = play(PyBytes_AsString(folder), &list, (size_t)threads, listener);
    release_jobs(&list);
    Py_DECREF(folder);
    return failures;
}

/* ---- rounds ---- */

PyObject *play_jobs_usual_rounds(PyObject *module, PyObject *object)
{
    (void)module;
    const dataset *data = dataset_object_data(object);
    if (!data) return NULL;
    uint64_t rounds = 10000, limit = dataset_rounds(data), rows = dataset_rows(data);
    if (limit && limit < rounds) rounds = limit;
    return PyLong_FromUnsignedLongLong(rows && rows < rounds ? rows : rounds);
}

PyObject *play_jobs_repeats(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *object, *number;
    char line[160];
    uint64_t rounds;
    if (!PyArg_ParseTuple(arguments, "OO:repeats", &object, &number)) return NULL;
    const dataset *data = dataset_object_data(object);
    if (!data || read_whole(number, "rounds", UINT64_MAX, &rounds)) return NULL;
    repeats_format(dataset_rows(data), rounds, line, sizeof line);
    return PyUnicode_FromString(line);
}
