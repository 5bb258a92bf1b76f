/* Addresses of other servers: "http://10.0.0.5:8080", "https://[::1]:443#FINGERPRINT". */
#ifndef EENET_FORWARD_ADDRESS_H
#define EENET_FORWARD_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "certificate_fingerprint.h"
#include "forwarder.h"

enum { FORWARD_PLACES = 4 }; /* of a name; further ones are not tried */

/* Not to be copied: it points into itself. */
typedef struct forward_address {
    bool is_tls;
    bool is_name;                                   /* not a numeric address */
    char origin[FORWARD_ADDRESS_SIZE];              /* without the fingerprint, for messages */
    const char *authority;                          /* the host and port as given, for the header Host; within origin */
    char host[FORWARD_ADDRESS_SIZE];                /* without brackets */
    char port[6];                                   /* decimal */
    char fingerprint[FINGERPRINT_SIZE];             /* lower-case; "": none */
    struct sockaddr_storage places[FORWARD_PLACES]; /* (place_count), set by forward_address_resolve */
    socklen_t place_sizes[FORWARD_PLACES];
    size_t place_count;
} forward_address;

/* EE_BAD_INPUT: it is invalid. */
ee_status forward_address_read(const char *from, forward_address *out, ee_error *error);

/* Sets the places. Waits for the resolver if it is a name. After a failure (EE_FILE_ERROR) they are unchanged. */
ee_status forward_address_resolve(forward_address *self, ee_error *error);

#endif
