/* Ctrl-C as a question that is asked between rounds. */
#ifndef EENET_INTERRUPT_H
#define EENET_INTERRUPT_H

#include <stdbool.h>

/* From now on the first Ctrl-C is remembered, and answered at once with a line where stderr is a terminal; a later one
 * ends the program. verb: who says so. */
void interrupt_catch(const char *verb);

/* The same of SIGTERM, which is what a rank gets when somebody stops mpirun or cancels the job. */
void interrupt_catch_termination(void);

bool interrupt_came(void);

#endif
