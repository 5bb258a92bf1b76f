#define _POSIX_C_SOURCE 200809L
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support.h"
#include "support_files.h"
#include "support_http.h"
#include "support_tls.h"

/* Writes NAME.pem and NAME.key. */
static void make_certificate(const test_folder *folder, const char *name, const char *host)
{
    char file[64], certificate[256], key[256];
    snprintf(file, sizeof file, "%s.pem", name);
    snprintf(certificate, sizeof certificate, "%s", folder_path(folder, file));
    snprintf(file, sizeof file, "%s.key", name);
    snprintf(key, sizeof key, "%s", folder_path(folder, file));
    tls_write_certificate(certificate, key, host);
}

static void peer_name(tls_client *self, char *name, size_t capacity)
{
    unsigned count;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(self->session, &count);
    gnutls_x509_crt_t first;
    gnutls_x509_crt_init(&first);
    gnutls_x509_crt_import(first, chain, GNUTLS_X509_FMT_DER);
    gnutls_x509_crt_get_dn_by_oid(first, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &capacity);
    gnutls_x509_crt_deinit(first);
}

/* ---- tests ---- */

static struct world {
    test_folder folder;
    char certificate[64], key[64];
    echo_server *server;
} world;

static int start(void **state)
{
    (void)state;
    world = (struct world){0};
    world.folder = folder_make();
    make_certificate(&world.folder, "first", "first.example");
    snprintf(world.certificate, sizeof world.certificate, "%s", folder_path(&world.folder, "first.pem"));
    snprintf(world.key, sizeof world.key, "%s", folder_path(&world.folder, "first.key"));
    http_options options = echo_options();
    options.certificate = world.certificate;
    options.key = world.key;
    world.server = echo_start(&options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    echo_stop(world.server);
    folder_remove(&world.folder);
    return 0;
}

#define POST(path) "POST " path " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"

TEST_WITH(requests_are_answered, start, stop)
{
    tls_client client;
    assert_true(tls_connect(&client, world.server->port, "NORMAL"));
    for (int i = 0; i < 10; i++) {
        assert_true(tls_send(&client, POST("/echo"), strlen(POST("/echo"))));
        assert_true(tls_reads(&client, "\r\n\r\nhello"));
        assert_true(tls_send(&client, POST("/later"), strlen(POST("/later"))));
        assert_true(tls_reads(&client, "\r\n\r\nhello"));
    }
    tls_close(&client);
}

TEST_WITH(only_what_is_safe_is_spoken, start, stop)
{
    static const struct {
        const char *priorities;
        bool agrees;
    } cases[] = {
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.1:%ALLOW_SMALL_RECORDS", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.0", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tls_client client;
        assert_int_equal(tls_connect(&client, world.server->port, cases[i].priorities), cases[i].agrees);
        tls_close(&client);
    }
}

TEST_WITH(other_bytes_do_no_harm, start, stop)
{
    random_stream random = random_named(1, "tls");
    int plain = raw_connect(world.server->port);
    raw_send_text(plain, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(raw_is_closed(plain));
    raw_close(plain);
    for (int i = 0; i < 200; i++) {
        char bytes[600] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"; /* how a client begins */
        for (size_t k = i % 2 ? 11 : 0; k < sizeof bytes; k++) bytes[k] = (char)random_bits(&random);
        int client = raw_connect(world.server->port);
        raw_send(client, bytes, random_below(&random, sizeof bytes));
        raw_reset(client);
    }
    for (int i = 0; i < 20; i++) { /* gone in the midst of a request */
        tls_client client;
        assert_true(tls_connect(&client, world.server->port, "NORMAL"));
        tls_send(&client, POST("/later"), strlen(POST("/later")) - (size_t)i % 3);
        tls_close(&client);
    }
    requests_are_answered(state);
    AWAIT(echo_connections(world.server) == 0);
    AWAIT(echo_open(world.server) == 0);
}

TEST_WITH(too_much_is_refused_in_the_midst, start, stop)
{
    tls_client client;
    char chunk[0x1000 + 16];
    assert_true(tls_connect(&client, world.server->port, "NORMAL"));
    const char *head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_true(tls_send(&client, head, strlen(head)));
    memcpy(chunk, "1000\r\n", 6);
    memset(chunk + 6, 'x', 0x1000);
    memcpy(chunk + 6 + 0x1000, "\r\n", 2);
    for (int i = 0; i < 1000 && tls_send(&client, chunk, 8 + 0x1000); i++) continue;
    assert_true(tls_reads(&client, "TooLarge"));
    tls_close(&client);
}

TEST_WITH(the_certificate_may_change, start, stop)
{
    tls_client before, after;
    char name[64], certificate[64], key[64];
    make_certificate(&world.folder, "second", "second.example");
    snprintf(certificate, sizeof certificate, "%s", folder_path(&world.folder, "second.pem"));
    snprintf(key, sizeof key, "%s", folder_path(&world.folder, "second.key"));
    assert_true(tls_connect(&before, world.server->port, "NORMAL"));
    peer_name(&before, name, sizeof name);
    assert_string_equal(name, "first.example");
    ok(http_set_certificate(world.server->http, certificate, key, NULL));
    assert_true(tls_connect(&after, world.server->port, "NORMAL"));
    peer_name(&after, name, sizeof name);
    assert_string_equal(name, "second.example");
    assert_true(tls_send(&before, POST("/echo"), strlen(POST("/echo"))));
    assert_true(tls_reads(&before, "hello"));
    tls_close(&before);
    tls_close(&after);

    ee_error error;
    assert_int_equal(http_set_certificate(world.server->http, certificate, world.key, &error), EE_BAD_INPUT);
    assert_non_null(strstr(error.message, "does not match the key"));
    assert_non_null(strstr(error.message, "second.pem"));
    assert_int_equal(http_set_certificate(world.server->http, key, certificate, &error), EE_BAD_INPUT);
    assert_non_null(strstr(error.message, "are not a certificate and key in PEM"));
    assert_int_equal(http_set_certificate(world.server->http, "nowhere", key, &error), EE_FILE_ERROR);
}
