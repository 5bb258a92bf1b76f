/* Bandit problems. A data set is read-only once it is open, so environments in several threads may share it. An
 * environment provides the rounds of one seed: the same seed gives the same rounds to every policy.
 *
 *     dataset *data;
 *     if (dataset_open("synthetic:cosine,dim=20", NULL, &data, &error)) ...
 *     environment *world;
 *     if (environment_create(data, seed, &world, &error)) ...
 *     environment_round round;
 *     while (!environment_next(world, &round, &error)) ...
 *     environment_free(world);
 *     dataset_free(data);
 */
#ifndef EENET_ENVIRONMENT_H
#define EENET_ENVIRONMENT_H

#include <stdbool.h>

#include "data/kind/environment_round.h"

/* Opens a data set given as kind, place or form, and options: "yelp:DIR", "table:FILE,label=target" or
 * "synthetic:cosine,dim=20". cache is a folder for slow preparations, created when first needed; NULL: no cache.
 * EE_BAD_OPTION if the text is wrong, EE_FILE_ERROR or EE_BAD_INPUT if the files are. */
ee_status dataset_open(const char *text, const char *cache, dataset **out, ee_error *error);
void dataset_free(dataset *data);

/* The same, but the cache is read-only: another program maintains it. */
ee_status dataset_open_reading(const char *text, const char *cache, dataset **out, ee_error *error);

/* Opens a table whose cells are in memory (table.h). text is "table:NAME,OPTION=VALUE...", with NAME instead of a file.
 * The cells are borrowed for the call. */
ee_status dataset_open_cells(const char *text, const table_cells *cells, dataset **out, ee_error *error);

/* The text given to dataset_open. */
const char *dataset_text(const dataset *data);

/* The same, to print a command that opens its files again. NULL without files, if the cells are in memory, or if the
 * text is not UTF-8. */
const char *dataset_source(const dataset *data);

/* The name in results: the text without folders, such as "yelp", "table:shuttle,label=target" or
 * "synthetic:cosine,dim=20". */
const char *dataset_name(const dataset *data);

/* A checksum of the bytes of its files; 0 without files. */
uint64_t dataset_fingerprint(const dataset *data);

size_t dataset_dim(const dataset *data);      /* features of an arm */
size_t dataset_arms(const dataset *data);     /* arms of a round */
size_t dataset_blocks(const dataset *data);   /* number of blocks if an arm is the context in one block; else 1 */
bool dataset_exclusive(const dataset *data);  /* at most one arm per round has more than the smallest reward */
uint64_t dataset_rounds(const dataset *data); /* number of rounds; 0: unlimited */

/* Number of rows, if each is a round and rows repeat after the last; 0 if every round is a new draw. */
uint64_t dataset_rows(const dataset *data);

/* How the data set was read (survey.h), with warnings about likely mistakes. */
typedef struct survey survey;
const survey *dataset_survey(const dataset *data);

/* How a row becomes the context, and the names of the arms (row_encoding.h); NULL without columns. */
const row_encoding *dataset_row_encoding(const dataset *data);

/* data must outlive the environment. */
ee_status environment_create(const dataset *data, uint64_t seed, environment **out, ee_error *error);
void environment_free(environment *world);

/* EE_BAD_INPUT after the last round, if the number of rounds is limited. */
ee_status environment_next(environment *world, environment_round *round, ee_error *error);

/* The kinds of data sets are numbered from 0; EE_BAD_INPUT past the last. The strings are constant. */
typedef struct dataset_info {
    const char *name;    /* "synthetic" */
    const char *form;    /* "synthetic:inner|quadratic|cosine[,OPTION=VALUE...]" */
    const char *summary; /* one line */
} dataset_info;

ee_status dataset_describe(size_t index, dataset_info *info, ee_error *error);

/* The options of kind number index are numbered from 0; EE_BAD_INPUT past the last. */
ee_status dataset_option_describe(size_t index, size_t option_index, ee_option *description, ee_error *error);

#endif
