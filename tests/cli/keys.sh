#!/bin/sh
# keys.sh PROGRAM: keys are made, listed and removed, and their file is nobody else's.
set -eu
eenet=$1
fail() { echo "keys.sh: $*" >&2; exit 1; }

# refuse STATUS SENTENCE ARGUMENT...: the first line on stderr is the sentence.
refuse() {
    expected=$1 sentence=$2
    shift 2
    code=0
    "$eenet" keys "$@" >stdout 2>stderr || code=$?
    test "$code" = "$expected" || fail "keys $*: exit status $code"
    test ! -s stdout || fail "keys $*: printed on stdout"
    test "$(head -n 1 stderr)" = "$sentence" || fail "keys $*: got '$(head -n 1 stderr)', expected '$sentence'"
}

umask 022
"$eenet" keys add website --role app --bandit shop --file keys >first 2>note
grep -Eqx 'ee_[A-Za-z0-9_-]{43}' first || fail "no key: $(cat first)"
grep -qx "This is the key 'website'. Copy it now: it is not stored and cannot be shown again." note || fail "$(cat note)"
"$eenet" keys add root -r admin -f keys >second 2>/dev/null
cmp -s first second && fail "two keys are the same"
test "$(stat -c %a keys)" = 600 || fail "others may read the keys: $(stat -c %a keys)"
! grep -q -e "$(cat first)" keys || fail "the key is in the file"

# What the file has is the key's hash.
hash=$(printf %s "$(cat first)" | sha256sum | cut -d ' ' -f 1)
grep -qx "website app shop $hash" keys || fail "no line of the first key: $(cat keys)"

"$eenet" keys list -f keys >listed
cat >expected <<'END'
website  app     shop
root     admin   all bandits
END
diff expected listed

refuse 1 "eenet keys: keys: the key 'root' already exists; remove it first" add root -r app -f keys
refuse 2 "eenet keys: add needs --role client, reader, app or admin" add other -f keys
refuse 2 "eenet keys: --role: expected client, reader, app or admin, got 'king'" add other -r king -f keys
refuse 2 "eenet keys: keys: a name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit" \
    add 'a b' -r app -f keys
refuse 2 "eenet keys: keys: not a valid bandit name" add other -r app -b '*' -f keys
refuse 2 "eenet keys: expected --file FILE" list
refuse 2 "eenet keys: expected add, list or remove" -f keys
refuse 2 "eenet keys: remove needs the name of a key" remove -f keys
refuse 2 "eenet keys: list takes no name" list root -f keys
refuse 1 "eenet keys: keys: there is no key 'nobody'" remove nobody -f keys
refuse 1 "eenet keys: keys: there is no file missing; create it with 'eenet keys add'" list -f missing
chmod 640 keys
test "$(stat -c %u:%g keys)" = 0:0 || refuse 1 "eenet keys: keys: users other than its owner can access keys; run chmod 600 on it" list -f keys
chmod 604 keys
refuse 1 "eenet keys: keys: users other than its owner can access keys; run chmod 600 on it" list -f keys
chmod 600 keys

"$eenet" keys remove website -f keys
"$eenet" keys list -f keys | grep -Fqx 'root  admin   all bandits' || fail "not removed: $(cat keys)"
test "$(wc -l <keys)" = 2 || fail "more than a comment and a line: $(cat keys)"

echo 'root admin * nothing' >keys
refuse 1 "eenet keys: keys: line 1: the hash must be 64 hexadecimal digits (0-9, a-f)" list -f keys
