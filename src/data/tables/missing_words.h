/* The texts that stand for a missing value, as the option missing= of a table has them:
 *
 *     auto    in a numeric column N/A, NA, None, null, -, #N/A, ? and nan, whatever their capitals; in any other, where
 *             None and - may be meant, ?, NA, NaN, nan and null
 *     none    no text
 *     A+B     A and B, whatever their capitals, in every column
 *
 * An empty field is missing always. */
#ifndef EENET_MISSING_WORDS_H
#define EENET_MISSING_WORDS_H

#include "base/options.h"
#include "categories.h"

/* Whether a value that is there is one of them. Of a number, the words that are the same number count. */
bool missing_words_have(const option_text words, const cell *value, bool numeric);

/* Makes it a missing one where it is one of them. */
void missing_words_apply(const option_text words, cell *value, bool numeric);

#endif
