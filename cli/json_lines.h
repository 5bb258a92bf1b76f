/* Finished runs as lines of JSON on stdout, in the order of the jobs. */
#ifndef EENET_JSON_LINES_H
#define EENET_JSON_LINES_H

#include "session.h"

/* A run that ended before its turn waits for it. */
typedef struct json_lines {
    session *here;
    const run_request *request;
    char **lines; /* (job_count); NULL for a run that has not finished */
    bool *ended;  /* (job_count) */
    size_t next;  /* the first whose line is not printed */
    bool unheard; /* a line could not be written: more of them would have no reader */
} json_lines;

/* Hears of every run that ends in the session, from now on. To be ended, on failure too. */
ee_status json_lines_start(json_lines *out, session *here, const run_request *request, ee_error *error);

/* Prints those that still wait: no more runs end. */
void json_lines_print_rest(json_lines *out);

/* The same, and frees what it took. */
void json_lines_end(json_lines *out);

#endif
