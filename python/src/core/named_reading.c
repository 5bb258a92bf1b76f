#include "named_reading.h"

#include <stdlib.h>
#include <string.h>

#include "features/round.h"
#include "named_value.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* ---- what is kept from round to round; the GIL guards it ---- */

enum { CACHED_ROUNDS = 8, CACHED_BYTES = 1 << 24 }; /* larger ones are not cached */

static ee_round *cached_rounds[CACHED_ROUNDS];
static size_t cached_count;
static json_writing cached_json;

static ee_round *acquire_round(void)
{
    ee_round *round;
    ee_error error;
    if (cached_count) return cached_rounds[--cached_count];
    ee_status status = ee_round_create(NULL, &round, &error);
    if (status) raise_status(status, &error);
    return round;
}

void named_release(ee_round *round)
{
    if (!round) return;
    ee_round_clear(round);
    if (cached_count < CACHED_ROUNDS && memory_bytes(&round->memory) <= CACHED_BYTES)
        cached_rounds[cached_count++] = round;
    else
        ee_round_free(round);
}

static json_writing acquire_json(void)
{
    json_writing taken = cached_json;
    cached_json = (json_writing){0}; /* a call in between allocates another */
    taken.used = 0;
    return taken;
}

static void release_json(json_writing *given)
{
    if (given->capacity > CACHED_BYTES || cached_json.bytes)
        json_writing_release(given);
    else
        cached_json = *given;
}

/* ---- a round as JSON: a piece for the context, one for each arm ---- */

typedef ee_status (*piece_reader)(ee_round *round, const char *json, size_t size, ee_error *error);

typedef struct round_pieces {
    named_writing writing;
    size_t *ends; /* (count, of `capacity`) the end of each piece in the JSON */
    size_t count, capacity;
    size_t contexts;        /* the first pieces, which are shared by all arms */
    piece_reader read_arms; /* reads the others: an arm each, or a round */
} round_pieces;

static int end_piece(round_pieces *self)
{
    if (self->count == self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 16;
        size_t *grown = realloc(self->ends, capacity * sizeof *grown);
        if (!grown) return PyErr_NoMemory(), -1;
        self->ends = grown;
        self->capacity = capacity;
    }
    self->ends[self->count++] = self->writing.json.used;
    return 0;
}

static bool is_text(PyObject *object)
{
    return PyUnicode_Check(object) || PyBytes_Check(object);
}

/* Writes a mapping, or a string that holds the JSON of one. id: NULL, or the id of the action. */
static int write_piece(round_pieces *self, PyObject *object, PyObject *id)
{
    named_writing *writing = &self->writing;
    writing->depth = 0;
    if (is_text(object)) return named_write_json(writing, object) ? -1 : end_piece(self);
    int mapping = named_is_mapping(object);
    if (mapping > 0) return named_write_mapping(writing, object, id) ? -1 : end_piece(self);
    return mapping ? -1 : named_refuse_type(writing, object, "a mapping of named features");
}

static int write_context(round_pieces *self, PyObject *context)
{
    if (!context || context == Py_None) return 0;
    self->writing.arm = -1;
    self->contexts = 1;
    return write_piece(self, context, NULL);
}

/* ---- data frames ---- */

int named_is_frame(PyObject *object)
{
    int has = object_has(object, "iloc");
    return has > 0 ? object_has(object, "columns") : has;
}

/* A column as (label, tuple of cells); user code run by a cell cannot change it. */
static PyObject *read_column(PyObject *item)
{
    PyObject *label, *series;
    if (!PyArg_ParseTuple(item, "OO;a column must have a label", &label, &series)) return NULL;
    PyObject *list = PyObject_CallMethod(series, "tolist", NULL), *cells = list ? PySequence_Tuple(list) : NULL;
    PyObject *pair = cells ? PyTuple_Pack(2, label, cells) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(cells);
    return pair;
}

static PyObject *list_columns(PyObject *frame)
{
    PyObject *columns = PyMapping_Items(frame);
    for (Py_ssize_t i = 0; columns && i < PyList_Size(columns); i++) {
        PyObject *pair = read_column(PyList_GetItem(columns, i));
        if (!pair || PyList_SetItem(columns, i, pair)) Py_CLEAR(columns);
    }
    return columns;
}

static int write_cell(named_writing *writing, PyObject *column, Py_ssize_t row, bool *first)
{
    PyObject *cell = PyTuple_GetItem(PyTuple_GetItem(column, 1), row);
    if (!cell) return -1;
    if (!*first && named_write_byte(writing, ',')) return -1;
    *first = false;
    if (named_write_key(writing, PyTuple_GetItem(column, 0))) return -1;
    return named_write_value(writing, cell);
}

static int write_row(round_pieces *self, PyObject *columns, Py_ssize_t row)
{
    named_writing *writing = &self->writing;
    bool first = true;
    writing->depth = 0;
    writing->arm = row;
    if (named_enter(writing) || named_write_byte(writing, '{')) return -1;
    for (Py_ssize_t i = 0; i < PyList_Size(columns); i++)
        if (write_cell(writing, PyList_GetItem(columns, i), row, &first)) return -1;
    if (named_write_byte(writing, '}')) return -1;
    return end_piece(self);
}

