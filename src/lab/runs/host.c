#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What Linux calls the processor; "" where it does not, as on ARM. */
static void find_processor(char *name, size_t capacity)
{
    char line[256];
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " ");
        snprintf(name, capacity, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file) fclose(file);
}

enum { WORDS = 160 };

static char words[WORDS];

static void find_words(void)
{
    struct utsname system;
    char processor[80];
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    find_processor(processor, sizeof processor);
    int length = uname(&system) < 0 ? snprintf(words, WORDS, "unknown")
                                    : snprintf(words, WORDS, "%.20s %.20s", system.machine, system.sysname);
    if (count > 0)
        length += snprintf(words + length, WORDS - (size_t)length, ", %ld processor%s", count, count > 1 ? "s" : "");
    if (processor[0]) snprintf(words + length, WORDS - (size_t)length, ", %s", processor);
}

const char *host_describe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_words);
    return words;
}
