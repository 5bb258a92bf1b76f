#define _POSIX_C_SOURCE 200809L
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "data/values/text.h"

enum { HASH_SIZE = 32, NAME_SIZE = 65, WORDS = 4 };

typedef struct stored_key {
    char name[NAME_SIZE];
    char bandit[NAME_SIZE]; /* "*": all */
    key_role role;
    uint8_t hash[HASH_SIZE];
} stored_key;

struct key_ring {
    memory memory;
    stored_key *keys;
    size_t count, capacity;
};

static const char *const role_names[] = {"nobody", "client", "reader", "app", "admin"};

bool key_role_allows(key_role has, key_role needs)
{
    bool is_both = has == KEY_APP && needs != KEY_ADMIN;
    return needs == KEY_NOBODY || has == needs || has == KEY_ADMIN || is_both;
}

const char *key_role_name(key_role role)
{
    return role_names[role];
}

bool key_role_read(const char *word, key_role *out)
{
    for (int role = KEY_CLIENT; role <= KEY_ADMIN; role++) {
        if (strcmp(word, role_names[role]) != 0) continue;
        *out = (key_role)role;
        return true;
    }
    return false;
}

/* ---- a line ---- */

/* Names of keys and of bandits: letters, digits, '-', '_' and '.', 1 to 64, the first a letter or digit. */
static bool is_name(const char *word)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(word), first = strspn(word, digits);
    for (size_t i = first; i < length; i++)
        if (!strchr(digits, word[i]) && !strchr("-_.", word[i])) return false;
    return first && length < NAME_SIZE;
}

static bool read_hash(const char *word, uint8_t hash[HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(word) != 2 * HASH_SIZE || strspn(word, digits) != 2 * HASH_SIZE) return false;
    for (size_t i = 0; i < HASH_SIZE; i++)
        hash[i] = (uint8_t)((strchr(digits, word[2 * i]) - digits) * 16 + (strchr(digits, word[2 * i + 1]) - digits));
    return true;
}

static stored_key *find_name(const key_ring *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->keys[i].name, name) == 0) return &self->keys[i];
    return NULL;
}

/* Splits the line into words; returns their number, or WORDS + 1 if there are more. */
static size_t cut_words(char *line, char *words[WORDS])
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == WORDS) return WORDS + 1;
        words[count++] = word;
    }
    return count;
}

static ee_status add_line(key_ring *self, char *line, size_t number, ee_error *error)
{
    char *words[WORDS];
    stored_key added = {.role = KEY_NOBODY};
    size_t count = cut_words(line, words);
    if (!count || words[0][0] == '#') return EE_OK;
    if (count != WORDS)
        return status_fail(error, EE_BAD_INPUT, "keys: line %zu: expected NAME ROLE BANDIT HASH", number);
    if (!is_name(words[0]))
        return status_fail(error, EE_BAD_INPUT, "keys: line %zu: '%.64s' is not a valid key name", number, words[0]);
    if (!key_role_read(words[1], &added.role))
        return status_fail(error, EE_BAD_INPUT,
                           "keys: line %zu: expected the role client, reader, app or admin, got '%.64s'", number,
                           words[1]);
    if (!is_name(words[2]) && strcmp(words[2], "*") != 0)
        return status_fail(error, EE_BAD_INPUT, "keys: line %zu: '%.64s' is not a valid bandit name", number, words[2]);
    if (!read_hash(words[3], added.hash))
        return status_fail(error, EE_BAD_INPUT, "keys: line %zu: the hash must be 64 hexadecimal digits (0-9, a-f)",
                           number);
    if (find_name(self, words[0]))
        return status_fail(error, EE_BAD_INPUT, "keys: line %zu: duplicate key '%s'", number, words[0]);
    ee_status status = memory_grow(&self->memory, &self->keys, &self->capacity, self->count + 1, sizeof added, error);
    if (status) return status;
    snprintf(added.name, sizeof added.name, "%s", words[0]);
    snprintf(added.bandit, sizeof added.bandit, "%s", words[2]);
    self->keys[self->count++] = added;
    return EE_OK;
}

/* ---- the file ---- */

static ee_status parse(key_ring *self, const char *bytes, size_t size, ee_error *error)
{
    const char *end = bytes + size;
    for (size_t number = 1; bytes < end; number++) {
        char line[512];
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t length = (size_t)((newline ? newline : end) - bytes);
        if (length >= sizeof line || memchr(bytes, '\0', length))
            return status_fail(error, EE_BAD_INPUT, "keys: line %zu is too long or not text", number);
        memcpy(line, bytes, length);
        line[length] = '\0';
        ee_status status = add_line(self, line, number, error);
        if (status) return status;
        bytes += length + (newline != NULL);
    }
    return EE_OK;
}

ee_status key_ring_parse(const char *bytes, size_t size, key_ring **out, ee_error *error)
{
    key_ring *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    status = parse(self, bytes, size, error);
    if (status)
        key_ring_free(self);
    else
        *out = self;
    return status;
}

/* Whether only its owner can read it. If it belongs to root, a group may read it too: systemd's credentials and
 * Kubernetes' secrets are like this. */
static bool is_private(const struct stat *found)
{
    return !(found->st_mode & (found->st_uid == 0 ? 037 : 077));
}

