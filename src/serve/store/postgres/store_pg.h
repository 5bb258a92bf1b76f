/* Private to the implementation with PostgreSQL. The tables: pg_schema.c. */
#ifndef EENET_STORE_PG_H
#define EENET_STORE_PG_H

#include "pg_connection.h"
#include "serve/store/store_methods.h"

/* server 0: owns all bandits, alone. Else a server of a fleet, which owns what store_own says. synchronous: as
 * store_open_shared. */
ee_status pg_store_open(const char *where, uint64_t server, bool synchronous, store **out, ee_error *error);
ee_status pg_reader_open(const char *where, store_reader **out, ee_error *error);

#endif
