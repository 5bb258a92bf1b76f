/* A last line with the checksum of the text before it, for files of text that nothing else protects:
 *
 *     {"id": ...}
 *     checksum 0123456789abcdef
 *
 * Files of older versions have no such line. */
#ifndef EENET_TEXT_SEAL_H
#define EENET_TEXT_SEAL_H

#include "data/values/text.h"

void text_seal(text *into);

/* Checks the last line and takes it away from *size. false: the text is damaged. A text without such a line is taken as
 * it is if it ends with a brace, as older ones do. */
bool text_unseal(const void *bytes, size_t *size);

#endif
