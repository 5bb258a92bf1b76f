#include "copy_side.h"

const copy_form copy_forms[COPY_TABLES] = {
    [COPY_FILES] = {"blobs", {"bandit", "kind", "key", "part", "bytes"}, "iitib", 4, "bytes", "kind <> 0"},
    [COPY_MODELS] = {"blobs", {"bandit", "kind", "key", "part", "bytes"}, "iitib", 4, "bytes", "kind = 0"},
    [COPY_BANDITS] = {"bandits",
                      {"number", "name", "archived", "settled_to", "settings", "first_settings", "checksum", "purged"},
                      "itiittii",
                      1,
                      NULL,
                      NULL},
    [COPY_LOG_ENDS] =
        {"log_ends", {"bandit", "first", "last", "sum", "settled_to", "kept", "checksum"}, "iiiiiii", 1, NULL, NULL},
    [COPY_CLOCK] = {"clock", {"time", "ahead", "in_doubt", "checksum"}, "iiii", 1, NULL, NULL},
    [COPY_EVENTS] = {"events",
                     {"place", "kind", "time", "id", "decision", "value", "outcome", "reward_id", "body", "checksum"},
                     "iiidiridbi",
                     1,
                     "body",
                     NULL},
    [COPY_DECISIONS] = {"decisions",
                        {"place", "time", "request_a", "request_b", "rewards", "settled", "value", "inactive", "slots",
                         "metrics"},
                        "iiiiiiriib",
                        1,
                        NULL,
                        NULL},
    [COPY_IDS] = {"ids", {"bandit", "id", "number"}, "idi", 2, NULL, NULL},
    [COPY_REWARD_IDS] = {"reward_ids", {"bandit", "id", "reward_id", "value", "outcome"}, "iddri", 3, NULL, NULL},
    [COPY_UNCLAIMED] = {"unclaimed", {"bandit", "id", "number"}, "idi", 3, NULL, NULL},
    [COPY_AUDIT] = {"audit", {"number", "entry"}, "it", 1, "entry", NULL},
};

ee_status copy_rows_add(copy_rows *rows, int columns, copy_cell **row, ee_error *error)
{
    size_t used = rows->count * (size_t)columns;
    ee_status status =
        memory_grow(NULL, &rows->cells, &rows->capacity, used + (size_t)columns, sizeof *rows->cells, error);
    if (status) return status;
    *row = rows->cells + used;
    rows->count++;
    return EE_OK;
}

void copy_rows_free(copy_rows *rows)
{
    memory_free(rows->cells);
    *rows = (copy_rows){0};
}
