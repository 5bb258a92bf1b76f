/* Requests for bandits that another server of the fleet owns. A server forwards them to the owner and returns its
 * response. While a bandit has no owner, because the last one died or hands it over, requests wait: they are tried
 * again until FORWARD_SECONDS have passed.
 *
 * A forwarded request has these headers, which only servers of the fleet can set:
 *
 *   X-Eenet-Fleet      the secret of the fleet
 *   X-Eenet-Grant      role, name and bandit (* for all) of the caller's key
 *   X-Eenet-Bandit     the bandit that the request is for; none: those that the path names
 *   X-Eenet-Decision   the id of a decision without one. A request that is sent again has the same, so it is decided
 * once
 *
 * A response has X-Eenet-Fleet with the mark of the fleet: after a crash somebody else may listen at a server's
 * address. A response without it counts as none.
 *
 * A server that gets one for a bandit that it does not own, or of another fleet, answers with 421, and the sender looks
 * for the owner again.
 * After a failure, a decision or a request that only reads is sent again. Anything else may have been executed, so the
 * caller gets 503 and decides: with an id, it can be repeated. A timeout is a failure too: the connection is closed, so
 * a late response is dropped. A request that may take long has a longer timeout while its server is alive. */
#ifndef EENET_FORWARDING_H
#define EENET_FORWARDING_H

#include "call.h"

ee_status forwarding_start(service *of, ee_error *error);
/* Refuses the requests that wait, and those that come. */
void forwarding_stop(service *of);
void forwarding_free(service *of);

forwarder_counts forwarding_counts(const service *of);

/* Takes what the headers of a request say, if it is a forwarded one. false: answered, because it is for another fleet.
 */
bool forwarding_read_headers(call *self, key_grant *grant);
/* The bandit of a forwarded request; NULL: as the path says. */
const char *forwarding_bandit(const call *self);

/* A request for a bandit that this server does not own, or (name NULL) for the leader: is handled once the body is
 * there. false: answered. */
bool forwarding_admit(call *self, const char *name);
/* Answers the call, here or by another server, now or later. */
void forwarding_handle(call *self);
/* The same if the bandit exists, and another server owns it or has not taken it over yet; false: it does not exist. */
bool forwarding_to_owner(call *self, json_text name);

/* Asks all other living servers the same, and calls go_on with their responses, in any thread. */
typedef struct gathered {
    text bytes;
    int status;
} gathered;
void forwarding_gather(call *self, void (*go_on)(call *self, const gathered *responses, size_t count));

#endif
