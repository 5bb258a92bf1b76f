/* Whether servers use a database: for commands that need it to be left alone. */
#ifndef EENET_PG_SERVED_H
#define EENET_PG_SERVED_H

#include "pg_connection.h"

/* The session advisory lock of a process that owns a database alone. */
enum { PG_ALONE_LOCK = 1162167893 };

/* EE_FILE_ERROR with a sentence that names them if servers are alive: if the beat of one grows within two seconds, for
 * which the call waits if servers are listed; or if a process owns the database alone. If nothing uses it, the session
 * owns it alone from now on. wanted (may be NULL): false stops it, which fails. */
ee_status pg_refuse_served(pg_connection *on, const char *where, bool (*wanted)(void *context), void *context,
                           ee_error *error);

#endif
