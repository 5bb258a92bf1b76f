/* A decision as plain bytes, which can be stored anywhere and learned at any time, in any process.
 *
 *   8 bytes   "eerec" 0x1a 0x0d 0x0a
 *   u64       version of the format
 *   u64       fingerprint of the model: policy, options and dimension
 *   f64       the divisor of the arms; 0: none
 *   ...       the decision, as kept_decision_archive visits it
 *   u32 ...   its words
 *   u64       CRC-64 of all bytes before
 */
#ifndef EENET_RECORD_H
#define EENET_RECORD_H

#include "kept_decision.h"

typedef struct record_head {
    uint64_t fingerprint;
    double length;
    kept_decision decision;
} record_head;

/* The bytes of a record with this many words. */
size_t record_size(size_t words);

/* Writes a record to bytes (record_size(words)). The caller has filled the words at record_words. */
uint32_t *record_words(void *bytes);
void record_write(const record_head *head, size_t words, void *bytes);

/* Checks that bytes are a whole record of the model with this fingerprint, and reads its head and its number of words.
 * record_read_words then reads the words, (count), and checks the vector and what the policy stores. Both refuse with
 * EE_BAD_RECORD. */
ee_status record_read(const void *bytes, size_t size, uint64_t fingerprint, const policy *owner, record_head *head,
                      size_t *words, ee_error *error);
ee_status record_read_words(const void *bytes, const record_head *head, const policy *owner, size_t dim, size_t count,
                            uint32_t *words, ee_error *error);

#endif
