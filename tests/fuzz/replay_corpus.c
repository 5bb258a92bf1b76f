/* replay_corpus FUZZER FOLDER: runs a fuzzer's test once for each file of the folder, without libFuzzer. Each input
 * lies in a block of its exact size, so that a sanitizer sees a read past its end. The fuzzers are one program; their
 * LLVMFuzzerTestOneInput is compiled under the name of the file. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FUZZER(name) int name(const uint8_t *bytes, size_t size);
#include "fuzzers.h"
#undef FUZZER

typedef int fuzzer(const uint8_t *bytes, size_t size);

static const struct {
    const char *name;
    fuzzer *run;
} fuzzers[] = {
#define FUZZER(name) {#name, name},
#include "fuzzers.h"
};

static int replay(fuzzer *run, const char *path, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    int failed = !bytes || !file || fread(bytes, 1, size, file) != size;
    if (failed)
        perror(path);
    else
        run(bytes, size);
    if (file) fclose(file);
    free(bytes);
    return failed;
}

int main(int argc, char **argv)
{
    fuzzer *run = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof fuzzers / sizeof *fuzzers; i++)
        if (strcmp(argv[1], fuzzers[i].name) == 0) run = fuzzers[i].run;
    if (!run) {
        fprintf(stderr, "usage: %s FUZZER FOLDER\n", argv[0]);
        return 2;
    }
    DIR *folder = opendir(argv[2]);
    if (!folder) {
        perror(argv[2]);
        return 1;
    }
    size_t count = 0;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        struct stat status;
        int length = snprintf(path, sizeof path, "%s/%s", argv[2], entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &status)) {
            perror(entry->d_name);
            failed = 1;
        } else if (S_ISREG(status.st_mode)) {
            failed |= replay(run, path, (size_t)status.st_size);
            count++;
        }
    }
    closedir(folder);
    printf("%zu inputs\n", count);
    return failed || count == 0;
}
