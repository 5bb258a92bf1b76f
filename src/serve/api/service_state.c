#include "service_state.h"

const route *service_route_at(const service *self, size_t index)
{
    for (size_t i = 0; i < ROUTE_TABLES; i++) {
        const route_table *table = &self->routes[i];
        if (index < table->count) return &table->routes[index];
        index -= table->count;
    }
    return NULL;
}

size_t service_route_index(const service *self, const route *of)
{
    size_t before = 0;
    for (size_t i = 0; i < ROUTE_TABLES; i++) {
        const route_table *table = &self->routes[i];
        if (of >= table->routes && of < table->routes + table->count) return before + (size_t)(of - table->routes);
        before += table->count;
    }
    return before;
}
