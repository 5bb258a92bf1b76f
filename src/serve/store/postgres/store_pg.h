/* Private to the implementation with PostgreSQL. The tables: pg_schema.c. */
#ifndef EENET_STORE_PG_H
#define EENET_STORE_PG_H

#include "pg_connection.h"
#include "serve/store/store_methods.h"

/* server 0: owns all bandits, alone. Else a server of a fleet, which owns what store_own says. synchronous: as
 * store_open_shared. */
ee_status pg_store_open(const char *where, uint64_t server, bool synchronous, store **out, ee_error *error);
/* Statements of readers: for the test of their plans. */
enum { PG_READER_STATEMENTS = 15 };
extern const char *const pg_reader_sql[PG_READER_STATEMENTS];
ee_status pg_reader_open(const char *where, store_reader **out, ee_error *error);

#endif
