#!/bin/sh
# backup.sh PROGRAM: a folder is copied, or what hinders it is said. The copies of a server that runs are tested beside
# the store.
golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$(dirname "$0")/cli.inc"
command -v sqlite3 >/dev/null || { echo "backup.sh: skipped: no sqlite3"; exit 0; }

mkdir data empty
sqlite3 data/eenet.db <"$golden/store_1.sql"
said=$("$eenet" backup data copy 2>stderr) || fail "$(cat stderr)"
test "$said" = "copied data to copy" || fail "said '$said'"
test ! -s stderr || fail "words on stderr, which is no terminal: $(cat stderr)"
sqlite3 data/eenet.db .dump >dump
sqlite3 copy/eenet.db .dump | diff dump - || fail "another content"
"$eenet" backup copy/ deeper/down/again/ >stdout
sqlite3 deeper/down/again/eenet.db .dump | diff dump - || fail "another content"

refuse 2 "expected two folders: the server's, and a new one for the copy" backup
refuse 2 "expected two folders: the server's, and a new one for the copy" backup data
refuse 2 "expected two folders, got 'more' too" backup data new more
refuse 2 "unknown flag '--all'" backup --all data new
refuse 1 "store: 'copy' already exists; give the name of a new folder" backup data copy
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" backup empty new
sqlite3 copy/eenet.db 'PRAGMA user_version = 99'
refuse 1 "store: eenet.db has version 99, written by a newer eenet; this one reads up to 7" backup copy new
mkdir other
sqlite3 other/eenet.db 'CREATE TABLE theirs (x)'
refuse 1 "store: eenet.db belongs to another program" backup other new

# On a terminal it says how far it is, and takes the line away.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$eenet' backup data seen >stdout" /dev/null </dev/null >screen
    test "$(tr -d '\r' <screen | sed "s/$(printf '\033')\[K/|/g")" = "|100%|" || fail "progress: $(cat -v screen)"
fi
