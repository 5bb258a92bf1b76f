#!/bin/sh
# lists.sh PROGRAM: policies, describe and datasets.
set -eu
eenet=$1
fail() { echo "lists.sh: $*" >&2; exit 1; }

"$eenet" policies >policies
for name in eenet eenet:paper eenet:authors greedy uniform; do
    grep -q "^$name  *[^ ]" policies || fail "no $name among the policies"
done

# What is listed can be described, and has at least the options that all policies share.
cut -d ' ' -f 1 policies >names
while read -r name; do
    "$eenet" describe "$name" >described
    head -n 1 described | grep -q "^$name: " || fail "describe $name: no summary"
    grep -q '^option  *default  *range  *meaning$' described || fail "describe $name: no table"
    grep -Eq '^pending +[0-9]+ +1 to [0-9]+ +[a-z]' described || fail "describe $name: no option pending"
done <names
"$eenet" describe eenet:paper >described
grep -q '^paper: ' described || fail "eenet:paper has no paper"
grep -q '^    f1[.].* f1.training=gd ' described || fail "eenet:paper has no preset"
grep -Eq '^f1.training +gd +gd.sgd ' described || fail "the preset's value is not the default"
"$eenet" describe eenet >described
! grep -q '^preset:' described || fail "eenet has a preset"

cat >expected <<'END'
synthetic:inner|quadratic|cosine[,OPTION=VALUE...]
    made rounds with a known true reward: x.a, 10(x.a)^2 or cos(3x.a)
    dim    default 20   1 to 65536  features of an arm
    arms   default 10   2 to 65536  arms of a round
    noise  default 0.1  0 to 1000   standard deviation of the rewards' noise
    drift  default 0    0 to 1000   radians by which a turns every 1000 rounds
mnist:DIR[,OPTION=VALUE...]
    MNIST's IDX files, gz or plain: an image is ten arms, one of them its digit
    set        default train  train|test|all    which images
    normalize  default pixel  pixel|paper|unit  pixels from 0 to 1; (pixel - 0.1307) / 0.3081; or images of length 1
fashion-mnist[:DIR][,OPTION=VALUE...]
    Fashion-MNIST, of the same shape: Debian's dataset-fashion-mnist unless a folder is given
    set        default train  train|test|all    which images
    normalize  default pixel  pixel|paper|unit  pixels from 0 to 1; (pixel - 0.1307) / 0.3081; or images of length 1
yelp:DIR
    the EE-Net paper's Yelp files: nine well rated entries and a badly rated one to be found
movielens:FILE|DIR[,OPTION=VALUE...]
    GroupLens' ratings, any release: nine well rated entries and a badly rated one to be found
    users     default 2000   1 to 1000000      users with most ratings that are taken
    items     default 10000  1 to 1000000      items with most ratings that are taken
    good      default 4      a number or auto  ratings above it are good; auto: three quarters up the file's scale
    bad       default 2      a number or auto  ratings below it are bad; auto: a quarter up the file's scale
    features  default 10     2 to 1000         features of a user and of an item: one less singular vectors, and a constant
ratings:FILE[,OPTION=VALUE...]
    rows of user, item and rating: nine well rated entries and a badly rated one to be found
    users     default 2000   1 to 1000000      users with most ratings that are taken
    items     default 10000  1 to 1000000      items with most ratings that are taken
    good      default auto   a number or auto  ratings above it are good; auto: three quarters up the file's scale
    bad       default auto   a number or auto  ratings below it are bad; auto: a quarter up the file's scale
    features  default 10     2 to 1000         features of a user and of an item: one less singular vectors, and a constant
disin:FILE[,OPTION=VALUE...]
    news articles with labels, as vectors: nine real ones and a fake one to be found
    label      default auto   auto or a name                        column of the labels: 1 or fake, 0 or real; auto: the one called fake or label
    text       default text   a name                                column of the articles
    vectors    default none   none or a path of 95 letters at most  vectors of words, .vec or word2vec binary; none: TF-IDF and singular vectors
    dim        default 300    1 to 65536                            singular vectors; fewer where there are fewer articles or words
    min_df     default 2      1 to 1000000000                       articles that must have a word for it to count
    max_words  default 30000  1 to 10000000                         words that count, those in most articles
table:FILE[,OPTION=VALUE...]
    CSV, TSV or libsvm, gz or plain: a row is as many arms as there are classes, one of them its own
    label        default auto  auto|COLUMN          the column with the classes; auto: target, label or class, else the last
    categorical  default auto  auto|all|COLUMN+...  columns whose numbers are codes
    numeric      default auto  auto|COLUMN+...      columns that must be numbers
    ignore       default none  none|COLUMN+...      columns that are left out
    header       default auto  auto|yes|no          whether the first row names the columns
    normalize    default unit  unit|standard|none   numeric columns to mean 0 and deviation 1, and rows to length 1; the first alone; or neither
    constant     default on    on|off               a feature that is always 1
rounds:DIR
    prepared rounds, as 'eenet rounds' or another program writes them; the same for every seed
END
"$eenet" datasets | diff expected -
