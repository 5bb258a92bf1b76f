/* Whole files, folders and paths. */
#ifndef EENET_FILE_H
#define EENET_FILE_H

#include <stdbool.h>

#include "status.h"

/* Writes the file under a temporary name beside path, syncs it, renames it to path and syncs the folder: after a crash
 * path holds what it held before or all of the new bytes. On failure the temporary file is gone. A device or a pipe is
 * refused: it would be replaced by a file. */
ee_status file_write(const char *path, const void *bytes, size_t size, ee_error *error);

/* The same for a file that only its owner may read and write, whatever the umask; a file that is replaced keeps its
 * mode. */
ee_status file_write_private(const char *path, const void *bytes, size_t size, ee_error *error);

/* The same for what is written bit by bit: a file under a temporary name, which gets its own when it is ended. path is
 * borrowed until then. */
typedef struct file_draft {
    int descriptor;
    const char *path;
    char *temporary;
} file_draft;

ee_status file_draft_open(const char *path, file_draft *out, ee_error *error);
ee_status file_draft_write(const file_draft *draft, const void *bytes, size_t size, ee_error *error);

/* keep false: throws it away, and succeeds. In every case the draft is over. */
ee_status file_draft_end(file_draft *draft, bool keep, ee_error *error);

/* *bytes is to be freed with memory_free; after the last stands a zero, which is not counted. */
ee_status file_read(const char *path, uint8_t **bytes, size_t *size, ee_error *error);

/* Whether path's folder is there and has nothing of that name. A link that leads nowhere is something. */
bool file_is_missing(const char *path);

/* Makes the folder, and those that it lies in, where they are missing. They are there after a crash, too. */
ee_status file_make_folder(const char *path, ee_error *error);

/* The same; folders that are new only their owner may enter, whatever the umask. */
ee_status file_make_private_folder(const char *path, ee_error *error);

/* *path = "FOLDER/NAME", to be freed with memory_free. */
ee_status file_join(const char *folder, const char *name, char **path, ee_error *error);

/* The end of a path, 100 bytes at most: short enough for a message that says more. */
const char *file_tail(const char *path);

/* Syncs a folder: files made, renamed and removed in it stay so after a crash. */
ee_status file_sync_folder(const char *path, ee_error *error);

#endif
