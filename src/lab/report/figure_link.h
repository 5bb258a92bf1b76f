/* Links from a page to the figures beside the results. */
#ifndef EENET_FIGURE_LINK_H
#define EENET_FIGURE_LINK_H

#include "data/values/text.h"

/* *out: the folder of the results as a link from the page, "" or "../my%20runs/"; free with memory_free. page: the path
 * of the page, in an existing folder. */
ee_status figure_link_folder(const char *folder, const char *page, char **out, ee_error *error);

/* Adds a link to figures/NAME.svg in that folder. */
void figure_link(text *page, const char *folder, const char *name);

#endif
