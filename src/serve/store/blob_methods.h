/* What an implementation of blobs.h provides, and what all of them share. Nothing outside this folder uses it. */
#ifndef EENET_BLOB_METHODS_H
#define EENET_BLOB_METHODS_H

#include "blobs.h"

/* Values are whole and names are valid; text has its last line with the checksum. */
typedef struct blob_methods {
    void (*close)(blobs *self);
    void (*sweep)(blobs *self);
    ee_status (*put)(blobs *self, const blob_name *name, const void *bytes, size_t size, ee_error *error);
    ee_status (*get)(const blobs *self, const blob_name *name, uint8_t **bytes, size_t *size, ee_error *error);
    bool (*exists)(const blobs *self, const blob_name *name);
    ee_status (*remove)(blobs *self, const blob_name *name, ee_error *error);
    ee_status (*list)(const blobs *self, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count,
                      ee_error *error);
    uint64_t (*bytes)(const blobs *self);
    ee_status (*scratch)(blobs *self, const char *ending, char **path, ee_error *error);
} blob_methods;

struct blobs {
    memory memory;
    const blob_methods *methods;
    uint64_t owner; /* as blobs_fence, like these */
    uint64_t (*token)(void *context, uint32_t bandit);
    void *token_context;
};

/* How a kind is called: folder/BANDIT, the separator, the key, the ending. */
extern const struct blob_form {
    const char *folder, *ending;
    char separator; /* 0: without a key */
    bool is_text;   /* else the last eight bytes are a checksum of the others */
} blob_forms[BLOB_KINDS];

enum { BLOB_PATH_SIZE = 200 };

bool blob_is_key(const char *key, size_t length);

/* The folder of a bandit's blobs, and what their names begin with. */
void blob_split_name(uint32_t bandit, blob_kind kind, char folder[BLOB_PATH_SIZE], char start[BLOB_PATH_SIZE]);

/* "models/3/250.model": the file of a blob, and its name in messages. */
void blob_path(const blob_name *name, char path[3 * BLOB_PATH_SIZE]);

ee_status blob_fail_missing(const blob_name *name, ee_error *error);
ee_status blob_fail_damaged(const blob_name *name, ee_error *error);

#endif
