#!/bin/sh
# usage.sh PROGRAM: every wrong use is named, with the nearest name where one is near, and ends with status 2.
. "$(dirname "$0")/cli.inc"

# refuse_main SENTENCE ARGUMENT...: of the program, not of a command.
refuse_main() {
    sentence=$1
    shift
    ends_with 2 "$eenet" "$@"
    test "$(head -n 1 stderr)" = "eenet: $sentence" || fail "eenet $*: got '$(head -n 1 stderr)', expected '$sentence'"
}
# refuse_all SENTENCE ARGUMENT...: with status 2 and a word about help.
refuse_all() {
    refuse 2 "$@"
    tail -n 1 stderr | grep -q "^Try 'eenet help" || fail "eenet $*: no word about help"
}

refuse_main "unknown command 'runn'; did you mean 'run'?" runn
refuse_main "unknown command 'policy-list-of-all'" policy-list-of-all
refuse_main "'coverage' moved to the source tree: make coverage (docs/evaluation-checks.md)" coverage -d synthetic:clicks
refuse_main "unknown command 'hlp'; did you mean 'help'?" hlp
refuse_main "unknown command 'polices'; did you mean 'policies'?" help polices

refuse_all "expected no arguments, got 'all'" policies all
refuse_all "unknown flag '--json'" datasets --json
refuse_all "expected the name of a policy; 'eenet policies' lists them" describe
refuse_all "unknown policy 'unifrm'; did you mean 'uniform'?" describe unifrm
refuse_all "expected one name, got 'greedy' too" describe uniform greedy

refuse_all "expected a data set: -d DATASET; 'eenet datasets' lists the kinds" run -p uniform
refuse_all "expected policies: -p POLICY[,POLICY...]; 'eenet policies' lists them" run -d synthetic:inner
refuse_all "unknown flag '--jsn'; did you mean '--json'?" run --jsn
refuse_all "unknown flag '--round'; did you mean '--rounds'?" run --round=3
refuse_all "unknown flag '-x'" run -x
refuse_all "expected one command, got 'grid' too" help run grid
refuse_all "--rounds needs a value: --rounds ROUNDS" run -T
refuse_all "--json takes no value, got 'yes'" run --json=yes
refuse_all "'synthetic:inner' is given twice" run -d synthetic:inner -d synthetic:cosine --dataset=synthetic:inner
refuse_all "--rounds is given twice" run -d synthetic:inner -T 5 --rounds=5
refuse_all "unexpected argument 'uniform'" run -d synthetic:inner uniform

run_on_inner() {
    sentence=$1
    shift
    refuse_all "$sentence" run -d synthetic:inner "$@"
}
for rounds in 0 -5 +5 ten 10x 1e 1e-3 1.5 1.25e1 1e13 1000000000001 99999999999999999999999 ''; do
    run_on_inner "--rounds: expected a whole number from 1 to 1000000000000, got '$rounds'" -p uniform -T "$rounds"
done
for jobs in 0 -1 all 1025 ''; do
    run_on_inner "--jobs: expected a whole number from 1 to 1024, got '$jobs'" -p uniform -j "$jobs"
done
run_on_inner "--output: expected a folder, got ''" -p uniform -o ''
for seeds in '' x 1, ,1 1-2-3 1--2 -1 ' 1' 99999999999999999999999; do
    run_on_inner "seeds: expected a list such as 0-4 or 0,3,7-9, got '$seeds'" -p uniform -s "$seeds"
done
run_on_inner "seeds: expected an ascending range, got 4-2; write 2-4" -p uniform -s 4-2
run_on_inner "seeds: 3 is given twice" -p uniform -s 3,0-4
run_on_inner "seeds: expected at most 100000 seeds" -p uniform -s 0-18446744073709551615
run_on_inner "seeds: expected at most 100000 seeds" -p uniform -s 7,100-100099

for delay in '' x -5 +5 1.5 10x ' 1' geometric geometric: geometric:0 geometric:-1 geometric:x geometric:1,2 \
    geometric:nan geometric:inf clicks:5 clicks:5, clicks:5,0 clicks:0,5 clicks:5,1.5 clicks:5,6,7; do
    run_on_inner "--delay: expected a number of rounds, geometric:MEAN or clicks:MEAN,TIMEOUT, got '$delay'" -p uniform \
        --delay "$delay"
done
run_on_inner "--delay: expected delays of at most 10000000 rounds, but '10000001' can reach 10000001" -p uniform --delay 10000001
run_on_inner "--delay: expected delays of at most 10000000 rounds, but 'geometric:1e6' can reach 20723277" -p uniform \
    --delay geometric:1e6
run_on_inner "--delay is given twice" -p uniform --delay 1 --delay 2

run_on_inner "unknown policy 'unform'; did you mean 'uniform'?" -p greedy,unform
run_on_inner "unknown policy 'something-else-entirely'; 'eenet policies' lists them" -p something-else-entirely
run_on_inner "unknown policy ''; 'eenet policies' lists them" -p uniform,
run_on_inner "'uniform' is given twice" -p uniform,greedy,uniform
run_on_inner "'uniform' is given twice" -p uniform,all
run_on_inner "unknown policy ''; 'eenet policies' lists them" -p uniform, -T 5
run_on_inner "seeds: expected a list such as 0-4 or 0,3,7-9, got '1,x'" -p uniform -s 1, x

run_on_inner "--set: expected POLICY.OPTION=VALUE, got 'uniform'" -p uniform --set uniform
run_on_inner "--set: expected POLICY.OPTION=VALUE, got 'uniform.pending'" -p uniform --set uniform.pending
run_on_inner "--set: expected POLICY.OPTION=VALUE, got 'pendin=3'" -p uniform --set pendin=3
run_on_inner "--set pending=3: the policy is missing; expected --set uniform.pending=3" -p uniform --set pending=3
run_on_inner "--set f1.width=50: the policy is missing; expected --set eenet.f1.width=50" -p uniform,eenet \
    --set f1.width=50
run_on_inner "--set uniform.arms=3,pending=4: expected one value; to try several, use 'eenet grid'" -p uniform \
    --set uniform.arms=3,pending=4
run_on_inner "unknown policy 'unifor'; did you mean 'uniform'?" -p uniform --set unifor.pending=3
run_on_inner "--set greedy.pending=3: 'greedy' is not one of the policies in -p" -p uniform --set greedy.pending=3
run_on_inner "--set eenet:paper.pending=3: 'eenet:paper' is not one of the policies in -p" -p eenet \
    --set eenet:paper.pending=3
run_on_inner "options: uniform has no option 'pendin'; did you mean 'pending'?" -p greedy,uniform \
    --set uniform.pendin=3
run_on_inner "options: uniform.pending must be 1 to 100000000, got 0" -p uniform --set uniform.pending=0

refuse_all "data set: unknown kind 'syntetic'; did you mean 'synthetic'?" run -p uniform -d syntetic:inner
refuse_all "synthetic: unknown form 'iner'; did you mean 'inner'?" run -p uniform -d synthetic:iner
refuse_all "options: synthetic has no option 'dims'; did you mean 'dim'?" run -p uniform \
    -d synthetic:inner,dims=3
refuse_all "options: synthetic:clicks has no option 'noise'" run -p uniform -d synthetic:clicks,noise=0.1
refuse_all "options: synthetic has no option 'rate'" run -p uniform -d synthetic:cosine,rate=0.1
refuse_all "options: synthetic.arms must be 2 to 65536, got 1" run -p uniform -d synthetic:inner,arms=1
