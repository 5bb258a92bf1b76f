#!/bin/bash
# run.sh [SECONDS]: three decision servers on PostgreSQL with a standby, behind haproxy, on this machine. Visitors of the
# shop (../shop) arrive; a server is killed, then the primary database; at the end the script compares what visitors were
# promised with what the database holds. SECONDS: how long each step lasts (default: 5).
# Needs PostgreSQL, haproxy, curl, Node.js 18 or newer and the program eenet: $EENET, else this project's build, else the one
# on the PATH. Everything is in a temporary folder, which is deleted at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pause=${1:-5}
PATH=$PATH:/usr/sbin:$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -1 | xargs -r dirname)
for program in initdb haproxy curl node; do
    command -v $program >/dev/null && continue
    echo "run.sh: $program is required; on Debian: apt-get install postgresql haproxy curl nodejs" >&2
    exit 77
done
eenet=${EENET:-$here/../../build/release/eenet}
if ! [ -x "$eenet" ] && ! eenet=$(command -v eenet); then
    echo "run.sh: cannot find eenet: build it (make) or set EENET=/path/to/eenet" >&2
    exit 1
fi

folder=$(mktemp -d /tmp/eenet-fleet-XXXXXX)
[ "$(id -u)" != 0 ] || chown postgres "$folder" # PostgreSQL refuses to run as root
chmod 755 "$folder"
servers=() # their processes
declare -A port

stop_all() {
    trap - EXIT
    for process in ${visitors:-} "${servers[@]}" ${haproxy:-}; do kill -9 "$process" 2>/dev/null || true; done
    for node in a b; do [ ! -d "$folder/$node" ] || as_postgres pg_ctl stop -t 600 -D "$folder/$node" -m immediate >/dev/null 2>&1 || true; done
    wait
    if [ "${1:-1}" = 1 ]; then echo "The logs are in $folder" >&2; else rm -rf "$folder"; fi
    exit "${1:-1}"
}
trap 'stop_all 1' EXIT
trap 'echo; stop_all 130' INT TERM

say() { printf '\n%s\n' "$*"; }
as_postgres() { if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$(command -v "$1")" "${@:2}"); else "$@"; fi; }
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "${port[$primary]}" -U postgres "$@"; }
free_port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
# field NAME: the value of a field of the JSON on standard input.
field() { node -e 'const t = JSON.parse(require("fs").readFileSync(0)); console.log(eval("t." + process.argv[1]))' "$1"; }

# ---- the database ----

configure() { # NODE: the last value of a setting is the one that counts
    as_postgres tee -a "$folder/$1/postgresql.conf" >/dev/null <<END
listen_addresses = '127.0.0.1'
port = ${port[$1]}
unix_socket_directories = ''
cluster_name = '$1'
END
}
start_node() { as_postgres pg_ctl start -w -t 600 -D "$folder/$1" -l "$folder/$1.log" >/dev/null; }

start_standby() { # NODE: a copy of the primary, which follows it from now on
    as_postgres rm -rf "$folder/$1"
    as_postgres pg_basebackup -R -c fast -D "$folder/$1" -d "host=127.0.0.1 port=${port[$primary]} user=postgres application_name=$1"
    configure "$1"
    start_node "$1"
    # From now on a commit returns when it is on both disks.
    sql -c "ALTER SYSTEM SET synchronous_standby_names = '$1'" -c "SELECT pg_reload_conf()" postgres >/dev/null
    until [ "$(sql -c "SELECT sync_state FROM pg_stat_replication" postgres)" = sync ]; do sleep 0.1; done
}

say "1. PostgreSQL: a primary, and a standby that has every commit before it is acknowledged"
port[a]=$(free_port) port[b]=$(free_port) primary=a
as_postgres initdb -D "$folder/a" -U postgres -A trust -E UTF8 >/dev/null
configure a
start_node a
sql -c 'CREATE DATABASE shop' postgres
start_standby b
url="postgresql://postgres@127.0.0.1:${port[a]},127.0.0.1:${port[b]}/shop?target_session_attrs=read-write"
echo "   $url"

# ---- the servers, and haproxy in front ----

