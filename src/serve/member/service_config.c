#include "service_config.h"

ee_status service_read_config(const server_settings *settings, const char *fleet_keys, service_config **out,
                              ee_error *error)
{
    ee_status status = server_settings_check(settings, error);
    if (!status) status = memory_create(NULL, out, 1, sizeof **out, error);
    if (status) return status;
    (*out)->settings = *settings;
    if (settings->keys[0])
        status = key_ring_read(settings->keys, &(*out)->keys, error);
    else if (fleet_keys[0])
        status = key_ring_parse(fleet_keys, strlen(fleet_keys), &(*out)->keys, error);
    if (status) memory_free(*out);
    return status;
}

void service_free_config(service_config *old)
{
    key_ring_free(old->keys);
    memory_free(old);
}

void service_take_config(service *self, service_config *made)
{
    made->previous = atomic_load(&self->config);
    atomic_store(&self->log.level, made->settings.log_level.pick);
    atomic_store(&self->log.format, made->settings.log_format.pick);
    atomic_store_explicit(&self->config, made, memory_order_release);
}
