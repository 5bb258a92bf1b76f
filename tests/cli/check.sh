#!/bin/sh
# check.sh PROGRAM: damage is reported and repaired, as a person sees it. What is found is tested beside the store and by
# serve_damage.
golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$(dirname "$0")/cli.inc"
command -v sqlite3 >/dev/null || { echo "check.sh: skipped: no sqlite3"; exit 0; }

# found STATUS ARGUMENT...: stdout, with numbers of bytes and files left out, is stdin; nothing is on stderr.
found() {
    ends_with "$1" "$eenet" check "$2" ${3:+"$3"}
    [ ! -s stderr ] || fail "check $*: $(cat stderr)"
    sed -E 's/[0-9]+ file(s)?$/N files/' stdout >said
    diff - said || fail "check $*"
}

refuse 2 "expected the server's folder" check
refuse 2 "expected one folder, got 'b' too" check a b
refuse 2 "unknown flag '--all'" check --all a
mkdir empty other text
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" check empty
refuse 1 "store: 'empty' is not a server's folder: it has no eenet.db" check --repair empty
[ -z "$(ls empty)" ] || fail "something was made in an empty folder"
sqlite3 other/eenet.db 'CREATE TABLE theirs (x)'
refuse 1 "store: eenet.db belongs to another program" check other
printf 'This is not a database at all, and it is longer than a header of one hundred bytes, which SQLite wants to read.' >text/eenet.db
refuse 1 "store: could not open eenet.db: eenet.db is damaged (file is not a database); restore a backup" check text

# A store of an older version.
mkdir old
sqlite3 old/eenet.db <"$golden/store_1.sql"
found 0 old <<'END'
checked the structure only: eenet.db is of an older version, without checksums; start the server on it once to upgrade it
no damage found
END
refuse 1 "store: eenet.db is of an older version; start the server on it once to upgrade it" check --repair old

command -v curl >/dev/null || { echo "check.sh: the rest is skipped: no curl"; exit 0; }
start_server "$eenet" serve --port 0 --folder data
post '' '{"name":"shop","policy":"linucb","dim":2,"wait":3600}'
for i in 1 2 3; do post /shop/decide "{\"id\":\"s$i\",\"actions\":[[1,0.$i],[0.$i,1]]}"; done
"$eenet" check data >stdout || fail "beside the server: $(cat stdout)"
refuse 1 "store: another process is serving data" check --repair data
stop_server
events=$(sqlite3 data/eenet.db 'SELECT count(*) FROM events')
found 0 data <<END
checked 1 bandit, $events events and N files
no damage found
END
ends_with 0 "$eenet" check --repair data

# A table that follows from the log.
cp -r data tables
sqlite3 tables/eenet.db 'DELETE FROM ids WHERE id = "s2"'
found 1 tables <<END
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
checked 1 bandit, $events events and N files
1 damage found; the log is intact: stop the server, run 'eenet check --repair' on the folder, and start it again
END
ends_with 1 "$eenet" backup tables copy
[ ! -e copy ] || fail "a damaged folder was copied"
diff - stderr <<'END'
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
eenet backup: the copy is damaged, as the folder is, and was removed (--keep-damaged keeps it); the log is intact: stop the server, run 'eenet check --repair' on the folder, and start it again
END
ends_with 1 "$eenet" backup --keep-damaged tables copy
[ -e copy/eenet.db ] || fail "the damaged copy was not kept"
found 0 --repair tables <<END
damage: ids differs from the log of bandit 'shop': 2 rows, expected 3
checked 1 bandit, $events events and N files
rebuilt eenet.db from the log; the damaged file is kept as eenet.db.damaged-1
END
found 0 tables <<END
checked 1 bandit, $events events and N files
no damage found
END
"$eenet" replay tables >stdout || fail "after the repair: $(cat stdout)"
sqlite3 tables/eenet.db 'SELECT number FROM ids WHERE id = "s2"' | grep -q . || fail "the id is missing"

# The log.
cp -r data log
sqlite3 log/eenet.db 'UPDATE events SET time = time + 1 WHERE id = "s2"'
number=$(sqlite3 log/eenet.db 'SELECT place & 0xffffffffff FROM events WHERE id = "s2"')
found 1 log <<END
damage: bandit 'shop': event $number is damaged: its checksum does not match
checked 1 bandit, $events events and N files
1 damage found; the log itself is damaged: restore a backup
END
ends_with 1 "$eenet" check --repair log
has_line stderr "eenet check: store: the log itself is damaged, and only a backup has what is missing: restore one"
[ ! -e log/eenet.db.damaged-1 ] && [ ! -e log/repair.partial ] || fail "something was left"
