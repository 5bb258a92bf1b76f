/* Settings files that nobody meant: reading them ends, and what is accepted lies within the table. The same bytes are
 * tried as variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/settings/server_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_server_settings: %s\n", what);
    abort();
}

static void check(ee_status status, const ee_error *error, const server_settings *settings)
{
    ee_option entry;
    server_settings again;
    require(status == error->status && (status == EE_OK || status == EE_BAD_OPTION), "a status without its error");
    require(memchr(error->message, '\0', sizeof error->message) != NULL, "a message without an end");
    if (status) return;
    /* What is printed is read as the same, but for paths, which are cut. */
    options_set_defaults(&server_settings_schema, &again);
    for (size_t i = 0; !options_describe(&server_settings_schema, settings, i, &entry, NULL); i++)
        require(!server_settings_set(entry.name, entry.value, &again, NULL), "a value that is not read again");
    (void)server_settings_check(settings, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    server_settings settings;
    ee_error error = {EE_OK, ""};
    char *copy = malloc(size + 7);
    if (!copy) return 0;
    options_set_defaults(&server_settings_schema, &settings);
    if (size) memcpy(copy, bytes, size);
    ee_status status = server_settings_parse(copy, size, &settings, &error);
    check(status, &error, &settings);

    memcpy(copy, "EENET_", 6);
    if (size) memcpy(copy + 6, bytes, size);
    copy[size + 6] = '\0';
    char *environment[] = {copy, NULL};
    error = (ee_error){EE_OK, ""};
    options_set_defaults(&server_settings_schema, &settings);
    status = server_settings_environment(environment, &settings, &error);
    check(status, &error, &settings);
    free(copy);
    return 0;
}
