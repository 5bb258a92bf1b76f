/* openapi.json, the description of the API, built into the program. */
#ifndef EENET_OPENAPI_H
#define EENET_OPENAPI_H

#include <stddef.h>

extern const char openapi_json[];
extern const size_t openapi_size;

#endif
