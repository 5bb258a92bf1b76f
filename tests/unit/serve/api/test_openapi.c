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
    const route_table *own = &all_routes[ROUTES_V1], *other = &all_routes[ROUTES_PERSONALIZER];
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

/* The value itself, or what its "$ref" leads to; NULL: nothing. */
static json_t *resolve(json_t *root, json_t *value)
{
    const char *target = json_string_value(json_object_get(value, "$ref"));
    char copy[128];
    if (!target) return value;
    assert_true(strlen(target) < sizeof copy && strncmp(target, "#/", 2) == 0);
    strcpy(copy, target + 2);
    for (char *part = strtok(copy, "/"); part; part = strtok(NULL, "/")) root = json_object_get(root, part);
    return root;
}

/* The path parameters of the description are the parts in braces, in their order. */
static void check_parameters(json_t *root, json_t *path, const char *pattern)
{
    const char *at = pattern;
    size_t index;
    json_t *inner;
    json_array_foreach(json_object_get(path, "parameters"), index, inner)
    {
        json_t *one = resolve(root, inner);
        const char *name = json_string_value(json_object_get(one, "name"));
        if (strcmp(json_string_value(json_object_get(one, "in")), "path") != 0) continue;
        at = strchr(at, '{');
        if (!at || strncmp(at + 1, name, strlen(name)) != 0 || at[1 + strlen(name)] != '}')
            fail_msg("%s: openapi.json has the path parameter %s, the route does not", pattern, name);
        assert_true(json_is_true(json_object_get(one, "required")));
        at++;
    }
    if (strchr(at, '{')) fail_msg("%s: openapi.json lacks the path parameter %s", pattern, strchr(at, '{'));
}

/* "x-limit" of a body names the setting that limits it. */
static void check_body(const route *entry, json_t *operation)
{
    const char *limit = json_string_value(json_object_get(json_object_get(operation, "requestBody"), "x-limit"));
    const char *expected = router_limit(entry);
    if (!limit != !expected || (limit && strcmp(limit, expected) != 0))
        fail_msg("%s: its body is limited by %s, requestBody of openapi.json has x-limit %s", entry->pattern,
                 expected ? expected : "nothing, it has none", limit ? limit : "nothing");
}

TEST(every_route_is_described)
{
    static const char *const roles[] = {NULL, "client", "reader", NULL, "admin"};
    json_t *root = load();
    const route *entry;
    for (size_t i = 0; (entry = route_at(i)); i++) {
        json_t *path = json_object_get(json_object_get(root, "paths"), entry->pattern);
        json_t *operation = json_object_get(path, methods[entry->method]);
        if (!operation) fail_msg("%s %s is not described", methods[entry->method], entry->pattern);
        const char *summary = json_string_value(json_object_get(operation, "summary"));
        if (!summary || !summary[0]) fail_msg("%s %s has no summary", methods[entry->method], entry->pattern);
        const char *role = json_string_value(json_object_get(operation, "x-role"));
        if (entry->role == KEY_NOBODY)
            assert_true(!role && json_array_size(json_object_get(operation, "security")) == 0);
        else if (!role || strcmp(role, roles[entry->role]) != 0)
            fail_msg("%s %s: the route needs the role %s, openapi.json has x-role %s", methods[entry->method],
                     entry->pattern, roles[entry->role], role ? role : "nothing");
        check_parameters(root, path, entry->pattern);
        check_body(entry, operation);
        json_t *responses = json_object_get(operation, "responses");
        if (entry->traits & ROUTE_WAITS && !json_object_get(responses, "503"))
            fail_msg("%s %s: 503 is not described; the worker's queue may be full", methods[entry->method],
                     entry->pattern);
        bool succeeds =
            json_object_get(responses, "200") || json_object_get(responses, "201") || json_object_get(responses, "204");
        assert_true(succeeds == (entry->handle != api_no_flatbuffers)); /* which refuses whatever comes */
    }
    json_decref(root);
}

TEST(every_description_has_a_route)
{
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
    assert_int_equal(found, all_routes[ROUTES_V1].count + all_routes[ROUTES_PERSONALIZER].count);
    json_decref(root);
}

/* Each "$ref" leads to something. */
static void check_references(json_t *root, json_t *value)
{
    const char *key;
    json_t *inner;
    size_t index;
    if (!resolve(root, value)) fail_msg("%s leads nowhere", json_string_value(json_object_get(value, "$ref")));
    json_object_foreach(value, key, inner) check_references(root, inner);
    json_array_foreach(value, index, inner) check_references(root, inner);
}

TEST(references_lead_somewhere)
{
    json_t *root = load();
    assert_string_equal(json_string_value(json_object_get(root, "openapi")), "3.1.0");
    check_references(root, root);
    json_decref(root);
}
