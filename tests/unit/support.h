/* What the unit tests share: stored numbers, comparison of numbers, memory that ends at a wall. */
#ifndef EENET_TEST_SUPPORT_H
#define EENET_TEST_SUPPORT_H

/* cmocka.h needs the first four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "eenet.h"

/* Sanitizers and emulators make all ten times as slow, and find in a few repetitions what they find in many. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(EENET_EMULATED)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* ---- tests register themselves, in the order of the file:
 *
 *     TEST(adds) { assert_int_equal(add(1, 2), 3); }
 *     TEST_WITH(writes, make_folder, remove_folder) { ... *state ... }
 *
 * All files of a folder of tests/unit are one program, for example unit_data:
 *
 *     unit_data                         runs all files, each in a process of its own
 *     unit_data test_rows               runs the tests of test_rows.c
 *     unit_data test_rows 'quoted*'     runs those whose names match
 *     unit_data --list                  prints the files ---- */

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* set_up and tear_down run before and after the test, as cmocka's; NULL: none. */
#define TEST_WITH(name, set_up, tear_down)                                                                             \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        test_register(__FILE__, &(const struct CMUnitTest){#name, name, set_up, tear_down, NULL});                     \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **state)

/* Runs set_up before the first test of the file and tear_down after the last. */
#define TEST_GROUP(set_up, tear_down)                                                                                  \
    __attribute__((constructor)) static void register_group(void)                                                      \
    {                                                                                                                  \
        test_register_group(__FILE__, set_up, tear_down);                                                              \
    }

/* What the file does instead of its tests if the program is called with its name, --run and a word: in another process
 * of a test, or for a developer. */
#define TEST_COMMAND(run)                                                                                              \
    __attribute__((constructor)) static void register_command(void)                                                    \
    {                                                                                                                  \
        test_register_command(__FILE__, run);                                                                          \
    }

void test_register(const char *file, const struct CMUnitTest *test);
void test_register_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);
void test_register_command(const char *file, int (*run)(const char *word));

/* The first number, or the second if EENET_TEST_LONG is set: make test-all sets it for tests that repeat themselves. */
size_t test_long(size_t usual, size_t longer);

/* A text as the code has it. */
json_text words(const char *plain);

/* Waits for what another thread or process does, where nothing tells of it: looks again and again. Fails the test after
 * ten minutes. */
#define AWAIT(condition)                                                                                               \
    for (unsigned looks = 0; !(condition); looks++) await_pause(looks, #condition, __FILE__, __LINE__)
void await_pause(unsigned looks, const char *condition, const char *file, int line);

/* Fails the test if the call does not return EE_OK, and prints the call, the status and what it wrote to last_error. */
#define ok(call) ok_assert(call, #call, __FILE__, __LINE__)
void ok_assert(ee_status status, const char *call, const char *file, int line);

/* Fails the test unless the call returns this status, and writes it and the sentence to last_error:
 *
 *     refuses(ee_bandit_learn(NULL, 1, 1, &last_error), "learn: bandit must not be NULL"); */
#define fails_with(call, status, sentence) fails_assert(call, status, sentence, #call, __FILE__, __LINE__)
#define refuses(call, sentence) fails_assert(call, EE_BAD_INPUT, sentence, #call, __FILE__, __LINE__)
void fails_assert(ee_status got, ee_status status, const char *sentence, const char *call, const char *file, int line);
extern ee_error last_error;

/* ---- released where the scope of the variable ends, as json_auto_t of Jansson is. The variable is set before the
 * scope is left, and may be NULL:
 *
 *     auto_bandit *bandit = bandit_make("uniform", 4, 1, NULL);
 *     auto_free float *expected = golden_floats(numbers, NULL);
 *     RELEASED_BY(guard_free) guard wall; ---- */

#define RELEASED_BY(release) __attribute__((cleanup(release)))
#define auto_bandit RELEASED_BY(release_bandit) ee_bandit
#define auto_snapshot RELEASED_BY(release_snapshot) ee_snapshot
#define auto_scratch RELEASED_BY(release_scratch) ee_scratch
#define auto_round RELEASED_BY(release_round) ee_round
#define auto_free RELEASED_BY(release_block)              /* by free */
#define auto_memory RELEASED_BY(release_memory)           /* by memory_free */
#define auto_archive RELEASED_BY(release_archive) archive /* what was written */

void release_bandit(ee_bandit **place);
void release_snapshot(ee_snapshot **place);
void release_scratch(ee_scratch **place);
void release_round(ee_round **place);
void release_block(void *place);
void release_memory(void *place);
void release_archive(archive *place);

/* ---- stored numbers: the files of tests/golden, or of the folder that the variable EENET_GOLDEN_DIR names. A file
 * that this folder lacks is taken from tests/golden, so that it need hold new numbers alone. ---- */

/* The file of that name, as "lle.json"; to be released with json_decref. The test fails where it cannot be read. */
json_t *golden_load(const char *name);

/* A member of an object, borrowed from it. The test fails where there is none. */
json_t *golden_member(const json_t *object, const char *key);

/* The numbers of an array, or of arrays within arrays to any depth, in the order in which they stand. To be freed with
 * free. The test fails on anything that is not a number. count may be NULL. */
double *golden_doubles(const json_t *array, size_t *count);
float *golden_floats(const json_t *array, size_t *count);

/* ---- comparison: |got - expected| <= tolerance * max(1, |expected|), never true of a NaN ---- */

bool close_enough(double got, double expected, double tolerance);

/* The first index where the two are not close; count where there is none. */
size_t close_first_wrong(const float *got, const float *expected, size_t count, double tolerance);

/* Macros for the place that a failure names: the caller's. */
#define assert_close(got, expected, tolerance) close_assert(got, expected, tolerance, __FILE__, __LINE__)
#define assert_floats_close(got, expected, count, tolerance)                                                           \
    close_assert_floats(got, expected, count, tolerance, __FILE__, __LINE__)

void close_assert(double got, double expected, double tolerance, const char *file, int line);
void close_assert_floats(const float *got, const float *expected, size_t count, double tolerance, const char *file,
                         int line);

/* ---- memory that ends at a wall ---- */

typedef struct guard {
    void *pages;
    size_t size;
} guard;

/* Memory whose end is the start of a page that nobody may touch: reading or writing one past the end kills the test.
 * It holds 0xff bytes (NaNs, as floats), so what is read before it is written shows. The start is as unaligned as the
 * count makes it. To be freed with guard_free. */
float *guard_end(guard *g, size_t count);
void *guard_end_bytes(guard *g, size_t size);
void guard_free(guard *g);

#endif
