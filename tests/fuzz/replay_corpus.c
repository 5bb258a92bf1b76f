/* Runs a fuzzer's test once for each file of the folder that it is given, without libFuzzer. Each input lies in a block
 * of its exact size, so that a sanitizer sees a read past its end. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int replay(const char *path, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    int failed = !bytes || !file || fread(bytes, 1, size, file) != size;
    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(bytes, size);
    if (file) fclose(file);
    free(bytes);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    DIR *folder = opendir(argv[1]);
    if (!folder) {
        perror(argv[1]);
        return 1;
    }
    size_t count = 0;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        struct stat status;
        int length = snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &status)) {
            perror(entry->d_name);
            failed = 1;
        } else if (S_ISREG(status.st_mode)) {
            failed |= replay(path, (size_t)status.st_size);
            count++;
        }
    }
    closedir(folder);
    printf("%zu inputs\n", count);
    return failed || count == 0;
}
