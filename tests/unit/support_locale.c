#define _POSIX_C_SOURCE 200809L
#include "support_locale.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A locale of glibc's own format, so that the test does not hang on what is installed: LC_NUMERIC's magic number, six
 * fields, the offset of each, then the decimal point, no thousands separator, no grouping, the two as wide characters,
 * the character set. */
bool comma_locale_enter(char *folder)
{
    static const uint32_t head[8] = {0x20031114, 6, 32, 34, 35, 36, 40, 44};
    static const char fields[] = ",\0\0\0,\0\0\0\0\0\0\0UTF-8";
    char path[128];
    if (!mkdtemp(folder)) return false;
    snprintf(path, sizeof path, "%s/comma", folder);
    mkdir(path, 0700);
    strcat(path, "/LC_NUMERIC");
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    fwrite(head, sizeof head, 1, file);
    fwrite(fields, sizeof fields, 1, file);
    fclose(file);
    setenv("LOCPATH", folder, 1);
    uselocale(LC_GLOBAL_LOCALE); /* a test before this one may have left the thread in another */
    return setlocale(LC_NUMERIC, "comma") && strcmp(localeconv()->decimal_point, ",") == 0;
}

void comma_locale_leave(const char *folder)
{
    char path[128];
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    snprintf(path, sizeof path, "%s/comma/LC_NUMERIC", folder);
    remove(path);
    snprintf(path, sizeof path, "%s/comma", folder);
    remove(path);
    remove(folder);
}
