#include "bandit_object.h"

#include <stddef.h>
#include <structmember.h>

#include "bandit_docs.h"
#include "bandit_methods.h"
#include "forking.h"
#include "info_objects.h"
#include "shared/objects.h"
#include "shared/raising.h"

PyObject *bandit_wrap(PyTypeObject *type, ee_bandit *bandit)
{
    bandit_object *self = (bandit_object *)PyType_GenericAlloc(type, 0);
    if (!self) {
        ee_bandit_free(bandit);
        return NULL;
    }
    const ee_info info = ee_bandit_info(bandit);
    self->bandit = bandit;
    self->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    self->policy = info.policy;
    self->options = info.options;
    self->features = info.features;
    self->dim = (Py_ssize_t)info.dim;
    self->seed = info.seed;
    self->takes_rounds = info.features != NULL;
    self->forks = forking_count();
    self->lost = false;
    self->number = 0;
    return (PyObject *)self;
}

/* Whether another thread held the lock when this process forked. Found out by the first call after the fork: it
 * holds the GIL, so no thread of this process has the lock yet. */
static bool is_lost(bandit_object *self)
{
    if (self->forks == forking_count()) return self->lost;
    self->forks = forking_count();
    if (pthread_mutex_trylock(&self->mutex))
        self->lost = true;
    else
        pthread_mutex_unlock(&self->mutex);
    return self->lost;
}

int bandit_check(bandit_object *self)
{
    return is_lost(self) ? forking_refuse("Bandit") : 0;
}

int bandit_arguments(PyObject *self, const call_shape *shape, PyObject *const *args, Py_ssize_t count, PyObject *names,
                     PyObject **values)
{
    return bandit_check((bandit_object *)self) ? -1 : call_arguments(shape, args, count, names, values);
}

static void dealloc(PyObject *object)
{
    bandit_object *self = (bandit_object *)object;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (!is_lost(self)) { /* otherwise a call of the parent process has half changed it */
        ee_bandit_free(self->bandit);
        pthread_mutex_destroy(&self->mutex);
    }
    release(self);
    Py_DECREF(type);
}

/* A new bandit learns only its own decisions; a bandit restored from a model may learn those of the saved bandit. */
static PyObject *wrap_new(PyTypeObject *type, ee_bandit *bandit)
{
    static unsigned long long count; /* the GIL guards it */
    PyObject *self = bandit_wrap(type, bandit);
    if (self) ((bandit_object *)self)->number = ++count;
    return self;
}

/* settings: the result of _policies.settings: policy, dim, seed, options, features. */
static PyObject *create(PyTypeObject *type, PyObject *settings)
{
    PyObject *policy = NULL, *options = NULL, *features = NULL;
    uint64_t dim = 0, seed = 0;
    ee_settings asked = {0};
    ee_bandit *bandit = NULL;
    ee_error error;
    ee_status status = EE_OK;
    PyObject *dim_given = PyTuple_GetItem(settings, 1);
    if (!dim_given) return NULL;
    if (dim_given != Py_None && read_whole(dim_given, "dim", UINT32_MAX, &dim)) return NULL;
    if (read_whole(PyTuple_GetItem(settings, 2), "seed", UINT64_MAX, &seed)) return NULL;
    if (read_text(PyTuple_GetItem(settings, 0), "policy", &policy, &asked.policy) ||
        read_text(PyTuple_GetItem(settings, 3), "options", &options, &asked.options) ||
        read_text(PyTuple_GetItem(settings, 4), "features", &features, &asked.features))
        goto done;
    asked.dim = (size_t)dim;
    asked.seed = seed;
    PyThreadState *state = PyEval_SaveThread();
    status = ee_bandit_create(&asked, &bandit, &error);
    PyEval_RestoreThread(state);
    if (status) raise_status(status, &error);
done:
    Py_XDECREF(policy);
    Py_XDECREF(options);
    Py_XDECREF(features);
    return bandit ? wrap_new(type, bandit) : NULL;
}

