/* Bytes that nobody meant as the settings of a bandit: reading them ends; what is refused changes nothing, and what is
 * taken reads the same when it is written. */
#include "fuzz.h"
#include "serve/settings/bandit_settings.h"

static void read_both_ways(const char *json, size_t size, settings_source source)
{
    bandit_settings settings = bandit_settings_usual(), before = settings, again = settings;
    ee_error error = {0};
    if (bandit_settings_read(&settings, json, size, source, &error)) {
        require(error.message[0] != '\0', "refused without a sentence");
        require(memcmp(&settings, &before, sizeof settings) == 0, "refused, but changed");
        return;
    }
    text written = text_start(NULL);
    bandit_settings_write(&settings, &written);
    require(!written.status, "not written");
    require(!bandit_settings_read(&again, written.bytes, written.length, SETTINGS_STORED, NULL),
            "what was written is refused");
    require(memcmp(&settings, &again, sizeof settings) == 0, "what was written is something else");
    memory_free(written.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    read_both_ways((const char *)bytes, size, SETTINGS_STORED);
    read_both_ways((const char *)bytes, size, SETTINGS_NEW);
    read_both_ways((const char *)bytes, size, SETTINGS_CHANGES);
    return 0;
}
