/* Ids of resources, which clients choose freely. */
#include <stdio.h>

#include "base/checksum.h"
#include "personalizer_evaluations.h"
#include "serve/http/router.h"

void evaluation_id_read(const char *id, char out[JOB_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    size_t count = 0;
    const char *at = id;
    for (; *at && count < JOB_ID_SIZE; at++) {
        if (*at == '-') continue;
        if (router_hex_value(*at) < 0 || count == JOB_ID_SIZE - 1) break;
        out[count++] = digits[router_hex_value(*at)];
    }
    out[JOB_ID_SIZE - 1] = '\0';
    if (!*at && count == JOB_ID_SIZE - 1) return;
    uint64_t sum[2];
    checksum_128(id, strlen(id), sum);
    for (size_t i = 0; i < JOB_ID_SIZE - 1; i++) out[i] = digits[sum[i / 16] >> 4 * (i % 16) & 15];
}

void evaluation_id_write(const char digits[JOB_ID_SIZE], char out[UUID_SIZE])
{
    snprintf(out, UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", digits, digits + 8, digits + 12, digits + 16, digits + 20);
}
