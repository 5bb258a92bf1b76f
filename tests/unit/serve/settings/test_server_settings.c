#include "serve/settings/server_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "support.h"
#include "support_files.h"

static server_settings usual(void)
{
    server_settings settings;
    options_set_defaults(&server_settings_schema, &settings);
    return settings;
}

static void refused_text(const char *lines, const char *sentence)
{
    server_settings settings = usual();
    ee_error error;
    assert_int_equal(server_settings_parse(lines, strlen(lines), &settings, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, sentence);
}

TEST(defaults_can_run)
{
    server_settings settings = usual();
    ok(server_settings_check(&settings, NULL));
    assert_string_equal(settings.folder, "eenet-data");
    assert_string_equal(settings.address, "127.0.0.1");
    assert_int_equal(settings.port, 8080);
    assert_string_equal(settings.keys, "");
}

TEST(a_file_has_lines)
{
    server_settings settings = usual();
    const char *lines = "# a comment\n\n  port=9000\r\nfolder =  my data, of #1 # the end\n"
                        "\tidle-seconds = 1.5\nlog-level = debug\n#port = 7\nkeys =";
    ok(server_settings_parse(lines, strlen(lines), &settings, NULL));
    assert_int_equal(settings.port, 9000);
    assert_string_equal(settings.folder, "my data, of");
    assert_true(settings.idle_seconds == 1.5);
    assert_int_equal(settings.log_level.pick, 3);
    lines = "folder = a#1";
    ok(server_settings_parse(lines, strlen(lines), &settings, NULL));
    assert_string_equal(settings.folder, "a#1");
}

TEST(a_file_says_where_it_is_wrong)
{
    refused_text("port = 1\nprot = 2\n", "settings: line 2: serve has no option 'prot'; did you mean 'port'?");
    refused_text("most-awake = 5\n",
                 "settings: line 1: 'most-awake' was removed; remove it, or limit the memory of models with 'memory' "
                 "(megabytes)");
    refused_text("port = 70000", "settings: line 1: serve.port must be 0 to 65535, got 70000");
    refused_text("\n\nnothing", "settings: line 3: expected name = value, got 'nothing'");
    refused_text("log-level = loud", "settings: line 1: serve.log-level must be error|warning|info|debug, got loud");
    server_settings settings = usual();
    assert_int_equal(server_settings_parse("port = \0001", 9, &settings, NULL), EE_BAD_OPTION);
    char longest[3000];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(server_settings_parse(longest, sizeof longest, &settings, NULL), EE_BAD_OPTION);
}

TEST(files_are_read)
{
    test_folder folder = folder_make();
    folder_write_text(&folder, "conf", "port = 81\n");
    server_settings settings = usual();
    ok(server_settings_read(folder_path(&folder, "conf"), &settings, NULL));
    assert_int_equal(settings.port, 81);
    assert_int_not_equal(server_settings_read(folder_path(&folder, "none"), &settings, NULL), EE_OK);
    folder_remove(&folder);
}

TEST(variables_have_the_same_names)
{
    server_settings settings = usual();
    char *good[] = {"HOME=/root",
                    "EENET_PORT=77",
                    "EENET_IDLE_SECONDS=3",
                    "EENET_DATA=/data",
                    "EENET_OTHER_WORDS=1",
                    "EENET_FOLDER=a b, c=d",
                    "EENET_",
                    NULL};
    ok(server_settings_environment(good, &settings, NULL));
    assert_int_equal(settings.port, 77);
    assert_true(settings.idle_seconds == 3);
    assert_string_equal(settings.folder, "a b, c=d");

    ee_error error;
    char *misspelled[] = {"EENET_PROT=1", NULL}, *wrong[] = {"EENET_PORT=high", NULL};
    assert_int_equal(server_settings_environment(misspelled, &settings, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, "settings: unknown setting 'EENET_PROT'; did you mean 'port'?");
    assert_int_equal(server_settings_environment(wrong, &settings, &error), EE_BAD_OPTION);
    assert_string_equal(error.message, "settings: EENET_PORT: serve.port must be 0 to 65535, got high");
}

TEST(what_cannot_be_is_said)
{
    static const struct {
        const char *lines, *word; /* NULL: it can be */
    } cases[] = {
        {"address = 0.0.0.0", "keys are required"},
        {"address = ::", "keys are required"},
        {"address = 192.168.1.5", "keys are required"},
        {"address = 1270.evil.org", "keys are required"},
        {"address = ", "address must not be empty"},
        {"address = 0.0.0.0\nkeys = k", NULL},
        {"address = ::1", NULL},
        {"address = localhost", NULL},
        {"address = 127.0.0.9", NULL},
        {"certificate = a", "certificate-key is missing"},
        {"certificate-key = a", "certificate is missing"},
        {"certificate = a\ncertificate-key = b", NULL},
        {"folder =", "folder must not be empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_settings settings = usual();
        ee_error error = {EE_OK, ""};
        ok(server_settings_parse(cases[i].lines, strlen(cases[i].lines), &settings, NULL));
        assert_int_equal(server_settings_check(&settings, &error), cases[i].word ? EE_BAD_OPTION : EE_OK);
        if (cases[i].word) assert_non_null(strstr(error.message, cases[i].word));
    }
}

/* The file that is installed is the example: `eenet serve --print-settings >share/eenet.conf` makes it anew. */
TEST(the_installed_example_is_ours)
{
    text example = text_start(NULL);
    uint8_t *bytes;
    size_t size;
    server_settings_example(&example);
    ok(file_read(EENET_GOLDEN_DIR "/../../share/eenet.conf", &bytes, &size, NULL));
    assert_string_equal((const char *)bytes, example.bytes);
    memory_free(bytes);
    memory_free(example.bytes);
}

/* Every setting is in the example, with its default, and with the comment signs gone it is read. */
TEST(the_example_is_complete)
{
    text example = text_start(NULL);
    server_settings_example(&example);
    size_t count = 0, found = 0;
    for (size_t g = 0; g < server_settings_schema.count; g++) count += server_settings_schema.groups[g].table->count;
    for (char *at = example.bytes; (at = strchr(at, '#')); at++) {
        if (at[1] < 'a' || at[1] > 'z') continue;
        *at = ' ';
        found++;
    }
    assert_int_equal(found, count);
    server_settings settings = {.port = 1}, expected = usual();
    ee_error error;
    if (server_settings_parse(example.bytes, example.length, &settings, &error)) fail_msg("%s", error.message);
    char read[8192], defaults[8192];
    assert_in_range(options_format(&server_settings_schema, &settings, read, sizeof read), 1, sizeof read - 1);
    options_format(&server_settings_schema, &expected, defaults, sizeof defaults);
    assert_string_equal(read, defaults);
    memory_free(example.bytes);
}
