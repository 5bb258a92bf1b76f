#include "serve/http/router.h"
#include "support.h"

static const route routes[] = {
    {.method = HTTP_GET, .pattern = "/"},
    {.method = HTTP_GET, .pattern = "/v1/bandits"},
    {.method = HTTP_POST, .pattern = "/v1/bandits"},
    {.method = HTTP_GET, .pattern = "/v1/bandits/{name}"},
    {.method = HTTP_POST, .pattern = "/v1/bandits/{name}/decide"},
    {.method = HTTP_DELETE, .pattern = "/v1/{a}/{b}/{c}/{d}/end"},
};
static const route_table table = {routes, sizeof routes / sizeof *routes};

static route_result find(http_method method, const char *path, route_match *match, char allowed[64])
{
    /* at a wall, so that reading past the end shows */
    guard wall;
    char *copy = guard_end_bytes(&wall, strlen(path));
    memcpy(copy, path, strlen(path));
    route_result result = router_find(&table, method, (json_text){copy, strlen(path)}, match, allowed);
    guard_free(&wall);
    return result;
}

TEST(finds_routes)
{
    route_match match;
    char allowed[64];
    assert_int_equal(find(HTTP_GET, "/", &match, allowed), ROUTE_FOUND);
    assert_ptr_equal(match.route, &routes[0]);
    assert_int_equal(find(HTTP_POST, "/v1/bandits", &match, allowed), ROUTE_FOUND);
    assert_ptr_equal(match.route, &routes[2]);
    assert_int_equal(match.count, 0);
    assert_int_equal(find(HTTP_HEAD, "/v1/bandits/shop", &match, allowed), ROUTE_FOUND);
    assert_ptr_equal(match.route, &routes[3]);
    assert_string_equal(match.parts[0], "shop");
    assert_int_equal(find(HTTP_DELETE, "/v1/1/2/3/4/end", &match, allowed), ROUTE_FOUND);
    assert_int_equal(match.count, 4);
    assert_string_equal(match.parts[3], "4");
}

TEST(parts_are_decoded_after_the_cut)
{
    route_match match;
    char allowed[64];
    assert_int_equal(find(HTTP_POST, "/v1/bandits/a%2Fb%20%c3%A4+c/decide", &match, allowed), ROUTE_FOUND);
    assert_string_equal(match.parts[0], "a/b \xc3\xa4+c");
    /* what is not in braces stands as it is written */
    assert_int_equal(find(HTTP_GET, "/%76%31/bandits", &match, allowed), ROUTE_NONE);
}

TEST(other_methods_are_told)
{
    route_match match;
    char allowed[64];
    assert_int_equal(find(HTTP_PUT, "/v1/bandits", &match, allowed), ROUTE_OTHER_METHOD);
    assert_string_equal(allowed, "GET, HEAD, POST");
    assert_int_equal(find(HTTP_HEAD, "/v1/bandits/shop/decide", &match, allowed), ROUTE_OTHER_METHOD);
    assert_string_equal(allowed, "POST");
    assert_int_equal(find(HTTP_OTHER, "/", &match, allowed), ROUTE_OTHER_METHOD);
    assert_string_equal(allowed, "GET, HEAD");
}

TEST(other_paths_are_none)
{
    static const char *const paths[] = {"/v1", "/v2/bandits", "/v1/bandit", "/v1/banditss", "/v1/bandits/a/b"};
    route_match match;
    char allowed[64];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(find(HTTP_GET, paths[i], &match, allowed), ROUTE_NONE);
}

TEST(bad_paths_are_refused)
{
    static const char *const paths[] = {
        "",       "*",  "v1/bandits", "//",      "/v1//bandits", "/v1/bandits/",   "/%",       "/%2", "/%2g",
        "/a%00b", "/.", "/..",        "/%2e%2E", "/a/../b",      "/v1/bandits/%2", "/v1/%GG/x"};
    route_match match;
    char allowed[64], longest[400] = "/";
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(find(HTTP_GET, paths[i], &match, allowed), ROUTE_BAD_PATH);
    memset(longest + 1, 'x', ROUTE_PART_SIZE - 1);
    assert_int_equal(find(HTTP_GET, longest, &match, allowed), ROUTE_NONE);
    longest[ROUTE_PART_SIZE] = 'x';
    assert_int_equal(find(HTTP_GET, longest, &match, allowed), ROUTE_BAD_PATH);
}

TEST(decoding_stops_at_the_room)
{
    char out[4];
    size_t length;
    assert_true(router_decode((json_text){"a%62c", 5}, out, 4, &length));
    assert_string_equal(out, "abc");
    assert_int_equal(length, 3);
    assert_false(router_decode((json_text){"abcd", 4}, out, 4, &length));
    assert_false(router_decode((json_text){"", 0}, out, 0, &length));
    assert_true(router_decode((json_text){"", 0}, out, 1, &length));
}
