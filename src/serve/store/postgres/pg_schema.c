#include "pg_schema.h"

#include <inttypes.h>
#include <stdio.h>

#include "serve/store/row_checksum.h"

/* Never change a step that was released: add one. A server runs on a database with more steps than it knows if
 * `readable_by` is not above the number of its own steps: so two versions can run side by side during an upgrade.
 *
 * EXTERNAL: bodies are floats and packed texts, which hardly compress, and stay in the row up to 8 KB. */
static const char *const steps[] = {
    /* 1 */
    "CREATE TABLE eenet.bandits (\n"
    "  number bigint PRIMARY KEY,\n"
    "  name text NOT NULL UNIQUE,\n"
    "  archived bigint NOT NULL DEFAULT 0,\n"
    "  settled_to bigint NOT NULL DEFAULT 0,\n"
    "  settings text,\n"
    "  first_settings text,\n"
    "  checksum bigint,\n"
    "  purged bigint NOT NULL DEFAULT 0\n"
    ");"
    "CREATE TABLE eenet.events (\n"
    "  place bigint PRIMARY KEY, -- bandit << 40 | number\n"
    "  kind bigint NOT NULL,\n"
    "  time bigint NOT NULL,\n"
    "  id bytea,\n"
    "  decision bigint,\n"
    "  value float8,\n"
    "  outcome bigint,\n"
    "  reward_id bytea,\n"
    "  body bytea,\n"
    "  checksum bigint\n"
    ") WITH (toast_tuple_target = 8160);"
    "ALTER TABLE eenet.events ALTER COLUMN body SET STORAGE EXTERNAL;"
    "CREATE INDEX rare_events ON eenet.events (kind, place) WHERE kind >= 4 AND kind <> 8;"
    "CREATE TABLE eenet.decisions (\n"
    "  place bigint PRIMARY KEY,\n"
    "  time bigint NOT NULL,\n"
    "  request_a bigint NOT NULL,\n"
    "  request_b bigint NOT NULL,\n"
    "  rewards bigint NOT NULL,\n"
    "  settled bigint NOT NULL,\n"
    "  value float8 NOT NULL,\n"
    "  inactive bigint NOT NULL,\n"
    "  slots bigint NOT NULL\n"
    ") WITH (fillfactor = 80);"
    "CREATE TABLE eenet.ids (bandit bigint, id bytea, number bigint NOT NULL, PRIMARY KEY (bandit, id));"
    "CREATE TABLE eenet.reward_ids (bandit bigint, id bytea, reward_id bytea, value float8 NOT NULL,\n"
    "  outcome bigint NOT NULL, PRIMARY KEY (bandit, id, reward_id));"
    "CREATE TABLE eenet.unclaimed (bandit bigint, id bytea, number bigint, PRIMARY KEY (bandit, id, number));"
    "CREATE TABLE eenet.clock (time bigint PRIMARY KEY, ahead bigint NOT NULL, in_doubt bigint NOT NULL,\n"
    "  checksum bigint);"
    "CREATE TABLE eenet.log_ends (\n"
    "  bandit bigint PRIMARY KEY,\n"
    "  first bigint NOT NULL,\n"
    "  last bigint NOT NULL,\n"
    "  sum bigint NOT NULL,\n"
    "  settled_to bigint NOT NULL,\n"
    "  kept bigint NOT NULL,\n"
    "  checksum bigint NOT NULL,\n"
    "  owner bigint NOT NULL DEFAULT 0, -- number of the server; 0: none\n"
    "  token bigint NOT NULL DEFAULT 0 -- grows with each new owner\n"
    ") WITH (fillfactor = 50);"
    "CREATE TABLE eenet.servers (\n"
    "  number bigint PRIMARY KEY,\n"
    "  address text NOT NULL, -- where other servers reach it\n"
    "  version text NOT NULL,\n"
    "  beat bigint NOT NULL, -- grows while it is alive\n"
    "  state text NOT NULL, -- what it reports: JSON\n"
    "  started timestamptz NOT NULL DEFAULT clock_timestamp()\n"
    ") WITH (fillfactor = 50);"
    "CREATE SEQUENCE eenet.server_numbers;"
    "CREATE TABLE eenet.fleet (\n"
    "  changes bigint NOT NULL, -- grows when a lease, a bandit or the keys change\n"
    "  secret bytea NOT NULL, -- with which servers recognise each other\n"
    "  keys text NOT NULL DEFAULT '' -- API keys, as the keys file has them\n"
    ");"
    "INSERT INTO eenet.fleet (changes, secret) VALUES (1, uuid_send(gen_random_uuid()) || "
    "uuid_send(gen_random_uuid()));"
    "CREATE TABLE eenet.spools (spool text PRIMARY KEY, delivered bigint NOT NULL);"
    "CREATE TABLE eenet.blobs (\n"
    "  bandit bigint, kind bigint, key text, part bigint,\n"
    "  bytes bytea NOT NULL,\n"
    "  PRIMARY KEY (bandit, kind, key, part)\n"
    ");"
    "ALTER TABLE eenet.blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;"
    "CREATE TABLE eenet.audit (number bigserial PRIMARY KEY, entry text NOT NULL);"
    "CREATE VIEW eenet.log AS SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 1099511627775 AS number,\n"
    "  (ARRAY['decision', 'reward', 'settled', 'step', 'checkpoint', 'settings', 'model', 'activated', 'promotion',\n"
    "    'erased'])[kind] AS kind,\n"
    "  to_timestamp((time - coalesce((SELECT ahead FROM eenet.clock WHERE clock.time <= events.time\n"
    "    ORDER BY clock.time DESC LIMIT 1), 0)) / 1e6) AS time,\n"
    "  replace(convert_from(id, 'UTF8'), chr(31), '/') AS id, decision, value,\n"
    "  (ARRAY['joined', 'repeated', 'late', 'unknown', 'claimed', 'rewarded', 'default', 'nothing', "
    "'inactive'])[outcome]\n"
    "    AS outcome,\n"
    "  convert_from(reward_id, 'UTF8') AS reward_id, length(body) AS bytes\n"
    "FROM eenet.events JOIN eenet.bandits ON bandits.number = place >> 40 WHERE bandits.purged = 0;",
    /* 2: totals so far (metric_values.h); NULL: none, or settled */
    "ALTER TABLE eenet.decisions ADD COLUMN metrics bytea;",
    /* 3: the name of alarms */
    "CREATE OR REPLACE VIEW eenet.log AS SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 1099511627775 AS number,\n"
    "  (ARRAY['decision', 'reward', 'settled', 'step', 'checkpoint', 'settings', 'model', 'activated', 'promotion',\n"
    "    'erased', 'alarm'])[kind] AS kind,\n"
    "  to_timestamp((time - coalesce((SELECT ahead FROM eenet.clock WHERE clock.time <= events.time\n"
    "    ORDER BY clock.time DESC LIMIT 1), 0)) / 1e6) AS time,\n"
    "  replace(convert_from(id, 'UTF8'), chr(31), '/') AS id, decision, value,\n"
    "  (ARRAY['joined', 'repeated', 'late', 'unknown', 'claimed', 'rewarded', 'default', 'nothing', "
    "'inactive'])[outcome]\n"
    "    AS outcome,\n"
    "  convert_from(reward_id, 'UTF8') AS reward_id, length(body) AS bytes\n"
    "FROM eenet.events JOIN eenet.bandits ON bandits.number = place >> 40 WHERE bandits.purged = 0;",
};
enum { VERSION = sizeof steps / sizeof *steps };

