/* A folder that is made under a temporary name beside its place, and gets its name when it is complete. */
#ifndef EENET_FOLDER_DRAFT_H
#define EENET_FOLDER_DRAFT_H

#include "base/memory.h"

/* *draft = "TO.PID.partial", a new folder that only its owner may enter; to be freed with memory_free. EE_FILE_ERROR
 * if `to` exists. */
ee_status folder_draft_create(const char *to, char **draft, ee_error *error);

/* Renames it to `to`, which must not exist. */
ee_status folder_draft_publish(const char *draft, const char *to, ee_error *error);

/* Removes a folder and everything in it. */
void folder_draft_remove(const char *draft);

/* Syncs a file, or a folder itself. */
ee_status folder_draft_sync(const char *path, ee_error *error);

#endif
