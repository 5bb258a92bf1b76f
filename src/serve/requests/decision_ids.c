#include "decision_ids.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

enum { RANDOM_BYTES = 10, TIME_BYTES = 6 };

void decision_ids_start(decision_ids *self)
{
    pthread_mutex_init(&self->lock, NULL);
    self->left = 0;
}

void decision_ids_stop(decision_ids *self)
{
    pthread_mutex_destroy(&self->lock);
}

static bool fill(decision_ids *self)
{
    for (size_t have = 0; have < sizeof self->bytes;) {
        ssize_t got = getrandom(self->bytes + have, sizeof self->bytes - have, 0);
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) have += (size_t)got;
    }
    self->left = sizeof self->bytes;
    return true;
}

ee_status decision_ids_make(decision_ids *self, int64_t microseconds, char id[DECISION_ID_SIZE], ee_error *error)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t raw[TIME_BYTES + RANDOM_BYTES];
    uint64_t milliseconds = (uint64_t)microseconds / 1000;
    for (int i = 0; i < TIME_BYTES; i++) raw[i] = (uint8_t)(milliseconds >> (8 * (TIME_BYTES - 1 - i)));
    pthread_mutex_lock(&self->lock);
    bool filled = self->left || fill(self);
    if (filled) {
        self->left -= RANDOM_BYTES;
        memcpy(raw + TIME_BYTES, self->bytes + self->left, RANDOM_BYTES);
    }
    pthread_mutex_unlock(&self->lock);
    if (!filled) return status_fail(error, EE_FILE_ERROR, "could not get random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof raw; i++) {
        id[2 * i] = digits[raw[i] >> 4];
        id[2 * i + 1] = digits[raw[i] & 15];
    }
    return EE_OK;
}

/* Counts up in the last digits, which are random. */
void decision_ids_derive(const char from[DECISION_ID_SIZE], size_t place, char id[DECISION_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    memcpy(id, from, DECISION_ID_SIZE);
    for (size_t i = DECISION_ID_SIZE; i-- > 2 * TIME_BYTES && place; place >>= 4) {
        const char *digit = strchr(digits, id[i]);
        place += digit && *digit ? (size_t)(digit - digits) : 0;
        id[i] = digits[place & 15];
    }
}
