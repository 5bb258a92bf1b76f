/* Opens a store where it is: in a folder, or in a database. */
#include "serve/store/place_name.h"
#include "serve/store/postgres/store_pg.h"
#include "serve/store/sqlite/store_sqlite.h"

ee_status store_open(const char *where, store **out, ee_error *error)
{
    return place_is_database(where) ? pg_store_open(where, 0, false, out, error) : sqlite_store_open(where, out, error);
}

ee_status store_open_shared(const char *where, uint64_t server, bool synchronous, store **out, ee_error *error)
{
    return pg_store_open(where, server, synchronous, out, error);
}

ee_status store_open_reader(const char *where, store_reader **out, ee_error *error)
{
    return place_is_database(where) ? pg_reader_open(where, out, error) : sqlite_reader_open(where, out, error);
}
