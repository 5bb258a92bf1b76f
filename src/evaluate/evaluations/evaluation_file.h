/* Evaluations stored in a folder: evaluations.jsonl, one line of JSON per candidate (data/files/line_file.h).
 *
 *     {"log":"last-month.dsjson","fingerprint":"0123456789abcdef","asked":"progressive f1 cs 0.95 ...",
 *      "candidate":"eenet","options":"f1.width=100 ...","seed":0,
 *      "mode":"progressive","model":"f1","interval":"cs","confidence":0.95,
 *      "events":10000,"learned":0,"skipped":12,"passed":3,"rounds":10000,"features":true,
 *      "reward":0.1,"reward_low":0.09,"reward_high":0.11,"range_low":0,"range_high":1,"range_weight":100,
 *      "first_time":1.6e9,"last_time":1.7e9,
 *      "estimators":[{"name":"dr","value":0.2,"low":0.1,"high":0.3,"gain":0.1,"gain_low":0,"gain_high":0.2,
 *                     "lambda":null}],
 *      "left_out":{"control":1900,"waiting":0,"fallback":0,"repeats":410},   only if there are any
 *      "metrics":[{"name":"refund","better":"smaller","events":10000,"logged":0.1,...,"estimators":[...]}],   the same
 *      "facts":{"effective":812.5,"largest_weight":9.1,...},
 *      "trusted":true,"sentences":[{"grave":false,"log":true,"text":"..."}],"headline":"...",
 *      "headline_estimator":"dr",
 *      "marks":[[100,null,0.1,[0.2,0.1,0.3],...],...],   events, time, log's mean reward; a triple an estimator
 *      "weights":[...],"overlap":[...],"seconds":1.2,"version":"0.1.0","kernels":"neon"}
 *
 * null is an unknown number. Readers skip a line truncated by a crash; the next writer removes it. */
#ifndef EENET_EVALUATION_FILE_H
#define EENET_EVALUATION_FILE_H

#include "evaluation.h"
#include "pareto.h"

/* One line. The strings belong to the list. */
typedef struct stored_evaluation {
    char *log;                     /* the text that named it */
    char *asked;                   /* everything that the numbers depend on besides log, candidate, options and seed */
    char *mode, *model, *interval; /* as requested: "split=0.5", "f1", "cs" */
    double confidence;
    char *estimators[EVALUATION_ESTIMATORS]; /* (estimator_count) names, in the order of result.estimates */
    size_t estimator_count;
    evaluation_result result; /* finished and read */
    char *version;            /* of eenet, and the kernels: "0.1.0 neon" */
} stored_evaluation;

typedef struct stored_evaluations {
    stored_evaluation *rows; /* (count) in the order of the lines */
    size_t count, capacity;
} stored_evaluations;

/* EE_NO_FILE if the folder has no evaluations. out starts as zeros; release it, also after a failure. */
ee_status evaluations_read(const char *folder, stored_evaluations *out, ee_error *error);
void evaluations_release(stored_evaluations *list);

/* The place of the estimator that the candidates are compared by: the headline's (evaluation_headline_estimator); the
 * first if there is none. */
size_t evaluations_lead(const stored_evaluation *row);

/* One complete line without its newline; number is its line number, for the message. out starts as zeros; release it
 * with its list, also after a failure. */
ee_status evaluations_parse(const char *line, size_t length, size_t number, stored_evaluation *out, ee_error *error);

/* The line, with its newline; free with memory_free. front: the candidate's place among all of the request, which is
 * not stored; NULL: unknown. */
ee_status evaluations_format(const evaluation_request *request, const evaluation_result *result,
                             const pareto_place *front, char **line, size_t *length, ee_error *error);

/* The request as text: a stored result is reused only if it is equal. */
ee_status evaluations_asked(const evaluation_request *request, char **asked, ee_error *error);

/* The file's name in its folder; see line_file.h for how it is written. */
extern const char evaluations_name[];

#endif