ee_status key_ring_read(const char *path, key_ring **out, ee_error *error)
{
    struct stat found;
    uint8_t *bytes;
    size_t size;
    if (file_is_missing(path))
        return status_fail(error, EE_NO_FILE, "keys: there is no file %s; create it with 'eenet keys add'",
                           file_tail(path));
    if (stat(path, &found) == 0 && !is_private(&found))
        return status_fail(error, EE_BAD_INPUT, "keys: users other than its owner can access %s; run chmod 600 on it",
                           file_tail(path));
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    status = key_ring_parse((const char *)bytes, size, out, error);
    memory_free(bytes);
    return status;
}

void key_ring_free(key_ring *self)
{
    if (self) memory_release(&self->memory);
}

size_t key_ring_count(const key_ring *self)
{
    return self->count;
}

/* ---- finding ---- */

static key_grant grant_at(const key_ring *self, size_t place)
{
    const stored_key *key = &self->keys[place];
    return (key_grant){key->role, key->name, strcmp(key->bandit, "*") == 0 ? NULL : key->bandit, place};
}

bool key_ring_at(const key_ring *self, size_t place, key_grant *out)
{
    if (place >= self->count) return false;
    *out = grant_at(self, place);
    return true;
}

bool key_ring_find(const key_ring *self, json_text key, key_grant *out)
{
    uint8_t hash[HASH_SIZE];
    size_t place = self->count;
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, key.bytes, key.length, hash)) return false;
    for (size_t i = 0; i < self->count; i++) {
        size_t is_same = gnutls_memcmp(hash, self->keys[i].hash, HASH_SIZE) == 0;
        place = place * (1 - is_same) + i * is_same; /* without a branch */
    }
    return key_ring_at(self, place, out);
}

/* ---- changing ---- */

/* 32 bytes by 43 letters of the alphabet of URLs (RFC 4648, 5). */
static void write_key(const uint8_t bytes[32], char key[KEY_SIZE])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    memcpy(key, "ee_", 3);
    for (size_t i = 0; i < 43; i++) {
        size_t bit = 6 * i;
        unsigned pair = (unsigned)bytes[bit / 8] << 8 | (bit / 8 + 1 < 32 ? bytes[bit / 8 + 1] : 0u);
        key[3 + i] = letters[pair >> (10 - bit % 8) & 63];
    }
    key[46] = '\0';
}

static void add_key_line(text *into, const stored_key *key)
{
    text_add(into, "%s %s %s ", key->name, key_role_name(key->role), key->bandit);
    for (size_t i = 0; i < HASH_SIZE; i++) text_add(into, "%02x", key->hash[i]);
    text_add(into, "\n");
}

/* Writes a temporary file and renames it, so that there is no moment without keys. Only the owner can read it. */
static ee_status save(const key_ring *self, const char *path, ee_error *error)
{
    text lines = text_start(error);
    text_add(&lines, "# name, role, bandit (*: all), SHA-256 of the key\n");
    for (size_t i = 0; i < self->count; i++) add_key_line(&lines, &self->keys[i]);
    mode_t before = umask(077);
    ee_status status = text_save(&lines, path);
    umask(before);
    return status;
}

ee_status keys_add(const char *path, const char *name, key_role role, const char *bandit, char key[KEY_SIZE],
                   ee_error *error)
{
    key_ring *ring = NULL;
    uint8_t random[32];
    stored_key added = {.role = role};
    if (!is_name(name))
        return status_fail(
            error, EE_BAD_OPTION,
            "keys: a name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit");
    if (bandit && !is_name(bandit)) return status_fail(error, EE_BAD_OPTION, "keys: not a valid bandit name");
    ee_status status = file_is_missing(path) ? key_ring_parse("", 0, &ring, error) : key_ring_read(path, &ring, error);
    if (!status && find_name(ring, name))
        status = status_fail(error, EE_BAD_INPUT, "keys: the key '%s' already exists; remove it first", name);
    if (!status && gnutls_rnd(GNUTLS_RND_KEY, random, sizeof random))
        status = status_fail(error, EE_FILE_ERROR, "keys: could not get random numbers");
    if (!status) {
        write_key(random, key);
        gnutls_hash_fast(GNUTLS_DIG_SHA256, key, strlen(key), added.hash);
        snprintf(added.name, sizeof added.name, "%s", name);
        snprintf(added.bandit, sizeof added.bandit, "%s", bandit ? bandit : "*");
        status = memory_grow(&ring->memory, &ring->keys, &ring->capacity, ring->count + 1, sizeof added, error);
    }
    if (!status) {
        ring->keys[ring->count++] = added;
        status = save(ring, path, error);
    }
    key_ring_free(ring);
    return status;
}

ee_status keys_remove(const char *path, const char *name, ee_error *error)
{
    key_ring *ring;
    ee_status status = key_ring_read(path, &ring, error);
    if (status) return status;
    stored_key *found = find_name(ring, name);
    if (found) {
        memmove(found, found + 1, (size_t)(ring->keys + --ring->count - found) * sizeof *found);
        status = save(ring, path, error);
    } else {
        status = status_fail(error, EE_BAD_INPUT, "keys: there is no key '%.64s'", name);
    }
    key_ring_free(ring);
    return status;
}
