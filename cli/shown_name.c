#include "shown_name.h"

#include <stdio.h>

size_t show_name(json_text name, char shown[SHOWN_NAME_SIZE])
{
    size_t characters = 0, length = 0;
    for (size_t i = 0; i < name.length && length + 1 < SHOWN_NAME_SIZE; i++) {
        uint8_t byte = (uint8_t)name.bytes[i];
        if ((byte & 0xc0) != 0x80 && ++characters > SHOWN_NAME_MOST) break;
        shown[length++] = byte < ' ' || byte == 0x7f ? '?' : (char)byte;
    }
    shown[length] = '\0';
    return characters > SHOWN_NAME_MOST ? SHOWN_NAME_MOST : characters;
}

void print_name(json_text name, size_t width)
{
    char shown[SHOWN_NAME_SIZE];
    size_t characters = show_name(name, shown);
    printf("%s%*s", shown, characters < width ? (int)(width - characters) : 0, "");
}
