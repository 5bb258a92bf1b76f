#!/bin/sh
# serve.sh PROGRAM: the server as its users start and stop it: settings from file, variables and flags, the commands that
# it prints, a second one, signals.
page=$(dirname "$0")/../../man/eenet-serve.1
. "$(dirname "$0")/cli.inc"

# start WORD...: on a free port.
start() { start_server "$eenet" serve --port 0 "$@"; }

# returns STATUS PATH WORD...: what the server answers to the request; the body is in the file answer.
returns() {
    expected=$1 path=$2
    shift 2
    got=$(curl -sk -D headers -o answer -w '%{http_code}' "$url$path" "$@")
    [ "$got" = "$expected" ] || fail "$path $*: status $got, expected $expected: $(cat answer)"
}

# Every setting is a flag, has its place in the help and the manual page, and a line in the file that it prints.
"$eenet" serve --print-settings >settings
"$eenet" help serve >help
sed -n 's/^#\([a-z-]*\) = \(.*\)/\1 \2/p' settings >defaults
[ "$(wc -l <defaults)" -gt 20 ] || fail "few settings: $(cat defaults)"
while read -r name default; do
    has help "--$name "
    has "$page" "\\-\\-$(echo "$name" | sed 's/-/\\-/g')"
done <defaults
# The page has the defaults of the table.
tr -d '\\' <"$page" | awk '$1 == ".BR" && $2 ~ /^--/ { name = substr($2, 3) } /^Default: / { sub(/[.]$/, ""); print name, $2 }' |
    diff defaults - || fail "the manual page has other defaults"
sed -i 's/^#port = .*/port = 0/' settings

# What is wrong is said before anything starts.
refuse 2 "unknown flag '--prt'; did you mean '--port'?" serve --prt 1
refuse 2 "--port must be 0 to 65535, got 99999" serve --port 99999
refuse 2 "unexpected argument 'now'" serve now
ends_with 2 "$eenet" serve --address 0.0.0.0
has stderr 'so keys are required'
echo 'prot = 1' >wrong
refuse 2 "settings: line 1: serve has no option 'prot'; did you mean 'port'?" serve --settings wrong
# Addresses that are only for listening: what it prints can be opened on this machine.
"$eenet" keys add boss --role admin --file keys >admin
start --address 0.0.0.0 --folder listen --keys keys
like out '^eenet: listening on http://0\.0\.0\.0:' '^Dashboard: http://127\.0\.0\.1:'
stop_server

# Without arguments but the port: what it prints works as it is pasted.
start
[ -d eenet-data ] || fail "no eenet-data"
sed -n '/^  curl/,/^$/p' out | sed 's/curl/curl -sS -f/' >commands
[ "$(grep -c curl commands)" = 3 ] || fail "three commands: $(cat out)"
sh -eu commands >answers || fail "a command failed: $(cat answers)"
curl -sS -f "$(sed -n 's/^Dashboard: //p' out)" | grep -q '<title>eenet' || fail "the page: $(cat out)"
like answers '^\{"name":"shop","archived":false,' '^\{"id":"visit-1","action":"(red|blue)","index":[01],"probability":0\.5,'
[ "$(tail -n 1 answers)" = '{"outcome":"joined"}' ] || fail "reward: $(cat answers)"

