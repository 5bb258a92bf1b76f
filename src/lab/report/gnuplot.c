#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

extern char **environ;

static ee_status start_gnuplot(const char *figures, const char *script, const char *log, pid_t *process,
                               ee_error *error)
{
    char program[] = "gnuplot", no_settings[] = "-d";
    char *const words[] = {program, no_settings, (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = posix_spawn_file_actions_addchdir_np(&actions, figures);
        if (!failed) failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!failed) failed = posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, 2, 1);
        if (!failed) failed = posix_spawnp(process, program, &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (failed == ENOENT)
        return status_fail(
            error, EE_FILE_ERROR,
            "gnuplot not found, and the figures need it: install it (Debian package gnuplot-nox) and run "
            "this again");
    if (failed) return status_fail(error, EE_FILE_ERROR, "could not start gnuplot: %s", strerror(failed));
    return EE_OK;
}

/* The line of gnuplot's complaint that says what is wrong; an empty one where there is none. */
static void read_complaint(const char *log, char *line, size_t capacity)
{
    uint8_t *bytes;
    size_t size;
    line[0] = '\0';
    if (file_read(log, &bytes, &size, NULL)) return;
    const char *said = strstr((const char *)bytes, "line ");
    if (!said) said = (const char *)bytes;
    snprintf(line, capacity, "%.*s", (int)strcspn(said, "\n"), said);
    memory_free(bytes);
}

ee_status gnuplot_run(const char *figures, const char *script, const char *log, const char *log_path, ee_error *error)
{
    pid_t process;
    ee_status status = start_gnuplot(figures, script, log, &process, error);
    if (status) return status;
    int ended = 0;
    while (waitpid(process, &ended, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
        unlink(log_path);
        return EE_OK;
    }
    char line[100];
    read_complaint(log_path, line, sizeof line);
    return status_fail(error, EE_FILE_ERROR,
                       "gnuplot failed on figures/%.60s (%s); Debian's gnuplot-nox is known to work", script,
                       line[0] ? line : "killed by a signal");
}

ee_status gnuplot_find(ee_error *error)
{
    pid_t process;
    ee_status status = start_gnuplot(".", "/dev/null", "/dev/null", &process, error);
    while (!status && waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
    return status;
}
