#!/bin/sh
# load.sh EENET [SECONDS [MIXED_SECONDS [RATE]]]: measures the server with wrk on the same machine, with ten arms of 20
# numbers and 64 connections:
# - decisions;
# - durable rewards of earlier decisions;
# - both at RATE requests per second while it trains, with the memory in use.
# The store is in a temporary folder under $TMPDIR, which is removed at the end.
set -eu
eenet=$1
seconds=${2:-10}
mixed_seconds=${3:-60}
LOAD_RATE=${4:-2000}
LOAD_CONNECTIONS=64
LOAD_SCRIPTS=$(cd "$(dirname "$0")" && pwd)
export LOAD_RATE LOAD_CONNECTIONS LOAD_SCRIPTS

folder=$(mktemp -d)
server=
: >"$folder/server.log"
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

"$eenet" serve --port 0 --folder "$folder/data" >"$folder/server.log" 2>&1 &
server=$!
while ! grep -q 'listening on http' "$folder/server.log"; do
    kill -0 "$server" || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.05
done
url=$(sed -n 's/.*listening on \(http:[^ ]*[0-9]\).*/\1/p' "$folder/server.log" | head -n 1)
ask() {
    curl -sS -f "$url$1"
}
metric() {
    ask /metrics | awk -v name="$1" 'index($1, name) == 1 { sum += $2 } END { printf "%.0f\n", sum }'
}
# each COUNT: prints the server's processor time so far, including training, in microseconds divided by COUNT.
each() {
    ask /metrics | awk -v count="$1" '$1 == "process_cpu_seconds_total" { printf "%.0f\n", 1e6 * $2 / count }'
}
bandit() {
    curl -sS -f -o "$folder/answer" -X POST -H 'Content-Type: application/json' \
        -d '{"name":"load","dim":20,"wait":3600,"default_reward":null}' "$url/v1/bandits"
}
# Prints the rate and the percentiles of wrk's output.
show() {
    awk -v what="$1" '/Requests\/sec/ { rate = $2 } $1 == "50%" { p50 = $2 } $1 == "99%" { p99 = $2 }
        /Non-2xx/ { bad = $NF } /Socket errors/ { broken = $0 }
        END { printf "%-10s %9.0f /s   p50 %s   p99 %s", what, rate, p50, p99
              if (bad) printf "   not 2xx: %s", bad
              if (broken) printf "   %s", broken
              print "" }' "$folder/wrk.log"
}

bandit
echo "$(nproc) processors; $(uptime | sed 's/.*load/load/')"
wrk -t1 -c64 -d"${seconds}s" --latency -s "$LOAD_SCRIPTS/decide.lua" "$url" >"$folder/wrk.log"
show decisions
count=$(metric eenet_decisions_total)
echo "           $(each "$count") us of processor time and $(($(metric eenet_store_bytes) / count)) bytes on the disk for each"

wrk -t1 -c16 -d"${seconds}s" -s "$LOAD_SCRIPTS/prepare.lua" "$url" >"$folder/wrk.log"
LOAD_COUNT=$(awk '/^prepared/ { print $2 }' "$folder/wrk.log")
export LOAD_COUNT
wrk -t1 -c64 -d"${seconds}s" --latency -s "$LOAD_SCRIPTS/reward.lua" "$url" >"$folder/wrk.log"
show rewards
echo "           $LOAD_COUNT decisions were made before, $(metric 'eenet_rewards_total{') rewards came, \
$(metric 'eenet_rewards_total{outcome="joined"') of them joined"

echo "both at once, $LOAD_RATE requests a second, $mixed_seconds s:"
wrk -t1 -c64 -d"${mixed_seconds}s" --latency -s "$LOAD_SCRIPTS/mixed.lua" "$url" >"$folder/wrk.log" &
load=$!
minutes=0
while kill -0 "$load" 2>/dev/null; do
    echo "  after $minutes min: $(($(metric process_resident_memory_bytes) / 1000000)) MB, \
$(metric eenet_bandit_behind_events) events behind, stride $(metric eenet_bandit_stride), \
$(metric eenet_bandit_rewards_learned_total) rewards learned"
    for _ in $(seq 60); do kill -0 "$load" 2>/dev/null && sleep 1; done
    minutes=$((minutes + 1))
done
wait "$load"
show both
