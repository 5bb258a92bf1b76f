/* An append-only file of lines in a folder, for results that must survive a crash. A line counts once it is complete
 * and synced; opening the file removes an incomplete last line that a crash left. A lock on the folder allows one
 * writer at a time, across machines too if the file system supports locks. */
#ifndef EENET_LINE_FILE_H
#define EENET_LINE_FILE_H

#include "base/status.h"

typedef struct line_file {
    char *path;
    int lock, file; /* descriptors of the folder and of the file; -1: none */
} line_file;

/* Creates the folder and the file if they are missing. EE_FILE_ERROR if another writer has it open. Close it, on
 * failure too. */
ee_status line_file_open(const char *folder, const char *name, line_file *out, ee_error *error);
void line_file_close(line_file *self);

/* The line, including its newline, is durable on return. An incomplete write is undone. */
ee_status line_file_append(line_file *self, const char *line, size_t length, ee_error *error);

/* Replaces all lines atomically: after a crash the file has the old ones or the new ones. */
ee_status line_file_replace(line_file *self, const char *lines, size_t length, ee_error *error);

/* Takes one line without its newline; the first is number 1. Its error names the line; line_file_each adds the file. */
typedef ee_status line_taker(void *context, const char *line, size_t length, size_t number, ee_error *error);

/* Calls take for each complete line of a folder's file until it fails; ignores an incomplete last line. The file need
 * not be open. */
ee_status line_file_each(const char *folder, const char *name, line_taker *take, void *context, ee_error *error);

/* The same; does nothing if the file does not exist. */
ee_status line_file_each_if_any(const char *folder, const char *name, line_taker *take, void *context, ee_error *error);

#endif
