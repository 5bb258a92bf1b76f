#!/bin/sh
# test_guard.sh GUARD: tests guard.sh with a fake valgrind, whose output is the file `profile`.
set -eu
guard=$1
fail() { echo "$*"; cat said; exit 1; }

mkdir commands
cat >commands/valgrind <<'END'
#!/bin/sh
for word; do case $word in --callgrind-out-file=*) cp profile "${word#*=}" ;; esac; done
echo somekernels
END
chmod +x commands/valgrind
gives() { # STATUS TASK WHAT
    status=0
    PATH=$PWD/commands:$PATH "$guard" "$2" program counts gcc-1.2.3 >said 2>&1 || status=$?
    [ $status = "$1" ] || fail "$3: status $status, expected $1"
}

# The costs of forward, in two symbols, and of train, which calls it. The cost of the call must not count for train.
profile() { # FORWARD TRAIN LIBRARIES
    cat >profile <<END
events: Ir
ob=/lib/libc.so.6
fn=memcpy
10 $3
ob=$(pwd -P)/program
fn=forward.part.0
11 $1
fn=forward'2
12 1000
fn=train
0 $2
calls=3 11
13 $1
ob=$(pwd -P)/program-of-another-name
fn=train
14 0
END
}

profile 50000 40000 10000
gives 77 check 'no record'
grep -q "no record.*$(uname -m)-gcc-1.2.3-somekernels" said || fail 'expected the name of the record'
gives 0 record record
record=counts/$(uname -m)-gcc-1.2.3-somekernels.txt
for line in 'total 101000' 'forward 51000' 'train 40000' '(libraries) 10000'; do
    grep -qxF "linucb dense 300 $line" "$record" || fail "expected '$line' in the record"
done
gives 0 check 'the same counts'

# A growth of 3% passes, more fails. Only functions that grew are named.
profile 53000 40000 10000
gives 0 check '2% more'
profile 50000 44000 10100
gives 1 check '4% more'
grep -q 'linucb dense 300: train grew from 40000 to 44000' said || fail 'expected the name of the function that grew'
! grep -qE '(forward|libraries).* grew' said || fail 'names a function that did not grow, or by little'
profile 40000 30000 10000
gives 0 check less

# A record with lower counts for one run and one function.
profile 50000 40000 10000
sed -i -e 's/^eenet sparse 300 total .*/eenet sparse 300 total 60000/' \
    -e 's/^eenet sparse 300 forward .*/eenet sparse 300 forward 10000/' "$record"
gives 1 check 'doctored record'
[ "$(grep ' grew ' said)" = 'guard: eenet sparse 300: forward grew from 10000 to 51000' ] || fail 'expected forward alone'

# A run that is not in the record.
sed -i '/^eenet sparse/d' "$record"
gives 1 check 'a run without a record'
grep -q 'eenet sparse 300: not in the record' said || fail 'expected the name of the run'
