/* The log of a bandit for others: its settled decisions as lines of dsjson (docs/log-format.md), in the order in which
 * they were made, up to the first that is not settled (settled_reader.h): whoever fetches them bit by bit gets each
 * once. A line is a decision with its reward and, in "VWState", the version of the model that made it; it ends with
 * "_cursor", to go on from. A round of slots is one line.
 *
 *   - Without a reward, where there is no default either, it is "_skipLearn": to be counted, not to be learned; and
 *     where it was deferred and not activated.
 *   - A decision in apprentice mode has the label that the model learned, 1 where its own choice was the baseline and
 *     else 0; "_original_label_cost" is then what the reward was. */
#ifndef EENET_LOG_EXPORT_H
#define EENET_LOG_EXPORT_H

#include "data/text.h"
#include "settled_reader.h"

typedef struct log_export log_export;

/* What was decided until now and is settled is exported, what comes meanwhile is not. reader is the export's from now
 * on, also where this fails. */
ee_status log_export_create(store_reader *reader, uint32_t bandit, const log_range *range, log_export **out,
                            ee_error *error);
void log_export_free(log_export *self);

/* Adds lines until the text has this size, or more by the last of them. *over: there are no more. */
ee_status log_export_fill(log_export *self, text *into, size_t size, bool *over, ee_error *error);

#endif
