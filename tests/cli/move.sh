#!/bin/sh
# move.sh PROGRAM: a store is copied from a folder to another, and, if the variable EENET_TEST_POSTGRES has a connection
# string, to a database and back. What is copied is tested beside the store.
. "$(dirname "$0")/cli.inc"
for tool in sqlite3 curl; do
    command -v $tool >/dev/null || { echo "move.sh: skipped: no $tool"; exit 0; }
done
database=
clean_up() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :
    [ -z "$database" ] || psql -q "$EENET_TEST_POSTGRES" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)" >/dev/null
}
trap clean_up EXIT

refuse 2 "expected two places: the server's folder or database, and a new one" move
refuse 2 "expected two places: the server's folder or database, and a new one" move data
refuse 2 "expected two places, got 'postgresql://me@host/db' too" move a b postgresql://me:secret@host/db
refuse 2 "unknown flag '--all'" move --all
mkdir empty
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" move empty new
[ -z "$(ls empty)" ] || fail "something was made in an empty folder"

start_server "$eenet" serve --port 0 --folder data
post '' '{"name":"shop","policy":"linucb","dim":2,"wait":3600}'
for i in 1 2 3; do
    post /shop/decide "{\"id\":\"s$i\",\"actions\":[[1,0.$i],[0.$i,1]]}"
    cp answer "answer$i"
    post /shop/reward "{\"id\":\"s$i\",\"value\":0.$i}"
done
refuse 1 "store: another process is serving data" move data new
stop_server
sqlite3 data/eenet.db .dump | sort >dump
events=$(sqlite3 data/eenet.db 'SELECT count(*) FROM events')
blobs=$(find data/models data/live data/evaluations data/importances -type f 2>/dev/null | wc -l)
things() { [ "$1" = 1 ] && echo "1 $2" || echo "$1 ${2}s"; }
summary="1 bandit, $(things "$events" event) and $(things "$blobs" blob), all verified"

# moved FROM TO SHOWN_FROM SHOWN_TO
moved() {
    "$eenet" move "$1" "$2" >stdout 2>stderr || fail "move $1 $2: $(cat stderr)"
    [ ! -s stderr ] || fail "words on stderr, which is no terminal: $(cat stderr)"
    cat >expected <<END
copied $3 to $4: $summary
$3 is unchanged. Start the server on $4, and do not write to $3 any more.
API keys are not part of the copy.
END
    diff expected stdout
}

moved data there data there
sqlite3 there/eenet.db .dump | sort | diff dump - || fail "another content"
refuse 1 "store: 'there' already exists; give the name of a new folder" move data there
# The copy answers as the original did.
start_server "$eenet" serve --port 0 --folder there
post /shop/decide '{"id":"s2","actions":[[1,0.2],[0.2,1]]}'
cmp answer2 answer
stop_server
cp -r data damaged
sqlite3 damaged/eenet.db 'UPDATE events SET time = time + 1 WHERE id = "s2"'
number=$(sqlite3 damaged/eenet.db 'SELECT place & 0xffffffffff FROM events WHERE id = "s2" AND kind = 1')
ends_with 1 "$eenet" move damaged new
has stderr "eenet move: store: damaged is damaged: event $number of bandit 1 is damaged: its checksum does not match; run 'eenet check' on it"
[ ! -e new ] || fail "a damaged copy was left"

# ---- a database ----

refuse 2 "--repair works on a folder: copy the database with 'eenet backup' first" check --repair postgresql://host/db
refuse 2 "the copy must be a folder; 'eenet move' copies into a database" backup data postgresql://host/db
[ -n "${EENET_TEST_POSTGRES:-}" ] || { echo "move.sh: the rest is skipped: EENET_TEST_POSTGRES is not set"; exit 0; }
command -v psql >/dev/null || { echo "move.sh: the rest is skipped: no psql"; exit 0; }
database=eenet_move_$$
psql -q "$EENET_TEST_POSTGRES" -c "CREATE DATABASE $database"
case $EENET_TEST_POSTGRES in *\?*) separator='&' ;; *) separator='?' ;; esac
where="$EENET_TEST_POSTGRES${separator}dbname=$database"
sql() { psql -qAt "$where" -c "$1"; }
"$eenet" move data "$where&password=secret" >stdout 2>stderr || fail "$(cat stderr)"
grep -q secret stdout && fail "the password is shown"
shown=$(sed -n "1s/^copied data to \(.*\): $summary\$/\1/p" stdout)
[ -n "$shown" ] || fail "$(cat stdout)"
case $shown in *"/$database") ;; *) fail "shown as $shown" ;; esac
refuse 1 "store: $shown is not empty: it has 1 bandit; give a new database" move data "$where"

"$eenet" check "$where" >stdout || fail "$(cat stdout)"
printf 'checked %s: 1 bandit, %s and %s\nno damage found\n' "$shown" "$(things "$events" event)" \
    "$(things "$blobs" blob)" | diff - stdout
"$eenet" replay data >expected
"$eenet" replay "$where" | diff expected - || fail "replay"
"$eenet" backup "$where" copy >stdout
echo "copied $shown to copy" | diff - stdout
sqlite3 copy/eenet.db .dump | sort | diff dump - || fail "another content in the backup"
moved "$where" back "$shown" back
sqlite3 back/eenet.db .dump | sort | diff dump - || fail "another content after there and back"
diff -r data/models back/models

# Damage, and nothing left in the temporary folder.
mkdir scratch
TMPDIR=$PWD/scratch
export TMPDIR
sql "UPDATE eenet.events SET time = time + 1 WHERE id = 's2'" >/dev/null
ends_with 1 "$eenet" check "$where"
has_line stdout "damage: bandit 'shop': event $number is damaged: its checksum does not match"
like stdout 'found; the log itself is damaged: restore a backup$'
ends_with 1 "$eenet" backup "$where" new
like stderr '^eenet backup: the copy is damaged, as the database is, and was removed'
ends_with 1 "$eenet" replay "$where"
like stderr "^eenet replay: $shown is damaged; "
sql "DROP TABLE eenet.unclaimed" >/dev/null
ends_with 1 "$eenet" check "$where"
has_line stdout 'damage: the table eenet.unclaimed is missing'
[ -z "$(ls scratch)" ] || fail "left in the temporary folder: $(ls scratch)"
