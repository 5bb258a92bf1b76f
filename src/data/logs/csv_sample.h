/* The first events of a CSV log, from which its columns are judged: which are keys, times, consequences of the action
 * or of the reward, and so no context. */
#ifndef EENET_CSV_SAMPLE_H
#define EENET_CSV_SAMPLE_H

#include "base/json.h"
#include "data/files/rows.h"

typedef struct csv_sample csv_sample;

/* Events in a sample, at most; and cells, so that a file with many columns takes no more memory. */
enum { CSV_SAMPLE_EVENTS = 10000, CSV_SAMPLE_CELLS = 1000000 };

ee_status csv_sample_create(size_t width, csv_sample **out, ee_error *error);
void csv_sample_free(csv_sample *self);

bool csv_sample_is_full(const csv_sample *self);

/* fields is (width). Ignored if the sample is full. */
void csv_sample_add(csv_sample *self, const field *fields, json_text action, double reward);

/* Why a column is not context. KEY: by its name. FOLLOWS: each action has one value. LEAKS: it predicts the reward
 * almost perfectly. */
typedef enum csv_verdict { CSV_CONTEXT, CSV_KEY, CSV_UNIQUE, CSV_TIME, CSV_FOLLOWS, CSV_LEAKS } csv_verdict;

/* Judges one column. */
ee_status csv_sample_judge(const csv_sample *self, size_t column, const char *name, csv_verdict *out, ee_error *error);

#endif
