#include "arms_reading.h"

#include "list_reading.h"
#include "named_reading.h"
#include "shared/raising.h"
#include "sparse_reading.h"

static int read_dense(PyObject *arms, arms_reading *out)
{
    int other = list_read(arms, &out->values);
    if (other > 0) other = array_view_floats(arms, 2, "arms", &out->values);
    if (other) return -1;
    out->arms = ee_arms_dense(out->values.data, (size_t)out->values.shape[0], (size_t)out->values.shape[1]);
    return 0;
}

static int read_named(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out)
{
    if (takes_rounds)
        out->round = named_read(arms, context);
    else
        raise_bad_input("arms: this bandit takes vectors; for named features make it with features=True");
    return out->round ? 0 : -1;
}

static int refuse_context(void)
{
    raise_bad_input("context: the arms are vectors, which have none");
    return -1;
}

int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out)
{
    out->round = NULL;
    out->room = NULL;
    out->values.owner = NULL;
    if (array_is_plain(arms)) {
        if (!context || context == Py_None) return read_dense(arms, out);
        return refuse_context();
    }
    int sparse = sparse_is(arms); /* first, since one of scipy's is a dict too */
    if (sparse < 0) return -1;
    if (!sparse && named_is(arms, context, takes_rounds)) return read_named(arms, context, takes_rounds, out);
    if (sparse && context && context != Py_None) return refuse_context();
    return sparse ? sparse_read(arms, out) : read_dense(arms, out);
}

void arms_release(arms_reading *self)
{
    array_view_release(&self->values);
    PyMem_Free(self->room);
    named_release(self->round);
}

size_t arms_read_count(const arms_reading *self)
{
    return self->round ? ee_round_count(self->round) : self->arms.count;
}
