/* The description of the API and the table of routes say the same. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "serve/api/handlers.h"
#include "serve/api/openapi.h"
#include "serve/routes.h"
#include "support.h"

static const route *route_at(size_t index)
{
    const route_table *own = &all_routes[ROUTES_OWN], *other = &all_routes[ROUTES_PERSONALIZER];
    if (index < own->count) return &own->routes[index];
    return index - own->count < other->count ? &other->routes[index - own->count] : NULL;
}

static const char *const methods[] = {"get", "head", "post", "put", "patch", "delete"};

static json_t *load(void)
{
    json_t *root = json_loadb(openapi_json, openapi_size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    return root;
}

static void every_route_is_described(void **state)
{
    (void)state;
    static const char *const roles[] = {NULL, "client", "reader", NULL, "admin"};
    json_t *root = load();
    const route *entry;
    for (size_t i = 0; (entry = route_at(i)); i++) {
        json_t *path = json_object_get(json_object_get(root, "paths"), entry->pattern);
        json_t *operation = json_object_get(path, methods[entry->method]);
        if (!operation) fail_msg("%s %s is not described", methods[entry->method], entry->pattern);
        assert_string_equal(json_string_value(json_object_get(operation, "summary")), entry->summary);
        const char *role = json_string_value(json_object_get(operation, "x-role"));
        if (entry->role == KEY_NOBODY)
            assert_true(!role && json_array_size(json_object_get(operation, "security")) == 0);
        else
            assert_string_equal(role, roles[entry->role]);
        json_t *responses = json_object_get(operation, "responses");
        bool succeeds =
            json_object_get(responses, "200") || json_object_get(responses, "201") || json_object_get(responses, "204");
        assert_true(succeeds == (entry->handle != api_no_flatbuffers)); /* which refuses whatever comes */
    }
    json_decref(root);
}

static void every_description_has_a_route(void **state)
{
    (void)state;
    json_t *root = load(), *path, *operation;
    const char *pattern, *method;
    size_t found = 0;
    json_object_foreach(json_object_get(root, "paths"), pattern, path)
    {
        json_object_foreach(path, method, operation)
        {
            if (strcmp(method, "parameters") == 0) continue;
            size_t i = 0;
            const route *entry;
            while ((entry = route_at(i)) &&
                   (strcmp(entry->pattern, pattern) != 0 || strcmp(methods[entry->method], method) != 0))
                i++;
            if (!entry) fail_msg("%s %s has no route", method, pattern);
            found++;
        }
    }
    assert_int_equal(found, all_routes[ROUTES_OWN].count + all_routes[ROUTES_PERSONALIZER].count);
    json_decref(root);
}

/* Each "$ref" leads to something. */
static void check_references(json_t *root, json_t *value)
{
    const char *key, *target = json_string_value(json_object_get(value, "$ref"));
    json_t *inner;
    size_t index;
    if (target) {
        char copy[128];
        assert_true(strlen(target) < sizeof copy && strncmp(target, "#/", 2) == 0);
        strcpy(copy, target + 2);
        inner = root;
        for (char *part = strtok(copy, "/"); part; part = strtok(NULL, "/")) inner = json_object_get(inner, part);
        if (!inner) fail_msg("%s leads nowhere", target);
        return;
    }
    json_object_foreach(value, key, inner) check_references(root, inner);
    json_array_foreach(value, index, inner) check_references(root, inner);
}

static void references_lead_somewhere(void **state)
{
    (void)state;
    json_t *root = load();
    assert_string_equal(json_string_value(json_object_get(root, "openapi")), "3.1.0");
    check_references(root, root);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_description_has_a_route),
        cmocka_unit_test(references_lead_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
