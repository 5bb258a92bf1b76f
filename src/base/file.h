/* Whole files, folders and paths. */
#ifndef EENET_FILE_H
#define EENET_FILE_H

#include <stdbool.h>

#include "status.h"

/* Writes the file under a temporary name in the same folder, syncs it, renames it to path and syncs the folder: after a
 * crash path holds all of the old bytes or all of the new ones. On failure the temporary file is removed. A device or
 * pipe is refused, because the rename would replace it by a file. */
ee_status file_write(const char *path, const void *bytes, size_t size, ee_error *error);

/* The same for a file that only its owner may read and write, whatever the umask. A replaced file keeps its mode. */
ee_status file_write_private(const char *path, const void *bytes, size_t size, ee_error *error);

/* The same for a file that is written in pieces. path is borrowed until file_draft_end. */
typedef struct file_draft {
    int descriptor;
    const char *path;
    char *temporary;
} file_draft;

ee_status file_draft_open(const char *path, file_draft *out, ee_error *error);
ee_status file_draft_write(const file_draft *draft, const void *bytes, size_t size, ee_error *error);

/* Renames the draft to path, or deletes it if keep is false. Call it exactly once, also after a failed write. */
ee_status file_draft_end(file_draft *draft, bool keep, ee_error *error);

/* Free *bytes with memory_free. A zero byte, which size does not count, follows the last one. */
ee_status file_read(const char *path, uint8_t **bytes, size_t *size, ee_error *error);

/* Whether the folder of path exists and has no entry of that name. A dangling link is an entry. */
bool file_is_missing(const char *path);

/* Makes the folder and its missing parents. They survive a crash. */
ee_status file_make_folder(const char *path, ee_error *error);

/* The same; only the owner may enter the new folders, whatever the umask. */
ee_status file_make_private_folder(const char *path, ee_error *error);

/* *path = "FOLDER/NAME"; free it with memory_free. */
ee_status file_join(const char *folder, const char *name, char **path, ee_error *error);

/* The last 100 bytes of a path, for messages. */
const char *file_tail(const char *path);

/* Syncs a folder, so that files created, renamed and removed in it stay so after a crash. */
ee_status file_sync_folder(const char *path, ee_error *error);

#endif
