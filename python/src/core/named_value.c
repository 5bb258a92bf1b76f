#include "named_value.h"

#include <math.h>
#include <string.h>

#include "shared/objects.h"
#include "shared/raising.h"

/* ---- where one is, for the sentences ---- */

enum { PLACE_BYTES = 160 };

static size_t add_bytes(char *place, size_t at, const char *bytes, size_t count)
{
    if (count > PLACE_BYTES - 1 - at) count = PLACE_BYTES - 1 - at;
    memcpy(place + at, bytes, count);
    return at + count;
}

/* "arms[3]: user.age" or "context: user.v[2]". It may end within a character, which PyErr_Format replaces. */
static const char *name_place(const named_writing *self, char place[PLACE_BYTES])
{
    char number[32];
    size_t at = 0;
    if (self->arm < 0) {
        at = add_bytes(place, 0, "context", 7);
    } else {
        int count = snprintf(number, sizeof number, "arms[%zd]", self->arm);
        at = add_bytes(place, 0, number, (size_t)count);
    }
    const char *joint = ": ";
    for (int i = 0; i < self->depth; i++) {
        const named_step *step = &self->path[i];
        if (step->element >= 0) {
            int count = snprintf(number, sizeof number, "[%zd]", step->element);
            at = add_bytes(place, at, number, (size_t)count);
        } else if (step->bytes) {
            at = add_bytes(place, at, joint, strlen(joint));
            at = add_bytes(place, at, self->json.bytes + step->key, step->bytes);
            joint = ".";
        }
    }
    place[at] = '\0';
    return place;
}

static int refuse(const named_writing *self, const char *why)
{
    char place[PLACE_BYTES];
    return raise_bad_input("%s %s", name_place(self, place), why);
}

int named_refuse_type(const named_writing *self, PyObject *value, const char *needed)
{
    char place[PLACE_BYTES];
    return raise_wrong_type(name_place(self, place), needed, value);
}

static int refuse_size(void)
{
    return raise_bad_input("features: a round is limited to %d MB of JSON", JSON_WRITING_MOST >> 20);
}

/* ---- bytes ---- */

static int refuse_growth(const named_writing *self, size_t more)
{
    const size_t most = JSON_WRITING_MOST;
    return more <= most && self->json.used + more <= most ? (PyErr_NoMemory(), -1) : refuse_size();
}

static inline int reserve(named_writing *self, size_t more)
{
    return json_writing_reserve(&self->json, more) ? 0 : refuse_growth(self, more);
}

int named_write_byte(named_writing *self, char byte)
{
    if (reserve(self, 1)) return -1;
    json_put(&self->json, byte);
    return 0;
}

static int write_word(named_writing *self, const char *word, size_t bytes)
{
    if (reserve(self, bytes)) return -1;
    json_put_bytes(&self->json, word, bytes);
    return 0;
}

int named_enter(named_writing *self)
{
    if (self->depth == NAMED_DEPTH) return refuse(self, "is nested too deeply, or contains itself");
    self->path[self->depth++] = (named_step){.element = -1};
    return 0;
}

void named_leave(named_writing *self)
{
    self->depth--;
}

/* ---- texts ---- */

/* Like PyUnicode_AsUTF8AndSize, which the limited API of 3.9 lacks, this creates no object. */
static int write_characters(named_writing *self, PyObject *text, bool quoted)
{
    enum { QUOTES_AND_COLON = 3 };
    Py_UCS4 few[128], *characters = few;
    Py_ssize_t count = PyUnicode_GetLength(text);
    if (count < 0) return -1;
    if (count > JSON_WRITING_MOST / JSON_CHARACTER_BYTES) return refuse_size();
    if (reserve(self, (size_t)count * JSON_CHARACTER_BYTES + QUOTES_AND_COLON)) return -1;
    if (count > (Py_ssize_t)(sizeof few / sizeof *few)) {
        characters = PyUnicode_AsUCS4Copy(text);
        if (!characters) return -1;
    } else if (count && !PyUnicode_AsUCS4(text, few, count, 0)) {
        return -1;
    }
    size_t start = self->json.used;
    bool sound = json_put_characters(&self->json, characters, (size_t)count, quoted);
    if (characters != few) PyMem_Free(characters);
    if (sound) return 0;
    self->json.used = start;
    return refuse(self, "contains an unpaired surrogate, which is not valid Unicode");
}

int named_write_json(named_writing *self, PyObject *text)
{
    if (PyUnicode_Check(text)) return write_characters(self, text, false);
    char *bytes;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(text, &bytes, &count)) return -1;
    return write_word(self, bytes, (size_t)count);
}

/* ---- numbers ---- */

static int write_rare_double(named_writing *self, double value)
{
    if (isnan(value)) return write_word(self, "null", 4);
    if (isinf(value)) return refuse(self, "is infinite; expected a number from -1e100 to 1e100");
    char *digits = PyOS_double_to_string(value, 'r', 0, 0, NULL); /* in any locale */
    if (!digits) return -1;
    int status = write_word(self, digits, strlen(digits));
    PyMem_Free(digits);
    return status;
}

