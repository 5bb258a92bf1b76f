/* Starting and stopping the server. */
#define _POSIX_C_SOURCE 200809L
#include "http.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_inside.h"

static ee_status open_socket(http_server *self, ee_error *error)
{
    const http_options *options = &self->options;
    self->opened_socket = options->listening < 0;
    if (self->opened_socket) return http_listen(options->address, options->port, &self->listening, error);
    self->listening = options->listening;
    /* Else accept would wait for a connection that is gone again. */
    if (fcntl(self->listening, F_SETFL, O_NONBLOCK))
        return status_fail(error, EE_BAD_INPUT, "http: the socket passed by systemd cannot be used");
    return EE_OK;
}

static ee_status start_tls(http_server *self, ee_error *error)
{
    ee_status status = tls_certificates_read(self->options.certificate, self->options.key, &self->certificates, error);
    if (status) return status;
    if (gnutls_priority_init(&self->priorities, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", NULL) == 0) return EE_OK;
    self->priorities = NULL;
    return status_fail(error, EE_BAD_INPUT, "tls: this system allows neither TLS 1.2 nor TLS 1.3");
}

static ee_status start(http_server *self, ee_error *error)
{
    ee_status status = self->options.certificate ? start_tls(self, error) : EE_OK;
    if (!status) status = open_socket(self, error);
    if (status) return status;
    self->port = http_socket_port(self->listening);
    status = http_raise_files(&self->options.connections, error);
    if (!status) status = http_peers_create(&self->peers, error);
    if (!status) status = http_workers_start(self, error);
    return status ? status : http_start_accepting(self, error);
}

ee_status http_start(const http_options *options, http_server **out, ee_error *error)
{
    http_server *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->options = *options;
    self->listening = self->accept_wakes = self->spare_descriptor = -1;
    pthread_mutex_init(&self->pool_lock, NULL);
    pthread_mutex_init(&self->certificates_lock, NULL);
    status = start(self, error);
    if (status)
        http_stop(self);
    else
        *out = self;
    return status;
}

uint16_t http_port(const http_server *self)
{
    return self->port;
}

ee_status http_set_certificate(http_server *self, const char *certificate, const char *key, ee_error *error)
{
    tls_certificates *latest;
    if (!self->certificates)
        return status_fail(error, EE_BAD_INPUT, "tls: it was off when the server started; restart the server");
    ee_status status = tls_certificates_read(certificate, key, &latest, error);
    if (status) return status;
    pthread_mutex_lock(&self->certificates_lock);
    latest->next = self->certificates;
    self->certificates = latest;
    pthread_mutex_unlock(&self->certificates_lock);
    return EE_OK;
}

void http_drain(http_server *self)
{
    if (!self->worker_count || atomic_exchange(&self->is_draining, true)) return;
    http_end_accepting(self);
    /* New clients are refused at once; but a socket of systemd's is also the next server's. */
    if (self->opened_socket) shutdown(self->listening, SHUT_RDWR);
}

size_t http_open_requests(const http_server *self)
{
    return atomic_load(&self->open);
}

size_t http_connections(const http_server *self)
{
    return atomic_load(&self->connections);
}

static void wait_for_handlers(const http_server *self)
{
    const struct timespec pause = {0, 1000000};
    while (atomic_load(&self->handled)) nanosleep(&pause, NULL);
}

void http_stop(http_server *self)
{
    if (!self) return;
    http_drain(self);
    atomic_store(&self->is_stopping, true);
    wait_for_handlers(self);
    http_workers_stop(self);
    http_end_accepting(self);
    if (self->listening >= 0) close(self->listening);
    http_pool_free(self);
    http_peers_free(self->peers);
    if (self->priorities) gnutls_priority_deinit(self->priorities);
    tls_certificates_free(self->certificates);
    pthread_mutex_destroy(&self->certificates_lock);
    pthread_mutex_destroy(&self->pool_lock);
    memory_release(&self->memory);
}
