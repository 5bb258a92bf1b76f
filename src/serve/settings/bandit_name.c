#include "bandit_settings.h"

bool bandit_name_is_valid(json_text name)
{
    if (name.length < 1 || name.length >= BANDIT_NAME_SIZE) return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || (c != '-' && c != '_' && c != '.'))) return false;
    }
    return true;
}
