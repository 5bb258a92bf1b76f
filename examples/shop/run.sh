#!/bin/sh
# run.sh [--folder DIR] [--rate N] [--port N] [--server-port N]: a shop, its visitors, and the server that decides what
# they are shown. Needs node (18 or newer) and the program eenet: the one that EENET names, else that of this project's
# build, else the one on the PATH. Ctrl-C stops all of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || { echo "run.sh: node is needed (18 or newer): https://nodejs.org" >&2; exit 1; }
if [ -z "${EENET:-}" ]; then
    for candidate in "$here/../../build/release/eenet" "$(command -v eenet || :)"; do
        [ -n "$candidate" ] && [ -x "$candidate" ] && EENET=$candidate && break
    done
fi
[ -n "${EENET:-}" ] || { echo "run.sh: there is no eenet: build it (make), or name it: EENET=/path/to/eenet" >&2; exit 1; }
export EENET
exec node "$here/shop.mjs" "$@"
