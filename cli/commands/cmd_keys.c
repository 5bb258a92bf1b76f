/* eenet keys: adds, lists and removes the keys of a server. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/fleet_keys.h"
#include "serve/http/keys.h"
#include "serve/store/place_name.h"

enum { KEYS_FILE, KEYS_ROLE, KEYS_BANDIT, FLAGS };

static const flag flags[FLAGS] = {
    [KEYS_FILE] = {'f', "file", "FILE", "keys file, as for 'eenet serve --keys', or a fleet's database"},
    [KEYS_ROLE] = {'r', "role", "ROLE", "client (decides, rewards), reader (reads), app (both) or admin"},
    [KEYS_BANDIT] = {'b', "bandit", "BANDIT", "restrict a new key to this bandit (default: all bandits)"},
};

typedef struct request {
    const char *words[2]; /* what to do, and the name of the key */
    size_t count;
    const char *values[FLAGS];
} request;

static int read_request(const command *self, int argc, char **argv, request *out)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got != ARGUMENT_WORD)
            out->values[got] = value;
        else if (out->count < 2)
            out->words[out->count++] = value;
        else
            return command_misused(self, "expected add, list or remove and one name, got '%s' too", value);
    }
    if (!out->values[KEYS_FILE]) return command_misused(self, "expected --file FILE");
    return EXIT_DONE;
}

static int add(const command *self, const request *asked)
{
    key_role role;
    char key[KEY_SIZE];
    ee_error error;
    const char *word = asked->values[KEYS_ROLE];
    if (!word) return command_misused(self, "add needs --role client, reader, app or admin");
    if (!key_role_read(word, &role))
        return command_misused(self, "--role: expected client, reader, app or admin, got '%s'", word);
    if (keys_add(asked->values[KEYS_FILE], asked->words[1], role, asked->values[KEYS_BANDIT], key, &error))
        return command_refused(self, &error);
    printf("%s\n", key);
    fprintf(stderr, "This is the key '%s'. Copy it now: it is not stored and cannot be shown again.\n",
            asked->words[1]);
    return EXIT_DONE;
}

static int list(const command *self, const request *asked)
{
    key_ring *ring;
    ee_error error;
    key_grant each;
    size_t width = 0;
    if (key_ring_read(asked->values[KEYS_FILE], &ring, &error)) return command_refused(self, &error);
    for (size_t i = 0; key_ring_at(ring, i, &each); i++) width = command_wider(width, each.name);
    for (size_t i = 0; key_ring_at(ring, i, &each); i++)
        printf("%-*s  %-6s  %s\n", (int)width, each.name, key_role_name(each.role),
               each.bandit ? each.bandit : "all bandits");
    key_ring_free(ring);
    return EXIT_DONE;
}

static int drop(const command *self, const request *asked)
{
    ee_error error;
    if (keys_remove(asked->values[KEYS_FILE], asked->words[1], &error)) return command_refused(self, &error);
    return EXIT_DONE;
}

typedef int deed(const command *self, const request *asked);

/* On the keys file, or on a copy of the fleet's keys. */
static int run_deed(const command *self, request *asked, deed *what)
{
    const char *where = asked->values[KEYS_FILE];
    fleet_keys keys;
    ee_error error;
    if (!place_is_database(where)) return what(self, asked);
    if (fleet_keys_open(where, &keys, &error)) return command_refused(self, &error);
    asked->values[KEYS_FILE] = keys.path;
    int code = what(self, asked);
    bool changed = !code && what != list;
    if (fleet_keys_close(where, &keys, changed, &error)) return command_refused(self, &error);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    static const struct {
        const char *name;
        size_t operands;
        deed *run;
    } deeds[] = {{"add", 2, add}, {"list", 1, list}, {"remove", 2, drop}};
    request asked = {.count = 0};
    int code = read_request(self, argc, argv, &asked);
    if (code) return code;
    for (size_t i = 0; asked.count && i < sizeof deeds / sizeof *deeds; i++) {
        if (strcmp(asked.words[0], deeds[i].name) != 0) continue;
        if (asked.count == deeds[i].operands) return run_deed(self, &asked, deeds[i].run);
        return command_misused(self, asked.count == 1 ? "%s needs the name of a key" : "%s takes no name",
                               deeds[i].name);
    }
    return command_misused(self, "expected add, list or remove");
}

const command command_keys = {
    .name = "keys",
    .form = "add|list|remove [NAME] -f FILE [-r ROLE] [-b BANDIT]",
    .summary = "add, list and remove the keys of a server",
    .details =
        "add prints the new key once; the file stores only its SHA-256. Send the key with each request, as\n"
        "'Authorization: Bearer KEY', 'X-Api-Key: KEY' or 'Ocp-Apim-Subscription-Key: KEY'.\n"
        "Reload a running server (SIGHUP) after a change of the file. Servers of a fleet notice a change of the\n"
        "keys in their database within a second.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
