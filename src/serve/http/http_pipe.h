/* The body of an answer that another thread produces while it is sent: the thread writes, and waits while the client is
 * slower; the threads that serve never wait for it. */
#ifndef EENET_HTTP_PIPE_H
#define EENET_HTTP_PIPE_H

#include "http.h"

typedef struct http_pipe http_pipe;

/* Answers with this status; what is written follows. From then on the exchange is not the caller's any more. *out is to
 * be closed. Where it fails the exchange is not answered. */
ee_status http_pipe_answer(http_exchange *exchange, int status, http_pipe **out, ee_error *error);

/* Waits until all of it is taken over. false: the client is gone, and nothing more is needed. */
bool http_pipe_write(http_pipe *self, const char *bytes, size_t size);

/* Ends the body, and frees the pipe. complete false: something went wrong, and the connection is cut, so that the
 * client does not take what it has for the whole. */
void http_pipe_close(http_pipe *self, bool complete);

#endif
