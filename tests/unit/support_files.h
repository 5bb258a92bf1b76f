/* A folder of a test's own, with files that the test makes. */
#ifndef EENET_TEST_SUPPORT_FILES_H
#define EENET_TEST_SUPPORT_FILES_H

#include "base/file.h"
#include "support.h"

typedef struct test_folder {
    char path[32];
} test_folder;

/* Makes a new folder where the test runs. */
test_folder folder_make(void);

/* Removes the folder and all that is in it. */
void folder_remove(const test_folder *folder);

/* A test in the folder `here`, which is made before it and removed after it. */
extern test_folder here;
int folder_enter(void **state);
int folder_leave(void **state);
#define TEST_IN_FOLDER(name) TEST_WITH(name, folder_enter, folder_leave)

/* "FOLDER/NAME", valid until the next call. */
const char *folder_path(const test_folder *folder, const char *name);

void folder_write(const test_folder *folder, const char *name, const void *bytes, size_t size);
void folder_write_text(const test_folder *folder, const char *name, const char *text);
void folder_write_packed(const test_folder *folder, const char *name, const void *bytes, size_t size);

/* The bytes as a gzip stream, to be freed with free. */
uint8_t *gzip_pack(const void *bytes, size_t size, size_t *packed_size);

/* Fails the test unless part stands in the message. */
void assert_message_has(const char *message, const char *part);

#endif
