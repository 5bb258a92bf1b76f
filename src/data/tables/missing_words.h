/* Texts that mean a missing value, in the syntax of a table's option missing=:
 *
 *     auto    in a numeric column N/A, NA, None, null, -, #N/A, ? and nan, in any case; in other columns, in which None
 *             and - may be values, only ?, NA, NaN, nan and null
 *     none    no text
 *     A+B     A and B, in any case, in every column
 *
 * An empty field is always missing. */
#ifndef EENET_MISSING_WORDS_H
#define EENET_MISSING_WORDS_H

#include "base/options.h"
#include "categories.h"

/* Whether a value is one of them. A number matches every word that is the same number. */
bool missing_words_have(const option_text words, const cell *value, bool numeric);

/* Marks the value as missing if it is one of them. */
void missing_words_apply(const option_text words, cell *value, bool numeric);

#endif