/* A server that knows this many steps can still use a database with all of them. */
enum { READABLE_BY = 1 };

/* The version of the database, and the oldest that can use it; zeros: it has no tables. */
static ee_status read_version(pg_connection *on, int64_t *version, int64_t *readable_by, ee_error *error)
{
    PGresult *result = NULL;
    *version = *readable_by = 0;
    /* Not to_regclass: it may answer from a cache that is older than the lock. */
    ee_status status = pg_query(on,
                                "SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS n ON n.oid ="
                                " relnamespace WHERE nspname = 'eenet' AND relname = 'version'",
                                "read the tables", &result, error);
    bool exists = !status && PQntuples(result) > 0;
    PQclear(result);
    if (status || !exists) return status;
    status = pg_query(on, "SELECT version, readable_by FROM eenet.version", "read the tables", &result, error);
    if (!status && PQntuples(result)) {
        *version = pg_int8(result, 0, 0);
        *readable_by = pg_int8(result, 0, 1);
    }
    PQclear(result);
    return status;
}

static ee_status refuse_newer(int64_t version, int64_t readable_by, ee_error *error)
{
    if (version <= VERSION || readable_by <= VERSION) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "store: the database has version %" PRId64 ", written by a newer eenet; this one reads up to %d",
                       version, (int)VERSION);
}