static int write_double(named_writing *self, double value)
{
    if (reserve(self, JSON_NUMBER_BYTES)) return -1;
    return isfinite(value) && json_put_double(&self->json, value) ? 0 : write_rare_double(self, value);
}

static int write_integer(named_writing *self, PyObject *value)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) {
        if (small == -1 && PyErr_Occurred()) return -1;
        if (reserve(self, JSON_NUMBER_BYTES)) return -1;
        json_put_integer(&self->json, small);
        return 0;
    }
    double large = PyLong_AsDouble(value);
    if (large != -1 || !PyErr_Occurred()) return write_double(self, large);
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    return refuse(self, "is too large; expected a number from -1e100 to 1e100");
}

/* ---- members and elements ---- */

static int write_key_text(named_writing *self, PyObject *key)
{
    named_step *step = &self->path[self->depth - 1];
    size_t start = self->json.used;
    step->bytes = 0;
    if (write_characters(self, key, true)) return -1; /* this also reserves a byte for the colon */
    *step = (named_step){.key = start + 1, .bytes = self->json.used - start - 2, .element = -1};
    json_put(&self->json, ':');
    return 0;
}

static int refuse_name(const named_writing *self, PyObject *key)
{
    char place[PLACE_BYTES];
    PyErr_Format(PyExc_TypeError, "%s: expected a string or an integer as the name of a feature, got %.80R",
                 name_place(self, place), key);
    return -1;
}

int named_write_key(named_writing *self, PyObject *key)
{
    if (PyUnicode_CheckExact(key) || PyUnicode_Check(key)) return write_key_text(self, key);
    self->path[self->depth - 1].bytes = 0;
    if (!PyIndex_Check(key) || PyBool_Check(key)) return refuse_name(self, key);
    PyObject *number = PyNumber_Index(key), *text = number ? PyObject_Str(number) : NULL;
    int status = text ? write_key_text(self, text) : -1;
    Py_XDECREF(text);
    Py_XDECREF(number);
    return status;
}

static int write_member(named_writing *self, PyObject *key, PyObject *value, bool *first)
{
    if (!*first && named_write_byte(self, ',')) return -1;
    *first = false;
    if (named_write_key(self, key)) return -1;
    return named_write_value(self, value);
}

/* Writes the members of a plain dict. User code run by a key or value may change the dict: hold both, and check its
 * size. */
static int write_dict(named_writing *self, PyObject *dict, bool first)
{
    PyObject *key, *value;
    Py_ssize_t position = 0, size = PyDict_Size(dict);
    int status = 0;
    while (!status && PyDict_Next(dict, &position, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        status = write_member(self, key, value, &first);
        Py_DECREF(key);
        Py_DECREF(value);
        if (status || PyDict_Size(dict) == size) continue;
        self->path[self->depth - 1].bytes = 0;
        status = refuse(self, "changed while it was being read");
    }
    return status;
}

static int write_pair(named_writing *self, PyObject *pair, bool *first)
{
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return named_refuse_type(self, pair, "pairs from items() of a mapping");
    return write_member(self, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), first);
}

/* Writes the members of any other mapping; a subclass of dict may override them. */
static int write_items(named_writing *self, PyObject *mapping, bool first)
{
    PyObject *items = PyMapping_Items(mapping);
    if (!items) return -1;
    int status = 0;
    for (Py_ssize_t i = 0; !status && i < PyList_Size(items); i++)
        status = write_pair(self, PyList_GetItem(items, i), &first);
    Py_DECREF(items);
    return status;
}

static int write_tag(named_writing *self, PyObject *id)
{
    static const char key[] = "\"_tag\":";
    PyObject *text = PyObject_Str(id);
    int status = text ? write_word(self, key, sizeof key - 1) : -1;
    if (!status) status = write_characters(self, text, true);
    Py_XDECREF(text);
    return status;
}

int named_write_mapping(named_writing *self, PyObject *mapping, PyObject *id)
{
    if (named_enter(self) || named_write_byte(self, '{') || (id && write_tag(self, id))) return -1;
    if (PyDict_CheckExact(mapping) ? write_dict(self, mapping, !id) : write_items(self, mapping, !id)) return -1;
    named_leave(self);
    return named_write_byte(self, '}');
}

/* Writes a list or tuple. User code run by an element may change a list: hold the element, and read the size each
 * time. */
static int write_elements(named_writing *self, PyObject *list)
{
    bool is_tuple = PyTuple_Check(list);
    if (named_enter(self) || named_write_byte(self, '[')) return -1;
    for (Py_ssize_t i = 0; i < (is_tuple ? PyTuple_Size(list) : PyList_Size(list)); i++) {
        if (i && named_write_byte(self, ',')) return -1;
        self->path[self->depth - 1].element = i;
        PyObject *element = is_tuple ? PyTuple_GetItem(list, i) : PyList_GetItem(list, i);
        if (!element) return -1;
        Py_INCREF(element);
        int status = named_write_value(self, element);
        Py_DECREF(element);
        if (status) return -1;
    }
    named_leave(self);
    return named_write_byte(self, ']');
}

