#include "environment.h"

#include <string.h>

#include "base/memory.h"
#include "lab/datasets/kind.h"

static const dataset_kind *const kinds[] = {&dataset_synthetic, &dataset_yelp};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* NULL, with the error filled, where text names none. */
static const dataset_kind *find_kind(const char *text, ee_error *error)
{
    const char *names[KINDS];
    char word[32] = "";
    size_t length = strcspn(text, ":");
    if (length < sizeof word) memcpy(word, text, length);
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i]->name;
        if (strcmp(word, names[i]) == 0) return kinds[i];
    }
    const char *nearest = options_nearest(word, names, KINDS);
    if (nearest)
        status_fail(error, EE_BAD_OPTION, "data set: no kind is called '%s'; did you mean '%s'?", word, nearest);
    else
        status_fail(error, EE_BAD_OPTION, "data set: no kind is called '%.*s'; 'eenet datasets' lists them",
                    (int)strcspn(text, ":"), text);
    return NULL;
}

ee_status dataset_open(const char *text, dataset **out, ee_error *error)
{
    *out = NULL;
    const dataset_kind *kind = find_kind(text, error);
    if (!kind) return EE_BAD_OPTION;
    const char *place = strchr(text, ':');
    if (!place || !place[1]) return status_fail(error, EE_BAD_OPTION, "data set: expected %s", kind->form);

    char *copy;
    ee_status status = memory_create(&copy, strlen(text) + 1, 1, error);
    if (status) return status;
    strcpy(copy, text);
    status = kind->open(place + 1, out, error);
    if (status) {
        memory_free(copy);
        return status;
    }
    (*out)->kind = kind;
    (*out)->text = copy;
    return EE_OK;
}

void dataset_free(dataset *data)
{
    if (!data) return;
    memory_free(data->text);
    data->kind->close(data);
}

const char *dataset_text(const dataset *data)
{
    return data->text;
}

size_t dataset_dim(const dataset *data)
{
    return data->dim;
}

ee_status environment_create(const dataset *data, uint64_t seed, environment **out, ee_error *error)
{
    *out = NULL;
    ee_status status = data->kind->start(data, seed, out, error);
    if (!status) (*out)->kind = data->kind;
    return status;
}

void environment_free(environment *world)
{
    if (world) world->kind->stop(world);
}

ee_status environment_next(environment *world, environment_round *round, ee_error *error)
{
    return world->kind->next(world, round, error);
}

static ee_status fail_past_last(size_t index, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "data set: there are %d kinds, asked for number %zu", KINDS, index);
}

ee_status dataset_describe(size_t index, dataset_info *info, ee_error *error)
{
    if (index >= KINDS) return fail_past_last(index, error);
    *info = (dataset_info){kinds[index]->name, kinds[index]->form, kinds[index]->summary};
    return EE_OK;
}

ee_status dataset_option_describe(size_t index, size_t option_index, ee_option *description, ee_error *error)
{
    if (index >= KINDS) return fail_past_last(index, error);
    const option_schema *schema = kinds[index]->options;
    if (!schema) return status_fail(error, EE_BAD_INPUT, "data set: %s has no options", kinds[index]->name);
    void *defaults;
    ee_status status = memory_create(&defaults, 1, schema->size, error);
    if (status) return status;
    options_set_defaults(schema, defaults);
    status = options_describe(schema, defaults, option_index, description, error);
    memory_free(defaults);
    return status;
}
