#define _POSIX_C_SOURCE 200809L
#include "fleet_keys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "eenet.h"
#include "serve/store/postgres/leases.h"
#include "serve/store/postgres/pg_connection.h"

static ee_status join(const char *where, leases **out, ee_error *error)
{
    return leases_join(&(lease_options){.where = where, .address = "", .version = ee_version()}, out, error);
}

static ee_status make_file(char **path, ee_error *error)
{
    const char *folder = getenv("TMPDIR");
    ee_status status = file_join(folder && folder[0] ? folder : "/tmp", "eenet-keys-XXXXXX", path, error);
    if (status) return status;
    int file = mkstemp(*path);
    if (file >= 0) {
        close(file);
        return EE_OK;
    }
    status = status_fail(error, EE_FILE_ERROR, "keys: could not create a file in %s", file_tail(*path));
    memory_free(*path);
    return status;
}

ee_status fleet_keys_open(const char *where, fleet_keys *out, ee_error *error)
{
    leases *fleet;
    *out = (fleet_keys){0};
    ee_status status = join(where, &fleet, error);
    if (status) return status;
    status = leases_read_keys(fleet, &out->before, error);
    leases_leave(fleet);
    if (!status) status = make_file(&out->path, error);
    if (!status) status = file_write_private(out->path, out->before, strlen(out->before), error);
    if (status) fleet_keys_close(where, out, false, NULL);
    return status;
}

static ee_status write_back(const char *where, const fleet_keys *keys, ee_error *error)
{
    leases *fleet;
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(keys->path, &bytes, &size, error);
    if (status) return status;
    status = join(where, &fleet, error);
    if (!status) {
        status = leases_write_keys(fleet, keys->before, (const char *)bytes, error);
        leases_leave(fleet);
    }
    memory_free(bytes);
    return status;
}

ee_status fleet_keys_close(const char *where, fleet_keys *keys, bool changed, ee_error *error)
{
    ee_status status = changed ? write_back(where, keys, error) : EE_OK;
    if (keys->path) unlink(keys->path);
    memory_free(keys->path);
    memory_free(keys->before);
    return status;
}