static int write_frame(round_pieces *self, PyObject *frame)
{
    Py_ssize_t rows = PyObject_Size(frame);
    if (rows < 0) return -1;
    PyObject *columns = list_columns(frame);
    if (!columns) return -1;
    int status = 0;
    for (Py_ssize_t row = 0; row < rows && !status; row++) status = write_row(self, columns, row);
    Py_DECREF(columns);
    return status;
}

/* ---- the arms ---- */

/* ids: NULL, or a tuple with an id for each arm. */
static int write_sequence(round_pieces *self, PyObject *arms, PyObject *ids)
{
    PyObject *tuple = PySequence_Tuple(arms);
    if (!tuple) return -1;
    int status = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple) && !status; i++) {
        self->writing.arm = i;
        status = write_piece(self, PyTuple_GetItem(tuple, i), ids ? PyTuple_GetItem(ids, i) : NULL);
    }
    Py_DECREF(tuple);
    return status;
}

/* A whole round, as a mapping or as JSON, has its arms under "_multi". */
static int write_round(round_pieces *self, PyObject *round)
{
    self->writing.arm = 0;
    self->read_arms = ee_round_read;
    return write_piece(self, round, NULL);
}

static int write_arms(round_pieces *self, PyObject *arms, PyObject *ids)
{
    self->read_arms = ee_round_action;
    if (PyList_Check(arms) || PyTuple_Check(arms)) return write_sequence(self, arms, ids);
    if (is_text(arms)) return write_round(self, arms);
    int frame = named_is_frame(arms), mapping = frame ? 0 : named_is_mapping(arms);
    if (frame < 0 || mapping < 0) return -1;
    if (frame) return write_frame(self, arms);
    return mapping ? write_round(self, arms) : write_sequence(self, arms, NULL);
}

/* Needs no GIL. */
static ee_status parse(const round_pieces *self, ee_round *round, size_t *failed, ee_error *error)
{
    const char *json = self->writing.json.bytes;
    size_t start = 0;
    for (size_t i = 0; i < self->count; i++) {
        piece_reader reader = i < self->contexts ? ee_round_context : self->read_arms;
        ee_status status = reader(round, json + start, self->ends[i] - start, error);
        *failed = i;
        if (status) return status;
        start = self->ends[i];
    }
    return EE_OK;
}

/* Raises error with the position of the arm, and a hint if a string was parsed. */
static void raise_for_piece(const round_pieces *self, size_t piece, const ee_error *error, ee_status status)
{
    ee_error placed = {.status = status};
    char place[40] = "";
    size_t start = piece ? self->ends[piece - 1] : 0;
    bool object = start < self->ends[piece] && self->writing.json.bytes[start] == '{';
    bool arm = piece >= self->contexts && self->read_arms == ee_round_action;
    const char *hint = object ? ""
                       : arm  ? "; a string is parsed as JSON; for arms without features pass a dict, such as "
                                "{\"soup\": {}, \"salad\": {}}"
                              : "; a string is parsed as JSON, such as {\"topic\": \"music\"}";
    if (arm) snprintf(place, sizeof place, "arms[%zu]: ", piece - self->contexts);
    int most = (int)(sizeof placed.message - strlen(place) - strlen(hint) - 1);
    snprintf(placed.message, sizeof placed.message, "%s%.*s%s", place, most, error->message, hint);
    raise_status(status, &placed);
}

static int read_pieces(const round_pieces *self, ee_round *round)
{
    ee_error error;
    size_t failed = 0;
    PyThreadState *state = PyEval_SaveThread();
    ee_status status = parse(self, round, &failed, &error);
    PyEval_RestoreThread(state);
    if (status) raise_for_piece(self, failed, &error, status);
    return status ? -1 : 0;
}

ee_round *named_read(PyObject *arms, PyObject *ids, PyObject *context)
{
    ee_round *round = acquire_round();
    if (!round) return NULL;
    round_pieces pieces = {.writing.json = acquire_json()};
    int status = write_context(&pieces, context);
    if (!status) status = write_arms(&pieces, arms, ids);
    if (!status) status = read_pieces(&pieces, round);
    if (!status && !ee_round_count(round)) status = raise_bad_input("arms: expected at least one arm, got none");
    release_json(&pieces.writing.json);
    free(pieces.ends);
    if (!status) return round;
    named_release(round);
    return NULL;
}

bool named_is(PyObject *arms, PyObject *context, bool takes_rounds)
{
    if (context && context != Py_None) return true;
    if (is_text(arms) || PyDict_Check(arms)) return true;
    bool is_tuple = PyTuple_Check(arms);
    if (!is_tuple && !PyList_Check(arms)) {
        int frame = takes_rounds ? named_is_frame(arms) : 0;
        if (frame < 0) PyErr_Clear(); /* not a frame; reading it as a matrix reports the error */
        return frame > 0;
    }
    if (!(is_tuple ? PyTuple_Size(arms) : PyList_Size(arms))) return takes_rounds;
    PyObject *first = is_tuple ? PyTuple_GetItem(arms, 0) : PyList_GetItem(arms, 0);
    if (is_text(first)) return true;
    if (!takes_rounds || PyDict_Check(first)) return PyDict_Check(first); /* a row of a data frame may be a vector */
    int mapping = named_is_mapping(first);
    if (mapping < 0) PyErr_Clear();
    return mapping > 0;
}
