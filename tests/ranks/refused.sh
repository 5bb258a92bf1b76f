#!/bin/sh
# refused.sh PROGRAM: what ranks cannot do is told in a sentence, once, and nothing is played.
. "$(dirname "$0")/mpirun.inc"

# refuse CODE SENTENCE: of what went to stdout and stderr, with the exit status $code.
refuse() {
    test "$code" = "$1" || fail "exit status $code: $(cat stderr)"
    test "$(grep -c "^eenet" stderr)" = 1 || fail "expected one sentence: $(cat stderr)"
    grep -Eqx "$2" stderr || fail "expected '$2', got: $(cat stderr)"
    test ! -s stdout || fail "printed: $(cat stdout)"
}
attempt() { code=0; "$@" >stdout 2>stderr || code=$?; }

# A data set that one rank does not have, and one that is another there. mpirun starts the last rank in another folder.
awk 'BEGIN { OFS = ","; print "a,b,label"; for (i = 0; i < 50; i++) print i % 7, i % 5, i % 2 }' >table.csv
mkdir elsewhere
runs='run -d table:table.csv,label=label -p linucb -T 40 -s 0-9'
apart() { mpirun -n 2 "$eenet" $runs "$@" : -n 1 --wdir "$PWD/elsewhere" "$eenet"; }
attempt apart -o kept
refuse 1 'eenet run: rank 2 on [^ ]+: file: could not open table.csv: No such file or directory'
test ! -s kept/results.jsonl || fail "something was played"
sed 's/^6/7/' table.csv >elsewhere/table.csv
attempt apart -o kept
refuse 1 'eenet run: rank 2 on [^ ]+: table:table,label=label: its files differ from those on rank 0: fingerprint [0-9a-f]+ here, [0-9a-f]+ there'
test ! -s kept/results.jsonl || fail "something was played"
cp table.csv elsewhere/
apart -o kept >/dev/null
test "$(lines kept)" = 10 || fail "$(lines kept) lines of 10"

# What rank 0 keeps of a data set that takes long to prepare, the others only read: one that does not find it prepares it
# for itself.
awk 'BEGIN { for (i = 0; i < 3000; i++) print i % 60 + 1 "::" i * 7 % 50 + 1 "::" i % 5 + 1 "::" 1000 + i }' >ratings.dat
cp ratings.dat elsewhere/
runs='run -d ratings:ratings.dat -p linucb -T 40 -s 0-9'
apart -o rated >/dev/null
test "$(find rated/cache -name '*.prepared' | wc -l)" = 1 || fail "nothing was kept"
test "$(ls elsewhere | tr '\n' ' ')" = 'ratings.dat table.csv ' || fail "another rank has written: $(ls elsewhere)"

# Other kernels on one rank, kernels that no machine has on one rank and on all, and the same kernels on all.
kernels() { mpirun -n 1 "$eenet" run -d synthetic:inner -p linucb -T 40 -s 0 : -n 1 env EENET_KERNELS="$1" "$eenet"; }
attempt kernels reference
refuse 1 'eenet run: rank 1 on [^ ]+: eenet [0-9.]+ reference here, but [0-9.]+ [a-z0-9]+ on rank 0, .*EENET_KERNELS.*'
attempt kernels abacus
refuse 1 "eenet run: rank 1 on [^ ]+: EENET_KERNELS: expected one of reference, .*, got 'abacus'"
attempt mpirun -n 3 -x EENET_KERNELS=abacus "$eenet" run -d synthetic:inner -p linucb -T 40 -s 0-3
refuse 2 "eenet: EENET_KERNELS: expected one of reference, .*, got 'abacus'"
mpirun -n 3 -x EENET_KERNELS=reference "$eenet" run -d synthetic:inner -p linucb -T 40 -s 0-3 \
    --json -q >stdout
test "$(grep -c '"kernels":"reference"' stdout)" = 4 || fail "kernels: $(cat stdout)"

# Usage, before any run, and a log.
attempt together 3 run -d synthetic:inner -p no-such-policy
refuse 2 "eenet run: .*no-such-policy.*"
attempt together 3 run -d synthetic:inner -p linucb -s 0 --log file.csv
refuse 2 'eenet run: --log does not work under MPI: start it without mpirun'

# Runs that fail are told, each, and the others are played.
attempt together 3 run -d synthetic:inner -p linucb,uniform -T 100 -s 0-1 --delay 20 --set uniform.pending=10
test "$code" = 1 || fail "failing runs: exit status $code"
test "$(grep -c '^eenet run: synthetic:inner, uniform pending=10, seed [01]: ' stderr)" = 2 || fail "$(cat stderr)"
grep -Eq '^[* ] linucb +[0-9]' stdout || fail "failing runs: $(cat stdout)"

# A full disk ends all runs: here, files of rank 0 that may not grow beyond what MPI itself needs.
attempt mpirun -n 1 sh -c 'trap "" XFSZ; ulimit -f 32768; exec "$0" "$@"' "$eenet" run -d synthetic:inner,arms=2,dim=2 \
    -p uniform -T 500000 -s 0-9 -o full : -n 2 "$eenet"
test "$code" = 1 || fail "a full disk: exit status $code: $(cat stderr)"
grep -Eqx 'eenet run: file: could not write full/.*: File too large' stderr || fail "a full disk: $(cat stderr)"
test "$(lines full)" -lt 10 || fail "a full disk: all was written"

# Started plainly, it never touches MPI, which would not start like this.
OMPI_MCA_pml=none-such "$eenet" run -d synthetic:inner -p uniform -T 10 -s 0 >/dev/null || fail "a plain start"

# More runs at a time than the cores that mpirun has bound a rank to: that is told, and played.
core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
bound() {
    mpirun -n 2 taskset -c "$core" "$eenet" run -d synthetic:inner -p uniform -T 10 -s 0-1 "$@" >stdout 2>stderr
    drop_progress
}
bound -j 2
grep -qx "eenet run: each rank runs 2 in parallel, but rank 0 may use only 1 core, so they share it: 'mpirun --bind-to none' .*" stderr ||
    fail "two on one core: $(cat stderr)"
bound -j 1
test ! -s stderr || fail "one on one core: $(cat stderr)"
bound -j 2 -q
test ! -s stderr || fail "not quiet: $(cat stderr)"
