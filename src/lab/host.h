/* The machine that this runs on, in a few words. */
#ifndef EENET_HOST_H
#define EENET_HOST_H

/* "x86_64 Linux, 16 processors, AMD EPYC 7B13": no name of its own. What is not known is left out. The words are looked
 * up once, and stay. */
const char *host_describe(void);

#endif
