/* A disk that forgets, for tests of what survives a power cut: a library for LD_PRELOAD (Linux, 64 bits).
 *
 *     LD_PRELOAD=libleaky_disk.so LEAKY_DISK=FOLDER [LEAKY_DISK_LUCK=0.3] PROGRAM
 *
 * What the program writes to files under FOLDER stays in its memory until it syncs the file: kill -9 is a power cut. By
 * every descriptor it reads what it wrote. With a luck of p each 512 bytes of a write reach the disk with probability p
 * anyway, as a real disk may write what it likes, when it likes.
 *
 * Files and folders that were made, renamed or removed stay so once the folder that they lie in is synced. Until then
 * FOLDER.undo knows how to take it back, and the next process that is started so does (also `true`), unless another one
 * is still at it. With luck it takes back the last few only. A process that ends by itself leaves all as it is.
 *
 * Not covered: stdio, mmap (SQLite's shared memory is passed over: it is made anew after a crash), dup, truncate by
 * name, and calls that nobody here makes. Other processes see what was synced. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, SECTOR = 512, DESCRIPTORS = 1 << 16, BUCKETS = 1024, NAME_SIZE = PATH_MAX + 64 };

typedef struct page {
    struct page *next; /* of its bucket */
    uint64_t number;
    uint8_t bytes[PAGE];
} page;

/* A file, by its inode: what was written to it and not synced. */
typedef struct leaky_file {
    struct leaky_file *next;
    dev_t device;
    ino_t inode;
    pthread_mutex_t mutex;
    page *pages[BUCKETS];
    size_t page_count;
    off_t size;    /* as the program sees it */
    off_t kept;    /* what the disk has from here on is cut off: zeros, where the file is longer again */
    bool unsynced; /* anything */
    int own;       /* a descriptor to write by; -1: it was never opened for writing. While it is open, the program's
                      locks on the file stay: they go when any descriptor is closed */
    unsigned open; /* descriptors of the program */
} leaky_file;

static char root[PATH_MAX]; /* empty: nothing is ours */
static char undo_folder[PATH_MAX + 8];
static double luck;
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER; /* of all below, and of names */
static leaky_file *table;
static _Atomic(leaky_file *) by_descriptor[DESCRIPTORS];
static int undo = -1;        /* the log of names */
static unsigned backups = 0; /* made so far */

/* ---- the system's own calls ---- */

static ssize_t real_pread(int fd, void *bytes, size_t size, off_t at)
{
    return syscall(SYS_pread64, fd, bytes, size, at);
}

static ssize_t real_pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return syscall(SYS_pwrite64, fd, bytes, size, at);
}