/* The end of the table clock, which is also the lease of the leader. */
static ee_status add_leader(pg_connection *on, ee_error *error)
{
    char insert[160];
    row_checksum sum = {0};
    const int64_t columns[] = {0, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) row_add_integer(&sum, columns[i]);
    snprintf(insert, sizeof insert, "INSERT INTO eenet.log_ends VALUES (0, 1, 0, 0, 0, 0, %" PRId64 ")",
             row_checksum_end(&sum));
    return pg_execute(on, insert, "create the tables", error);
}

static ee_status apply_steps(pg_connection *on, int64_t version, ee_error *error)
{
    char mark[160];
    ee_status status = EE_OK;
    if (!version)
        status = pg_execute(on,
                            "CREATE SCHEMA IF NOT EXISTS eenet;"
                            "CREATE TABLE eenet.version (version bigint NOT NULL, readable_by bigint NOT NULL);"
                            "INSERT INTO eenet.version VALUES (0, 0)",
                            "create the tables", error);
    for (int64_t i = version; i < VERSION && !status; i++)
        status = pg_execute(on, steps[i], i ? "upgrade the tables" : "create the tables", error);
    if (!status && !version) status = add_leader(on, error);
    snprintf(mark, sizeof mark, "UPDATE eenet.version SET version = %d, readable_by = %d", (int)VERSION,
             (int)READABLE_BY);
    return status ? status : pg_execute(on, mark, "upgrade the tables", error);
}

/* One process at a time: the lock ends with the transaction. A busy machine may take longer from statement to statement
 * than other transactions may. */
static ee_status upgrade(pg_connection *on, ee_error *error)
{
    int64_t version = 0, readable_by = 0;
    ee_status status = pg_execute(on,
                                  "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '1min';"
                                  " SELECT pg_advisory_xact_lock(1162167892)",
                                  "lock the tables", error);
    if (!status) status = read_version(on, &version, &readable_by, error);
    if (!status) status = refuse_newer(version, readable_by, error);
    if (!status && version < VERSION) status = apply_steps(on, version, error);
    if (!status) return pg_execute(on, "COMMIT", "create the tables", error);
    if (!pg_is_broken(on)) pg_execute(on, "ROLLBACK", "roll back", NULL);
    return status;
}

ee_status pg_schema_prepare(pg_connection *on, ee_error *error)
{
    int64_t version, readable_by;
    ee_status status = read_version(on, &version, &readable_by, error);
    if (!status) status = refuse_newer(version, readable_by, error);
    return status || version >= VERSION ? status : upgrade(on, error);
}

ee_status pg_schema_check(pg_connection *on, ee_error *error)
{
    int64_t version, readable_by;
    ee_status status = read_version(on, &version, &readable_by, error);
    if (!status && !version)
        status = status_fail(error, EE_FILE_ERROR,
                             "store: the database has no tables of eenet; start a server on it first, or check the "
                             "name of the database");
    if (!status) status = refuse_newer(version, readable_by, error);
    if (!status && version < VERSION)
        status =
            status_fail(error, EE_FILE_ERROR,
                        "store: the database has version %" PRId64 "; start a server on it once to upgrade it to %d",
                        version, (int)VERSION);
    return status;
}
