/* The tests of this program do not wait for the disk: what is durable after a power cut is tested by tests/serve.
 * Libraries such as SQLite call these, too. */
#define _DEFAULT_SOURCE
#include <unistd.h>

__attribute__((visibility("default"))) int fsync(int file)
{
    (void)file;
    return 0;
}

__attribute__((visibility("default"))) int fdatasync(int file)
{
    (void)file;
    return 0;
}
