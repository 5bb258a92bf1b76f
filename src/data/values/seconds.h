/* Clocks, in seconds. */
#ifndef EENET_SECONDS_H
#define EENET_SECONDS_H

double seconds_now(void);    /* since an arbitrary moment; never goes back */
double seconds_worked(void); /* processor time of this thread */

#endif
