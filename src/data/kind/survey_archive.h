/* A survey as bytes, for the cache. */
#ifndef EENET_SURVEY_ARCHIVE_H
#define EENET_SURVEY_ARCHIVE_H

#include "base/archive.h"
#include "survey.h"

/* Writes the whole survey, or reads into an empty one, which stays empty on failure. */
void survey_visit(archive *a, survey *of);

#endif
