/* The settings and keys in force, which a reload replaces. */
#ifndef EENET_SERVICE_CONFIG_H
#define EENET_SERVICE_CONFIG_H

#include "serve/api/service_state.h"

/* Checks the settings and reads the keys file. fleet_keys: the keys in the database, if the settings name no file. */
ee_status service_read_config(const server_settings *settings, const char *fleet_keys, service_config **out,
                              ee_error *error);
void service_free_config(service_config *old);
/* Puts it in force. The one before stays until the server stops. */
void service_take_config(service *self, service_config *made);

#endif
