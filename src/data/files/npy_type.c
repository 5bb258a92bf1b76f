#include "npy_type.h"

#include <math.h>
#include <string.h>

static const struct {
    char letter; /* as in "<f8" */
    size_t size;
    const char *name;
} types[NPY_TYPES] = {
    [NPY_FLOAT64] = {'f', 8, "float64"}, [NPY_FLOAT32] = {'f', 4, "float32"}, [NPY_FLOAT16] = {'f', 2, "float16"},
    [NPY_INT64] = {'i', 8, "int64"},     [NPY_INT32] = {'i', 4, "int32"},     [NPY_INT16] = {'i', 2, "int16"},
    [NPY_INT8] = {'i', 1, "int8"},       [NPY_UINT64] = {'u', 8, "uint64"},   [NPY_UINT32] = {'u', 4, "uint32"},
    [NPY_UINT16] = {'u', 2, "uint16"},   [NPY_UINT8] = {'u', 1, "uint8"},     [NPY_BOOL] = {'b', 1, "bool"},
};

const char *npy_type_name(npy_type type)
{
    return types[type].name;
}

size_t npy_size(npy_type type)
{
    return types[type].size;
}

bool npy_is_whole(npy_type type)
{
    return types[type].letter == 'i' || types[type].letter == 'u';
}

bool npy_find_type(const char *text, size_t length, npy_type *type, bool *big_endian)
{
    if (length != NPY_DESCR_SIZE - 1) return false;
    for (npy_type i = 0; i < NPY_TYPES; i++) {
        if (text[1] != types[i].letter || text[2] != (char)('0' + types[i].size)) continue;
        *type = i;
        *big_endian = text[0] == '>';
        return text[0] == '<' || text[0] == '>' || (text[0] == '|' && types[i].size == 1);
    }
    return false;
}

void npy_describe_type(npy_type type, char text[NPY_DESCR_SIZE])
{
    text[0] = types[type].size == 1 ? '|' : '<'; /* one byte has no order */
    text[1] = types[type].letter;
    text[2] = (char)('0' + types[type].size);
    text[3] = '\0';
}

/* ---- entries ---- */

/* An entry of any size, in this machine's order of bytes, whatever that is. */
typedef union entry {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
} entry;

static void store(uint64_t bits, size_t size, void *into)
{
    entry number = {.eight = bits};
    if (size == 4) number.four = (uint32_t)bits;
    if (size == 2) number.two = (uint16_t)bits;
    if (size == 1) number.one = (uint8_t)bits;
    memcpy(into, &number, size);
}

static uint64_t fetch(const void *from, size_t size)
{
    entry number;
    memcpy(&number, from, size);
    return size == 8 ? number.eight : size == 4 ? number.four : size == 2 ? number.two : number.one;
}

void npy_decode(npy_type type, bool big_endian, const uint8_t *bytes, void *data, size_t index)
{
    size_t size = types[type].size;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) bits = bits << 8 | bytes[big_endian ? i : size - 1 - i];
    if (type == NPY_BOOL) bits = bits != 0;
    store(bits, size, (uint8_t *)data + index * size);
}

void npy_encode(npy_type type, const void *data, size_t count, uint8_t *bytes)
{
    size_t size = types[type].size;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = fetch((const uint8_t *)data + i * size, size);
        for (size_t k = 0; k < size; k++) *bytes++ = (uint8_t)(bits >> 8 * k);
    }
}

/* IEEE 754's binary16: a sign, five bits of exponent, ten of fraction. */
static double half_to_real(uint16_t bits)
{
    enum { FRACTION = 10, LARGEST_EXPONENT = 31, UNIT = 1 << FRACTION };
    int exponent = bits >> FRACTION & LARGEST_EXPONENT, fraction = bits & (UNIT - 1);
    double size = exponent == LARGEST_EXPONENT ? (fraction ? NAN : INFINITY)
                  : exponent == 0              ? ldexp(fraction, -24)
                                               : ldexp(UNIT + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

double npy_entry_real(npy_type type, const void *data, size_t index)
{
    switch (type) {
    case NPY_FLOAT64:
        return ((const double *)data)[index];
    case NPY_FLOAT32:
        return (double)((const float *)data)[index];
    case NPY_FLOAT16:
        return half_to_real(((const uint16_t *)data)[index]);
    case NPY_UINT64:
        return (double)((const uint64_t *)data)[index];
    case NPY_BOOL:
        return ((const uint8_t *)data)[index];
    default:
        return (double)npy_entry_whole(type, data, index);
    }
}

int64_t npy_entry_whole(npy_type type, const void *data, size_t index)
{
    switch (type) {
    case NPY_INT64:
        return ((const int64_t *)data)[index];
    case NPY_INT32:
        return ((const int32_t *)data)[index];
    case NPY_INT16:
        return ((const int16_t *)data)[index];
    case NPY_INT8:
        return ((const int8_t *)data)[index];
    case NPY_UINT32:
        return ((const uint32_t *)data)[index];
    case NPY_UINT16:
        return ((const uint16_t *)data)[index];
    case NPY_UINT8:
        return ((const uint8_t *)data)[index];
    default:
        break;
    }
    uint64_t large = ((const uint64_t *)data)[index];
    return large > INT64_MAX ? INT64_MAX : (int64_t)large;
}
