/* A response body that another thread writes while it is sent. That thread waits while the client is slower; the pool's
 * threads never wait for it. */
#ifndef EENET_HTTP_PIPE_H
#define EENET_HTTP_PIPE_H

#include "http.h"

typedef struct http_pipe http_pipe;

/* Answers with this status; the body follows. The caller must not use the exchange after it, and must close *out. On
 * failure the exchange is not answered. */
ee_status http_pipe_answer(http_exchange *exchange, int status, http_pipe **out, ee_error *error);

/* Waits until all bytes are taken. false: the client is gone. */
bool http_pipe_write(http_pipe *self, const char *bytes, size_t size);

/* Ends the body, and frees the pipe. complete false: the connection is cut, so that the client notices that the body is
 * incomplete. */
void http_pipe_close(http_pipe *self, bool complete);

#endif
