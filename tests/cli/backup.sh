#!/bin/sh
# backup.sh PROGRAM: a folder is copied, or what hinders it is said. The copies of a server that runs are tested beside
# the store.
set -eu
eenet=$1
golden=$(cd "$(dirname "$0")/../golden" && pwd)
fail() { echo "backup.sh: $*" >&2; exit 1; }
command -v sqlite3 >/dev/null || { echo "backup.sh: skipped: no sqlite3"; exit 0; }

# refuse STATUS SENTENCE ARGUMENT...: the first line on stderr is the sentence, and nothing is left behind.
refuse() {
    expected=$1 sentence=$2
    shift 2
    code=0
    ls >before
    "$eenet" backup "$@" >stdout 2>stderr || code=$?
    test "$code" = "$expected" || fail "backup $*: exit status $code"
    test ! -s stdout || fail "backup $*: printed on stdout"
    test "$(head -n 1 stderr)" = "$sentence" || fail "backup $*: got '$(head -n 1 stderr)', expected '$sentence'"
    ls | diff before - || fail "backup $*: left something behind"
}

: >stdout >stderr >before
mkdir data empty
sqlite3 data/eenet.db <"$golden/store_1.sql"
said=$("$eenet" backup data copy 2>stderr) || fail "$(cat stderr)"
test "$said" = "copied data to copy" || fail "said '$said'"
test ! -s stderr || fail "words on stderr, which is no terminal: $(cat stderr)"
sqlite3 data/eenet.db .dump >dump
sqlite3 copy/eenet.db .dump | diff dump - || fail "another content"
"$eenet" backup copy/ deeper/down/again/ >stdout
sqlite3 deeper/down/again/eenet.db .dump | diff dump - || fail "another content"

refuse 2 "eenet backup: expected two folders: the server's, and a new one for the copy"
refuse 2 "eenet backup: expected two folders: the server's, and a new one for the copy" data
refuse 2 "eenet backup: expected two folders, got 'more' too" data new more
refuse 2 "eenet backup: unknown flag '--all'" --all data new
refuse 1 "eenet backup: store: 'copy' already exists; give the name of a new folder" data copy
refuse 1 "eenet backup: store: 'empty' is not a server's folder: it has no eenet.db" empty new
sqlite3 copy/eenet.db 'PRAGMA user_version = 99'
refuse 1 "eenet backup: store: eenet.db has version 99, written by a newer eenet; this one reads up to 7" copy new
mkdir other
sqlite3 other/eenet.db 'CREATE TABLE theirs (x)'
refuse 1 "eenet backup: store: eenet.db belongs to another program" other new

# On a terminal it says how far it is, and takes the line away.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$eenet' backup data seen >stdout" /dev/null </dev/null >screen
    test "$(tr -d '\r' <screen | sed "s/$(printf '\033')\[K/|/g")" = "|100%|" || fail "progress: $(cat -v screen)"
fi
