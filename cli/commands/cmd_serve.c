/* eenet serve: the decision server, from its settings to its end. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "serve/http/http_probe.h"
#include "serve/service.h"
#include "serve/settings/server_settings.h"
#include "serve/store/place_name.h"
#include "serve/system/notify.h"

enum { FLAG_SETTINGS, FLAG_PRINT, FLAG_HEALTH, FLAG_OLD_DRAIN, FLAGS };

static const flag flags[FLAGS] = {
    [FLAG_SETTINGS] = {'\0', "settings", "FILE", "settings file, with lines name = value"},
    [FLAG_PRINT] = {'\0', "print-settings", NULL, "print a settings file with all defaults, and exit"},
    [FLAG_HEALTH] = {'\0', "health", NULL, "exit 0 if the server with these settings is alive, else 1"},
    [FLAG_OLD_DRAIN] = {'\0', "drain-seconds", "SECONDS", "deprecated: use --finish-seconds"},
};

/* ---- settings ---- */

typedef struct serve_flags {
    int argc;
    char **argv;
    const char *file;          /* of settings; NULL: none */
    bool print;                /* --print-settings */
    bool health;               /* --health */
    server_settings *settings; /* NULL: only the file is looked for */
} serve_flags;

static int take(const command *self, int got, const char *value, void *context)
{
    serve_flags *from = context;
    flag entry;
    ee_error error;
    if (got == FLAG_SETTINGS) {
        from->file = value;
        return EXIT_DONE;
    }
    if (got == FLAG_PRINT) {
        from->print = true;
        return EXIT_DONE;
    }
    if (got == FLAG_HEALTH) {
        from->health = true;
        return EXIT_DONE;
    }
    command_flag(self, (size_t)got, &entry);
    if (!from->settings || !server_settings_set(entry.name, value, from->settings, &error)) return EXIT_DONE;
    const char *named = strstr(error.message, "serve."); /* "options: serve.port must be ..." */
    return named ? command_misused(self, "--%s", named + strlen("serve.")) : command_misused(self, "%s", error.message);
}

/* Defaults, then the file, the variables and the flags; later ones override earlier ones. *code is not EXIT_DONE if the
 * flags are wrong, and then a message was printed. */
static ee_status read_settings(const command *self, serve_flags *from, server_settings *out, int *code, ee_error *error)
{
    options_set_defaults(&server_settings_schema, out);
    from->settings = NULL;
    *code = arguments_each(self, from->argc, from->argv, take, from);
    if (*code || from->print) return EE_OK;
    ee_status status = from->file ? server_settings_read(from->file, out, error) : EE_OK;
    if (!status) status = server_settings_environment(environ, out, error);
    if (status) return status;
    from->settings = out;
    *code = arguments_each(self, from->argc, from->argv, take, from);
    return *code || from->health ? EE_OK : server_settings_check(out, error);
}

