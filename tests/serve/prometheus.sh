#!/bin/sh
# prometheus.sh PROGRAM: Prometheus scrapes the real server. Its tools have nothing to say against the metrics, the rules
# of examples/monitoring/ load and evaluate, every metric that they and the Grafana dashboard use exists, and an alert
# fires when the store cannot be written, and ends when it can again.
set -eu
eenet=$1
examples=$(cd "$(dirname "$0")/../../examples/monitoring" && pwd)
for tool in prometheus promtool curl python3; do
    command -v "$tool" >/dev/null || { echo "prometheus.sh: no $tool"; exit 77; }
done
server=
watcher=
fail() {
    echo "prometheus.sh: $*" >&2
    tail -n 5 err prometheus.log >&2 || :
    exit 1
}
. "$(dirname "$0")/../tools/wait.sh"
trap 'for pid in $server $watcher; do kill -KILL "$pid" 2>/dev/null || :; done' EXIT

# A file that may have 1 MB stands for a small disk; the limit is soft, so that it can be lifted.
limited() { ulimit -S -f 1024 && exec "$@"; }
start_server limited "$eenet" serve --port 0 --folder data
server=$pid
curl -sf -o answer "$url/v1/bandits" -d '{"name":"shop","dim":2}'
decide() { curl -s -o answer -w '%{http_code}' "$url/v1/bandits/shop/decide" -d "{\"id\":\"$1\",\"actions\":[[1,2],[2,1]]}"; }
[ "$(decide 0)" = 200 ] || fail "decide: $(cat answer)"
curl -sf -o answer "$url/v1/bandits/shop/reward" -d '{"id":"0","value":1}'

# A bandit with guardrails: metrics of guardrails need people in both groups.
curl -sf -o answer "$url/v1/bandits" -d '{"name":"guarded","dim":1,"guardrails":{"control":{"share":0.5},
    "bounds":[{"metric":"reward","most_below":0.1}]}}'
items() { comma=; for id in 1 2 3 4 5 6 7 8 9; do printf '%s{"id":"%s",%s}' "$comma" "$id" "$1" && comma=,; done; }
curl -sf -o answer "$url/v1/bandits/guarded/decide/batch" -d "{\"decisions\":[$(items '"actions":[[1],[2]]')]}"
curl -sf -o answer "$url/v1/bandits/guarded/reward/batch" -d "{\"rewards\":[$(items '"value":1')]}"
compared() { curl -sf "$url/metrics" | grep -q '^eenet_guardrail_lift{'; }
await "a comparison of treated people" compared

# The metrics are as Prometheus wants them.
curl -sf "$url/metrics" >metrics
promtool check metrics <metrics >complaints 2>&1 || fail "promtool check metrics: $(cat complaints)"
[ ! -s complaints ] || fail "promtool check metrics: $(cat complaints)"
promtool check rules "$examples/eenet.rules.yml" >checked 2>&1 || fail "$(cat checked)"
promtool test rules "$examples/eenet.rules.test.yml" >checked 2>&1 || fail "$(cat checked)"
promtool check config "$examples/prometheus.yml" >checked 2>&1 || fail "$(cat checked)"

# What the rules and the dashboard ask for is there. Live evaluation has values only with challengers.
python3 - "$examples" <<'END' >used
import json, re, sys
board = json.load(open(sys.argv[1] + "/grafana-dashboard.json"))
texts = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
texts += [part for part in re.split(r"\n *- alert:", open(sys.argv[1] + "/eenet.rules.yml").read())]
print("\n".join(sorted({name for text in texts for name in re.findall(r"\b(?:eenet|process)_[a-z_]+", text)})))
END
[ "$(wc -l <used)" -gt 20 ] || fail "few names: $(cat used)"
while read -r name; do
    case $name in eenet_bandit_value*) continue ;; esac
    grep -q "^$name[ {]" metrics || fail "$name is used in examples/monitoring/ and is not in /metrics"
done <used

# The rules without their patience, for a server on another port.
sed 's/^\( *for:\) .*/\1 0s/' "$examples/eenet.rules.yml" >eenet.rules.yml
sed -e 's/: 15s/: 1s/' -e "s/127.0.0.1:8080/${url#http://}/" "$examples/prometheus.yml" >prometheus.yml
prometheus --config.file=prometheus.yml --storage.tsdb.path=series --web.listen-address=127.0.0.1:0 >prometheus.log 2>&1 &
pid=$!
watcher=$pid
await_line prometheus.log 'msg="Listening on"'
api=http://$(sed -n 's/.*msg="Listening on" address=//p' prometheus.log | head -n 1)/api/v1
# query EXPRESSION: prints the value of the first result.
query() { curl -s "$api/query" --data-urlencode "query=$1" | sed -n 's/.*"value":\[[^,]*,"\([^"]*\)"\].*/\1/p'; }
is_one() { [ "$(query "$1")" = 1 ]; }
await "Prometheus to see the server" is_one 'up{job="eenet"}'
await "Prometheus to see the store" is_one eenet_store_writable
rules_run() {
    curl -s "$api/rules" >rules
    [ "$(grep -o '"health":"ok"' rules | wc -l)" = "$(grep -c -- '- alert:' eenet.rules.yml)" ]
}
await "all rules to evaluate" rules_run
firing() { curl -s "$api/alerts" | python3 -c '
import json, sys
alerts = json.load(sys.stdin)["data"]["alerts"]
sys.exit(not any(a["labels"]["alertname"] == sys.argv[1] and a["state"] == "firing" for a in alerts))' "$1"; }
firing EenetStoreNotWritable && fail "the alert fires while the store is writable"

# The disk is full: decisions are refused, and the alert fires.
full() {
    number=$((${number:-0} + 1))
    [ "$(decide "$number")" = 503 ] && [ "$(curl -s -o answer -w '%{http_code}' "$url/readyz")" = 503 ]
}
number=0
await "a full disk" full
alarmed() { full; firing EenetStoreNotWritable && firing EenetErrors && firing EenetNotReady; }
await "alerts" alarmed

# With room again it ends.
if command -v prlimit >/dev/null; then
    prlimit --pid "$server" --fsize=unlimited:
    writable() { [ "$(curl -s -o answer -w '%{http_code}' "$url/readyz")" = 200 ]; }
    await "a store that can be written" writable
    calm() { ! firing EenetStoreNotWritable && ! firing EenetNotReady; }
    await "the end of the alerts" calm
fi
kill "$watcher" "$server"
wait "$server" || fail "the server's exit status: $?"
server=
wait "$watcher" || fail "Prometheus' exit status: $?"
watcher=
