/* Where the results lie, and how a page finds the figures beside them. */
#ifndef EENET_REPORT_PLACE_H
#define EENET_REPORT_PLACE_H

#include "data/values/text.h"

typedef struct report_place {
    char *way; /* from the page to the folder of the results, as links have it: "" or "../my%20runs/" */
} report_place;

/* page: the file that the page will be, in a folder that is there. out is to be released, on failure too. */
ee_status report_place_find(const char *folder, const char *page, report_place *out, ee_error *error);
void report_place_release(report_place *of);

/* A link to figures/NAME.svg. */
void report_place_link(text *page, const report_place *place, const char *name);

#endif