static int print_settings(const command *self)
{
    ee_error error;
    text example = text_start(&error);
    server_settings_example(&example);
    if (!example.status) fputs(example.bytes, stdout);
    memory_free(example.bytes);
    return example.status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

/* For health checks of containers, whose image has no other HTTP client. */
static int check_health(const command *self, const server_settings *settings)
{
    ee_error error;
    if (http_probe(settings->address, (uint16_t)settings->port, settings->certificate[0], "/livez", &error))
        return command_failed(self, "%s", error.message);
    return EXIT_DONE;
}

/* ---- what to type next ---- */

static void write_place(const server_settings *settings, const char *address, uint16_t port, char *place, size_t size)
{
    bool brackets = strchr(address, ':') != NULL;
    snprintf(place, size, "%s://%s%s%s:%u", settings->certificate[0] ? "https" : "http", brackets ? "[" : "", address,
             brackets ? "]" : "", (unsigned)port);
}

/* place becomes an address that a client on this machine can use: 0.0.0.0 and :: are only for listening. */
static void print_place(const server_settings *settings, uint16_t port, char *place, size_t size)
{
    const char *address = settings->address;
    write_place(settings, address, port, place, size);
    printf("eenet: listening on %s\n", place); /* programs read this line to find the port */
    if (strcmp(address, "0.0.0.0") == 0) address = "127.0.0.1";
    if (strcmp(address, "::") == 0) address = "::1";
    write_place(settings, address, port, place, size);
}

static void print_next(const server_settings *settings, const char *place)
{
    const char *key = settings->keys[0] ? " -H 'Authorization: Bearer KEY'" : "";
    bool page = settings->page.pick == 0;
    char data[PLACE_NAME_SIZE];
    place_name(settings->store[0] ? settings->store : settings->folder, data);
    printf("\n%s%s%sData:      %s\nAPI:       %s/openapi.json\n", page ? "Dashboard: " : "", page ? place : "",
           page ? "/\n" : "", data, place);
    printf("\nCreate a bandit, ask for a decision and send its reward, from another terminal%s:\n\n"
           "  curl%s %s/v1/bandits -d '{\"name\": \"shop\"}'\n"
           "  curl%s %s/v1/bandits/shop/decide -d '{\"id\": \"visit-1\", \"context\": {\"plan\": \"free\"},\n"
           "    \"actions\": [{\"id\": \"red\"}, {\"id\": \"blue\"}]}'\n"
           "  curl%s %s/v1/bandits/shop/reward -d '{\"id\": \"visit-1\", \"value\": 1}'\n\n"
           "Press Ctrl-C to stop.\n",
           key[0] ? " (KEY needs the role admin)" : "", key, place, key, place, key, place);
}

/* ---- signals ---- */

static volatile bool hurry; /* a second signal came */

static void leave(int number)
{
    static const char why[] = "stopped before all models were saved; the log has everything they have not\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, why, sizeof why - 1);
    (void)written;
    _exit(EXIT_DONE);
}

/* Exits in two seconds at the latest: everything acknowledged is already durable. */
static void make_haste(int number)
{
    (void)number;
    hurry = true;
    alarm(2);
}

static sigset_t our_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

static atomic_bool given_up; /* a signal came while the start waited for the database */

static bool pause_start(double seconds)
{
    sigset_t set = our_signals();
    struct timespec turn = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    sigdelset(&set, SIGHUP);
    notify_send("EXTEND_TIMEOUT_USEC=60000000"); /* store-wait-seconds decides, not systemd */
    if (!atomic_load(&given_up) && sigtimedwait(&set, NULL, &turn) > 0) atomic_store(&given_up, true);
    return !atomic_load(&given_up);
}

static void reload(const command *self, serve_flags *from, service *running)
{
    server_settings settings;
    ee_error error;
    struct timespec now;
    char lines[96];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    notify_send(lines);
    /* The flags were right at the start. */
    int code;
    if (read_settings(self, from, &settings, &code, &error) || service_reload(running, &settings, &error))
        service_log_error(running, "settings not reloaded; the old ones stay in force: %s", error.message);
    notify_send("READY=1");
}

/* Serves until a signal asks it to stop. */
static void wait_for_end(const command *self, serve_flags *from, service *running)
{
    sigset_t set = our_signals();
    double watchdog = notify_watchdog() / 2;
    struct timespec turn = {.tv_sec = 3600};
    if (watchdog > 0) turn = (struct timespec){(time_t)watchdog, (long)((watchdog - (double)(time_t)watchdog) * 1e9)};
    for (;;) {
        int came = sigtimedwait(&set, NULL, &turn);
        if (came == SIGTERM || came == SIGINT) return;
        if (came == SIGHUP) reload(self, from, running);
        if (watchdog > 0 && service_is_alive(running)) notify_send("WATCHDOG=1");
    }
}

static void stop(service *running)
{
    struct sigaction action = {.sa_handler = make_haste};
    sigset_t set = our_signals();
    double limit = service_stop_seconds(running);
    struct itimerval end = {.it_value = {.tv_sec = (time_t)limit}};
    end.it_value.tv_usec = (suseconds_t)((limit - (double)end.it_value.tv_sec) * 1e6);
    sigemptyset(&action.sa_mask);
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &end, NULL); /* as haste, if a model's training cannot be interrupted in time */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigdelset(&set, SIGHUP); /* too late for it */
    notify_send("STOPPING=1");
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    service_stop(running, &hurry);
}

static int run(const command *self, int argc, char **argv)
{
    serve_flags from = {.argc = argc, .argv = argv};
    server_settings settings;
    service *running;
    ee_error error;
    char place[160];
    sigset_t set = our_signals();
    int code;
    if (read_settings(self, &from, &settings, &code, &error)) return command_refused(self, &error);
    if (code) return code;
    if (from.print) return print_settings(self);
    if (from.health) return check_health(self, &settings);
    signal(SIGXFSZ, SIG_IGN);               /* a file that may not grow is a disk that is full */
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* for all threads that follow; this one asks for them */
    if (service_start(&settings, pause_start, &running, &error))
        return given_up ? EXIT_DONE : command_failed(self, "%s", error.message);
    print_place(&settings, service_port(running), place, sizeof place);
    print_next(&settings, place);
    fflush(stdout);
    notify_send("READY=1");
    if (!given_up) wait_for_end(self, &from, running);
    stop(running);
    return EXIT_DONE;
}

const command command_serve = {
    .name = "serve",
    .form = "[--settings FILE] [--SETTING VALUE]...",
    .summary = "run the decision server (HTTP)",
    .details =
        "By default it listens on 127.0.0.1:8080, for this machine only, and stores everything in ./eenet-data.\n"
        "Each setting is a flag (--port 8080), an environment variable (EENET_PORT) and a line of the settings\n"
        "file (port = 8080). Flags override variables, variables override the file.\n"
        "SIGTERM or Ctrl-C finishes open requests (finish-seconds), saves models (2 seconds) and exits; a second one\n"
        "exits at once. With --drain SECONDS, /readyz returns 503 for this long first, so that a load balancer stops\n"
        "sending.\n"
        "SIGHUP reloads settings, keys and certificate.\n"
        "--health is for health checks: give it the settings that the server has.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .settings = &server_settings_schema,
    .run = run,
};
