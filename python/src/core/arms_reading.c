#include "arms_reading.h"

#include "shared/raising.h"
#include "sparse_reading.h"

static int read_dense(PyObject *arms, arms_reading *out)
{
    if (array_view_floats(arms, 2, "arms", &out->values)) return -1;
    out->arms = ee_arms_dense(out->values.data, (size_t)out->values.shape[0], (size_t)out->values.shape[1]);
    return 0;
}

int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out)
{
    out->round = NULL;
    out->room = NULL;
    out->values.owner = NULL;
    if (context && context != Py_None) {
        raise_bad_input(takes_rounds ? "context: the arms are vectors, which have none"
                                     : "context: this bandit takes vectors, which have none; for named features make "
                                       "it with features=True");
        return -1;
    }
    if (array_is_plain(arms)) return read_dense(arms, out);
    int sparse = sparse_is(arms);
    if (sparse < 0) return -1;
    return sparse ? sparse_read(arms, out) : read_dense(arms, out);
}

void arms_release(arms_reading *self)
{
    array_view_release(&self->values);
    PyMem_Free(self->room);
}

size_t arms_read_count(const arms_reading *self)
{
    return self->round ? ee_round_count(self->round) : self->arms.count;
}
