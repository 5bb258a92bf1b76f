#!/bin/sh
# serve.sh PROGRAM: the server as its users start and stop it: settings from file, variables and flags, the commands that
# it prints, a second one, signals.
set -eu
eenet=$1
page=$(dirname "$0")/../../man/eenet-serve.1
fail() { echo "serve.sh: $*" >&2; exit 1; }
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :' EXIT

# start WORD...: starts it, waits for its first line, and sets pid and place.
start() {
    : >out
    "$eenet" serve --port 0 "$@" >out 2>err &
    pid=$!
    until [ -s out ]; do
        kill -0 "$pid" 2>/dev/null || fail "it did not start: $(cat err)"
        sleep 0.02
    done
    place=$(sed -n '1s/^eenet: listening on //p' out)
    case $place in http://127.0.0.1:[1-9]*) ;; *) fail "the first line: $(head -n 1 out)" ;; esac
}

# stop SIGNAL: it ends well.
stop() {
    kill -"$1" "$pid"
    code=0
    wait "$pid" || code=$?
    pid=
    [ "$code" = 0 ] || fail "after SIG$1: exit status $code: $(cat err)"
}

# Every setting is a flag, has its place in the help and the manual page, and a line in the file that it prints.
"$eenet" serve --print-settings >settings
"$eenet" help serve >help
sed -n 's/^#\([a-z-]*\) =.*/\1/p' settings >names
[ "$(wc -l <names)" -gt 20 ] || fail "few settings: $(cat names)"
while read -r name; do
    grep -q -e "--$name " help || fail "no --$name in the help"
    grep -q -e "\\\\-\\\\-$(echo "$name" | sed 's/-/\\\\-/g')" "$page" || fail "no --$name in the manual page"
done <names
# The page has the defaults of the table.
sed -n 's/^#\([a-z-]*\) = \(.*\)/\1 \2/p' settings >defaults
tr -d '\\' <"$page" | awk '$1 == ".BR" && $2 ~ /^--/ { name = substr($2, 3) } /^Default: / { sub(/[.]$/, ""); print name, $2 }' |
    diff defaults - || fail "the manual page has other defaults"
sed -i 's/^#port = .*/port = 0/' settings

# What is wrong is said before anything starts.
refuse() {
    expected=$1
    shift
    code=0
    "$eenet" serve "$@" >out 2>err || code=$?
    [ "$code" = 2 ] && [ "$(head -n 1 err)" = "eenet serve: $expected" ] || fail "$*: $code: $(cat err)"
}
refuse "unknown flag '--prt'; did you mean '--port'?" --prt 1
refuse "--port must be 0 to 65535, got 99999" --port 99999
refuse "unexpected argument 'now'" now
grep -q 'keys are required' err && fail "stale"
code=0
"$eenet" serve --address 0.0.0.0 >out 2>err || code=$?
[ "$code" = 2 ] && grep -q 'so keys are required' err || fail "an address for all: $(cat err)"
# Addresses that are only for listening: what it prints can be opened on this machine.
"$eenet" keys add boss --role admin --file listen-keys >/dev/null
: >out
"$eenet" serve --address 0.0.0.0 --port 0 --folder listen --keys listen-keys >out 2>err &
pid=$!
until grep -q 'Press Ctrl-C' out; do kill -0 "$pid" 2>/dev/null || fail "for all addresses: $(cat err)"; sleep 0.02; done
grep -q '^eenet: listening on http://0\.0\.0\.0:' out || fail "the first line: $(cat out)"
grep -q '^Dashboard: http://127\.0\.0\.1:' out || fail "an address to open: $(cat out)"
stop TERM
echo 'prot = 1' >wrong
refuse "settings: line 1: serve has no option 'prot'; did you mean 'port'?" --settings wrong
[ ! -e eenet-data ] || fail "a folder was made"

