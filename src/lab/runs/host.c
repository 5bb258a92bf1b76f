#define _POSIX_C_SOURCE 200809L
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/system.h"

enum { WORDS = 160 };

static char words[WORDS];

static void find_words(void)
{
    struct utsname system;
    char processor[80];
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    system_processor(processor, sizeof processor);
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
