/* What the files of ranks share. */
#ifndef EENET_RANKS_INSIDE_H
#define EENET_RANKS_INSIDE_H

enum { RANKS_VERSION = 64, RANKS_HOST = 256 };

/* Of the program and its kernels, as "0.1.0 avx2". */
void ranks_version(char text[RANKS_VERSION]);

/* The name of this machine, in text, which is returned. */
const char *ranks_host(char text[RANKS_HOST]);

#endif
