# shellcheck shell=sh disable=SC2034,SC2154 # variables of the scripts
# To be read by shell tests that define fail(): the one place in which they wait. If $pid is set, they wait for something
# that this process does, and fail if it ends before.

# await WHAT COMMAND...: repeats the command until it succeeds, for what no event announces. The limit is for what hangs.
await() {
    awaited=$1 turns=0
    shift
    until "$@"; do
        if [ "${pid:-}" ] && ! kill -0 "$pid" 2>/dev/null; then
            "$@" && return
            fail "it ended before $awaited: $(cat err stderr 2>/dev/null)"
        fi
        turns=$((turns + 1))
        [ "$turns" -lt 12000 ] || fail "waited ten minutes for $awaited"
        sleep 0.05
    done
}

# await_line FILE PATTERN: until a line of a growing file, for example a server's log, matches.
await_line() { await "a line '$2' in $1" grep -q -e "$2" "$1"; }

# await_handler PID...: until the program eenet, and not yet the shell before it, catches SIGINT.
catches_interrupts() {
    awk '/^Name:/ { name = $2 } /^SigCgt:/ { set = $2 } END { exit !(name == "eenet" && set ~ /[2367abef]$/) }' "/proc/$1/status"
}
await_handler() { await "SIGINT is caught by process $1" catches_interrupts "$1"; }

# start_server COMMAND...: returns when the server has printed where it listens and what to type next. Sets pid and url;
# stdout is in the file out, stderr in err.
start_server() {
    rm -f out.pipe
    mkfifo out.pipe
    "$@" >out.pipe 2>err &
    pid=$!
    exec 9<out.pipe
    : >out
    while IFS= read -r line <&9 && echo "$line" >>out; do
        case $line in 'Press Ctrl-C'*) break ;; esac
    done
    url=$(sed -n '1s/^eenet: listening on //p' out)
    case $url in http*://*:[1-9]*) ;; *) fail "it did not start: $(cat out err)" ;; esac
}

# stop_server [SIGNAL]: it ends well, except after KILL.
stop_server() {
    kill -"${1:-TERM}" "$pid"
    code=0
    wait "$pid" 2>/dev/null || code=$?
    pid=
    [ "$code" = 0 ] || [ "${1:-}" = KILL ] || fail "after SIG${1:-TERM}: exit status $code: $(cat err)"
}

pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :' EXIT
