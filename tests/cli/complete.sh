#!/bin/sh
# complete.sh PROGRAM: what may come next on a command line.
. "$(dirname "$0")/cli.inc"

# offer WORD...: the words that are offered, in one line.
offer() {
    "$eenet" complete -- "$@" >offered || fail "$*: exit status $?"
    grep -q "$(printf '\t')" offered || [ ! -s offered ] || fail "$*: no tab"
    cut -f 1 offered | xargs
}
expect() {
    expected=$1
    shift
    got=$(offer "$@")
    [ "$got" = "$expected" ] || fail "$*: got '$got', expected '$expected'"
}

# Words of the command line, then what is offered for the last of them: verbs and flags; logs; data sets, which the word
# itself is, and places, options, choices of others; policies, one or one of a list, as a value or attached to the flag;
# options of policies and their choices; evaluations; settings of the server; nothing for nonsense.
while IFS='|' read -r words expected; do
    eval "expect '$expected' $words"
done <<'END'
r|run report rounds replay
help gr|grid
run --s|--seeds --slots --set --shard --save
describe -- -|
decide m -p eenet:f|eenet:fast
run -T 10 -d x -- -|
log c|csv: :files
log vw:x|:files
log open-bandit:x|:folders
log x --reward m|mean max
inspect mo|movielens:
run -p eenet,greedy,neural-linu|eenet,greedy,neural-linucb eenet,greedy,neural-linucb:paper
run -peenet:f|-peenet:fast
run --policies=eenet:f|--policies=eenet:fast
run -p -p -T ''|
run --delay ''|geometric: clicks:
grid --delay=g|--delay=geometric:
run --set lin|linucb. linucb:paper. lints. lints:paper.
run --set eenet:paper.f1.tr|eenet:paper.f1.training=
run --set eenet.f1.training=|eenet.f1.training=gd eenet.f1.training=sgd
run --set=eenet.f1.history=r|--set=eenet.f1.history=ring: --set=eenet.f1.history=reservoir:
grid --set linucb.propensity=own,s|linucb.propensity=own,softmax
run --set eenet.f1.width=|
rounds -d syn|synthetic: synthetic:clicks
run -d synthetic:i|synthetic:inner
run -d synthetic:c|synthetic:cosine synthetic:clicks
run -d synthetic:inner,d|synthetic:inner,dim= synthetic:inner,drift=
run -d synthetic:clicks,rate=0.1,b|synthetic:clicks,rate=0.1,blocks=
run -d synthetic:clicks,n|
run -d synthetic:clicks,blocks=|synthetic:clicks,blocks=on synthetic:clicks,blocks=off
run --dataset=table:my.csv,label=x,header=y|--dataset=table:my.csv,label=x,header=yes
evaluate log -p first,l|first,logged first,learning: first,linucb first,linucb:paper first,lints first,lints:paper
evaluate log -e dr,sn|dr,snips dr,sndr
evaluate log --interval=c|--interval=cs --interval=clopper-pearson --interval=cressie-read
evaluate log --mode ''|progressive split cross
evaluate log --model ''|f1 ridge
serve --ke|--keys
serve --port 0 --log-level w|warning
nonsense ''|
run --nonsense=|
END
"$eenet" policies | cut -d ' ' -f 1 >policies
"$eenet" datasets | sed -n 's/^\(synthetic:clicks\|[a-z-]*\)\(:*\).*/\1\2/p' | grep . >kinds
expect "$(xargs <policies) all" run -p ''
expect "$(xargs <policies)" describe ''
expect "$(xargs <policies)" report DIR --reference ''
expect "$(xargs <kinds)" run -d ''

# Every verb, every flag of each, and every policy's options.
"$eenet" help | sed -n '/^Commands:$/,/^$/ s/^  \([a-z]*\) .*/\1/p' >verbs
"$eenet" complete -- '' | cut -f 1 | grep -v -e help -e --version | diff verbs - || fail 'verbs'
for verb in run grid paper merge report evaluate rounds inspect log serve keys decide explain replay bench; do
    "$eenet" help "$verb" | grep -Eo '^  (-[a-zA-Z], |    )--[a-z-]+' | grep -Eo -e '(^| )--?[a-zA-Z-]+' | tr -d ' ' >flags
    "$eenet" complete -- "$verb" - | cut -f 1 | grep -v -e --help | diff flags - || fail "flags of $verb"
done
while read -r policy; do
    "$eenet" complete -- run --set "$policy." | cut -f 1 >offered
    has_line offered "$policy.pending="
    ! grep -v "^$policy\.[a-z0-9_.]*=\$" offered || fail "strangers among the options of $policy"
done <policies

# Paths are for the shell to find; what comes before them in the word is told.
while read -r kind before words; do
    eval "\"\$eenet\" complete -- $words" >offered
    printf ':%s\t%s\n' "$kind" "${before#-}" | diff - offered || fail "path: $words"
done <<'END'
folders mnist: run -d mnist:da
files uniform,model: evaluate log -p uniform,model:da
folders fashion-mnist: run -d fashion-mnist:
files movielens: run -d movielens:
folders - run -o ''
folders - report ''
folders - merge ''
folders - merge DIR ''
files - report DIR -o da
folders - serve --folder ''
END
printf ':files\t--dataset=table:\n' >expected
"$eenet" complete -- run --dataset=table:da | diff expected -
for words in 'decide m' 'explain m' 'run --save m' 'grid --save=m' 'decide m -o m'; do
    "$eenet" complete -- $words | grep -q '^:files' || fail "files for $words"
done
ends_with 2 "$eenet" complete
