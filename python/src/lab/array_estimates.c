/* Evaluates rounds in Python's arrays. */
#include <string.h>

#include "array_rounds.h"
#include "base/memory.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "lab_functions.h"
#include "request_settings.h"
#include "shared/array_view.h"
#include "shared/raising.h"

enum { REWARDS, LOGGED, CANDIDATE, ACTIONS, PREDICTIONS, COPIES, ARRAYS };
static const char *const names[ARRAYS] = {"rewards", "logged", "candidate", "actions", "predictions", "copies"};

static int count_dimensions(PyObject *object)
{
    array_view view;
    if (array_view_take(object, &view)) return -1;
    int found = view.dimensions;
    array_view_release(&view);
    return found;
}

/* A contiguous array of int64. */
static int take_actions(PyObject *object, array_view *view)
{
    if (array_view_take(object, view)) return -1;
    bool right = view->kind == 'i' && view->size == 8 && view->dimensions == 1 &&
                 (view->shape[0] < 2 || view->strides[0] == (Py_ssize_t)sizeof(int64_t));
    if (right) return 0;
    array_view_release(view);
    PyErr_SetString(PyExc_TypeError, "actions: expected a contiguous array of int64");
    return -1;
}

/* (n), or (n, k) if the array may have one column per action. For None the view stays empty, without an owner. */
static int take_array(PyObject *object, size_t place, array_view *view)
{
    bool several = place == LOGGED || place == CANDIDATE || place == PREDICTIONS;
    if (object == Py_None) return 0;
    if (place == ACTIONS) return take_actions(object, view);
    int dimensions = several ? count_dimensions(object) : 1;
    if (dimensions < 0) return -1;
    if (several && (place == PREDICTIONS || dimensions != 1)) dimensions = 2;
    return array_view_doubles(object, dimensions, names[place], view);
}

/* All arrays must have one row per reward and the same number of columns. */
static int check_shapes(const array_view *views, array_rounds *rounds)
{
    Py_ssize_t count = views[REWARDS].shape[0], columns = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        const array_view *view = &views[i];
        if (!view->owner) continue;
        if (view->shape[0] != count)
            return raise_bad_input("%s: got %zd rows for %zd rewards; expected one row per reward", names[i],
                                   view->shape[0], count);
        if (view->dimensions < 2) continue;
        if (!view->shape[1] || (columns && view->shape[1] != columns))
            return raise_bad_input("%s: got %zd columns, expected %zd as in the other arrays", names[i], view->shape[1],
                                   columns);
        columns = view->shape[1];
    }
    rounds->count = (size_t)count;
    rounds->actions = (size_t)columns;
    if (!columns || views[ACTIONS].owner) return 0;
    return raise_bad_input("actions: missing; with (n, k) arrays, give the action taken in each round");
}

static int make_rounds(const array_view *views, array_rounds *rounds)
{
    if (!views[REWARDS].owner || !views[LOGGED].owner)
        return PyErr_SetString(PyExc_TypeError, "rewards and logged are required"), -1;
    if (check_shapes(views, rounds)) return -1;
    rounds->rewards = views[REWARDS].data;
    rounds->taken = rounds->actions ? views[ACTIONS].data : NULL;
    rounds->logged = views[LOGGED].data;
    rounds->logged_all = views[LOGGED].dimensions == 2;
    rounds->candidate = views[CANDIDATE].data;
    rounds->candidate_all = views[CANDIDATE].dimensions == 2;
    rounds->predictions = views[PREDICTIONS].data;
    rounds->copies = views[COPIES].data;
    return 0;
}

/* Estimators with a reward model need its predictions and the candidate's probabilities for all actions. */
static int check_models(const array_rounds *rounds, const evaluation_request *request)
{
    for (size_t i = 0; i < request->estimator_count; i++) {
        estimator_request one = request->estimators[i];
        if (!estimator_describe(one.kind)->models) continue;
        bool known = !rounds->candidate || rounds->candidate_all;
        if (!rounds->predictions || !known)
            return raise_bad_input("estimator '%s' needs %s", estimator_request_name(one),
                                   known ? "predictions: a reward model's estimate for every action, (n, k)"
                                         : "the candidate's probabilities of all actions, (n, k)");
    }
    return 0;
}

static PyObject *evaluate(const array_rounds *rounds, const evaluation_request *request, const char *name)
{
    evaluation_result result = {0};
    ee_error error;
    char *line = NULL;
    size_t length = 0;
    PyObject *bytes = NULL;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = array_rounds_evaluate(rounds, request, name, &result, &error);
    if (!status) status = evaluations_format(request, &result, NULL, &line, &length, &error);
    Py_END_ALLOW_THREADS;
    if (status)
        raise_status(status, &error);
    else
        bytes = PyBytes_FromStringAndSize(line, (Py_ssize_t)length);
    memory_free(line);
    evaluation_release(&result, 1);
    return bytes;
}

PyObject *array_estimate(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *given, *settings, *result = NULL;
    const char *name;
    array_view views[ARRAYS] = {{0}};
    array_rounds rounds = {0};
    evaluation_request request = evaluation_usual();
    request.log = "";
    if (!PyArg_ParseTuple(args, "O!O:array_estimate", &PyTuple_Type, &given, &settings)) return NULL;
    if (PyTuple_Size(given) != ARRAYS) return PyErr_Format(PyExc_TypeError, "arrays: expected %d", ARRAYS);
    if (settings_estimates(settings, &request) || settings_text(settings, "name", &name)) return NULL;
    int failed = 0;
    for (size_t i = 0; i < ARRAYS && !failed; i++)
        failed = take_array(PyTuple_GetItem(given, (Py_ssize_t)i), i, &views[i]);
    if (!failed) failed = make_rounds(views, &rounds);
    if (!failed) failed = check_models(&rounds, &request);
    if (!failed) result = evaluate(&rounds, &request, name ? name : "");
    for (size_t i = 0; i < ARRAYS; i++) array_view_release(&views[i]);
    return result;
}
