/* Whole files. */
#ifndef EENET_FILE_H
#define EENET_FILE_H

#include "status.h"

/* Writes the file under a temporary name beside path, syncs it, renames it to path and syncs the folder: after a crash
 * path holds what it held before or all of the new bytes. On failure the temporary file is gone. */
ee_status file_write(const char *path, const void *bytes, size_t size, ee_error *error);

/* *bytes is to be freed with memory_free. */
ee_status file_read(const char *path, uint8_t **bytes, size_t *size, ee_error *error);

#endif
