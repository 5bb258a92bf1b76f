/* API keys and roles. A keys file has a line per key: name, role, bandit (* for all) and the SHA-256 of the key. The
 * key itself is shown once, when it is created, and stored nowhere.
 *
 *     website app shop 9f86d081884c7d65...
 */
#ifndef EENET_KEYS_H
#define EENET_KEYS_H

#include <stdbool.h>

#include "base/json.h"

/* What a key may do, and what a route needs. A client may only decide, activate and reward; a reader may only read; an
 * app may do both; an admin may do everything. */
typedef enum key_role { KEY_NOBODY, KEY_CLIENT, KEY_READER, KEY_APP, KEY_ADMIN } key_role;

typedef struct key_ring key_ring;

typedef struct key_grant {
    key_role role;
    const char *name;   /* of the key, for the log */
    const char *bandit; /* NULL: all */
    size_t place;       /* in the ring, for its rate limit */
} key_grant;            /* its texts are the ring's */

/* EE_BAD_INPUT, with the line, if it is not a keys file or other users may read it. EE_NO_FILE: there is none. */
ee_status key_ring_read(const char *path, key_ring **out, ee_error *error);
ee_status key_ring_parse(const char *bytes, size_t size, key_ring **out, ee_error *error);
void key_ring_free(key_ring *self);
size_t key_ring_count(const key_ring *self);

/* In the order of the file; false past the last. */
bool key_ring_at(const key_ring *self, size_t place, key_grant *out);

/* Takes the same time whichever key matches, and however much of a key is right. */
bool key_ring_find(const key_ring *self, json_text key, key_grant *out);

/* Adds a new key to the file, which is created if it is missing, readable only by its owner. key becomes "ee_" and 43
 * characters. name must be new. */
enum { KEY_SIZE = 48 };
ee_status keys_add(const char *path, const char *name, key_role role, const char *bandit, char key[KEY_SIZE],
                   ee_error *error);
ee_status keys_remove(const char *path, const char *name, ee_error *error);

bool key_role_allows(key_role has, key_role needs);
const char *key_role_name(key_role role);
bool key_role_read(const char *word, key_role *out);

#endif