/* ---- other values ---- */

int named_is_mapping(PyObject *object)
{
    if (PyDict_Check(object)) return 1;
    if (PyUnicode_Check(object) || PyList_Check(object) || PyTuple_Check(object) || PyType_Check(object)) return 0;
    return object_has(object, "keys");
}

/* Whether the type of a value has this name. It identifies pandas' NaT and NA without importing pandas. */
static int type_is(PyObject *value, const char *name)
{
    PyObject *found;
    int has = object_attribute((PyObject *)Py_TYPE(value), "__name__", &found);
    if (has <= 0) return has;
    int same = PyUnicode_Check(found) && PyUnicode_CompareWithASCIIString(found, name) == 0;
    Py_DECREF(found);
    return same;
}

/* Writes null for pandas' NaT and NA, and refuses everything else; for times with a hint. */
static int write_none(named_writing *self, PyObject *value)
{
    int missing = type_is(value, "NaTType");
    if (!missing) missing = type_is(value, "NAType");
    if (missing) return missing < 0 ? -1 : write_word(self, "null", 4);
    int time = object_has(value, "strftime");
    if (!time) time = object_has(value, "total_seconds");
    if (time < 0) return -1;
    return named_refuse_type(self, value,
                             time ? "a number or string, such as the hour or weekday of a time"
                                  : "a number, a string, a bool, None, or a list or mapping of these");
}

/* *type: for numpy times, the type to convert to before tolist, which turns nanoseconds into integers; otherwise
 * NULL. 0, or -1 with an exception set. */
static int find_time_type(PyObject *value, const char **type)
{
    PyObject *dtype, *kind;
    *type = NULL;
    int has = object_attribute(value, "dtype", &dtype);
    if (has <= 0) return has;
    has = object_attribute(dtype, "kind", &kind);
    Py_DECREF(dtype);
    if (has <= 0) return has;
    if (PyUnicode_Check(kind) && !PyUnicode_CompareWithASCIIString(kind, "M")) *type = "M8[us]";
    if (PyUnicode_Check(kind) && !PyUnicode_CompareWithASCIIString(kind, "m")) *type = "m8[us]";
    Py_DECREF(kind);
    return 0;
}

/* The result of tolist, a new reference. NULL with an exception set, or without one if there is no tolist. */
static PyObject *list_value(PyObject *value)
{
    PyObject *method;
    const char *type;
    if (object_attribute(value, "tolist", &method) <= 0) return NULL;
    Py_DECREF(method);
    if (find_time_type(value, &type)) return NULL;
    if (!type) return PyObject_CallMethod(value, "tolist", NULL);
    PyObject *times = PyObject_CallMethod(value, "astype", "s", type);
    PyObject *list = times ? PyObject_CallMethod(times, "tolist", NULL) : NULL;
    Py_XDECREF(times);
    return list;
}

/* Writes a value after converting it: arrays and numpy scalars with tolist, other numbers with __float__. */
static int write_converted(named_writing *self, PyObject *value)
{
    PyObject *plain = list_value(value);
    if (!plain && PyErr_Occurred()) return -1;
    if (!plain || Py_TYPE(plain) == Py_TYPE(value)) { /* tolist of numpy's long double returns itself */
        Py_XDECREF(plain);
        if (PyComplex_Check(value) || !PyNumber_Check(value)) return write_none(self, value);
        plain = PyNumber_Float(value);
        if (!plain) return -1;
    }
    /* A level, because the result may be convertible again, without end. */
    int status = named_enter(self) ? -1 : named_write_value(self, plain);
    if (!status) named_leave(self);
    Py_DECREF(plain);
    return status;
}

static int write_other(named_writing *self, PyObject *value)
{
    if (PyDict_CheckExact(value)) return named_write_mapping(self, value, NULL);
    if (PyList_Check(value) || PyTuple_Check(value)) return write_elements(self, value);
    if (PyFloat_Check(value)) return write_double(self, PyFloat_AsDouble(value));
    if (PyUnicode_Check(value)) return write_characters(self, value, true);
    if (PyLong_Check(value)) return write_integer(self, value);
    int mapping = named_is_mapping(value);
    if (mapping) return mapping < 0 ? -1 : named_write_mapping(self, value, NULL);
    return write_converted(self, value);
}

/* The most frequent types come first. */
int named_write_value(named_writing *self, PyObject *value)
{
    if (PyFloat_CheckExact(value)) return write_double(self, PyFloat_AsDouble(value));
    if (PyUnicode_CheckExact(value)) return write_characters(self, value, true);
    if (PyLong_CheckExact(value)) return write_integer(self, value);
    if (value == Py_True) return write_word(self, "true", 4);
    if (value == Py_False) return write_word(self, "false", 5);
    if (value == Py_None) return write_word(self, "null", 4);
    return write_other(self, value);
}