static int real_stat(int folder, const char *path, struct stat *out, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

static int real_rename(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int real_unlink(const char *path)
{
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void give_up(const char *what)
{
    char line[200];
    int length = snprintf(line, sizeof line, "leaky_disk: %s: %s\n", what, strerror(errno));
    syscall(SYS_write, STDERR_FILENO, line, length);
    abort();
}

static bool is_lucky(void)
{
    static _Thread_local uint64_t state;
    if (luck <= 0) return false;
    if (!state) state = (uint64_t)(uintptr_t)&state ^ (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53 < luck;
}

/* ---- pages ---- */

static page *find_page(const leaky_file *file, uint64_t number)
{
    page *found = file->pages[number % BUCKETS];
    while (found && found->number != number) found = found->next;
    return found;
}

/* Bytes as they were before anything of this page was written. */
static void read_disk(const leaky_file *file, int fd, uint8_t *bytes, size_t size, off_t at)
{
    off_t end = at + (off_t)size < file->kept ? at + (off_t)size : file->kept;
    ssize_t got = end > at ? real_pread(fd, bytes, (size_t)(end - at), at) : 0;
    if (got < 0) give_up("read");
    memset(bytes + got, 0, size - (size_t)got);
}

static page *take_page(leaky_file *file, uint64_t number)
{
    page *taken = find_page(file, number);
    if (taken) return taken;
    taken = malloc(sizeof *taken);
    if (!taken) give_up("memory");
    taken->number = number;
    taken->next = file->pages[number % BUCKETS];
    read_disk(file, file->own, taken->bytes, PAGE, (off_t)number * PAGE);
    file->pages[number % BUCKETS] = taken;
    file->page_count++;
    return taken;
}

/* Drops the pages from one on. */
static void drop_pages(leaky_file *file, uint64_t from)
{
    for (size_t i = 0; file->page_count && i < BUCKETS; i++)
        for (page **link = &file->pages[i]; *link;) {
            page *at = *link;
            if (at->number < from) {
                link = &at->next;
                continue;
            }
            *link = at->next;
            free(at);
            file->page_count--;
        }
}

static size_t write_file(leaky_file *file, const uint8_t *bytes, size_t size, off_t at)
{
    pthread_mutex_lock(&file->mutex);
    file->unsynced = true;
    for (size_t done = 0; done < size;) {
        off_t place = at + (off_t)done;
        size_t within = (size_t)place % PAGE, part = size - done < PAGE - within ? size - done : PAGE - within;
        memcpy(take_page(file, (uint64_t)place / PAGE)->bytes + within, bytes + done, part);
        done += part;
    }
    for (size_t done = 0; luck > 0 && file->kept == LLONG_MAX && done < size;) {
        size_t part = SECTOR - (size_t)(at + (off_t)done) % SECTOR;
        if (part > size - done) part = size - done;
        if (is_lucky()) real_pwrite(file->own, bytes + done, part, at + (off_t)done);
        done += part;
    }
    if (at + (off_t)size > file->size) file->size = at + (off_t)size;
    pthread_mutex_unlock(&file->mutex);
    return size;
}

static size_t read_file(leaky_file *file, int fd, uint8_t *bytes, size_t size, off_t at)
{
    pthread_mutex_lock(&file->mutex);
    size_t there = at < file->size ? (size_t)(file->size - at) : 0;
    if (size > there) size = there;
    for (size_t done = 0; done < size;) {
        off_t place = at + (off_t)done;
        size_t within = (size_t)place % PAGE, part = size - done < PAGE - within ? size - done : PAGE - within;
        const page *found = file->page_count ? find_page(file, (uint64_t)place / PAGE) : NULL;
        if (!file->page_count) part = size - done;
        if (found)
            memcpy(bytes + done, found->bytes + within, part);
        else
            read_disk(file, fd, bytes + done, part, place);
        done += part;
    }
    pthread_mutex_unlock(&file->mutex);
    return size;
}

static void cut_file(leaky_file *file, off_t size)
{
    pthread_mutex_lock(&file->mutex);
    file->unsynced = true;
    if (size < file->size) {
        if (size % PAGE)
            memset(take_page(file, (uint64_t)size / PAGE)->bytes + size % PAGE, 0, (size_t)(PAGE - size % PAGE));
        drop_pages(file, ((uint64_t)size + PAGE - 1) / PAGE);
        if (size < file->kept) file->kept = size;
    }
    file->size = size;
    pthread_mutex_unlock(&file->mutex);
}

/* What the program wrote, for real. Not synced for real: it is the process that is killed, not the machine. */
static void sync_file(leaky_file *file)
{
    pthread_mutex_lock(&file->mutex);
    if (file->unsynced) {
        if (file->kept != LLONG_MAX && syscall(SYS_ftruncate, file->own, file->kept)) give_up("truncate");
        if (syscall(SYS_ftruncate, file->own, file->size)) give_up("truncate");
        for (size_t i = 0; file->page_count && i < BUCKETS; i++)
            for (const page *at = file->pages[i]; at; at = at->next) {
                off_t place = (off_t)at->number * PAGE, left = file->size - place;
                size_t part = left < PAGE ? (size_t)(left > 0 ? left : 0) : PAGE;
                if (part && real_pwrite(file->own, at->bytes, part, place) != (ssize_t)part) give_up("write");
            }
        drop_pages(file, 0);
        file->kept = LLONG_MAX;
        file->unsynced = false;
    }
    pthread_mutex_unlock(&file->mutex);
}

/* ---- files by inode: table_mutex is held ---- */

static leaky_file *find_file(const struct stat *about)
{
    leaky_file *file = table;
    while (file && (file->inode != about->st_ino || file->device != about->st_dev)) file = file->next;
    return file;
}

static void drop_file(leaky_file *file)
{
    for (leaky_file **link = &table; *link; link = &(*link)->next)
        if (*link == file) {
            *link = file->next;
            break;
        }
    drop_pages(file, 0);
    if (file->own >= 0) syscall(SYS_close, file->own);
    pthread_mutex_destroy(&file->mutex);
    free(file);
}

static leaky_file *take_file(int fd, bool writable)
{
    struct stat about;
    if (real_stat(fd, "", &about, AT_EMPTY_PATH) || !S_ISREG(about.st_mode)) return NULL;
    leaky_file *file = find_file(&about);
    if (!file) {
        file = calloc(1, sizeof *file);
        if (!file) give_up("memory");
        *file = (leaky_file){.next = table,
                             .device = about.st_dev,
                             .inode = about.st_ino,
                             .size = about.st_size,
                             .kept = LLONG_MAX,
                             .own = -1};
        pthread_mutex_init(&file->mutex, NULL);
        table = file;
    }
    if (writable && file->own < 0) {
        char self[32]; /* not a copy: one that can only be written could not be read */
        snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
        file->own = (int)syscall(SYS_openat, AT_FDCWD, self, O_RDWR | O_CLOEXEC, 0);
        if (file->own < 0) give_up("a descriptor");
    }
    file->open++;
    return file;
}

static leaky_file *file_by(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS ? atomic_load_explicit(&by_descriptor[fd], memory_order_acquire) : NULL;
}

/* ---- names ---- */

/* The absolute path, where it lies under the root; else false. */
static bool is_ours(const char *path, char out[PATH_MAX])
{
    char folder[PATH_MAX], copy[PATH_MAX];
    if (!*root || !path || strlen(path) >= PATH_MAX) return false;
    strcpy(copy, path);
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    if (slash) *slash = '\0';
    if (!realpath(slash ? (slash == copy ? "/" : copy) : ".", folder)) return false;
    size_t length = strlen(root);
    if (strncmp(folder, root, length) != 0 || (folder[length] && folder[length] != '/')) return false;
    size_t end = strlen(name);
    if (end > 4 && strcmp(name + end - 4, "-shm") == 0) return false;
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* A line of the log: what was done to a name, its old name, and where the file is kept that lost the name. */
static void note(char what, const char *path, const char *old, const char *backup)
{
    char line[4 * PATH_MAX];
    int length = snprintf(line, sizeof line, "%c\t%s\t%s\t%s\n", what, path, old, backup);
    if (undo >= 0 && syscall(SYS_write, undo, line, length) != length) give_up("the log of names");
}

/* A file that lost a name: kept until the name's folder is synced. */
typedef struct kept_file {
    struct kept_file *next;
    char path[PATH_MAX], backup[NAME_SIZE];
} kept_file;

static kept_file *kept_files;

/* Keeps the file of a name that is about to lose it. Returns where; "" where there is none. */
static const char *keep(const char *path)
{
    struct stat about;
    if (undo < 0 || real_stat(AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW)) return "";
    kept_file *kept = malloc(sizeof *kept);
    if (!kept) give_up("memory");
    kept->next = kept_files;
    snprintf(kept->path, sizeof kept->path, "%s", path);
    snprintf(kept->backup, sizeof kept->backup, "%s/%d-%u", undo_folder, (int)getpid(), backups++);
    if (link(path, kept->backup)) give_up("keep a file");
    kept_files = kept;
    return kept->backup;
}

static bool lies_in(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/');
}

/* Lets go of the files whose names' folder is synced: nothing may keep an inode that is given to another file. */
static void let_go(const char *folder)
{
    struct stat about;
    for (kept_file **link_to = &kept_files; *link_to;) {
        kept_file *kept = *link_to;
        if (!lies_in(kept->path, folder)) {
            link_to = &kept->next;
            continue;
        }
        real_unlink(kept->backup);
        *link_to = kept->next;
        free(kept);
    }
    for (leaky_file *file = table, *next; file; file = next) {
        next = file->next;
        if (!file->open && real_stat(file->own, "", &about, AT_EMPTY_PATH) == 0 && about.st_nlink == 0) drop_file(file);
    }
}

typedef struct line {
    char what;
    char *path, *old, *backup;
    bool synced;
} line;

static void take_back(const line *step)
{
    char lost[NAME_SIZE];
    snprintf(lost, sizeof lost, "%s/lost-%d-%u", undo_folder, (int)getpid(), backups++);
    if (step->what == 'C') real_unlink(step->path);
    if (step->what == 'D') real_rename(step->path, lost);
    if (step->what == 'R') real_rename(step->path, step->old);
    if (*step->backup) real_rename(step->backup, step->path);
}

/* Takes back what was not synced: the lines from the last to the first, but those whose folder was synced later. */
static void recover(char *text)
{
    size_t count = 0, capacity = 1;
    for (const char *at = text; *at; at++) capacity += *at == '\n';
    line *lines = calloc(capacity, sizeof *lines);
    if (!lines) give_up("memory");
    for (char *rest = NULL, *words = strtok_r(text, "\n", &rest); words; words = strtok_r(NULL, "\n", &rest)) {
        char *field[3] = {words + 1};
        for (int i = 0; i < 3 && field[i]; i++) {
            *field[i]++ = '\0';
            if (i < 2) field[i + 1] = strchr(field[i], '\t');
        }
        if (!field[1] || !field[2]) break; /* killed in the midst of the line: what it tells of was not done */
        for (size_t i = 0; *words == 'S' && i < count; i++) lines[i].synced |= lies_in(lines[i].path, field[0]);
        if (*words != 'S') lines[count++] = (line){*words, field[0], field[1], field[2], false};
    }
    while (count-- > 0 && !is_lucky())
        if (!lines[count].synced) take_back(&lines[count]);
    free(lines);
}

static char *read_log(void)
{
    off_t size = (off_t)syscall(SYS_lseek, undo, 0, SEEK_END);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || real_pread(undo, text, (size_t)size, 0) != size) give_up("the log of names");
    return text;
}

/* Nothing is to be taken back any more. */
static void clear_undo(void)
{
    DIR *entries = opendir(undo_folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries) closedir(entries);
    if (syscall(SYS_ftruncate, undo, 0)) give_up("the log of names");
}

__attribute__((constructor)) static void start(void)
{
    const char *folder = getenv("LEAKY_DISK"), *chance = getenv("LEAKY_DISK_LUCK");
    char parent[PATH_MAX], copy[PATH_MAX];
    if (!folder || !*folder || strlen(folder) >= PATH_MAX) return;
    strcpy(copy, folder);
    for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/';) copy[--end] = '\0';
    char *slash = strrchr(copy, '/');
    if (slash) *slash = '\0';
    if (!realpath(slash ? (slash == copy ? "/" : copy) : ".", parent)) give_up("LEAKY_DISK");
    luck = chance ? strtod(chance, NULL) : 0;
    char log[NAME_SIZE];
    if (snprintf(root, sizeof root, "%s/%s", parent, slash ? slash + 1 : copy) >= (int)sizeof root)
        give_up("LEAKY_DISK");
    snprintf(undo_folder, sizeof undo_folder, "%s.undo", root);
    snprintf(log, sizeof log, "%s/log", undo_folder);
    syscall(SYS_mkdirat, AT_FDCWD, undo_folder, 0777);
    undo = (int)syscall(SYS_openat, AT_FDCWD, log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (undo < 0) give_up("the log of names");
    if (flock(undo, LOCK_EX | LOCK_NB)) { /* another process is at it: names are its affair */
        syscall(SYS_close, undo);
        undo = -1;
        return;
    }
    char *text = read_log();
    recover(text);
    free(text);
    clear_undo();
}

__attribute__((destructor)) static void end(void)
{
    pthread_mutex_lock(&table_mutex);
    for (leaky_file *file = table; file; file = file->next) sync_file(file);
    if (undo >= 0) clear_undo();
    pthread_mutex_unlock(&table_mutex);
}

/* ---- the calls of the program ---- */

static int open_any(int folder, const char *path, int flags, mode_t mode)
{
    char absolute[PATH_MAX];
    if (folder != AT_FDCWD || flags & (O_DIRECTORY | O_PATH) || !is_ours(path, absolute))
        return (int)syscall(SYS_openat, folder, path, flags, mode);
    struct stat about;
    pthread_mutex_lock(&table_mutex);
    bool made = flags & O_CREAT && real_stat(AT_FDCWD, path, &about, 0);
    if (made) note('C', absolute, "", "");
    int fd = (int)syscall(SYS_openat, folder, path, flags & ~O_TRUNC, mode);
    leaky_file *file = fd >= 0 && fd < DESCRIPTORS ? take_file(fd, (flags & O_ACCMODE) != O_RDONLY) : NULL;
    if (file) atomic_store_explicit(&by_descriptor[fd], file, memory_order_release);
    pthread_mutex_unlock(&table_mutex);
    if (file && flags & O_TRUNC) cut_file(file, 0);
    return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(folder, path, flags, mode);
}

int close(int fd)
{
    leaky_file *file = file_by(fd);
    if (!file) return (int)syscall(SYS_close, fd);
    pthread_mutex_lock(&table_mutex);
    atomic_store_explicit(&by_descriptor[fd], NULL, memory_order_release);
    int result = (int)syscall(SYS_close, fd);
    struct stat about;
    bool gone = file->own >= 0 && real_stat(file->own, "", &about, AT_EMPTY_PATH) == 0 && about.st_nlink == 0;
    if (--file->open == 0 && (gone || !file->unsynced)) drop_file(file);
    pthread_mutex_unlock(&table_mutex);
    return result;
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    leaky_file *file = file_by(fd);
    return file ? (ssize_t)read_file(file, fd, bytes, size, at) : real_pread(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    leaky_file *file = file_by(fd);
    return file && file->own >= 0 ? (ssize_t)write_file(file, bytes, size, at) : real_pwrite(fd, bytes, size, at);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    leaky_file *file = file_by(fd);
    if (!file) return syscall(SYS_read, fd, bytes, size);
    off_t at = (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
    size_t got = read_file(file, fd, bytes, size, at);
    syscall(SYS_lseek, fd, at + (off_t)got, SEEK_SET);
    return (ssize_t)got;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    leaky_file *file = file_by(fd);
    if (!file || file->own < 0) return syscall(SYS_write, fd, bytes, size);
    bool appends = fcntl(fd, F_GETFL) & O_APPEND;
    off_t at = appends ? file->size : (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
    write_file(file, bytes, size, at);
    syscall(SYS_lseek, fd, at + (off_t)size, SEEK_SET);
    return (ssize_t)size;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    ssize_t total = 0;
    if (!file_by(fd)) return syscall(SYS_pwritev, fd, parts, (long)count, (long)at, 0L);
    for (int i = 0; i < count; i++) total += pwrite(fd, parts[i].iov_base, parts[i].iov_len, at + total);
    return total;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t total = 0;
    if (!file_by(fd)) return syscall(SYS_writev, fd, parts, (long)count);
    for (int i = 0; i < count; i++) total += write(fd, parts[i].iov_base, parts[i].iov_len);
    return total;
}

off_t lseek(int fd, off_t offset, int whence)
{
    const leaky_file *file = file_by(fd);
    if (!file || whence != SEEK_END) return (off_t)syscall(SYS_lseek, fd, offset, whence);
    return (off_t)syscall(SYS_lseek, fd, file->size + offset, SEEK_SET);
}

int ftruncate(int fd, off_t size)
{
    leaky_file *file = file_by(fd);
    if (!file || file->own < 0) return (int)syscall(SYS_ftruncate, fd, size);
    cut_file(file, size);
    return 0;
}

int fsync(int fd)
{
    leaky_file *file = file_by(fd);
    char link_name[32], path[PATH_MAX], absolute[PATH_MAX];
    if (file) {
        sync_file(file);
        return 0;
    }
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link_name, path, sizeof path - 1);
    if (length < 0) return (int)syscall(SYS_fsync, fd);
    path[length] = '\0';
    if (strcmp(path, root) != 0 && !is_ours(path, absolute)) return (int)syscall(SYS_fsync, fd);
    pthread_mutex_lock(&table_mutex);
    note('S', path, "", "");
    let_go(path);
    pthread_mutex_unlock(&table_mutex);
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

/* ---- names ---- */

int rename(const char *from, const char *to)
{
    char old[PATH_MAX], new[PATH_MAX];
    if (!is_ours(from, old) || !is_ours(to, new)) return real_rename(from, to);
    pthread_mutex_lock(&table_mutex);
    note('R', new, old, keep(new));
    int result = real_rename(from, to);
    pthread_mutex_unlock(&table_mutex);
    return result;
}

int unlink(const char *path)
{
    char absolute[PATH_MAX];
    if (!is_ours(path, absolute)) return real_unlink(path);
    pthread_mutex_lock(&table_mutex);
    note('U', absolute, "", keep(absolute));
    int result = real_unlink(path);
    pthread_mutex_unlock(&table_mutex);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    char absolute[PATH_MAX];
    struct stat about;
    pthread_mutex_lock(&table_mutex);
    if (is_ours(path, absolute) && real_stat(AT_FDCWD, path, &about, 0)) note('D', absolute, "", "");
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    pthread_mutex_unlock(&table_mutex);
    return result;
}

/* ---- sizes ---- */

/* The size that the program knows, where it is another than the disk's. */
static int tell_size(int result, struct stat *about)
{
    if (result || !*root || !S_ISREG(about->st_mode)) return result;
    pthread_mutex_lock(&table_mutex);
    const leaky_file *file = find_file(about);
    if (file) about->st_size = file->size;
    pthread_mutex_unlock(&table_mutex);
    return result;
}

int fstat(int fd, struct stat *out)
{
    return tell_size(real_stat(fd, "", out, AT_EMPTY_PATH), out);
}

int stat(const char *path, struct stat *out)
{
    return tell_size(real_stat(AT_FDCWD, path, out, 0), out);
}

int lstat(const char *path, struct stat *out)
{
    return tell_size(real_stat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW), out);
}

/* ---- the same calls by their other names: on 64 bits all are one ---- */

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) __attribute__((alias("pread")));
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) __attribute__((alias("pwrite")));
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) __attribute__((alias("pwritev")));
off64_t lseek64(int fd, off64_t offset, int whence) __attribute__((alias("lseek")));
int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));
int fstat64(int fd, struct stat64 *out) __attribute__((alias("fstat")));
int stat64(const char *path, struct stat64 *out) __attribute__((alias("stat")));
int lstat64(const char *path, struct stat64 *out) __attribute__((alias("lstat")));
