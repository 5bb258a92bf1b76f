/* leaky_disk_check LIBRARY: whether the disk of leaky_disk.c forgets what was not synced, and nothing else. It starts
 * itself with the library, writes in the folder `disk`, kills itself, and looks what is left. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "leaky_disk_check: %s\n", what);
    exit(1);
}

static bool has(const char *path, const char *content)
{
    char bytes[16384];
    int file = open(path, O_RDONLY);
    if (file < 0) return !content;
    ssize_t got = read(file, bytes, sizeof bytes);
    close(file);
    return content && got == (ssize_t)strlen(content) && memcmp(bytes, content, strlen(content)) == 0;
}

static int write_new(const char *path, const char *content, bool synced)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    size_t size = strlen(content);
    expect(file >= 0 && write(file, content, size) == (ssize_t)size, "a file could not be written");
    if (synced) expect(fsync(file) == 0, "a file could not be synced");
    return file;
}

static void sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    expect(fsync(folder) == 0, "a folder could not be synced");
    close(folder);
}

/* ---- the one that writes ---- */

static void write_files(void)
{
    mkdir("disk/inner", 0777);
    const char *const names[] = {"overwritten", "appended", "cut",           "renamed",   "replaced",
                                 "removed",     "synced",   "cut-and-grown", "inner/file"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "disk/%s", names[i]);
        close(write_new(path, "before", true));
    }
    sync_folder("disk");
    sync_folder("disk/inner");
}

static void change_files(void)
{
    struct stat about;
    int file = open("disk/overwritten", O_RDWR);
    expect(pwrite(file, "AFTER", 5, 1) == 5, "pwrite");
    close(file);
    expect(has("disk/overwritten", "bAFTER"), "what was written is not read by another descriptor");
    file = open("disk/appended", O_WRONLY | O_APPEND);
    expect(write(file, "after", 5) == 5 && fstat(file, &about) == 0 && about.st_size == 11,
           "the size is not the new one");
    expect(has("disk/appended", "beforeafter"), "what was appended is not read");
    expect(ftruncate(open("disk/cut", O_RDWR), 2) == 0 && has("disk/cut", "be"), "what was cut is read");
    file = open("disk/cut-and-grown", O_RDWR);
    expect(ftruncate(file, 1) == 0 && pwrite(file, "x", 1, 3) == 1, "cut and grown");
    expect(pread(file, (char[4]){0}, 4, 0) == 4 && stat("disk/cut-and-grown", &about) == 0 && about.st_size == 4,
           "size");
    expect(rename("disk/renamed", "disk/new-name") == 0, "rename");
    close(write_new("disk/temporary", "after", true));
    expect(rename("disk/temporary", "disk/replaced") == 0 && has("disk/replaced", "after"), "rename");
    expect(unlink("disk/removed") == 0 && has("disk/removed", NULL), "unlink");
    close(write_new("disk/made", "after", true));
    mkdir("disk/made-folder", 0777);
    close(write_new("disk/made-folder/file", "after", true));
    close(write_new("disk/inner/file", "after", false));
    file = write_new("disk/synced", "AFTER", true);
    expect(pwrite(file, "later", 5, 0) == 5, "pwrite");
}

/* ---- the one that looks ---- */

static int run(const char *self, const char *library, const char *verb)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_PRELOAD", library, 1);
        setenv("LEAKY_DISK", "disk", 1);
        execl(self, self, verb, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status;
}

static void power_cut(const char *self, const char *library, const char *verb)
{
    int status = run(self, library, verb);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the writer was not killed");
    expect(run(self, library, "nothing") == 0, "names could not be taken back");
}

int main(int count, char **words)
{
    expect(count == 2, "expected LIBRARY");
    if (strcmp(words[1], "nothing") == 0) return 0;
    if (strcmp(words[1], "end") == 0) return write_new("disk/ended", "after", false) < 0;
    if (strcmp(words[1], "write") == 0 || strcmp(words[1], "change") == 0) {
        (*words[1] == 'w' ? write_files : change_files)();
        raise(SIGKILL);
    }
    mkdir("disk", 0777);
    power_cut(words[0], words[1], "write");
    power_cut(words[0], words[1], "change");
    const char *const kept[] = {"overwritten", "appended", "cut",     "cut-and-grown",
                                "renamed",     "replaced", "removed", "inner/file"};
    char path[64];
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(path, sizeof path, "disk/%s", kept[i]);
        expect(has(path, "before"), path);
    }
    expect(has("disk/synced", "AFTER"), "a synced byte did not survive");
    expect(has("disk/new-name", NULL) && has("disk/temporary", NULL) && has("disk/made", NULL), "a name survived");
    expect(has("disk/made-folder/file", NULL), "a folder survived");
    expect(run(words[0], words[1], "end") == 0 && has("disk/ended", "after"), "a process that ended lost something");
    return 0;
}
