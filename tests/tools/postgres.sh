#!/bin/sh
# postgres.sh start DIR: starts a PostgreSQL for tests with its files in DIR, on a Unix socket, and prints its connection
# string, which DIR/where keeps. Root cannot run it: then the user postgres does. Without PostgreSQL it does nothing.
# postgres.sh stop DIR: stops it and removes its files.
# postgres.sh run DIR COMMAND...: runs a command with the connection string in EENET_TEST_POSTGRES. Exits with 77, which
# means skipped, if there is no PostgreSQL.
#
# It does not sync: tests that need it start their own.
set -eu
action=$1 folder=$2
shift 2

as_owner()
{
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

# The newest that is installed.
find_programs()
{
    # shellcheck disable=SC2012 # these names have digits and letters only
    for found in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2> /dev/null | sort -Vr) \
        "$(dirname "$(command -v pg_ctl || echo none/none)")"; do
        if [ -x "$found/initdb" ] && [ -x "$found/pg_ctl" ]; then
            echo "$found"
            return
        fi
    done
}

case $action in
start)
    programs=$(find_programs)
    if [ -z "$programs" ] || { [ "$(id -u)" = 0 ] && ! id postgres > /dev/null 2>&1; }; then
        echo "PostgreSQL is not installed"
        exit 0
    fi
    "$0" stop "$folder"
    mkdir -p "$folder"
    # The path of a socket has 107 bytes at most, and its folder must be open to the owner.
    files=$(mktemp -d "${TMPDIR:-/tmp}/eenet-postgres-XXXXXX")
    if [ "$(id -u)" = 0 ]; then chown postgres "$files"; fi
    echo "$files" > "$folder/files"
    cd "$files"
    as_owner "$programs/initdb" -D "$files/data" -U eenet -A trust -E UTF8 --locale=C --no-sync > "$folder/initdb.log"
    as_owner "$programs/pg_ctl" -w -t 600 -D "$files/data" -l "$files/server.log" start -o "-k '$files' \
        -c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB \
        -c autovacuum_naptime=1h" > "$folder/start.log"
    echo "$programs" > "$folder/programs"
    # Tests wait for a server that is busy, instead of trying once.
    echo "postgresql://eenet@/postgres?host=$files&connect_timeout=600" > "$folder/where"
    cat "$folder/where"
    ;;
stop)
    [ -f "$folder/files" ] || exit 0
    files=$(cat "$folder/files")
    if [ -f "$folder/programs" ]; then
        cd "$files"
        as_owner "$(cat "$folder/programs")/pg_ctl" -w -t 600 -D "$files/data" -m immediate stop > /dev/null || true
    fi
    rm -rf "$files"
    rm -f "$folder/files" "$folder/programs" "$folder/where"
    ;;
run)
    [ -f "$folder/where" ] || exit 77
    EENET_TEST_POSTGRES=$(cat "$folder/where")
    export EENET_TEST_POSTGRES
    exec "$@"
    ;;
*)
    echo "usage: postgres.sh start|stop DIR, postgres.sh run DIR COMMAND..." >&2
    exit 2
    ;;
esac
