/* server_tests NAME EENET [WORD...]: runs the test of the file NAME.c. They are one program because linking each takes
 * longer than compiling it; their main is compiled as main_NAME. */
#include <stdio.h>
#include <string.h>

#define TEST_PROGRAM(name) int main_##name(int count, char **words);
#include "server_tests.h"
#undef TEST_PROGRAM

static const struct {
    const char *name;
    int (*run)(int count, char **words);
} programs[] = {
#define TEST_PROGRAM(name) {#name, main_##name},
#include "server_tests.h"
};

int main(int count, char **words)
{
    for (size_t i = 0; count > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(words[1], programs[i].name) == 0) return programs[i].run(count - 1, words + 1);
    fprintf(stderr, "usage: %s NAME EENET [WORD...]; NAME is a file of tests/serve\n", words[0]);
    return 2;
}
