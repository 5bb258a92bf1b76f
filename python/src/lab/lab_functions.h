/* The functions of the extension: what eenet.lab and eenet.evaluate call. */
#ifndef EENET_LAB_FUNCTIONS_H
#define EENET_LAB_FUNCTIONS_H

#include <Python.h>

/* ---- play_jobs.c: runs as `eenet run` plays them ---- */

/* check(job, delay, slots) -> (str, str): every option of the job's bandit with its value, and the delay in its
 * normal form. Raises if the job could not start. A job is (dataset, policy, options, seed, rounds). */
PyObject *play_jobs_check(PyObject *module, PyObject *arguments);

/* play(folder, jobs, delay, slots, threads, listener) -> list: runs the jobs that the folder lacks, and returns
 * (place, message) for each that failed. listener, or None, is called ten times a second with the fields of
 * lab.Progress. Ctrl-C, or an exception of listener, stops all runs at their next round and is raised after the
 * finished runs are stored. */
PyObject *play_jobs_play(PyObject *module, PyObject *arguments);

/* usual_rounds(dataset) -> int, and repeats(dataset, rounds) -> str, as in the program. */
PyObject *play_jobs_usual_rounds(PyObject *module, PyObject *object);
PyObject *play_jobs_repeats(PyObject *module, PyObject *arguments);

/* ---- runs_object.c: Runs, what a folder of results holds ---- */

/* Adds the type to the module; 0, or -1 with an exception set. */
int runs_object_register(PyObject *module);

/* report(folder, reference, path): writes the report of `eenet report`. reference may be None. */
PyObject *runs_object_report(PyObject *module, PyObject *arguments);

/* ---- evaluations ---- */

/* array_estimates.c: (arrays, settings) -> bytes, a line of JSON as in evaluation_file.h. arrays: rewards, logged,
 * candidate (None: by name), actions, predictions, copies; the last three may be None. */
PyObject *array_estimate(PyObject *self, PyObject *args);

/* log_evaluation.c: (log, candidates, settings) -> (lines, failures, trained): for each candidate a line of JSON or
 * None, and an error message or None; and the place of the candidate that was trained and saved, or None.
 * candidates: a tuple of (text, options or None, seed). If all fail, the first error is raised. */
PyObject *log_evaluate(PyObject *self, PyObject *args);

/* log_events.c: (log, settings) -> dict of columns. */
PyObject *log_events(PyObject *self, PyObject *args);

/* log_events.c: (log) -> list of (name, role or None, whether it is context, why not or None) for each column of a
 * CSV log; empty for other formats. */
PyObject *log_describe(PyObject *self, PyObject *args);

#endif
