#!/bin/sh
# study.sh DATA RESULTS [POLICIES [SEEDS [NAME...]]]: runs the study of docs/experiments.md, which says what the folder
# DATA contains, or the named data sets of it. An interrupted study continues. Missing data sets are reported and
# skipped. $EENET is the program (default: eenet), $JOBS the number of runs in parallel (default: one per core).
set -eu
[ $# -ge 2 ] || { echo "usage: study.sh DATA RESULTS [POLICIES [SEEDS [NAME...]]]" >&2; exit 2; }
data=$1
results=$2
policies=${3:-eenet,neural-linucb,neural-linear,neural-ensemble,eenet:fast,greedy}
seeds=${4:-0-9}
shift "$(($# < 4 ? $# : 4))"
names=$*
eenet=${EENET:-eenet}
known=

# play NAME KIND PLACE [OPTIONS [ROUNDS]]: default rounds: 10,000, or the rows of a shorter data set
play() {
    known="$known $1"
    case " $names " in *" $1 "* | '  ') ;; *) return 0 ;; esac
    [ -e "$data/$3" ] || { echo "study.sh: $1 is skipped: no $data/$3" >&2; return 0; }
    "$eenet" run -d "$2:$data/$3${4:+,$4}" -p "$policies" ${5:+-T "$5"} -s "$seeds" ${JOBS:+-j "$JOBS"} -o "$results"
}

play MNIST mnist mnist
play Yelp yelp yelp
play MovieLens movielens movielens-1m
play Disin disin disin/articles.csv.gz '' 6000
play shuttle table uci/shuttle.tsv.gz
play magic table uci/magic.tsv.gz
play adult table uci/adult.tsv.gz
play mushroom table uci/mushroom.tsv.gz categorical=all
play pendigits table tables/pendigits.tsv.gz
play covtype table tables/covtype_part.csv.gz
play nursery table tables/nursery.tsv.gz categorical=all
play poker table tables/poker.csv.gz categorical=all
play fars table tables/fars_distinct.tsv.gz
play ring table tables/ring.tsv.gz
play vowel table tables/vowel.tsv.gz
play cora table tables/cora.libsvm.gz
play grqc yelp pools/grqc
play amazon yelp pools/amazon '' 5000

for name in $names; do
    case " $known " in *" $name "*) ;; *) echo "study.sh: unknown data set $name; expected one of$known" >&2; exit 2 ;; esac
done
