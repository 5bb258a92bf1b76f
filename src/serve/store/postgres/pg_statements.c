/* The statements of the writer with PostgreSQL. Rows of a group are arrays, one for each column. The session plans
 * nested loops and index scans only (pg_connection.h), so the arrays are always the outer loop. */
#include "pg_writer.h"

#define DECISION_COLUMNS "place, time, request_a, request_b, rewards, settled, value, inactive, slots, metrics"
#define DECISION_COLUMNS_OF_D                                                                                          \
    "d.place, d.time, d.request_a, d.request_b, d.rewards, d.settled, d.value, d.inactive, d.slots, d.metrics"
#define END_COLUMN_NAMES "bandit, first, last, sum, settled_to, kept, checksum"
/* For a prepared statement of a table's rows of a bandit. */
#define PURGE(table, rows)                                                                                             \
    "DELETE FROM eenet." table " WHERE ctid = ANY(ARRAY(SELECT ctid FROM eenet." table " WHERE " rows                  \
    " AND $1::int8 < $2::int8 LIMIT $3::int8))"

const char *const pg_writer_sql[PG_STATEMENTS] = {
    [PG_BEGIN] = "BEGIN ISOLATION LEVEL READ COMMITTED",
    [PG_COMMIT] = "COMMIT",
    [PG_ROLLBACK] = "ROLLBACK",

    /* ---- owners ---- */
    [PG_LOAD_BANDITS] =
        "SELECT b.number, b.archived, b.settled_to, b.settings, b.purged,"
        " e.bandit, e.first, e.last, e.sum, e.settled_to, e.kept, e.checksum, e.token, e.owner,"
        " (SELECT place FROM eenet.events WHERE place > b.number << 40 AND place < (b.number + 1) << 40"
        " ORDER BY place LIMIT 1), l.place, l.time,"
        " (SELECT count(*) FROM eenet.unclaimed WHERE bandit = b.number AND b.purged = 0),"
        " (SELECT count(*) FROM eenet.decisions WHERE settled = 0 AND place > (b.number << 40 | b.settled_to)"
        " AND place < (b.number + 1) << 40 AND b.purged = 0)"
        " FROM eenet.bandits b LEFT JOIN eenet.log_ends e ON e.bandit = b.number LEFT JOIN LATERAL"
        " (SELECT place, time FROM eenet.events WHERE place > b.number << 40 AND place < (b.number + 1) << 40"
        " ORDER BY place DESC LIMIT 1) l ON true WHERE b.number > $1::int8 ORDER BY b.number LIMIT $2::int8",
    [PG_LAST_BANDIT] = "SELECT coalesce(max(number), 0) FROM eenet.bandits",
    [PG_FIND_TOKEN] = "SELECT token FROM eenet.log_ends WHERE bandit = $1::int8 AND owner = $2::int8",
    [PG_IS_PURGED] = "SELECT 1 FROM eenet.bandits WHERE number = $1::int8 AND purged > 0",
    [PG_LOCK_ENDS] = "SELECT " END_COLUMN_NAMES ", token, owner FROM eenet.log_ends WHERE bandit = ANY($1::int8[])"
                     " ORDER BY bandit FOR UPDATE",
    [PG_HAS_EVENT] = "SELECT 1 FROM eenet.events WHERE place = $1::int8 AND checksum = $2::int8",
    [PG_HAS_END] = "SELECT 1 FROM eenet.log_ends WHERE bandit = $1::int8 AND checksum = $2::int8",

    /* ---- what a group refers to ---- */
    [PG_FETCH_DECISIONS] = "SELECT " DECISION_COLUMNS_OF_D
                           ", w.row FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS w (bandit, id, row)"
                           " JOIN eenet.ids i ON i.bandit = w.bandit AND i.id = w.id"
                           " JOIN eenet.decisions d ON d.place = (w.bandit << 40 | i.number)",
    [PG_FETCH_UNCLAIMED] =
        "SELECT e.place, e.kind, e.time, e.id, e.decision, e.value, e.outcome, e.reward_id, e.body, e.checksum,"
        " w.row, u.number FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS w (bandit, id, row)"
        " JOIN eenet.unclaimed u ON u.bandit = w.bandit AND u.id = w.id"
        " LEFT JOIN eenet.events e ON e.place = (w.bandit << 40 | u.number) ORDER BY w.row, u.number",
    [PG_FETCH_REWARD_IDS] =
        "SELECT w.row, r.value, r.outcome FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::int8[])"
        " AS w (bandit, id, reward_id, row)"
        " JOIN eenet.reward_ids r ON r.bandit = w.bandit AND r.id = w.id AND r.reward_id = w.reward_id",
    [PG_FETCH_NAMES] = "SELECT w.row FROM unnest($1::text[], $2::int8[]) AS w (name, row)"
                       " JOIN eenet.bandits b ON b.name = w.name",
    [PG_FETCH_SLOTS] =
        "SELECT " DECISION_COLUMNS_OF_D ", w.bandit FROM unnest($1::int8[], $2::int8[]) AS w (place, bandit)"
        " JOIN eenet.decisions d ON d.place = w.place",
    [PG_FIND_WAITING] = "SELECT " DECISION_COLUMNS " FROM eenet.decisions WHERE place > $1::int8 AND place < $2::int8"
                        " ORDER BY place LIMIT $3::int8",
    [PG_READ_BANDIT] = "SELECT name, archived, first_settings FROM eenet.bandits WHERE number = $1::int8",

    /* ---- what a group changes ---- */
    [PG_WRITE_BANDIT] = "INSERT INTO eenet.bandits (number, name, checksum) VALUES ($1::int8, $2::text, $3::int8)",
    [PG_WRITE_CHANGES] = "UPDATE eenet.bandits b SET archived = n.archived, settled_to = n.settled_to,"
                         " settings = coalesce(n.settings, b.settings)"
                         " FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[])"
                         " AS n (number, archived, settled_to, settings) WHERE b.number = n.number",
    [PG_SET_CHECKSUM] = "UPDATE eenet.bandits SET checksum = $2::int8 WHERE number = $1::int8",
    [PG_ADD_END] = "INSERT INTO eenet.log_ends (" END_COLUMN_NAMES ", owner, token) VALUES"
                   " ($1::int8, $2::int8, $3::int8, $4::int8, $5::int8, $6::int8, $7::int8, $8::int8, 1)",
    [PG_SET_ENDS] = "UPDATE eenet.log_ends e SET first = n.first, last = n.last, sum = n.sum,"
                    " settled_to = n.settled_to, kept = n.kept, checksum = n.checksum FROM unnest($1::int8[],"
                    " $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[])"
                    " AS n (" END_COLUMN_NAMES ") WHERE e.bandit = n.bandit",
    [PG_COUNT_CHANGE] = "UPDATE eenet.fleet SET changes = changes + 1",
    [PG_WRITE_EVENTS] = "INSERT INTO eenet.events (place, kind, time, id, decision, value, outcome, reward_id, body,"
                        " checksum) SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[],"
                        " $6::float8[], $7::int8[], $8::bytea[], $9::bytea[], $10::int8[])",
    [PG_WRITE_DECISIONS] =
        "INSERT INTO eenet.decisions (" DECISION_COLUMNS ") SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[],"
        " $4::int8[], $5::int8[], $6::int8[], $7::float8[], $8::int8[], $9::int8[], $10::bytea[])",
    [PG_CHANGE_DECISIONS] = "UPDATE eenet.decisions d SET rewards = n.rewards, settled = n.settled, value = n.value,"
                            " inactive = n.inactive, metrics = n.metrics"
                            " FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::float8[], $5::int8[], $6::bytea[])"
                            " AS n (place, rewards, settled, value, inactive, metrics) WHERE d.place = n.place",
    [PG_WRITE_IDS] = "INSERT INTO eenet.ids (bandit, id, number)"
                     " SELECT * FROM unnest($1::int8[], $2::bytea[], $3::int8[])",
    [PG_WRITE_REWARD_IDS] = "INSERT INTO eenet.reward_ids (bandit, id, reward_id, value, outcome)"
                            " SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::float8[], $5::int8[])",
    [PG_WRITE_UNCLAIMED] = "INSERT INTO eenet.unclaimed (bandit, id, number)"
                           " SELECT * FROM unnest($1::int8[], $2::bytea[], $3::int8[])",
    [PG_REMOVE_UNCLAIMED] = "DELETE FROM eenet.unclaimed u USING unnest($1::int8[], $2::bytea[], $3::int8[])"
                            " AS w (bandit, id, number) WHERE u.bandit = w.bandit AND u.id = w.id"
                            " AND u.number = w.number RETURNING u.number",
    [PG_WRITE_CLOCK] = "INSERT INTO eenet.clock (time, ahead, in_doubt, checksum) VALUES ($1::int8, $2::int8,"
                       " $3::int8, $4::int8) ON CONFLICT (time) DO UPDATE SET ahead = excluded.ahead,"
                       " in_doubt = excluded.in_doubt, checksum = excluded.checksum",
    [PG_SUM_CLOCK] = "SELECT checksum FROM eenet.clock",
    /* The position may be lower than expected: a failover without synchronous replication loses the last commits. */
    [PG_DELIVER] = "INSERT INTO eenet.spools (spool, delivered) VALUES ($1::text, $2::int8) ON CONFLICT (spool)"
                   " DO UPDATE SET delivered = excluded.delivered WHERE spools.delivered <= $3::int8",
    /* Even if nothing changes, it writes a new version of the row. */
    [PG_PROBE] = "UPDATE eenet.log_ends SET kept = kept WHERE bandit = 0",

    /* ---- removing and erasing ---- */
    [PG_FIND_OLDEST] = "SELECT e.place, e.kind, e.time, e.id, e.decision, e.reward_id, e.checksum, d.slots,"
                       " (SELECT count(*) FROM eenet.decisions o WHERE o.place >= d.place"
                       " AND o.place < d.place + greatest(d.slots, 1) AND o.settled = 0)"
                       " FROM eenet.events e LEFT JOIN eenet.decisions d ON d.place = e.place AND e.kind = 1"
                       " WHERE e.place > $1::int8 AND e.place < $2::int8 ORDER BY e.place LIMIT $3::int8",
    [PG_FIND_REWARD_IDS] = "SELECT r.id, r.reward_id, r.value, r.outcome FROM unnest($2::bytea[], $3::bytea[])"
                           " AS w (id, reward_id) JOIN eenet.reward_ids r ON r.bandit = $1::int8 AND r.id = w.id"
                           " AND r.reward_id = w.reward_id",
    [PG_FIND_EARLY] = "SELECT r.id, r.reward_id, r.value, r.outcome FROM unnest($2::bytea[]) AS w (id)"
                      " JOIN eenet.reward_ids r ON r.bandit = $1::int8 AND r.id = w.id AND r.outcome = 4",
    [PG_REMOVE_REWARD_IDS] = "DELETE FROM eenet.reward_ids r USING unnest($2::bytea[], $3::bytea[])"
                             " AS w (id, reward_id) WHERE r.bandit = $1::int8 AND r.id = w.id"
                             " AND r.reward_id = w.reward_id",
    [PG_FORGET_IDS] = "DELETE FROM eenet.ids i USING unnest($2::bytea[]) AS w (id)"
                      " WHERE i.bandit = $1::int8 AND i.id = w.id",
    [PG_FORGET_REWARD_IDS] = "DELETE FROM eenet.reward_ids r USING unnest($2::bytea[]) AS w (id)"
                             " WHERE r.bandit = $1::int8 AND r.id = w.id",
    [PG_REMOVE_DECISIONS] = "DELETE FROM eenet.decisions WHERE place = ANY($1::int8[])",
    [PG_REMOVE_EVENTS] = "DELETE FROM eenet.events WHERE place > $1::int8 AND place <= $2::int8",
    [PG_READ_BODY] = "SELECT body FROM eenet.events WHERE place = $1::int8",
    [PG_KEEP_SETTINGS] =
        "UPDATE eenet.bandits SET first_settings = $2::text, checksum = $3::int8 WHERE number = $1::int8",
    [PG_PURGE] = "UPDATE eenet.bandits SET name = $2::text, archived = 1, settled_to = 0, settings = NULL,"
                 " first_settings = NULL, purged = 1, checksum = $3::int8 WHERE number = $1::int8",
    [PG_PURGE_EVENTS] = PURGE("events", "place > $1::int8 AND place < $2::int8"),
    [PG_PURGE_DECISIONS] = PURGE("decisions", "place > $1::int8 AND place < $2::int8"),
    [PG_PURGE_IDS] = PURGE("ids", "bandit = $1::int8 >> 40"),
    [PG_PURGE_REWARD_IDS] = PURGE("reward_ids", "bandit = $1::int8 >> 40"),
    [PG_PURGE_UNCLAIMED] = PURGE("unclaimed", "bandit = $1::int8 >> 40"),
    [PG_PURGE_END] = "UPDATE eenet.bandits SET purged = 2 WHERE number = $1::int8",
    [PG_LIST_PURGED] = "SELECT number FROM eenet.bandits WHERE purged = 1 AND number > $1::int8 ORDER BY number",
    [PG_READ_EVENTS] = "SELECT e.place, e.kind, e.time, e.id, e.decision, e.outcome, e.reward_id, e.checksum, d.slots"
                       " FROM (SELECT DISTINCT unnest($1::int8[]) AS place) w JOIN eenet.events e ON e.place = w.place"
                       " LEFT JOIN eenet.decisions d ON d.place = e.place AND e.kind = 1",
    [PG_BLANK_EVENTS] = "UPDATE eenet.events e SET id = NULL, value = NULL, reward_id = NULL, body = NULL,"
                        " checksum = n.checksum FROM unnest($1::int8[], $2::int8[]) AS n (place, checksum)"
                        " WHERE e.place = n.place",
};