# Without arguments but the port: what it prints works as it is pasted.
start
[ -d eenet-data ] || fail "no eenet-data"
sed -n '/^  curl/,/^$/p' out | sed 's/curl/curl -sS -f/' >commands
[ "$(grep -c curl commands)" = 3 ] || fail "three commands: $(cat out)"
sh -eu commands >answers || fail "a command failed: $(cat answers)"
curl -sS -f "$(sed -n 's/^Dashboard: //p' out)" | grep -q '<title>eenet' || fail "the page: $(cat out)"
grep -q '^{"name":"shop","archived":false,' answers || fail "create: $(cat answers)"
grep -q '^{"id":"visit-1","action":"\(red\|blue\)","index":[01],"probability":0\.5,' answers || fail "decide: $(cat answers)"
[ "$(tail -n 1 answers)" = '{"outcome":"joined"}' ] || fail "reward: $(cat answers)"

# A second server: of the folder, and of the port.
code=0
"$eenet" serve --port 0 >out2 2>err2 || code=$?
[ "$code" = 1 ] && grep -q 'eenet-data' err2 || fail "a second of one folder: $code $(cat err2)"
code=0
"$eenet" serve --port "${place##*:}" --folder other >out2 2>err2 || code=$?
[ "$code" = 1 ] && grep -q "${place##*:}" err2 || fail "a second of one port: $code $(cat err2)"

