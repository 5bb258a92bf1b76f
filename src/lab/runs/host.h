/* The machine that this runs on, in a few words. */
#ifndef EENET_HOST_H
#define EENET_HOST_H

/* "x86_64 Linux, 16 processors, AMD EPYC 7B13", without a host name; unknown parts are left out. Computed once. */
const char *host_describe(void);

#endif