# A second server: of the folder, and of the port.
port=${url##*:}
ends_with 1 "$eenet" serve --port 0
has stderr eenet-data
ends_with 1 "$eenet" serve --port "$port" --folder other
has stderr "$port"

# Pages in a browser: only those of the server itself, and only under a name of this machine.
for header in 'Origin: http://elsewhere.example' 'Origin: null' "Host: elsewhere.example:$port" 'Host: localhost.example' \
    'Host: 127.0.0.1.example'; do
    returns 403 /v1/bandits -H "$header"
done
for header in "Origin: $url" 'Host: 127.0.0.2' 'Host: localhost' 'Host: localhost:1' 'Host: [::1]:8080' 'Host: LOCALHOST'; do
    returns 200 /v1/bandits -H "$header"
done

# A health check finds it alive; after its end, it says what is wrong. Settings that only a start needs do not matter.
"$eenet" serve --health --port "$port" || fail "the health of a server"
EENET_PORT=$port "$eenet" serve --health --address 0.0.0.0 || fail "the health by a variable"
ends_with 1 "$eenet" serve --health --certificate any.pem --certificate-key any.pem --port "$port"
like stderr "^eenet serve: health: port $port of 127.0.0.1: .*TLS"

# Ctrl-C ends it; what it kept is there again.
stop_server INT
refuse 1 "health: port $port of 127.0.0.1: Connection refused" serve --health --port "$port"
start
returns 200 /v1/bandits/shop
like answer '"events":[1-9]'
stop_server
has err 'level=info message="stopping'

# A flag counts more than a variable, and that more than the file.
cp settings mine
echo 'folder = from-file' >>mine
start --settings mine
stop_server
EENET_FOLDER=from-variable start --settings mine
stop_server
EENET_FOLDER=none start --settings mine --folder from-flag
stop_server
[ -d from-file ] && [ -d from-variable ] && [ -d from-flag ] && [ ! -e none ] || fail "precedence: $(ls)"

# SIGHUP reads the settings again; what is wrong, or cannot change, changes nothing.
start --settings mine --folder reloaded
returns 201 /v1/bandits -d '{"name":"one","dim":1}'
echo 'bandits = 1' >>mine
cp mine kept
kill -HUP "$pid"
await_line err 'message="settings, keys and certificate reloaded'
returns 409 /v1/bandits -d '{"name":"more","dim":1}'
while IFS=: read -r change message; do
    { cat kept && echo "$change"; } >mine
    kill -HUP "$pid"
    await_line err "$message"
done <<'END'
bandits = no:settings not reloaded.*settings: line .*bandits
threads = 7:'threads' cannot change while the server runs
sleep-seconds = 7:'sleep-seconds' cannot change while
END
[ "$(grep -c 'message="settings, keys and certificate reloaded' err)" = 1 ] || fail "what the log says: $(cat err)"
returns 200 /readyz
stop_server

# Keys: without one nothing but its health is told. An app sees its bandit, a client decides and rewards, and reads nothing.
"$eenet" keys add website --role app --bandit shop --file keys >app
"$eenet" keys add device --role client --bandit shop --file keys >client
key_of() { grep -o 'ee_[A-Za-z0-9_-]*' "$1" | tail -n 1; }
boss="Authorization: Bearer $(key_of admin)"
app="X-Api-Key: $(key_of app)"
client="X-Api-Key: $(key_of client)"
start --folder kept-by-keys --keys keys
returns 401 /v1/bandits
returns 401 /metrics
returns 200 /livez
returns 201 /v1/bandits -H "$boss" -d '{"name":"shop","dim":1}'
returns 201 /v1/bandits -H "$boss" -d '{"name":"other","dim":1}'
returns 403 /v1/bandits -H "$app" -d '{"name":"x","dim":1}'
returns 200 /v1/bandits/shop/decide -H "$app" -d '{"actions":[[1]]}'
returns 403 /v1/bandits/other/decide -H "$app" -d '{"actions":[[1]]}'
returns 200 /v1/bandits -H "$app"
grep -q '"name":"other"' answer && fail "the key sees another bandit"
returns 200 /v1/bandits/shop/decide -H "$client" -d '{"id":"c","actions":[[1]]}'
returns 200 /v1/bandits/shop/reward -H "$client" -d '{"id":"c","value":1}'
for path in /v1/bandits /v1/bandits/shop /v1/bandits/shop/log /v1/bandits/shop/model /v1/bandits/shop/activity /metrics; do
    returns 403 "$path" -H "$client"
done
returns 403 /v1/bandits/shop -H "$client" -X DELETE
returns 200 /v1/bandits -H "$boss" -H 'Host: shop.example'
returns 200 /v1/bandits -H "authorization: bearer $(key_of admin)"
returns 401 /v1/bandits -H 'X-Api-Key: ee_wrong'
stop_server

# Limits, each with its status.
start --folder limited --body-bytes 1024 --actions 2 --features 3 --batch 2 --bandits 2
head -c 2000 /dev/zero | tr '\0' ' ' >large
returns 201 /v1/bandits -d '{"name":"v","dim":1}'
returns 201 /v1/bandits -d '{"name":"n","features":""}'
returns 413 /v1/bandits/v/decide -d '{"actions":[[1],[2],[3]]}'
returns 413 /v1/bandits/n/decide -d '{"context":{"a":[1,2,3,4]},"actions":[]}'
returns 413 /v1/bandits/v/reward/batch -d '{"rewards":[{},{},{}]}'
returns 413 /v1/bandits/v/decide --data-binary @large
stop_server
start --folder limited --rate 0.0001 --log-level debug
returns 200 /v1/bandits
returns 429 /v1/bandits
tr -d '\r' <headers >lines
like lines '^[Rr]etry-[Aa]fter: [0-9]{1,5}$' '^[Xx]-[Rr]equest-[Ii]d: [0-9a-f]{32}$'
returns 200 /livez -H 'X-Request-Id: mine-7'
tr -d '\r' <headers | grep -iqx 'x-request-id: mine-7' || fail "another id of the request: $(cat headers)"
await_line err 'path=/livez status=200 .* id=mine-7$'
stop_server

# TLS, where there is a tool that makes a certificate; SIGHUP takes a new one.
if command -v openssl >/dev/null; then
    certify() {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
            -keyout key.pem -out certificate.pem 2>/dev/null
    }
    shows() { curl -skv -o answer "$url/livez" 2>&1 | grep -q "subject: CN=$1$" || fail "not the certificate $1"; }
    certify first
    start --folder secret --certificate certificate.pem --certificate-key key.pem
    case $url in https://127.0.0.1:*) ;; *) fail "the first line: $(head -n 1 out)" ;; esac
    shows first
    "$eenet" serve --health --port "${url##*:}" --certificate certificate.pem || fail "the health with TLS"
    certify second
    kill -HUP "$pid"
    await_line err 'message="settings, keys and certificate reloaded'
    shows second
    stop_server
fi
