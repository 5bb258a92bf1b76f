/* Whether two folders have the same rows in the tables of the store. */
#ifndef EENET_SAME_TABLES_H
#define EENET_SAME_TABLES_H

#include "serve/store_writer.h"

/* Counts with SQL what two folders have: main and other. */
static inline int64_t ask_both(const char *one, const char *other, const char *sql)
{
    sqlite3 *files;
    sqlite3_stmt *statement;
    char path[200], attach[300];
    snprintf(path, sizeof path, "%s/eenet.db", one);
    snprintf(attach, sizeof attach, "ATTACH '%s/eenet.db' AS other", other);
    assert_int_equal(sqlite3_open_v2(path, &files, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(files, attach, NULL, NULL, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(files, sql, -1, &statement, NULL)) fail_msg("%s", sqlite3_errmsg(files));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(files);
    return value;
}

/* All rows and their storage classes; EXCEPT takes 1 and 1.0 for equal. Returns how many rows there are. */
static inline int64_t assert_same_tables(const char *one, const char *other)
{
    static const char *const tables[] = {"bandits",    "events",    "decisions", "ids",
                                         "reward_ids", "unclaimed", "clock",     "log_ends"};
    char sql[300];
    int64_t rows = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *table = tables[i];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM other.%s) UNION ALL"
                 " SELECT * FROM (SELECT * FROM other.%s EXCEPT SELECT * FROM main.%s))",
                 table, table, table, table);
        if (ask_both(one, other, sql)) fail_msg("%s differs", table);
        snprintf(sql, sizeof sql, "SELECT (SELECT count(*) FROM main.%s) - (SELECT count(*) FROM other.%s)", table,
                 table);
        assert_int_equal(ask_both(one, other, sql), 0);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM main.%s", table);
        rows += ask_both(one, other, sql);
    }
    assert_int_equal(ask_both(one, other,
                              "SELECT count(*) FROM main.events AS a JOIN other.events AS b USING (place) WHERE"
                              " typeof(a.id) || typeof(a.value) || typeof(a.reward_id) || typeof(a.body) <>"
                              " typeof(b.id) || typeof(b.value) || typeof(b.reward_id) || typeof(b.body)"),
                     0);
    return rows;
}

#endif
