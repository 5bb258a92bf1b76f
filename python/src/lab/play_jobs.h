/* Runs as `eenet run` plays them, for lab.run. */
#ifndef EENET_PLAY_JOBS_H
#define EENET_PLAY_JOBS_H

#include <Python.h>

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

#endif
