#!/bin/sh
# exports.sh EENET [SECONDS [ROUNDS [RATE [EXPORTS]]]]: measures what exports of the log cost decisions. In each round,
# wrk decides RATE times per second over 16 connections for SECONDS: alone, then while EXPORTS clients fetch the log again
# and again, as it is, with gzip and with zstd. Prints the p50 and p99 of decisions and the speed of the exports, and at
# the end the medians over the rounds.
set -eu
eenet=$1
seconds=${2:-8}
rounds=${3:-5}
LOAD_RATE=${4:-1000}
exports=${5:-8}
LOAD_CONNECTIONS=16
LOAD_SCRIPTS=$(cd "$(dirname "$0")" && pwd)
export LOAD_RATE LOAD_CONNECTIONS LOAD_SCRIPTS

folder=$(mktemp -d)
server=
loops=
stop() {
    touch "$folder/stop"
    for pid in $loops $server; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM
: >"$folder/server.log"
"$eenet" serve --port 0 --folder "$folder/data" >"$folder/server.log" 2>&1 &
server=$!
while ! grep -q 'listening on http' "$folder/server.log"; do
    kill -0 "$server" || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.05
done
url=$(sed -n 's/.*listening on \(http:[^ ]*[0-9]\).*/\1/p' "$folder/server.log" | head -n 1)

# A log to export: decisions without rewards, which are settled after a second.
curl -sS -f -o "$folder/answer" "$url/v1/bandits" -d '{"name":"load","dim":20,"wait":1,"default_reward":0}'
wrk -t1 -c16 -d1s -s "$LOAD_SCRIPTS/prepare.lua" "$url" >"$folder/wrk.log"
until curl -sS -f "$url/metrics" | grep -q '^eenet_bandit_decisions_waiting{bandit="load"} 0$'; do sleep 0.2; done
until curl -sS -f "$url/v1/bandits/load" | grep -q '"behind":0,'; do sleep 0.2; done
until=$(date -u +%Y-%m-%dT%H:%M:%SZ)
bytes=$(curl -sS -f "$url/v1/bandits/load/log?until=$until" | tee "$folder/log" | wc -c)
echo "$(nproc) processors; the log has $(wc -l <"$folder/log") decisions, $((bytes / 1000000)) MB; $LOAD_RATE decisions per second"

# fetch CODING: fetches the log again and again; a line for each export that is complete.
fetch() {
    while [ ! -e "$folder/stop" ]; do
        curl -sS -f -o /dev/null -H "Accept-Encoding: $1" "$url/v1/bandits/load/log?until=$until" && echo "$1" || true
    done
}
# Milliseconds, from wrk's words: 812.00us, 3.11ms, 1.20s.
milliseconds() {
    awk -v of="$1" '$1 == of { value = $2 + 0; if ($2 ~ /us$/) value /= 1000; else if ($2 !~ /ms$/) value *= 1000
        printf "%.2f\n", value }' "$folder/wrk.log"
}
# measure NAME: one run of wrk.
measure() {
    wrk -t1 -c"$LOAD_CONNECTIONS" -d"${seconds}s" --latency -s "$LOAD_SCRIPTS/paced.lua" "$url" >"$folder/wrk.log"
    if grep -E 'Non-2xx|Socket errors' "$folder/wrk.log"; then exit 1; fi
    echo "$(milliseconds 50%) $(milliseconds 99%)" >>"$folder/$1"
    printf '%-10s p50 %s ms   p99 %s ms   %s exports\n' "$1" "$(milliseconds 50%)" "$(milliseconds 99%)" "${2:-0}"
}
median() { sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'; }

for _ in $(seq "$rounds"); do
    measure alone
    for coding in identity gzip zstd; do
        rm -f "$folder/stop"
        : >"$folder/done"
        loops=
        for _ in $(seq "$exports"); do
            fetch "$coding" >>"$folder/done" 2>>"$folder/errors" &
            loops="$loops $!"
        done
        measure "$coding" "$exports"
        echo "           $(wc -l <"$folder/done") exports completed in $seconds s"
        touch "$folder/stop"
        wait $loops
        loops=
    done
done
echo "medians of $rounds rounds, and p99 relative to alone:"
alone=$(cut -d' ' -f2 "$folder/alone" | median)
for name in alone identity gzip zstd; do
    p99=$(cut -d' ' -f2 "$folder/$name" | median)
    printf '%-10s p50 %s ms   p99 %s ms   %s\n' "$name" "$(cut -d' ' -f1 "$folder/$name" | median)" "$p99" \
        "$(awk -v a="$alone" -v b="$p99" 'BEGIN { printf "%.2f times", b / a }')"
done
