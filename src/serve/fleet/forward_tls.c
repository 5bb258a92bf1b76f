/* TLS to other servers. A peer is verified by its fingerprint, or by the system's trust store and its host name. */
#include <string.h>

#include "forward_inside.h"

static bool fail(forward_connection *self, const char *what, const char *why)
{
    status_fail(&self->request->error, EE_FILE_ERROR, "forward: %.100s: %s: %s", self->peer->address.origin, what, why);
    return false;
}

/* ---- what connections share ---- */

static int create_credentials(gnutls_certificate_credentials_t *out, bool trusts_system)
{
    int code = gnutls_certificate_allocate_credentials(out);
    if (code) *out = NULL;
    if (!code && trusts_system) code = gnutls_certificate_set_x509_system_trust(*out);
    if (code >= 0) return 0;
    if (*out) gnutls_certificate_free_credentials(*out);
    *out = NULL;
    return code;
}

static int prepare(forward_tls *self, bool is_pinned)
{
    int code = 0;
    if (!self->priorities)
        code = gnutls_priority_init(&self->priorities, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", NULL);
    if (code) self->priorities = NULL;
    if (!code && is_pinned && !self->pinned) code = create_credentials(&self->pinned, false);
    if (!code && !is_pinned && !self->trusted) code = create_credentials(&self->trusted, true);
    return code;
}

void forward_tls_free(forward_tls *self)
{
    if (self->priorities) gnutls_priority_deinit(self->priorities);
    if (self->pinned) gnutls_certificate_free_credentials(self->pinned);
    if (self->trusted) gnutls_certificate_free_credentials(self->trusted);
}

/* ---- verification ---- */

/* Called at the end of the handshake; nonzero ends it. */
static int check_fingerprint(gnutls_session_t session)
{
    const forward_connection *self = gnutls_session_get_ptr(session);
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    char found[FINGERPRINT_SIZE];
    if (!chain || !count || certificate_fingerprint_of(&chain[0], found)) return GNUTLS_E_CERTIFICATE_ERROR;
    return strcmp(found, self->peer->address.fingerprint) == 0 ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

static int require_peer(forward_connection *self)
{
    gnutls_session_t session = self->transport.tls;
    const forward_address *address = &self->peer->address;
    gnutls_session_set_ptr(session, self);
    if (address->fingerprint[0])
        gnutls_session_set_verify_function(session, check_fingerprint);
    else
        gnutls_session_set_verify_cert(session, address->host, 0);
    return address->is_name ? gnutls_server_name_set(session, GNUTLS_NAME_DNS, address->host, strlen(address->host))
                            : 0;
}

/* ---- a connection ---- */

bool forward_tls_start(forward_connection *self)
{
    forward_tls *shared = &self->owner->tls;
    bool is_pinned = self->peer->address.fingerprint[0];
    int code = prepare(shared, is_pinned);
    if (!code) code = gnutls_init(&self->transport.tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    if (code) {
        self->transport.tls = NULL;
        return fail(self, "could not start TLS", gnutls_strerror(code));
    }
    gnutls_transport_set_int(self->transport.tls, self->transport.socket);
    gnutls_handshake_set_timeout(self->transport.tls, 0); /* connections have deadlines */
    code = gnutls_priority_set(self->transport.tls, shared->priorities);
    if (!code)
        code = gnutls_credentials_set(self->transport.tls, GNUTLS_CRD_CERTIFICATE,
                                      is_pinned ? shared->pinned : shared->trusted);
    if (!code) code = require_peer(self);
    return !code || fail(self, "could not start TLS", gnutls_strerror(code));
}

static void explain(forward_connection *self, int code)
{
    gnutls_session_t session = self->transport.tls;
    gnutls_datum_t why = {NULL, 0};
    if (code == GNUTLS_E_CERTIFICATE_ERROR && self->peer->address.fingerprint[0]) {
        fail(self, "the TLS handshake failed", "the certificate has another fingerprint than the address");
    } else if (code == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR &&
               !gnutls_certificate_verification_status_print(gnutls_session_get_verify_cert_status(session),
                                                             gnutls_certificate_type_get(session), &why, 0)) {
        fail(self, "the TLS handshake failed", (const char *)why.data);
        gnutls_free(why.data);
    } else {
        fail(self, "the TLS handshake failed", gnutls_strerror(code));
    }
}

int forward_tls_shake_hands(forward_connection *self)
{
    int code;
    do code = gnutls_handshake(self->transport.tls);
    while (code == GNUTLS_E_INTERRUPTED || (code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(code)));
    if (!code) return 0;
    if (code == GNUTLS_E_AGAIN) return TRANSPORT_WAIT;
    explain(self, code);
    gnutls_alert_send_appropriate(self->transport.tls, code);
    return TRANSPORT_LOST;
}

bool forward_tls_writes(const forward_connection *self)
{
    return gnutls_record_get_direction(self->transport.tls) == 1;
}
