/* Settings files that nobody meant: reading them ends, and what is accepted lies within the table. The same bytes are
 * tried as variables. */
#include "fuzz.h"
#include "serve/settings/server_settings.h"

static void check(ee_status status, const ee_error *error, const server_settings *settings)
{
    ee_option entry;
    server_settings again;
    require_status(status, error, EE_BAD_OPTION);
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
    char *copy = calloc(1, size + 7);
    options_set_defaults(&server_settings_schema, &settings);
    check(server_settings_parse((const char *)bytes, size, &settings, &error), &error, &settings);
    memcpy(copy, "EENET_", 6);
    memcpy(copy + 6, bytes, size);
    char *environment[] = {copy, NULL};
    error = (ee_error){EE_OK, ""};
    options_set_defaults(&server_settings_schema, &settings);
    check(server_settings_environment(environment, &settings, &error), &error, &settings);
    free(copy);
    return 0;
}
