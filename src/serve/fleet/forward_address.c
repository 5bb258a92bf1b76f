#define _POSIX_C_SOURCE 200809L
#include "forward_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_fingerprint(const char *from, char out[FINGERPRINT_SIZE])
{
    static const char digits[] = "0123456789abcdefABCDEF";
    if (strlen(from) != FINGERPRINT_SIZE - 1 || strspn(from, digits) != FINGERPRINT_SIZE - 1) return false;
    for (size_t i = 0; i < FINGERPRINT_SIZE; i++)
        out[i] = (char)(from[i] >= 'A' && from[i] <= 'F' ? from[i] - 'A' + 'a' : from[i]);
    return true;
}

static bool read_port(const char *from, const char *standard, char out[6])
{
    if (!*from) {
        memcpy(out, standard, strlen(standard) + 1);
        return true;
    }
    size_t digits = strspn(from + 1, "0123456789");
    if (*from != ':' || !digits || digits > 5 || from[1 + digits]) return false;
    memcpy(out, from + 1, digits + 1);
    return strtoul(out, NULL, 10) - 1 < 65535;
}

static bool is_numeric(const char *host)
{
    unsigned char place[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, place) == 1 || inet_pton(AF_INET6, host, place) == 1;
}

static bool read_authority(forward_address *out)
{
    const char *from = out->authority;
    bool has_brackets = *from == '[';
    if (has_brackets) from++;
    size_t length = strspn(from, has_brackets ? "0123456789abcdefABCDEF:."
                                              : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._");
    memcpy(out->host, from, length);
    out->host[length] = '\0';
    from += length;
    if (has_brackets && *from++ != ']') return false;
    out->is_name = !is_numeric(out->host);
    return length && !(has_brackets && out->is_name) && read_port(from, out->is_tls ? "443" : "80", out->port);
}

ee_status forward_address_read(const char *from, forward_address *out, ee_error *error)
{
    *out = (forward_address){.is_tls = strncmp(from, "https://", 8) == 0};
    size_t origin = strcspn(from, "#"), scheme = out->is_tls ? 8 : 7;
    bool is_valid = out->is_tls || strncmp(from, "http://", 7) == 0;
    if (is_valid && from[origin]) is_valid = out->is_tls && read_fingerprint(from + origin + 1, out->fingerprint);
    if (is_valid) {
        memcpy(out->origin, from, origin);
        out->origin[origin] = '\0';
        out->authority = out->origin + scheme;
        is_valid = read_authority(out);
    }
    if (is_valid) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "forward: invalid address '%.100s'; expected 'http://HOST:PORT' or 'https://HOST:PORT', the "
                       "latter optionally with '#' and 64 hex digits",
                       from);
}

ee_status forward_address_resolve(forward_address *self, ee_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | (self->is_name ? 0 : AI_NUMERICHOST)};
    struct addrinfo *found;
    int code = getaddrinfo(self->host, self->port, &hints, &found);
    if (code)
        return status_fail(error, EE_FILE_ERROR, "forward: %.120s: could not resolve the name: %s", self->origin,
                           gai_strerror(code));
    self->place_count = 0;
    for (const struct addrinfo *each = found; each && self->place_count < FORWARD_PLACES; each = each->ai_next) {
        memcpy(&self->places[self->place_count], each->ai_addr, each->ai_addrlen);
        self->place_sizes[self->place_count++] = each->ai_addrlen;
    }
    freeaddrinfo(found);
    return EE_OK;
}
