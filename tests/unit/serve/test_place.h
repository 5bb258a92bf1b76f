/* Where the store of a test is: a folder of its own, or with the variable EENET_TEST_POSTGRES an empty database. */
#ifndef EENET_TEST_PLACE_H
#define EENET_TEST_PLACE_H

#include "serve/fresh_database.h"

typedef struct test_place {
    char where[600];
    test_folder folder;
    fresh_database database;
} test_place;

static inline test_place test_place_make(void)
{
    test_place self = {.folder = folder_make()};
    if (test_postgres()) self.database = database_make();
    snprintf(self.where, sizeof self.where, "%s", test_postgres() ? self.database.where : self.folder.path);
    return self;
}

static inline void test_place_remove(test_place *self)
{
    if (test_postgres()) database_remove(&self->database);
    folder_remove(&self->folder);
}

/* Of a call that fails: its status, and a part of its message. */
#define assert_fails(call, expected, error, part)                                                                      \
    do {                                                                                                               \
        assert_int_equal(call, expected);                                                                              \
        assert_message_has((error).message, part);                                                                     \
    } while (0)

/* For a test of SQLite's files. */
static inline void only_in_a_folder(void)
{
    if (test_postgres()) skip();
}

/* For a test of PostgreSQL. */
static inline void only_in_a_database(void)
{
    if (!test_postgres()) skip();
}

#endif
