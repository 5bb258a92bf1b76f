#!/bin/sh
# check.sh PROGRAM: damage is reported and repaired, as a person sees it. What is found is tested beside the store and by
# serve_damage.
set -eu
eenet=$1
golden=$(cd "$(dirname "$0")/../golden" && pwd)
fail() { echo "check.sh: $*" >&2; exit 1; }
command -v sqlite3 >/dev/null || { echo "check.sh: skipped: no sqlite3"; exit 0; }
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :' EXIT

# refuse STATUS SENTENCE ARGUMENT...: the first line on stderr is the sentence.
refuse() {
    expected=$1 sentence=$2
    shift 2
    code=0
    "$eenet" check "$@" >stdout 2>stderr || code=$?
    [ "$code" = "$expected" ] && [ "$(head -n 1 stderr)" = "eenet check: $sentence" ] ||
        fail "check $*: status $code: $(cat stderr)"
}

# found STATUS ARGUMENT...: stdout, with numbers of bytes and files left out, is stdin; nothing is on stderr.
found() {
    expected=$1
    shift
    code=0
    "$eenet" check "$@" >stdout 2>stderr || code=$?
    [ "$code" = "$expected" ] || fail "check $*: status $code: $(cat stdout stderr)"
    [ ! -s stderr ] || fail "check $*: $(cat stderr)"
    sed -E 's/[0-9]+ file(s)?$/N files/' stdout | diff - expected >difference || fail "check $*: $(cat difference)"
}

refuse 2 "expected the server's folder"
refuse 2 "expected one folder, got 'b' too" a b
refuse 2 "unknown flag '--all'" --all a
mkdir empty other text
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" empty
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" --repair empty
[ -z "$(ls empty)" ] || fail "something was made in an empty folder"
sqlite3 other/eenet.db 'CREATE TABLE theirs (x)'
refuse 1 "store: eenet.db belongs to another program" other
printf 'This is not a database at all, and it is longer than a header of one hundred bytes, which SQLite wants to read.' >text/eenet.db
refuse 1 "store: could not open eenet.db: eenet.db is damaged (file is not a database); restore a backup" text

# A store of an older version.
mkdir old
sqlite3 old/eenet.db <"$golden/store_1.sql"
cat >expected <<'END'
checked the structure only: eenet.db is of an older version, without checksums; start the server on it once to upgrade it
no damage found
END
found 0 old
refuse 1 "store: eenet.db is of an older version; start the server on it once to upgrade it" --repair old

# start: starts it, waits for its first line, and sets pid and place.
start() {
    : >out
    "$eenet" serve --port 0 --folder data >out 2>err &
    pid=$!
    until [ -s out ]; do
        kill -0 "$pid" 2>/dev/null || fail "it did not start: $(cat err)"
        sleep 0.02
    done
    place=$(sed -n '1s/^eenet: listening on //p' out)
}
post() { curl -sS -f -X POST -H 'Content-Type: application/json' -d "$2" "$place/v1/bandits$1" >answer || fail "$1: $2"; }
command -v curl >/dev/null || { echo "check.sh: the rest is skipped: no curl"; exit 0; }
start
post '' '{"name":"shop","policy":"linucb","dim":2,"wait":3600}'
for i in 1 2 3; do post /shop/decide "{\"id\":\"s$i\",\"actions\":[[1,0.$i],[0.$i,1]]}"; done
"$eenet" check data >stdout || fail "beside the server: $(cat stdout)"
refuse 1 "store: another process is serving data" --repair data
kill -TERM "$pid"
wait "$pid" || fail "it did not end well"
pid=
events=$(sqlite3 data/eenet.db 'SELECT count(*) FROM events')
cat >expected <<END
checked 1 bandit, $events events and N files
no damage found
END
found 0 data
found 0 --repair data

# A table that follows from the log.
cp -r data tables
sqlite3 tables/eenet.db 'DELETE FROM ids WHERE id = "s2"'
cat >expected <<END
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
checked 1 bandit, $events events and N files
1 damage found; the log is intact: stop the server, run 'eenet check --repair' on the folder, and start it again
END
found 1 tables
code=0
"$eenet" backup tables copy >stdout 2>stderr || code=$?
[ "$code" = 1 ] && [ ! -e copy ] || fail "a damaged folder was copied: $code"
cat >expected <<'END'
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
eenet backup: the copy is damaged, as the folder is, and was removed (--keep-damaged keeps it); the log is intact: stop the server, run 'eenet check --repair' on the folder, and start it again
END
diff expected stderr
"$eenet" backup --keep-damaged tables copy >stdout 2>stderr && fail "a damaged copy is a success"
[ -e copy/eenet.db ] || fail "the damaged copy was not kept"
cat >expected <<END
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
checked 1 bandit, $events events and N files
rebuilt eenet.db from the log; the damaged file is kept as eenet.db.damaged-1
END
found 0 --repair tables
cat >expected <<END
checked 1 bandit, $events events and N files
no damage found
END
found 0 tables
"$eenet" replay tables >stdout || fail "after the repair: $(cat stdout)"
sqlite3 tables/eenet.db 'SELECT number FROM ids WHERE id = "s2"' | grep -q . || fail "the id is missing"

# The log.
cp -r data log
sqlite3 log/eenet.db 'UPDATE events SET time = time + 1 WHERE id = "s2"'
number=$(sqlite3 log/eenet.db 'SELECT place & 0xffffffffff FROM events WHERE id = "s2"')
cat >expected <<END
damage: bandit 'shop': event $number is damaged: its checksum does not match
checked 1 bandit, $events events and N files
1 damage found; the log itself is damaged: restore a backup
END
found 1 log
refuse 1 "store: the log itself is damaged, and only a backup has what is missing: restore one" --repair log
[ ! -e log/eenet.db.damaged-1 ] && [ ! -e log/repair.partial ] || fail "something was left"
