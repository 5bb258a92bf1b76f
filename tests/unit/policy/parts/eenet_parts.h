/* What the tests of EE-Net's parts share. */
#ifndef EENET_TEST_EENET_PARTS_H
#define EENET_TEST_EENET_PARTS_H

#include <string.h>

#include "policy/eenet_options.h"
#include "support.h"

/* EE-Net's defaults, then `text`. */
static inline eenet_options eenet_options_from(const char *text)
{
    const policy_class *class;
    const char *preset;
    eenet_options options;
    ee_error error = {0};
    if (policy_find("eenet", &class, &preset, &error)) fail_msg("%s", error.message);
    options_set_defaults(&class->schema, &options);
    if (options_parse(&class->schema, text, &options, &error)) fail_msg("%s", error.message);
    return options;
}

#endif
