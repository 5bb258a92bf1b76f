/* What POSIX does not offer. system.c is the only file of the library and the program, without the server, that calls
 * Linux; elsewhere, and with EENET_PLAIN_SYSTEM, each function does what is said of it here. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stddef.h>

/* Cores that this process may use, at least 1. Elsewhere: those of the machine. */
size_t system_cores(void);

/* Asks for large pages in a range of whole pages; a hint. Elsewhere: nothing. */
void system_take_large_pages(void *start, size_t bytes);

/* The processor's name. Elsewhere, and on ARM: "". */
void system_processor(char *name, size_t capacity);

/* A descriptor that counts the instructions of this process in user space; read() gives a uint64_t. -1 if there is no
 * such counter, as on many virtual machines. Elsewhere: -1. */
int system_instruction_counter(void);

#endif
