/* Ctrl-C as a question that is asked between rounds. */
#ifndef EENET_INTERRUPT_H
#define EENET_INTERRUPT_H

#include <stdbool.h>

/* From now on the first Ctrl-C sets a flag and, on a terminal, prints a line that names the command (verb); a later one
 * ends the program. */
void interrupt_catch(const char *verb);

/* The same for SIGTERM, which a rank gets when mpirun is stopped or the job is cancelled. */
void interrupt_catch_termination(void);

bool interrupt_came(void);

#endif
