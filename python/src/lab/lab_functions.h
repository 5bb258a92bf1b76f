/* The functions of the extension: what eenet.lab and eenet.evaluate call. */
#ifndef EENET_LAB_FUNCTIONS_H
#define EENET_LAB_FUNCTIONS_H

#include <Python.h>

/* ---- play_jobs.c: runs as `eenet run` plays them ---- */

/* check(job, delay, slots) -> (str, str): whether the job could start; then every option of its bandit with its value,
 * and the delay in the one way in which it is written. A job is (dataset, policy, options, seed, rounds). */
PyObject *play_jobs_check(PyObject *module, PyObject *arguments);

/* play(folder, jobs, delay, slots, threads, listener) -> list: plays what the folder has not. listener is called ten
 * times a second with (runs, ended, running, rounds, played, read, seconds, shown), shown being "" or the run of the
 * first thread in words. Of each job that failed there is (place, sentence). Ctrl-C, and whatever listener
 * raises, ends all runs at their next round and is raised when those that finished are kept. */
PyObject *play_jobs_play(PyObject *module, PyObject *arguments);

/* usual_rounds(dataset) -> int, and repeats(dataset, rounds) -> str: as the program has them. */
PyObject *play_jobs_usual_rounds(PyObject *module, PyObject *object);
PyObject *play_jobs_repeats(PyObject *module, PyObject *arguments);

/* ---- runs_object.c: Runs, what a folder of results holds ---- */

/* Adds the type to the module; 0, or -1 with an exception set. */
int runs_object_register(PyObject *module);

/* report(folder, reference, path): the report of the whole folder, as `eenet report` writes it; reference may be None.
 */
PyObject *runs_object_report(PyObject *module, PyObject *arguments);

/* ---- evaluations ---- */

/* array_estimates.c: (arrays, settings) -> bytes, a line of JSON as evaluation_file.h has it. arrays: rewards, logged,
 * candidate (an array, or None for one by name), actions, predictions, copies; the last three may be None. */
PyObject *array_estimate(PyObject *self, PyObject *args);

/* log_evaluation.c: (log, candidates, settings) -> (lines, failures, trained): a line of JSON for each candidate that
 * was played, None for others; why each of these could not be, else None; and which was trained and saved, or None.
 * candidates: a tuple of (text, options or None, seed). Where none can be played, the first one's failure is raised. */
PyObject *log_evaluate(PyObject *self, PyObject *args);

/* log_events.c: (log, settings) -> dict of columns. */
PyObject *log_events(PyObject *self, PyObject *args);

/* log_events.c: (log) -> list of (name, role or None, whether it is context, why not or None) for each column of a CSV
 * log; empty for other formats. */
PyObject *log_describe(PyObject *self, PyObject *args);

#endif
