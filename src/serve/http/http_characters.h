/* Classes of characters in HTTP messages (RFC 9110, section 5.6). */
#ifndef EENET_HTTP_CHARACTERS_H
#define EENET_HTTP_CHARACTERS_H

#include <stdbool.h>
#include <string.h>

static inline bool http_is_alphanumeric(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of a method or a header's name. */
static inline bool http_is_token(unsigned char c)
{
    return http_is_alphanumeric(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Allowed nowhere, except in a line end. */
static inline bool http_is_control(unsigned char c)
{
    return (c < ' ' && c != '\t') || c == 127;
}

#endif
