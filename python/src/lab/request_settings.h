/* The settings of an evaluation from eenet/evaluate.py: a complete dict of numbers and bytes, with None for
 * defaults. */
#ifndef EENET_REQUEST_SETTINGS_H
#define EENET_REQUEST_SETTINGS_H

#include <Python.h>

#include "evaluate/evaluations/evaluation.h"

/* All return 0, or -1 with an exception set. */
int settings_number(PyObject *settings, const char *name, double *out);  /* unchanged for None */
int settings_count(PyObject *settings, const char *name, uint64_t *out); /* unchanged for None */
/* *out: borrowed from the dict; NULL for None. */
int settings_text(PyObject *settings, const char *name, const char **out);
/* *out: the index of the value in choices (count). */
int settings_choice(PyObject *settings, const char *name, const char *const *choices, size_t count, size_t *out);
/* Seconds since 1970, from a number or a time as in logs. */
int settings_time(PyObject *settings, const char *name, double *out);

/* The settings that arrays and logs share: estimators (a tuple of bytes; unchanged for None), interval, alpha,
 * tuning, reward_low, reward_high, least_probability, seed. */
int settings_estimates(PyObject *settings, evaluation_request *request);

/* The settings for reading a log: start, until, reward, default_reward, strict. */
int settings_reading(PyObject *settings, log_options *reading);

#endif
