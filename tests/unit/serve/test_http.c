#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "support_http.h"

static int start(void **state)
{
    *state = echo_start(NULL);
    return 0;
}

static int stop(void **state)
{
    echo_stop(*state);
    return 0;
}

static int connect_to(void **state)
{
    int client = raw_connect(echo_port(*state));
    assert_true(client >= 0);
    return client;
}

static http_reply ask(int client, const char *request)
{
    http_reply reply;
    assert_true(raw_ask(client, request, &reply));
    return reply;
}

static void expect(int client, const char *request, int status, const char *body)
{
    http_reply reply = ask(client, request);
    assert_int_equal(reply.status, status);
    if (body) assert_string_equal(reply.body, body);
    free(reply.body);
}

#define POST(path, body_size, body) "POST " path " HTTP/1.1\r\nHost: x\r\nContent-Length: " body_size "\r\n\r\n" body
#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static void one_connection_serves_many_requests(void **state)
{
    int client = connect_to(state);
    for (int i = 0; i < 50; i++) {
        expect(client, POST("/echo", "5", "hello"), 200, "hello");
        expect(client, POST("/later", "4", "late"), 200, "late");
        expect(client, POST("/echo", "0", ""), 200, "");
        expect(client, GET("/nowhere"), 404,
               "{\"error\":{\"code\":\"NotFound\",\"message\":\"there is no such path\"}}\n");
    }
    raw_close(client);
}

static void requests_may_come_all_at_once(void **state)
{
    int client = connect_to(state);
    assert_true(raw_send_text(client, POST("/echo", "1", "a") POST("/later", "1", "b") GET("/size?bytes=3")
                                          POST("/later", "1", "c") POST("/echo", "1", "d")));
    const char *expected[] = {"a", "b", "yyy", "c", "d"};
    for (size_t i = 0; i < 5; i++) {
        http_reply reply;
        assert_true(raw_read(client, &reply, false));
        assert_string_equal(reply.body, expected[i]);
        free(reply.body);
    }
    raw_close(client);
}

static void requests_may_come_byte_by_byte(void **state)
{
    int client = connect_to(state);
    const char *request = POST("/echo", "6", "pieces");
    for (size_t i = 0; request[i]; i++) assert_true(raw_send(client, request + i, 1));
    http_reply reply;
    assert_true(raw_read(client, &reply, false));
    assert_string_equal(reply.body, "pieces");
    free(reply.body);
    raw_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_connection_serves_many_requests, start, stop),
        cmocka_unit_test_setup_teardown(requests_may_come_all_at_once, start, stop),
        cmocka_unit_test_setup_teardown(requests_may_come_byte_by_byte, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
