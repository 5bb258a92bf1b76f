/* Compression of answers: what the client accepts (Accept-Encoding, RFC 9110 12.5.3), and the encoder. */
#ifndef EENET_CONTENT_CODING_H
#define EENET_CONTENT_CODING_H

#include "data/values/text.h"

typedef enum content_coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD } content_coding;

/* The coding that the client prefers; zstd before gzip on a tie, and none if it accepts neither.
 * header may be NULL. */
content_coding content_coding_choose(const char *header);

/* As in Content-Encoding; NULL for none. */
const char *content_coding_name(content_coding coding);

typedef struct content_encoder content_encoder;

/* Fast rather than small: it competes with decisions for the processors. */
ee_status content_encoder_create(content_coding coding, content_encoder **out, ee_error *error);
void content_encoder_free(content_encoder *self);

/* Adds the encoded bytes to `into`, some perhaps only with the next call. last: there are no more. */
ee_status content_encode(content_encoder *self, const char *bytes, size_t size, bool last, text *into, ee_error *error);

#endif
