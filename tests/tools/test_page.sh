#!/bin/sh
# test_page.sh PROGRAM PAGE: runs the commands of a page of docs/ in their order, and compares the output with the page.
# In blocks of json and text, ... matches anything; in blocks of txt, numbers with a fraction may differ too. Whole numbers,
# such as rounds and seeds, may not. Servers get a free port. The page's examples/ are available.
set -eu
program=$1
page=$2
fail() { echo "test_page.sh: $*" >&2; exit 1; }
. "$(dirname "$0")/wait.sh"
command -v curl >/dev/null || exit 77
mkdir -p bin
ln -sf "$program" bin/eenet
PATH=$PWD/bin:$PATH
ln -sfn "${page%/docs/*}/examples" examples
port=8080

# Write each block to a file: 01.sh, 02.json, ... So do the commands of tables with a column "eenet command".
awk '!/^\|/ { table = 0 }
     name == "" && /^\|.* eenet command / { table = 1 }
     table && match($0, /`eenet [^`]*`/) {
         file = sprintf("%02d.sh", ++count)
         print substr($0, RSTART + 1, RLENGTH - 2) >file
         next
     }
     /^```[a-z]+$/ { kind = substr($0, 4); name = sprintf("%02d.%s", ++count, kind); printf "" >name; next }
     /^```$/ { name = ""; next }
     name != "" { print >name }' "$page"
[ -e 01.sh ] || fail "no blocks in $page"

# Start the server with the command of a block, on a free port.
start() {
    [ -z "$pid" ] || stop_server
    start_server $1 --port 0
    port=${url##*:}
    sed -i "s/127\.0\.0\.1:[0-9]*/127.0.0.1:$port/" state
}

fractions_aside() { sed -E -e 's/[0-9]+\.[0-9]+/0/g' -e 's/ +/ /g' "$1"; }

# Fails unless the output matches the block.
compare() {
    case $1 in
    *.txt) look=fractions_aside ;;
    *) look=cat ;;
    esac
    pattern=$($look "$1" | sed -e 's/[][*?\\]/\\&/g' -e 's/\.\.\./*/g')
    case $($look answer) in
    $pattern) ;;
    *) fail "$1: expected
$(cat "$1")
got
$(cat answer)" ;;
    esac
}

: >state
last=
for block in [0-9][0-9].*; do
    case $block in
    *.sh)
        if grep -q '^eenet serve' "$block"; then
            start "$(cat "$block")"
            last=
            continue
        fi
        # Later blocks can use the variables of earlier ones.
        { cat state; sed "s/127\.0\.0\.1:8080/127.0.0.1:$port/" "$block"; } >whole
        sed -n 's/^\(server\|shop\|actions\)=/&/p' whole >state
        key=$(sed -n 's/.*\(ee_[A-Za-z0-9_-]\{43\}\).*/\1/p' keys.made 2>/dev/null | tail -n 1) sh -eu whole >answer ||
            fail "$block: exit status $?: $(cat answer)"
        grep -q 'eenet keys' "$block" && cp answer keys.made
        last=$block
        ;;
    *.python) ;; # the tests of the Python package run it
    *) [ -z "$last" ] || compare "$block" ;;
    esac
done
[ -z "$pid" ] || stop_server
