#include "request_settings.h"

#include <string.h>

#include "data/values/log_time.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* A borrowed reference; NULL with an exception set if it is missing. settings may be any object. */
static PyObject *find(PyObject *settings, const char *name)
{
    if (!PyDict_Check(settings)) return PyErr_Format(PyExc_TypeError, "settings: expected a dict");
    PyObject *value = PyDict_GetItemString(settings, name);
    if (!value) PyErr_Format(PyExc_KeyError, "missing setting '%s'", name);
    return value;
}

int settings_number(PyObject *settings, const char *name, double *out)
{
    PyObject *value = find(settings, name);
    if (!value) return -1;
    return value == Py_None ? 0 : read_number(value, name, out);
}

int settings_count(PyObject *settings, const char *name, uint64_t *out)
{
    PyObject *value = find(settings, name);
    if (!value) return -1;
    return value == Py_None ? 0 : read_whole(value, name, UINT64_MAX, out);
}

int settings_text(PyObject *settings, const char *name, const char **out)
{
    PyObject *value = find(settings, name);
    *out = NULL;
    if (!value) return -1;
    if (value == Py_None) return 0;
    char *bytes;
    if (PyBytes_AsStringAndSize(value, &bytes, NULL)) return -1;
    *out = bytes;
    return 0;
}

int settings_choice(PyObject *settings, const char *name, const char *const *choices, size_t count, size_t *out)
{
    const char *text;
    if (settings_text(settings, name, &text)) return -1;
    for (*out = 0; text && *out < count; ++*out)
        if (strcmp(text, choices[*out]) == 0) return 0;
    return raise_bad_input("%s: unknown value '%s'", name, text ? text : "None");
}

int settings_time(PyObject *settings, const char *name, double *out)
{
    PyObject *value = find(settings, name);
    const char *text;
    if (!value) return -1;
    if (!PyBytes_Check(value)) return settings_number(settings, name, out);
    if (settings_text(settings, name, &text)) return -1;
    if (log_time_parse((json_text){text, strlen(text)}, out)) return 0;
    return raise_bad_input("%s: expected a time such as 2021-05-18 or 2021-05-18T13:28:29Z, got '%.80s'", name, text);
}

static int read_estimators(PyObject *settings, evaluation_request *request)
{
    PyObject *names = find(settings, "estimators");
    if (!names) return -1;
    if (names == Py_None) return 0;
    Py_ssize_t count = PyTuple_Check(names) ? PyTuple_Size(names) : 0;
    if (count < 1 || count > EVALUATION_ESTIMATORS)
        return raise_bad_input("estimators: expected 1 to %d, got %zd", EVALUATION_ESTIMATORS, count);
    request->estimator_count = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        char *name;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(names, i), &name, NULL)) return -1;
        if (!estimator_request_parse(name, &request->estimators[i]))
            return raise_bad_input("unknown estimator '%.80s'", name);
    }
    return 0;
}

int settings_estimates(PyObject *settings, evaluation_request *request)
{
    static const char *const tunings[] = {"mse", "slope"};
    const char *intervals[INTERVAL_KINDS];
    size_t kind, tuning;
    for (int i = 0; i < INTERVAL_KINDS; i++) intervals[i] = interval_name((interval_kind)i);
    if (read_estimators(settings, request) || settings_choice(settings, "interval", intervals, INTERVAL_KINDS, &kind) ||
        settings_choice(settings, "tuning", tunings, 2, &tuning) ||
        settings_number(settings, "alpha", &request->alpha) ||
        settings_number(settings, "reward_low", &request->reward_low) ||
        settings_number(settings, "reward_high", &request->reward_high) ||
        settings_number(settings, "least_probability", &request->least_probability) ||
        settings_count(settings, "seed", &request->seed))
        return -1;
    request->interval = (interval_kind)kind;
    request->tuning = tuning ? TUNING_SLOPE : TUNING_MSE;
    return 0;
}

int settings_reading(PyObject *settings, log_options *reading)
{
    static const char *const ways[] = {"label", "first", "last", "sum", "mean", "max"};
    size_t way;
    uint64_t strict = 0;
    if (settings_choice(settings, "reward", ways, sizeof ways / sizeof *ways, &way) ||
        settings_time(settings, "start", &reading->from) || settings_time(settings, "until", &reading->until) ||
        settings_number(settings, "default_reward", &reading->default_reward) ||
        settings_count(settings, "strict", &strict))
        return -1;
    reading->aggregation = (log_aggregation)way;
    reading->strict = strict != 0;
    return 0;
}
