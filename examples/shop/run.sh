#!/bin/sh
# run.sh [--folder DIR] [--rate N] [--port N] [--server-port N] [--metrics]: a shop, simulated visitors, and the server that
# decides what they see. Press Ctrl-C to stop.
# run.sh guardrails [--visits N]: a tour of guardrails, with visitors whose behaviour is known. Ends by itself.
# Needs Node.js 18 or newer and the program eenet: $EENET, else this project's build, else the one on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || { echo "run.sh: Node.js 18 or newer is required: https://nodejs.org" >&2; exit 1; }
if [ -z "${EENET:-}" ]; then
    for candidate in "$here/../../build/release/eenet" "$(command -v eenet || :)"; do
        [ -n "$candidate" ] && [ -x "$candidate" ] && EENET=$candidate && break
    done
fi
[ -n "${EENET:-}" ] || { echo "run.sh: cannot find eenet: build it (make) or set EENET=/path/to/eenet" >&2; exit 1; }
export EENET
program=shop
if [ "${1:-}" = guardrails ]; then
    program=guardrails
    shift
fi
exec node "$here/$program.mjs" "$@"
