#define _DEFAULT_SOURCE
#include "support.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

ee_error last_error;

/* ---- released where a scope ends ---- */

void release_bandit(ee_bandit **place)
{
    ee_bandit_free(*place);
}

void release_snapshot(ee_snapshot **place)
{
    ee_snapshot_free(*place);
}

void release_scratch(ee_scratch **place)
{
    ee_scratch_free(*place);
}

void release_round(ee_round **place)
{
    ee_round_free(*place);
}

void release_block(void *place)
{
    free(*(void **)place);
}

void release_memory(void *place)
{
    memory_free(*(void **)place);
}

void release_archive(archive *place)
{
    memory_free(place->bytes);
}

/* ---- stored numbers ---- */

json_t *golden_load(const char *name)
{
    const char *chosen = getenv("EENET_GOLDEN_DIR");
    char path[4096];
    if (chosen && access(chosen, R_OK)) fail_msg("golden: EENET_GOLDEN_DIR is '%s', which cannot be read", chosen);
    snprintf(path, sizeof path, "%s/%s", chosen ? chosen : EENET_GOLDEN_DIR, name);
    if (chosen && access(path, F_OK)) snprintf(path, sizeof path, "%s/%s", EENET_GOLDEN_DIR, name);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) fail_msg("golden: %s, line %d: %s", path, error.line, error.text);
    return root;
}

json_t *golden_member(const json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (!member) fail_msg("golden: there is no '%s'", key);
    return member;
}

/* Appends the numbers of array from place on, or only counts them where numbers is NULL; returns the next place. */
static size_t flatten(const json_t *array, double *numbers, size_t place)
{
    if (!json_is_array(array)) fail_msg("golden: expected an array");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        if (json_is_array(entry)) {
            place = flatten(entry, numbers, place);
            continue;
        }
        if (!json_is_number(entry)) fail_msg("golden: entry %zu of an array is not a number", i);
        if (numbers) numbers[place] = json_number_value(entry);
        place++;
    }
    return place;
}

double *golden_doubles(const json_t *array, size_t *count)
{
    size_t total = flatten(array, NULL, 0);
    double *numbers = malloc((total ? total : 1) * sizeof *numbers);
    assert_non_null(numbers);
    flatten(array, numbers, 0);
    if (count) *count = total;
    return numbers;
}

float *golden_floats(const json_t *array, size_t *count)
{
    size_t total;
    double *wide = golden_doubles(array, &total);
    float *numbers = malloc((total ? total : 1) * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < total; i++) numbers[i] = (float)wide[i];
    free(wide);
    if (count) *count = total;
    return numbers;
}

/* ---- comparison ---- */

bool close_enough(double got, double expected, double tolerance)
{
    return fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected));
}

size_t close_first_wrong(const float *got, const float *expected, size_t count, double tolerance)
{
    size_t i = 0;
    while (i < count && close_enough((double)got[i], (double)expected[i], tolerance)) i++;
    return i;
}

void close_assert(double got, double expected, double tolerance, const char *file, int line)
{
    if (close_enough(got, expected, tolerance)) return;
    print_error("got %.17g, expected %.17g within %g\n", got, expected, tolerance);
    _fail(file, line);
}

void close_assert_floats(const float *got, const float *expected, size_t count, double tolerance, const char *file,
                         int line)
{
    size_t i = close_first_wrong(got, expected, count, tolerance);
    if (i == count) return;
    print_error("[%zu] of %zu: got %.9g, expected %.9g within %g\n", i, count, (double)got[i], (double)expected[i],
                tolerance);
    _fail(file, line);
}

/* ---- memory that ends at a wall ---- */

void *guard_end_bytes(guard *g, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (size + page - 1) / page * page;
    g->size = usable + page;
    g->pages = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->pages == MAP_FAILED) fail_msg("guard: could not map %zu bytes", g->size);
    char *wall = (char *)g->pages + usable;
    memset(g->pages, 0xff, usable);
    assert_int_equal(mprotect(wall, page, PROT_NONE), 0);
    return wall - size;
}

float *guard_end(guard *g, size_t count)
{
    return guard_end_bytes(g, count * sizeof(float));
}

void guard_free(guard *g)
{
    assert_int_equal(munmap(g->pages, g->size), 0);
}

json_text words(const char *plain)
{
    return (json_text){plain, strlen(plain)};
}

void ok_assert(ee_status status, const char *call, const char *file, int line)
{
    if (status == EE_OK) return;
    print_error("%s: %s %s\n", call, ee_status_name(status), last_error.status == status ? last_error.message : "");
    _fail(file, line);
}

void fails_assert(ee_status got, ee_status status, const char *sentence, const char *call, const char *file, int line)
{
    ee_error said = last_error;
    last_error = (ee_error){EE_OK, ""}; /* the next call is not to be taken for this one */
    if (got == status && said.status == status && strcmp(said.message, sentence) == 0) return;
    print_error("%s: got %s, %s \"%s\"; expected %s \"%s\"\n", call, ee_status_name(got), ee_status_name(said.status),
                said.message, ee_status_name(status), sentence);
    _fail(file, line);
}

void await_pause(unsigned looks, const char *condition, const char *file, int line)
{
    enum { MICROSECONDS = 200, MOST = 600 * (1000000 / MICROSECONDS) };
    nanosleep(&(struct timespec){.tv_nsec = MICROSECONDS * 1000}, NULL);
    if (looks < MOST) return;
    print_error("waited ten minutes for %s\n", condition);
    _fail(file, line);
}
