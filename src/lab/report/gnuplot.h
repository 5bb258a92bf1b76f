/* The program that draws. */
#ifndef EENET_GNUPLOT_H
#define EENET_GNUPLOT_H

#include "base/status.h"

/* Runs a script in the folder figures and waits for its end. What gnuplot says goes to the log, which is removed where
 * all is well. script and log are names in the folder; log_path is the whole path. EE_FILE_ERROR, with the package to
 * install, where gnuplot is missing, and with its complaint where it fails. */
ee_status gnuplot_run(const char *figures, const char *script, const char *log, const char *log_path, ee_error *error);

/* Whether there is a gnuplot: the same error where there is none. */
ee_status gnuplot_find(ee_error *error);

#endif
