/* eenet policies: what -p takes. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static int run(const command *self, int argc, char **argv)
{
    int code = arguments_none(self, argc, argv);
    if (code) return code;
    size_t width = 0;
    const char *name;
    for (size_t i = 0; (name = command_policy_name(i)); i++)
        if (strlen(name) > width) width = strlen(name);
    ee_policy policy;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++)
        printf("%-*s  %s\n", (int)width, policy.name, policy.summary);
    return EXIT_DONE;
}

const command command_policies = {
    .name = "policies",
    .form = "",
    .summary = "list the policies",
    .details = "'eenet describe NAME' shows the options of a policy.\n",
    .run = run,
};
