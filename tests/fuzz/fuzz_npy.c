/* Arrays that nobody saved: reading them ends, and what is accepted is written so that it reads back the same. */
#include "data/files/npy.h"
#include "fuzz.h"

/* Whether a header can be written for the shape: npy.h says for which. */
static bool could_be(const npy_array *array)
{
    size_t product = 1;
    for (size_t i = 0; i < array->rank; i++) {
        if (array->shape[i] > SIZE_MAX / 8 / product) return false;
        if (array->shape[i]) product *= array->shape[i];
    }
    return true;
}

static void write_back(const npy_array *array)
{
    ee_error error = {EE_OK, ""};
    npy_array again;
    size_t size = array->count * npy_size(array->type);
    uint8_t *bytes = malloc(NPY_HEADER_SIZE + size);
    if (!bytes) return;
    npy_header(array->type, array->shape, array->rank, bytes);
    npy_encode(array->type, array->data, array->count, bytes + NPY_HEADER_SIZE);
    require_error(npy_parse(bytes, NPY_HEADER_SIZE + size, "fuzz", &again, &error) == EE_OK, "is not read again",
                  &error);
    require_error(again.type == array->type && again.rank == array->rank && again.count == array->count &&
                      memcmp(again.shape, array->shape, sizeof again.shape) == 0 &&
                      memcmp(again.data, array->data, size) == 0,
                  "reads back as another", &error);
    npy_release(&again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ee_error error = {EE_OK, ""};
    npy_array array;
    ee_status status = npy_parse(bytes, size, "fuzz", &array, &error);
    require_status(status, &error, EE_BAD_INPUT);
    require_error((status == EE_OK) == (array.data != NULL), "an array where there is none", &error);
    if (!status && could_be(&array)) write_back(&array);
    npy_release(&array);
    return 0;
}
