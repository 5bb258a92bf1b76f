/* A survey as bytes, for what is kept in the cache. */
#ifndef EENET_SURVEY_ARCHIVE_H
#define EENET_SURVEY_ARCHIVE_H

#include "base/archive.h"
#include "survey.h"

/* Writes all of the survey; or reads into one that is empty, and stays so where that fails. */
void survey_visit(archive *a, survey *of);

#endif
