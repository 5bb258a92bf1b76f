#include "fleet_member.h"

#include <stdio.h>
#include <stdlib.h>

#include "ownership.h"
#include "serve/fleet/certificate_fingerprint.h"
#include "serve/http/keys.h"
#include "serve/system/server_clock.h"
#include "service_config.h"

/* ---- keys ---- */

/* The keys of the database, which apply unless the settings name a file. */
static ee_status take_keys(service *self, leases *from, ee_error *error)
{
    service_config *made;
    char *keys;
    ee_status status = leases_read_keys(from, &keys, error);
    if (status) return status;
    bool same = self->fleet_keys && strcmp(self->fleet_keys, keys) == 0;
    if (!same) status = service_read_config(&service_config_now(self)->settings, keys, &made, error);
    if (status || same) {
        memory_free(keys);
        return status;
    }
    service_take_config(self, made);
    memory_free(self->fleet_keys);
    self->fleet_keys = keys;
    return EE_OK;
}

static bool changed(void *context, leases *with)
{
    service *self = context;
    ee_error error;
    if (service_config_now(self)->settings.keys[0]) return true;
    pthread_mutex_lock(&self->config_lock);
    ee_status status = take_keys(self, with, &error);
    pthread_mutex_unlock(&self->config_lock);
    if (status)
        server_log_write(&self->log, LOG_LEVEL_ERROR, NULL, "the keys in the database cannot be used: %s",
                         error.message);
    return !status;
}

static void report(void *context, bool is_trouble, const char *sentence)
{
    service *self = context;
    server_log_write(&self->log, is_trouble ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, NULL, "%s", sentence);
}

/* ---- joining ---- */

static int64_t fleet_wall(void *context)
{
    return fleet_clock(context);
}

static int64_t fleet_elapsed(void *context)
{
    (void)context;
    return server_clock_elapsed();
}

static ee_status check_reachable(const service *self, const server_settings *settings, ee_error *error)
{
    bool is_local = server_settings_is_local(settings);
    if (settings->keys[0] || is_local || self->fleet_keys[0]) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "other machines can reach the address %s, so keys are required, and the database has none: "
                       "create one with 'eenet keys add NAME --role admin --file URL', or start with --keys FILE",
                       settings->address);
}

ee_status fleet_member_join(service *self, journal_options *written, ee_error *error)
{
    const server_settings *settings = &service_config_now(self)->settings;
    lease_options joining = {.where = settings->store,
                             .address = "",
                             .version = ee_version(),
                             .synchronous = settings->replication.pick == 0};
    fleet_options options = {.own = ownership_take,
                             .disown = ownership_end,
                             .events = ownership_events,
                             .owns = ownership_is_known,
                             .changed = changed,
                             .report = report,
                             .context = self};
    ee_status status = leases_join(&joining, &options.leases, error);
    if (status) return status;
    status = take_keys(self, options.leases, error);
    if (!status) status = check_reachable(self, settings, error);
    if (!status) status = fleet_create(&options, &self->fleet, error);
    if (status) {
        leases_leave(options.leases);
        return status;
    }
    settings = &service_config_now(self)->settings;
    written->clock = fleet_wall;
    written->elapsed = fleet_elapsed;
    written->clock_context = self->fleet;
    written->steady = true;
    return store_open_shared(settings->store, fleet_server(self->fleet), joining.synchronous, &self->store, error);
}

/* ---- the address ---- */

enum { FLEET_JOIN_SECONDS = 5 }; /* to take up bandits without an owner, before the start is reported */

static ee_status write_address(const service *self, const server_settings *settings, char *out, size_t size,
                               ee_error *error)
{
    bool any = strcmp(settings->address, "0.0.0.0") == 0 || strcmp(settings->address, "::") == 0;
    bool brackets = strchr(settings->address, ':') != NULL, secure = settings->certificate[0] != '\0';
    char fingerprint[65] = "";
    if (!settings->advertise[0] && any)
        return status_fail(
            error, EE_BAD_OPTION,
            "other servers of the fleet cannot reach the address %s; state one with --advertise, such as "
            "http://10.0.0.5:8080",
            settings->address);
    if (secure && certificate_fingerprint(settings->certificate, fingerprint, error)) return error->status;
    if (settings->advertise[0])
        snprintf(out, size, "%s%s%s", settings->advertise, secure ? "#" : "", fingerprint);
    else
        snprintf(out, size, "%s://%s%s%s:%u%s%s", secure ? "https" : "http", brackets ? "[" : "", settings->address,
                 brackets ? "]" : "", (unsigned)http_port(self->http), secure ? "#" : "", fingerprint);
    return EE_OK;
}

ee_status fleet_member_start(service *self, ee_error *error)
{
    char address[SERVER_ADDRESS_SIZE];
    int64_t until = server_clock_real() + FLEET_JOIN_SECONDS * (int64_t)1000000;
    ee_status status = write_address(self, &service_config_now(self)->settings, address, sizeof address, error);
    if (!status) status = fleet_start(self->fleet, address, error);
    while (!status && !fleet_read_status(self->fleet).ready && server_clock_real() < until)
        fleet_await_change(self->fleet, 100000);
    return status;
}

ee_status fleet_member_publish(service *self, ee_error *error)
{
    char address[SERVER_ADDRESS_SIZE];
    ee_status status = write_address(self, &service_config_now(self)->settings, address, sizeof address, error);
    if (!status) fleet_set_address(self->fleet, address);
    return status;
}

void fleet_member_drain(service *self, const volatile bool *hurry)
{
    server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "handing %zu bandits over to other servers",
                     fleet_read_status(self->fleet).mine);
    fleet_drain(self->fleet, server_clock_real() + FLEET_DRAIN_SECONDS * (int64_t)1000000, hurry);
}
