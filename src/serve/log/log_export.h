/* Exports the settled decisions of a bandit as lines of dsjson (docs/log-format.md), in the order of the decisions, up
 * to the first pending one (settled_reader.h), so that a client that fetches parts gets each decision once. A line has
 * a decision, its reward and, in "VWState", the version of the model that made it. It ends with "_cursor", from which
 * an export can continue. A round with slots is one line.
 *
 *   - A decision with neither a reward nor a default reward has "_skipLearn": it counts but is not learned. So does a
 *     deferred decision that was not activated.
 *   - A decision in apprentice mode has the label that the model learned: 1 if its own choice was the baseline, else 0.
 *     "_original_label_cost" has the reward. */
#ifndef EENET_LOG_EXPORT_H
#define EENET_LOG_EXPORT_H

#include "data/values/text.h"
#include "settled_reader.h"

typedef struct log_export log_export;

/* Exports what is decided and settled now, not what arrives during the export. Takes over reader, also on failure. */
ee_status log_export_create(store_reader *reader, uint32_t bandit, const log_range *range, log_export **out,
                            ee_error *error);
void log_export_free(log_export *self);

/* Adds lines until the text has at least this size. *over: there are no more. */
ee_status log_export_fill(log_export *self, text *into, size_t size, bool *over, ee_error *error);

#endif
