/* The machine that this runs on, in a few words. */
#ifndef EENET_HOST_H
#define EENET_HOST_H

enum { HOST_TEXT = 160 };

/* "x86_64 Linux, 16 processors, AMD EPYC 7B13": no name of its own. What is not known is left out. */
void host_describe(char words[HOST_TEXT]);

#endif
