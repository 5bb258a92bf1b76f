#!/bin/sh
# keys.sh PROGRAM: keys are made, listed and removed, and their file is nobody else's.
. "$(dirname "$0")/cli.inc"

umask 022
"$eenet" keys add website --role app --bandit shop --file keys >first 2>note
like first '^ee_[A-Za-z0-9_-]{43}$'
like note "^This is the key 'website'. Copy it now: it is not stored and cannot be shown again.\$"
"$eenet" keys add root -r admin -f keys >second 2>/dev/null
cmp -s first second && fail "two keys are the same"
test "$(stat -c %a keys)" = 600 || fail "others may read the keys: $(stat -c %a keys)"
! grep -q -e "$(cat first)" keys || fail "the key is in the file"

# What the file has is the key's hash.
hash=$(printf %s "$(cat first)" | sha256sum | cut -d ' ' -f 1)
like keys "^website app shop $hash\$"

"$eenet" keys list -f keys >listed
diff - listed <<'END'
website  app     shop
root     admin   all bandits
END

refuse 1 "keys: the key 'root' already exists; remove it first" keys add root -r app -f keys
refuse 2 "add needs --role client, reader, app or admin" keys add other -f keys
refuse 2 "--role: expected client, reader, app or admin, got 'king'" keys add other -r king -f keys
refuse 2 "keys: a name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit" keys \
    add 'a b' -r app -f keys
refuse 2 "keys: not a valid bandit name" keys add other -r app -b '*' -f keys
refuse 2 "expected --file FILE" keys list
refuse 2 "expected add, list or remove" keys -f keys
refuse 2 "remove needs the name of a key" keys remove -f keys
refuse 2 "list takes no name" keys list root -f keys
refuse 1 "keys: there is no key 'nobody'" keys remove nobody -f keys
refuse 1 "keys: there is no file missing; create it with 'eenet keys add'" keys list -f missing
chmod 640 keys
test "$(stat -c %u:%g keys)" = 0:0 || refuse 1 "keys: users other than its owner can access keys; run chmod 600 on it" list -f keys
chmod 604 keys
refuse 1 "keys: users other than its owner can access keys; run chmod 600 on it" keys list -f keys
chmod 600 keys

"$eenet" keys remove website -f keys
"$eenet" keys list -f keys | grep -Fqx 'root  admin   all bandits' || fail "not removed: $(cat keys)"
test "$(wc -l <keys)" = 2 || fail "more than a comment and a line: $(cat keys)"

echo 'root admin * nothing' >keys
refuse 1 "keys: line 1: the hash must be 64 hexadecimal digits (0-9, a-f)" keys list -f keys
