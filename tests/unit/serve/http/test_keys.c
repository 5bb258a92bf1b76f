#define _POSIX_C_SOURCE 200809L
#include "serve/http/keys.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "support_files.h"

/* sha256sum of "secret" and of nothing */
#define SECRET "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

TEST(allows_what_a_role_needs)
{
    static const bool expected[][5] = {
        /* needs:      nobody client reader app  admin */
        [KEY_NOBODY] = {true, false, false, false, false}, [KEY_CLIENT] = {true, true, false, false, false},
        [KEY_READER] = {true, false, true, false, false},  [KEY_APP] = {true, true, true, true, false},
        [KEY_ADMIN] = {true, true, true, true, true},
    };
    for (key_role has = KEY_NOBODY; has <= KEY_ADMIN; has++)
        for (key_role needs = KEY_NOBODY; needs <= KEY_ADMIN; needs++)
            assert_int_equal(key_role_allows(has, needs), expected[has][needs]);
}

TEST(finds_keys_by_their_hash)
{
    const char *lines = "# who may\n\n site  app shop " SECRET "\r\nempty reader * " NOTHING;
    key_ring *ring;
    key_grant grant;
    ok(key_ring_parse(lines, strlen(lines), &ring, NULL));
    assert_int_equal(key_ring_count(ring), 2);
    assert_true(key_ring_find(ring, words("secret"), &grant));
    assert_int_equal(grant.role, KEY_APP);
    assert_string_equal(grant.name, "site");
    assert_string_equal(grant.bandit, "shop");
    assert_int_equal(grant.place, 0);
    assert_true(key_ring_find(ring, words(""), &grant));
    assert_int_equal(grant.role, KEY_READER);
    assert_null(grant.bandit);
    assert_false(key_ring_find(ring, words("secret "), &grant));
    assert_false(key_ring_find(ring, words(SECRET), &grant));
    key_ring_free(ring);
}

TEST(says_what_is_wrong_and_where)
{
    static const struct {
        const char *lines, *sentence;
    } cases[] = {
        {"a app *", "keys: line 1: expected NAME ROLE BANDIT HASH"},
        {"#\na app * " SECRET " more", "keys: line 2: expected NAME ROLE BANDIT HASH"},
        {"-a app * " SECRET, "keys: line 1: '-a' is not a valid key name"},
        {"a nobody * " SECRET, "keys: line 1: expected the role client, reader, app or admin, got 'nobody'"},
        {"a app ** " SECRET, "keys: line 1: '**' is not a valid bandit name"},
        {"a app * " SECRET "0", "keys: line 1: the hash must be 64 hexadecimal digits (0-9, a-f)"},
        {"a app * X" SECRET, "keys: line 1: the hash must be 64 hexadecimal digits (0-9, a-f)"},
        {"a app * " SECRET "\na app * " NOTHING, "keys: line 2: duplicate key 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        key_ring *ring;
        ee_error error;
        assert_int_equal(key_ring_parse(cases[i].lines, strlen(cases[i].lines), &ring, &error), EE_BAD_INPUT);
        assert_string_equal(error.message, cases[i].sentence);
    }
}

TEST(others_may_not_read_the_file)
{
    test_folder folder = folder_make();
    folder_write_text(&folder, "keys", "a app * " SECRET "\n");
    const char *path = folder_path(&folder, "keys");
    key_ring *ring;
    ee_error error;
    static const mode_t open_modes[] = {0604, 0620}; /* the group of a file of root may read, but not write */
    for (size_t i = 0; i < 2; i++) {
        chmod(path, open_modes[i]);
        assert_int_equal(key_ring_read(path, &ring, &error), EE_BAD_INPUT);
        assert_non_null(strstr(error.message, "chmod 600"));
    }
    chmod(path, 0400);
    ok(key_ring_read(path, &ring, NULL));
    key_ring_free(ring);
    if (geteuid() == 0) { /* as a secret of Kubernetes; then as a file of another user */
        chmod(path, 0440);
        assert_int_equal(chown(path, 0, 65532), 0);
        ok(key_ring_read(path, &ring, NULL));
        key_ring_free(ring);
        assert_int_equal(chown(path, 65532, 0), 0);
        assert_int_equal(key_ring_read(path, &ring, NULL), EE_BAD_INPUT);
    }
    folder_remove(&folder);
}

TEST(all_letters_of_a_key_vary)
{
    test_folder folder = folder_make();
    bool varies[KEY_SIZE] = {false};
    char first[KEY_SIZE], key[KEY_SIZE], name[16];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "key%d", i);
        ok(keys_add(folder_path(&folder, "keys"), name, KEY_APP, NULL, key, NULL));
        if (i == 0) memcpy(first, key, sizeof key);
        for (size_t j = 0; j < sizeof key; j++) varies[j] = varies[j] || key[j] != first[j];
    }
    for (size_t j = 3; j < 46; j++) assert_true(varies[j]);
    folder_remove(&folder);
}
