/* Finished runs as lines of JSON on stdout, in the order of the jobs. */
#ifndef EENET_JSON_LINES_H
#define EENET_JSON_LINES_H

#include "session.h"

/* A run that ends early waits for its turn. */
typedef struct json_lines {
    session *here;
    const run_request *request;
    char **lines; /* (job_count); NULL for a run that has not finished */
    bool *ended;  /* (job_count) */
    size_t next;  /* the first whose line is not printed */
    bool unheard; /* a line could not be written: print no more */
} json_lines;

/* Receives every run that ends in the session from now on. Call json_lines_end, on failure too. */
ee_status json_lines_start(json_lines *out, session *here, const run_request *request, ee_error *error);

/* Prints the waiting lines, once no more runs will end. */
void json_lines_print_rest(json_lines *out);

/* The same, and frees the memory. */
void json_lines_end(json_lines *out);

#endif