# Pages in a browser: only those of the server itself, and only under a name of this machine.
local=${place#http://}
status_of() { curl -s -o answer -w '%{http_code}' "$@"; }
[ "$(status_of -H 'Origin: http://elsewhere.example' "$place/v1/bandits")" = 403 ] || fail "another origin: $(cat answer)"
[ "$(status_of -H 'Origin: null' "$place/v1/bandits")" = 403 ] || fail "no origin: $(cat answer)"
[ "$(status_of -H "Origin: $place" "$place/v1/bandits")" = 200 ] || fail "its own origin: $(cat answer)"
[ "$(status_of -H "Host: elsewhere.example:${local##*:}" "$place/v1/bandits")" = 403 ] || fail "a name: $(cat answer)"
[ "$(status_of -H "Host: localhost.example" "$place/v1/bandits")" = 403 ] || fail "such a name: $(cat answer)"
[ "$(status_of -H "Host: 127.0.0.1.example" "$place/v1/bandits")" = 403 ] || fail "such a number: $(cat answer)"
for name in 127.0.0.2 localhost 'localhost:1' '[::1]:8080' LOCALHOST; do
    [ "$(status_of -H "Host: $name" "$place/v1/bandits")" = 200 ] || fail "$name: $(cat answer)"
done

# A health check finds it alive; after its end, it says what is wrong. Settings that only a start needs do not matter.
port=${place##*:}
"$eenet" serve --health --port "$port" || fail "the health of a server"
EENET_PORT=$port "$eenet" serve --health --address 0.0.0.0 || fail "the health by a variable"
health_fails() {
    expected=$1
    shift
    code=0
    "$eenet" serve --health "$@" >out2 2>err2 || code=$?
    [ "$code" = 1 ] && [ ! -s out2 ] && grep -qx "eenet serve: health: port $port of 127.0.0.1: $expected" err2 ||
        fail "health with $*: $code $(cat out2 err2)"
}
health_fails '.*TLS.*' --port "$port" --certificate any.pem --certificate-key any.pem

# Ctrl-C ends it; what it kept is there again.
stop INT
health_fails 'Connection refused' --port "$port"
start
curl -sS "$place/v1/bandits/shop" | grep -q '"events":[1-9]' || fail "the events are gone"
stop TERM
grep -q 'level=info message="stopping' err || fail "no line of its end: $(cat err)"

# A flag counts more than a variable, and that more than the file.
cp settings mine
echo 'folder = from-file' >>mine
start --settings mine
stop TERM
EENET_FOLDER=from-variable start --settings mine
stop TERM
EENET_FOLDER=none start --settings mine --folder from-flag
[ -d from-file ] && [ -d from-variable ] && [ -d from-flag ] && [ ! -e none ] || fail "precedence: $(ls)"
stop TERM

# SIGHUP reads the settings again; what is wrong, or cannot change, changes nothing.
start --settings mine --folder reloaded
[ "$(status_of "$place/v1/bandits" -d '{"name":"one","dim":1}')" = 201 ] || fail "create: $(cat answer)"
echo 'bandits = 1' >>mine
kill -HUP "$pid"
i=0
until [ "$(status_of "$place/v1/bandits" -d "{\"name\":\"more$i\",\"dim\":1}")" = 409 ]; do
    i=$((i + 1))
    [ $i -lt 200 ] || fail "SIGHUP changed nothing: $(cat err answer)"
done
cp mine kept
echo 'bandits = no' >>mine
kill -HUP "$pid"
until grep -q 'settings not reloaded' err; do kill -0 "$pid" || fail "a wrong file ended it"; sleep 0.02; done
grep -q 'settings: line .*bandits' err || fail "why the settings were not reloaded: $(cat err)"
cp kept mine
echo 'threads = 7' >>mine
kill -HUP "$pid"
until grep -q "'threads' cannot change while the server runs" err; do kill -0 "$pid" || fail "it ended"; sleep 0.02; done
cp kept mine
echo 'sleep-seconds = 7' >>mine
kill -HUP "$pid"
until grep -q "'sleep-seconds' cannot change while" err; do kill -0 "$pid" || fail "it ended"; sleep 0.02; done
[ "$(grep -c 'message="settings, keys and certificate reloaded' err)" = 1 ] || fail "what the log says: $(cat err)"
[ "$(status_of "$place/readyz")" = 200 ] || fail "not ready any more"
stop TERM

# Keys: without one nothing but its health is told.
"$eenet" keys add website --role app --bandit shop --file keys >app || fail "keys"
"$eenet" keys add boss --role admin --file keys >admin
"$eenet" keys add device --role client --bandit shop --file keys >client
key_of() { grep -o 'ee_[A-Za-z0-9_-]*' "$1" | tail -n 1; }
start --folder kept-by-keys --keys keys
[ "$(status_of "$place/v1/bandits")" = 401 ] || fail "no key: $(cat answer)"
[ "$(status_of "$place/livez")" = 200 ] || fail "no key, livez: $(cat answer)"
[ "$(status_of "$place/metrics")" = 401 ] || fail "no key, metrics: $(cat answer)"
boss="Authorization: Bearer $(key_of admin)"
app="X-Api-Key: $(key_of app)"
[ "$(status_of -H "$boss" "$place/v1/bandits" -d '{"name":"shop","dim":1}')" = 201 ] || fail "admin: $(cat answer)"
[ "$(status_of -H "$boss" "$place/v1/bandits" -d '{"name":"other","dim":1}')" = 201 ] || fail "admin: $(cat answer)"
[ "$(status_of -H "$app" "$place/v1/bandits" -d '{"name":"x","dim":1}')" = 403 ] || fail "app creates: $(cat answer)"
[ "$(status_of -H "$app" "$place/v1/bandits/shop/decide" -d '{"actions":[[1]]}')" = 200 ] || fail "app: $(cat answer)"
[ "$(status_of -H "$app" "$place/v1/bandits/other/decide" -d '{"actions":[[1]]}')" = 403 ] || fail "other: $(cat answer)"
[ "$(status_of -H "$app" "$place/v1/bandits")" = 200 ] || fail "list: $(cat answer)"
grep -q '"name":"other"' answer && fail "the key sees another bandit"
# A client decides and rewards, and reads nothing.
client="X-Api-Key: $(key_of client)"
[ "$(status_of -H "$client" "$place/v1/bandits/shop/decide" -d '{"id":"c","actions":[[1]]}')" = 200 ] || fail "client: $(cat answer)"
[ "$(status_of -H "$client" "$place/v1/bandits/shop/reward" -d '{"id":"c","value":1}')" = 200 ] || fail "client: $(cat answer)"
for path in /v1/bandits /v1/bandits/shop /v1/bandits/shop/log /v1/bandits/shop/model /v1/bandits/shop/activity /metrics; do
    [ "$(status_of -H "$client" "$place$path")" = 403 ] || fail "client reads $path: $(cat answer)"
done
[ "$(status_of -X DELETE -H "$client" "$place/v1/bandits/shop")" = 403 ] || fail "client archives: $(cat answer)"
[ "$(status_of -H "$boss" -H 'Host: shop.example' "$place/v1/bandits")" = 200 ] || fail "a name, with keys: $(cat answer)"
[ "$(status_of -H "authorization: bearer $(key_of admin)" "$place/v1/bandits")" = 200 ] || fail "bearer: $(cat answer)"
[ "$(status_of -H 'X-Api-Key: ee_wrong' "$place/v1/bandits")" = 401 ] || fail "a wrong key: $(cat answer)"
stop TERM

# Limits, each with its status.
start --folder limited --body-bytes 1024 --actions 2 --features 3 --batch 2 --bandits 2
[ "$(status_of "$place/v1/bandits" -d '{"name":"v","dim":1}')" = 201 ] || fail "create: $(cat answer)"
[ "$(status_of "$place/v1/bandits" -d '{"name":"n","features":""}')" = 201 ] || fail "create: $(cat answer)"
[ "$(status_of "$place/v1/bandits/v/decide" -d '{"actions":[[1],[2],[3]]}')" = 413 ] || fail "actions: $(cat answer)"
[ "$(status_of "$place/v1/bandits/n/decide" -d '{"context":{"a":[1,2,3,4]},"actions":[]}')" = 413 ] ||
    fail "features: $(cat answer)"
[ "$(status_of "$place/v1/bandits/v/reward/batch" -d '{"rewards":[{},{},{}]}')" = 413 ] || fail "batch: $(cat answer)"
head -c 2000 /dev/zero | tr '\0' ' ' >large
[ "$(status_of "$place/v1/bandits/v/decide" --data-binary @large)" = 413 ] || fail "body: $(cat answer)"
stop TERM
start --folder limited --rate 0.01 --log-level debug
for i in 1 2 3; do status_of "$place/v1/bandits"; echo; done >statuses
grep -q 200 statuses && grep -q 429 statuses || fail "rate: $(cat statuses)"
curl -s -D headers -o answer "$place/v1/bandits"
tr -d '\r' <headers | grep -iqE '^retry-after: [0-9]{1,3}$' || fail "no Retry-After: $(cat headers)"
tr -d '\r' <headers | grep -iqE '^x-request-id: [0-9a-f]{32}$' || fail "no id of the request: $(cat headers)"
curl -s -D headers -o answer -H 'X-Request-Id: mine-7' "$place/livez"
tr -d '\r' <headers | grep -iqx 'x-request-id: mine-7' || fail "another id of the request: $(cat headers)"
until grep -q 'path=/livez status=200 .* id=mine-7$' err; do kill -0 "$pid" || fail "it ended"; sleep 0.02; done
stop TERM

# TLS, where there is a tool that makes a certificate; SIGHUP takes a new one.
if command -v openssl >/dev/null; then
    certify() {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
            -keyout key.pem -out certificate.pem 2>/dev/null
    }
    name_of() { curl -skv -o answer "$secure/livez" 2>&1 | sed -n 's/.*subject: CN=//p'; }
    certify first
    : >out
    "$eenet" serve --port 0 --folder secret --certificate certificate.pem --certificate-key key.pem >out 2>err &
    pid=$!
    until [ -s out ]; do kill -0 "$pid" 2>/dev/null || fail "no TLS: $(cat err)"; sleep 0.02; done
    secure=$(sed -n '1s/^eenet: listening on //p' out)
    case $secure in https://127.0.0.1:*) ;; *) fail "the first line: $(head -n 1 out)" ;; esac
    [ "$(name_of)" = first ] || fail "the certificate: $(name_of)"
    "$eenet" serve --health --port "${secure##*:}" --certificate certificate.pem || fail "the health with TLS"
    certify second
    kill -HUP "$pid"
    i=0
    until [ "$(name_of)" = second ]; do
        i=$((i + 1))
        [ $i -lt 200 ] || fail "still the first certificate: $(cat err)"
    done
    stop TERM
fi