start_server() { # NUMBER
    "$eenet" serve --store "$url" --folder "$folder/server$1" --port "${port[$1]}" --drain 1 >>"$folder/server$1.log" 2>&1 &
    servers[$1]=$!
    until curl -sf -o "$folder/ready" "http://127.0.0.1:${port[$1]}/readyz"; do
        kill -0 "${servers[$1]}" 2>/dev/null || { tail -3 "$folder/server$1.log" >&2; exit 1; }
        sleep 0.1
    done
    echo "   server $1: http://127.0.0.1:${port[$1]}/"
}

say "2. Three servers on this database"
for number in 1 2 3; do
    port[$number]=$(free_port)
    start_server $number
done

say "3. haproxy sends each request to a server that is ready"
front=$(free_port)
{
    printf 'defaults\n    mode http\n    timeout connect 1s\n    timeout client 60s\n    timeout server 6s\n    retries 2\n    option redispatch 1\n'
    printf 'listen fleet\n    bind 127.0.0.1:%s\n    option httpchk GET /readyz\n    default-server check inter 200ms fall 2 rise 1\n' "$front"
    for number in 1 2 3; do printf '    server s%s 127.0.0.1:%s\n' "$number" "${port[$number]}"; done
} >"$folder/haproxy.cfg"
haproxy -db -f "$folder/haproxy.cfg" >"$folder/haproxy.log" 2>&1 &
haproxy=$!
until curl -sf -o "$folder/ready" "http://127.0.0.1:$front/readyz"; do sleep 0.1; done
echo "   http://127.0.0.1:$front/"

# ---- the shop ----

say "4. Visitors of the shop: 50 a second, each sees one product, some click"
node "$here/visitors.mjs" "http://127.0.0.1:$front" "$folder/acknowledged.csv" &
visitors=$!
sleep "$pause"

say "5. The server that owns the bandit is killed"
until fleet=$(curl -sSf "http://127.0.0.1:$front/v1/fleet") && [[ $fleet == *'"name":"shop"'* ]]; do sleep 0.1; done
owner=$(field 'bandits.find((b) => b.name === "shop").owner' <<<"$fleet")
address=$(field "servers.find((s) => s.server === $owner).address" <<<"$fleet")
for number in 1 2 3; do [ "${address##*:}" != "${port[$number]}" ] || killed=$number; done
kill -9 "${servers[$killed]}"
echo "   kill -9 of server $killed; another one takes its bandits"
sleep "$pause"

say "6. The primary is killed, and the standby promoted"
kill -9 $(head -1 "$folder/a/postmaster.pid")
primary=b
as_postgres pg_ctl promote -w -t 600 -D "$folder/b" >/dev/null
echo "   the servers find the new primary by their connection string"
sleep "$pause"

say "7. A new standby in place of the old primary, and the killed server again"
rm -f "$folder/a/postmaster.pid"
start_standby a
start_server "$killed"
sleep "$pause"

say "8. The shop closes"
kill -TERM "$visitors"
wait "$visitors"
visitors=
sleep 6 # the wait of the bandit: then all decisions are settled
for number in 1 2 3; do kill -TERM "${servers[$number]}"; done
wait "${servers[@]}"

# ---- is everything there, once? ----

say "9. What visitors were promised, and what the database holds"
sql shop <<END
CREATE TEMP TABLE seen (kind text, id text, result text);
\\copy seen FROM '$folder/acknowledged.csv' CSV
\\pset format aligned
\\pset tuples_only off
CREATE TEMP TABLE result AS SELECT kind AS "acknowledged", count(*),
  count(*) FILTER (WHERE NOT EXISTS (SELECT FROM eenet.log WHERE log.kind = seen.kind AND log.id = seen.id)) AS lost,
  count(*) FILTER (WHERE (SELECT count(*) FROM eenet.log WHERE log.kind = seen.kind AND log.id = seen.id) > 1) AS twice
  FROM seen GROUP BY kind;
SELECT * FROM result;
SELECT count(*) AS decisions, count(DISTINCT id) AS different, count(settled) AS settled FROM eenet.log AS decisions LEFT JOIN
  (SELECT decision AS of, 1 AS settled FROM eenet.log WHERE kind = 'settled') AS ends ON of = number WHERE kind = 'decision';
SELECT 1 / (CASE WHEN count(*) = 2 AND sum(lost + twice) = 0 THEN 1 ELSE 0 END) AS "nothing was lost, nothing counts twice" FROM result;
END
"$eenet" check "$url"
"$eenet" replay "$url"
say "Nothing was lost."
stop_all 0
