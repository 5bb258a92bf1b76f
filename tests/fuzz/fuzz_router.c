/* Paths and queries that nobody meant: what is found was asked for, and nothing is read past its end. */
#include "fuzz.h"
#include "serve/http/router.h"

static const route routes[] = {
    {.method = HTTP_GET, .pattern = "/livez"},
    {.method = HTTP_GET, .pattern = "/v1/bandits"},
    {.method = HTTP_POST, .pattern = "/v1/bandits"},
    {.method = HTTP_PATCH, .pattern = "/v1/bandits/{name}"},
    {.method = HTTP_POST, .pattern = "/v1/bandits/{name}/decide/batch"},
    {.method = HTTP_PUT, .pattern = "/{a}/{b}/{c}/{d}"},
};

static const route_table table = {routes, sizeof routes / sizeof *routes};

static void check_found(const route_match *match)
{
    require(match->count <= ROUTE_PARTS, "more parts than there are");
    for (size_t i = 0; i < match->count; i++) {
        require(memchr(match->parts[i], '\0', ROUTE_PART_SIZE) != NULL, "a part without an end");
        require(match->parts[i][0] != '\0', "an empty part");
        require(strcmp(match->parts[i], ".") != 0 && strcmp(match->parts[i], "..") != 0, "a part of dots");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char allowed[64], *decoded = malloc(size + 1);
    json_text whole = {(const char *)bytes, size};
    size_t length;
    for (int method = HTTP_GET; method <= HTTP_OTHER; method++) {
        route_match match;
        route_result result = router_find(&table, (http_method)method, whole, &match, allowed);
        if (result == ROUTE_FOUND) check_found(&match);
        require((result == ROUTE_OTHER_METHOD) == (allowed[0] != '\0') || result == ROUTE_FOUND, "wrong methods");
    }
    if (router_decode(whole, decoded, size + 1, &length))
        require(length <= size && strlen(decoded) == length, "a wrong length");
    free(decoded);
    return 0;
}
