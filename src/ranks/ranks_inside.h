/* Internal declarations of src/ranks. */
#ifndef EENET_RANKS_INSIDE_H
#define EENET_RANKS_INSIDE_H

enum { RANKS_VERSION = 64, RANKS_HOST = 256 };

/* Version of the program and its kernels, such as "0.1.0 avx2". */
void ranks_version(char text[RANKS_VERSION]);

/* Writes the name of this machine to text, and returns it. */
const char *ranks_host(char text[RANKS_HOST]);

#endif