static PyObject *new_bandit(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *policies = PyImport_ImportModule("eenet._policies");
    PyObject *maker = policies ? PyObject_GetAttrString(policies, "settings") : NULL;
    PyObject *settings = maker ? PyObject_Call(maker, args, keywords) : NULL;
    PyObject *self = settings ? create(type, settings) : NULL;
    Py_XDECREF(settings);
    Py_XDECREF(maker);
    Py_XDECREF(policies);
    return self;
}

static ee_info info_of(bandit_object *self)
{
    PyThreadState *state = bandit_enter(self);
    ee_info info = ee_bandit_info(self->bandit);
    bandit_leave(self, state);
    return info;
}

static PyObject *get_info(PyObject *self, void *closure)
{
    (void)closure;
    if (bandit_check((bandit_object *)self)) return NULL;
    ee_info info = info_of((bandit_object *)self);
    return info_new(&info);
}

/* "a=1 b=2" as a dict of strings. */
static PyObject *settings_dict(const char *text)
{
    PyObject *policies = PyImport_ImportModule("eenet._policies");
    if (!policies) return NULL;
    PyObject *dict = PyObject_CallMethod(policies, "parse_settings", "s", text);
    Py_DECREF(policies);
    return dict;
}

static PyObject *get_options(PyObject *self, void *closure)
{
    (void)closure;
    return settings_dict(((bandit_object *)self)->options);
}

static PyObject *get_features(PyObject *self, void *closure)
{
    (void)closure;
    const char *features = ((bandit_object *)self)->features;
    if (!features) Py_RETURN_NONE;
    return settings_dict(features);
}

size_t bandit_memory(bandit_object *self)
{
    PyThreadState *state = bandit_enter(self);
    size_t bytes = ee_bandit_memory(self->bandit);
    bandit_leave(self, state);
    return bytes;
}

static PyObject *get_memory(PyObject *self, void *closure)
{
    (void)closure;
    return bandit_check((bandit_object *)self) ? NULL : PyLong_FromSize_t(bandit_memory((bandit_object *)self));
}

static PyObject *repr(PyObject *self)
{
    if (bandit_check((bandit_object *)self)) return NULL;
    ee_info info = info_of((bandit_object *)self);
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    if (!name) return NULL;
    PyObject *text = PyUnicode_FromFormat("<%U %s, dim %zu, seed %llu: %llu decisions, %llu rewards>", name,
                                          info.policy, info.dim, (unsigned long long)info.seed,
                                          (unsigned long long)info.decisions, (unsigned long long)info.rewards);
    Py_DECREF(name);
    return text;
}

static PyMemberDef members[] = {
    {"policy", T_STRING, offsetof(bandit_object, policy), READONLY, BANDIT_POLICY_DOC},
    {"dim", T_PYSSIZET, offsetof(bandit_object, dim), READONLY, BANDIT_DIM_DOC},
    {"seed", T_ULONGLONG, offsetof(bandit_object, seed), READONLY, BANDIT_SEED_DOC},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"options", get_options, NULL, BANDIT_OPTIONS_DOC, NULL},
    {"features", get_features, NULL, BANDIT_FEATURES_DOC, NULL},
    {"info", get_info, NULL, BANDIT_INFO_DOC, NULL},
    {"memory", get_memory, NULL, BANDIT_MEMORY_DOC, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, BANDIT_DOC},  {Py_tp_new, new_bandit},    {Py_tp_dealloc, dealloc},        {Py_tp_repr, repr},
    {Py_tp_members, members}, {Py_tp_getset, properties}, {Py_tp_methods, bandit_methods}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "eenet.Bandit",
    .basicsize = sizeof(bandit_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int bandit_add(PyObject *module)
{
    PyTypeObject *type;
    return type_add(module, &spec, &type);
}
