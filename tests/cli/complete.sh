#!/bin/sh
# complete.sh PROGRAM: what may come next on a command line.
. "$(dirname "$0")/cli.inc"

# expect WORDS... <expected: the words that are offered, one a line. Those of the command line are before it.
expect() {
    cat >expected
    "$eenet" complete -- "$@" >offered || fail "$*: exit status $?"
    grep -q "$(printf '\t')" offered || [ ! -s offered ] || fail "$*: no tab"
    cut -f 1 offered | diff expected - || fail "$*"
}

# Verbs and flags.
expect r <<'END'
run
report
rounds
replay
END
expect help gr <<'END'
grid
END
expect run --s <<'END'
--seeds
--slots
--set
--shard
--save
END
expect describe -- - </dev/null
for place in 'decide m' 'explain m' 'run --save m' 'grid --save=m' 'decide m -o m'; do
    "$eenet" complete -- $place | grep -q '^:files' || fail "files for $place"
done
expect decide m -p eenet:f <<'END'
eenet:fast
END
expect run -T 10 -d x -- - </dev/null
"$eenet" help | sed -n '/^Commands:$/,/^$/ s/^  \([a-z]*\) .*/\1/p' >verbs
"$eenet" complete -- '' | cut -f 1 | grep -v -e help -e --version | diff verbs - || fail 'verbs'
for verb in run grid paper merge report evaluate rounds inspect log serve keys decide explain replay bench; do
    "$eenet" help "$verb" | grep -Eo '^  (-[a-zA-Z], |    )--[a-z-]+' | grep -Eo -e '(^| )--?[a-zA-Z-]+' | tr -d ' ' >flags
    "$eenet" complete -- "$verb" - | cut -f 1 | grep -v -e --help | diff flags - || fail "flags of $verb"
done

# Logs: a file, or a kind with a place.
expect log c <<'END'
csv:
:files
END
expect log vw:x <<'END'
:files
END
expect log open-bandit:x <<'END'
:folders
END
expect log x --reward m <<'END'
mean
max
END

# A data set that is the word itself.
expect inspect mo <<'END'
movielens:
END

# Policies: one, one of a list, as a value of their own or attached to the flag.
"$eenet" policies | cut -d ' ' -f 1 >policies
{ cat policies && echo all; } >listed
expect run -p '' <listed
expect describe '' <policies
expect report DIR --reference '' <policies
expect run -p eenet,greedy,neural-linu <<'END'
eenet,greedy,neural-linucb
eenet,greedy,neural-linucb:paper
END
expect run -peenet:f <<'END'
-peenet:fast
END
expect run --policies=eenet:f <<'END'
--policies=eenet:fast
END
expect run -p -p -T '' </dev/null
expect run --delay '' <<'END'
geometric:
clicks:
END
expect grid --delay=g <<'END'
--delay=geometric:
END

# Options of policies: every one of each, then its choices.
while read -r policy; do
    "$eenet" complete -- run --set "$policy." | cut -f 1 >offered
    grep -qx "$policy\.pending=" offered || fail "no option pending of $policy"
    ! grep -v "^$policy\.[a-z0-9_.]*=\$" offered || fail "strangers among the options of $policy"
done <policies
expect run --set lin <<'END'
linucb.
linucb:paper.
lints.
lints:paper.
END
expect run --set eenet:paper.f1.tr <<'END'
eenet:paper.f1.training=
END
expect run --set eenet.f1.training= <<'END'
eenet.f1.training=gd
eenet.f1.training=sgd
END
expect run --set=eenet.f1.history=r <<'END'
--set=eenet.f1.history=ring:
--set=eenet.f1.history=reservoir:
END
expect grid --set linucb.propensity=own,s <<'END'
linucb.propensity=own,softmax
END
expect run --set eenet.f1.width= </dev/null

# Data sets: kinds, places, options, choices.
"$eenet" datasets | sed -n 's/^\(synthetic:clicks\|[a-z-]*\)\(:*\).*/\1\2/p' | grep . >kinds
expect run -d '' <kinds
expect rounds -d syn <<'END'
synthetic:
synthetic:clicks
END
expect run -d synthetic:i <<'END'
synthetic:inner
END
expect run -d synthetic:c <<'END'
synthetic:cosine
synthetic:clicks
END
expect run -d synthetic:inner,d <<'END'
synthetic:inner,dim=
synthetic:inner,drift=
END
expect run -d synthetic:clicks,rate=0.1,b <<'END'
synthetic:clicks,rate=0.1,blocks=
END
expect run -d synthetic:clicks,n </dev/null
expect run -d synthetic:clicks,blocks= <<'END'
synthetic:clicks,blocks=on
synthetic:clicks,blocks=off
END
expect run --dataset=table:my.csv,label=x,header=y <<'END'
--dataset=table:my.csv,label=x,header=yes
END

# Evaluations: candidates, estimators, intervals, modes.
expect evaluate log -p first,l <<'END'
first,logged
first,learning:
first,linucb
first,linucb:paper
first,lints
first,lints:paper
END
expect evaluate log -e dr,sn <<'END'
dr,snips
dr,sndr
END
expect evaluate log --interval=c <<'END'
--interval=cs
--interval=clopper-pearson
--interval=cressie-read
END
expect evaluate log --mode '' <<'END'
progressive
split
cross
END
expect evaluate log --model '' <<'END'
f1
ridge
END

# Paths are for the shell to find; what comes before them in the word is told.
path() {
    kind=$1 before=$2
    shift 2
    printf ':%s\t%s\n' "$kind" "$before" >expected
    "$eenet" complete -- "$@" | diff expected - || fail "path: $*"
}
path folders mnist: run -d mnist:da
path files uniform,model: evaluate log -p uniform,model:da
path folders fashion-mnist: run -d fashion-mnist:
path files --dataset=table: run --dataset=table:da
path files movielens: run -d movielens:
path folders '' run -o ''
path folders '' report ''
path folders '' merge ''
path folders '' merge DIR ''
path files '' report DIR -o da

# Nonsense is offered nothing; no words at all is wrong usage.
expect nonsense '' </dev/null
expect run --nonsense= </dev/null
code=0
"$eenet" complete 2>/dev/null || code=$?
[ "$code" = 2 ] || fail "without words: exit status $code"

# Settings of the server are flags.
expect serve --ke <<'END'
--keys
END
expect serve --port 0 --log-level w <<'END'
warning
END
path folders '' serve --folder ''
