#include "pool.h"

#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "data/files/cache.h"
#include "survey_archive.h"

typedef struct pool_environment {
    environment head;
    const pool_dataset *pool;
    random_stream rounds;
    float *arms; /* (POOL_ARMS, dim) */
    double rewards[POOL_ARMS];
} pool_environment;

ee_status pool_reserve(pool_dataset *pool, size_t entries, ee_error *error)
{
    memory *owner = &pool->head.owner;
    ee_status status = memory_create(owner, &pool->ordinary, entries, sizeof *pool->ordinary, error);
    if (!status) status = memory_create(owner, &pool->wanted, entries, sizeof *pool->wanted, error);
    return status;
}

void pool_add(pool_dataset *pool, pool_entry entry, bool wanted)
{
    if (wanted)
        pool->wanted[pool->wanted_count++] = entry;
    else
        pool->ordinary[pool->ordinary_count++] = entry;
}

ee_status pool_finish(pool_dataset *pool, const char *name, ee_error *error)
{
    if (pool->ordinary_count < POOL_ORDINARY || pool->wanted_count < 1)
        return status_fail(error, EE_BAD_INPUT,
                           "%s: expected at least %d entries without reward and one with it, got %zu and %zu", name,
                           POOL_ORDINARY, pool->ordinary_count, pool->wanted_count);
    pool->head.arms = POOL_ARMS;
    pool->head.exclusive = true;
    pool->head.dim = 0;
    for (int i = 0; i < POOL_TABLES; i++) pool->head.dim += pool->tables[i].columns;
    return EE_OK;
}

/* ---- the rounds ---- */

ee_status pool_start(const dataset *data, uint64_t seed, environment **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof(pool_environment), error);
    if (status) return status;
    pool_environment *world = (pool_environment *)*out;
    world->pool = (const pool_dataset *)data;
    world->rounds = random_named(seed, "rounds");
    return memory_create(&world->head.owner, &world->arms, POOL_ARMS * data->dim, sizeof *world->arms, error);
}

/* Redraws duplicates: nine of tens of thousands rarely collide. picks is (POOL_ORDINARY). */
static void draw_distinct(random_stream *stream, size_t below, size_t *picks)
{
    for (size_t count = 0; count < POOL_ORDINARY;) {
        picks[count] = (size_t)random_below(stream, below);
        bool fresh = true;
        for (size_t i = 0; i < count; i++) fresh = fresh && picks[i] != picks[count];
        if (fresh) count++;
    }
}

static void fill_arm(const pool_dataset *pool, const pool_entry *from, float *arm)
{
    for (int i = 0; i < POOL_TABLES; i++) {
        const pool_table *table = &pool->tables[i];
        if (!table->columns) continue;
        memcpy(arm, table->values + from->row[i] * table->columns, table->columns * sizeof *arm);
        arm += table->columns;
    }
}

ee_status pool_next(environment *base, environment_round *round, ee_error *error)
{
    (void)error;
    pool_environment *world = (pool_environment *)base;
    const pool_dataset *pool = world->pool;
    size_t dim = pool->head.dim, picks[POOL_ORDINARY];
    size_t position = (size_t)random_below(&world->rounds, POOL_ARMS);
    const pool_entry *wanted = &pool->wanted[random_below(&world->rounds, pool->wanted_count)];
    draw_distinct(&world->rounds, pool->ordinary_count, picks);
    for (size_t arm = 0, pick = 0; arm < POOL_ARMS; arm++) {
        const pool_entry *from = arm == position ? wanted : &pool->ordinary[picks[pick++]];
        fill_arm(pool, from, world->arms + arm * dim);
        world->rewards[arm] = arm == position ? 1.0 : 0.0;
    }
    *round = (environment_round){ee_arms_dense(world->arms, POOL_ARMS, dim), world->rewards, world->rewards};
    return EE_OK;
}

/* ---- as bytes: for each table its rows, columns and values; the ordinary entries with their count, the wanted; the
 * survey ---- */

static void visit_table(archive *a, memory *owner, pool_table *table)
{
    size_t most = a->reading ? archive_remaining(a) / sizeof *table->values : SIZE_MAX;
    archive_size(a, &table->rows, 0, most, "the rows of a table");
    archive_size(a, &table->columns, 0, table->rows ? most / table->rows : most, "the columns of a table");
    size_t count = table->rows * table->columns;
    if (a->reading && !a->status)
        a->status = memory_create(owner, &table->values, count, sizeof *table->values, a->error);
    if (!a->status) archive_floats(a, table->values, count);
}

static void visit_entries(archive *a, memory *owner, pool_entry **entries, size_t *count, const pool_table *tables)
{
    archive_size(a, count, 0, a->reading ? archive_remaining(a) / sizeof **entries : SIZE_MAX, "the entries");
    if (a->reading && !a->status) a->status = memory_create(owner, entries, *count, sizeof **entries, a->error);
    for (size_t i = 0; i < *count && !a->status; i++) {
        archive_u32s(a, (*entries)[i].row, POOL_TABLES);
        for (int t = 0; t < POOL_TABLES; t++)
            if (tables[t].columns && (*entries)[i].row[t] >= tables[t].rows)
                archive_fail(a, EE_BAD_MODEL, "pool: an entry refers to a row that does not exist");
    }
}

static ee_status visit(archive *a, pool_dataset *pool, survey *seen)
{
    memory *owner = &pool->head.owner;
    for (int i = 0; i < POOL_TABLES; i++) visit_table(a, owner, &pool->tables[i]);
    visit_entries(a, owner, &pool->ordinary, &pool->ordinary_count, pool->tables);
    visit_entries(a, owner, &pool->wanted, &pool->wanted_count, pool->tables);
    survey_visit(a, seen);
    return a->status;
}

ee_status pool_save(const pool_dataset *pool, const survey *seen, uint8_t **bytes, size_t *size, ee_error *error)
{
    pool_dataset copy = *pool;
    survey seen_copy = *seen;
    archive a = archive_writer(error);
    ee_status status = visit(&a, &copy, &seen_copy);
    *bytes = a.bytes;
    *size = a.size;
    if (!status) return EE_OK;
    memory_free(*bytes);
    *bytes = NULL;
    return status;
}

ee_status pool_load(const uint8_t *bytes, size_t size, survey *seen, pool_dataset **out, ee_error *error)
{
    *out = NULL;
    pool_dataset *pool;
    ee_status status = memory_create_owner(NULL, &pool, sizeof *pool, error);
    if (status) return status;
    archive a = archive_reader(bytes, size, error);
    status = visit(&a, pool, seen);
    if (!status && archive_remaining(&a))
        status = status_fail(error, EE_BAD_MODEL, "pool: %zu unexpected bytes at the end", archive_remaining(&a));
    if (!status) status = pool_finish(pool, "pool", error);
    if (status)
        memory_release(&pool->head.owner);
    else
        *out = pool;
    return status;
}

pool_dataset *pool_read_cache(const char *cache, const char *kind, uint64_t key, survey *seen)
{
    uint8_t *bytes;
    size_t size;
    pool_dataset *pool = NULL;
    if (!cache_read(cache, kind, key, &bytes, &size)) return NULL;
    pool_load(bytes, size, seen, &pool, NULL);
    memory_free(bytes);
    return pool;
}

void pool_write_cache(const pool_dataset *pool, const survey *seen, const char *cache, const char *kind, uint64_t key)
{
    uint8_t *bytes;
    size_t size;
    if (!cache || pool_save(pool, seen, &bytes, &size, NULL)) return;
    cache_write(cache, kind, key, bytes, size);
    memory_free(bytes);
}
