/* The settings of an evaluation as eenet/evaluate.py gives them: a dict of numbers and bytes, in which nothing is
 * missing, None where something is left open. */
#ifndef EENET_REQUEST_SETTINGS_H
#define EENET_REQUEST_SETTINGS_H

#include <Python.h>

#include "evaluate/evaluations/evaluation.h"

/* 0, or -1 with an exception. */
int settings_number(PyObject *settings, const char *name, double *out);  /* stays as it is for None */
int settings_count(PyObject *settings, const char *name, uint64_t *out); /* the same */
/* *out NULL for None; borrowed from the dict. */
int settings_text(PyObject *settings, const char *name, const char **out);
/* The number of the word among choices (count). */
int settings_choice(PyObject *settings, const char *name, const char *const *choices, size_t count, size_t *out);
/* Seconds since 1970: a number, or a text as logs have it. */
int settings_time(PyObject *settings, const char *name, double *out);

/* What arrays and logs have in common: estimators (a tuple of bytes; they stay for None), interval, alpha, tuning,
 * reward_low, reward_high, least_probability, seed. */
int settings_estimates(PyObject *settings, evaluation_request *request);

/* How a log is read: start, until, reward, default_reward, strict. */
int settings_reading(PyObject *settings, log_options *reading);

#endif
