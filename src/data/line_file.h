/* A file of lines in a folder, that is only appended to: results that must outlive a crash. A line is there when it is
 * whole and synced; half a line that a crash has left is cut off when the file is next opened. One program at a time
 * writes to a folder, of all machines that share it where the file system has locks for them. */
#ifndef EENET_LINE_FILE_H
#define EENET_LINE_FILE_H

#include "base/status.h"

typedef struct line_file {
    char *path;
    int lock, file; /* descriptors of the folder and of the file; -1: none */
} line_file;

/* Makes the folder, and the file in it, where they are missing. EE_FILE_ERROR where another program has it open. To be
 * closed, on failure too. */
ee_status line_file_open(const char *folder, const char *name, line_file *out, ee_error *error);
void line_file_close(line_file *self);

/* The line, its newline included, is on the disk when it returns. One that could not be written whole is taken away
 * again. */
ee_status line_file_append(line_file *self, const char *line, size_t length, ee_error *error);

/* Puts other lines in the place of all that are there: after a crash the file has the old ones or the new ones. */
ee_status line_file_replace(line_file *self, const char *lines, size_t length, ee_error *error);

/* Takes one line, without its newline; the first is number 1. Its error says what is wrong with which line; the file is
 * named by line_file_each. */
typedef ee_status line_taker(void *context, const char *line, size_t length, size_t number, ee_error *error);

/* Hands over the whole lines of a folder's file, until one is not taken; half a line at the end is passed over. The
 * file need not be open. */
ee_status line_file_each(const char *folder, const char *name, line_taker *take, void *context, ee_error *error);

/* The same; nothing where there is no such file. */
ee_status line_file_each_if_any(const char *folder, const char *name, line_taker *take, void *context, ee_error *error);

#endif
