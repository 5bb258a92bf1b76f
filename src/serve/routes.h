#ifndef EENET_ROUTES_H
#define EENET_ROUTES_H

#include "serve/api/service_state.h"

extern const route_table all_routes[ROUTE_TABLES];

#endif
