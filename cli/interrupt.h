/* Ctrl-C as a question that is asked between rounds. */
#ifndef EENET_INTERRUPT_H
#define EENET_INTERRUPT_H

#include <stdbool.h>

/* From now on the first Ctrl-C is only remembered; a later one ends the program at once. */
void interrupt_catch(void);

bool interrupt_came(void);

#endif
