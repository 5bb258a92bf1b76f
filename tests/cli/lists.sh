#!/bin/sh
# lists.sh PROGRAM: policies, describe and datasets.
. "$(dirname "$0")/cli.inc"

"$eenet" policies >policies
for name in eenet eenet:paper eenet:authors greedy uniform; do
    grep -q "^$name  *[^ ]" policies || fail "no $name among the policies"
done

"$eenet" describe features | grep -Eq '^  names +8192 +places' || fail "describe features: no option names"

# What is listed can be described, and has at least the options that all policies share.
cut -d ' ' -f 1 policies >names
while read -r name; do
    "$eenet" describe "$name" >described
    head -n 1 described | grep -q "^$name: " || fail "describe $name: no summary"
    grep -Eq '^  option +default +meaning [(]range[)]$' described || fail "describe $name: no head"
    grep -Eq '^  pending +[0-9]+ +[a-z]' described || fail "describe $name: no option pending"
    for columns in 60 80 120; do
        COLUMNS=$columns "$eenet" describe "$name" |
            awk -v most=$columns 'length > most && !/^ +[^ ]+$/ { print; bad = 1 } END { exit bad }' ||
            fail "describe $name: longer than $columns columns"
    done
done <names

COLUMNS=80 "$eenet" describe linucb >described
cat >expected <<'END'
linucb: linear model: estimate plus confidence width
paper: Li, Chu, Langford, Schapire: A Contextual-Bandit Approach to Personalized
       News Article Recommendation, WWW 2010

  option                  default  meaning (range)

change these first
  alpha                   1        weight of the confidence width, in units of
                                   the rewards' spread (0 to 1000000)
  lambda                  1        A starts as lambda times the identity (1e-06
                                   to 1000000)
  standardize             on       rescale rewards before learning: minus their
                                   mean or minimum, over twice their standard
                                   deviation; with cross-entropy, to shares of
                                   their range. Outliers are limited until they
                                   recur (on|off)
  scale                   off      divide arms by the mean length of the arms of
                                   the first rounds (on|off)

regression
  refresh                 1000     updates of a block of features between
                                   factorisations (1 to 1000000000)

arm memory
  recall                  0        remember the rewards of up to this many
                                   recurring arms; 0: off (0 to 100000000)

choosing an arm
  propensity              own      how an arm is chosen. own: the policy's own
                                   way; argmax: the best, ties at random; first:
                                   the best, ties to the first; floor: the best
                                   or, with probability propensity_epsilon, any;
                                   softmax: by exp(score); igw: inverse-gap
                                   weighting
                                   (own|argmax|first|floor|softmax|igw)

reward range
  rewards                 none     range of valid rewards; none: any reward is
                                   valid (none or LOW:HIGH)

delayed rewards
  wait                    0        a decision without its reward expires after
                                   this time; 0: never by time (0 to 1e+12)
  default_reward          none     reward to learn for an expired decision;
                                   none: forget the decision (none or
                                   -1000000000 to 1000000000)

memory
  pending                 1024     a decision without its reward expires after
                                   this many more decisions (1 to 100000000)
  arms                    32       arms per round to reserve memory for; a round
                                   may have more (1 to 10000000)
  nonzeros                1024     non-zeros per sparse arm, or half the
                                   features of a dense arm, to reserve memory
                                   for; an arm may have more (1 to 1000000000)

not used by linucb: first set what they need
  propensity_epsilon      0.05     needs propensity=floor: probability of
                                   choosing uniformly among all arms (0 to 1)
  propensity_temperature  0.1      needs propensity=softmax: scores are divided
                                   by this before exp, in units of the rewards'
                                   spread (1e-06 to 1000000)
  propensity_gamma        100      needs propensity=igw: the larger, the less
                                   often arms below the best are chosen; per
                                   unit of the rewards' spread (0 to 1000000000)
  outside                 reject   needs rewards!=none: a reward outside the
                                   range is an error (reject), or is learned as
                                   the nearest end (clip) (reject|clip)
END
diff expected described

# A preset is a line for each part, and its values are the defaults.
"$eenet" describe eenet:paper >described
grep -q '^paper: ' described || fail "eenet:paper has no paper"
grep -q '^  keep=all$' described || fail "eenet:paper has no line of its own for a part"
grep -Eq '^  f1.training +gd +' described || fail "the preset's value is not the default"
"$eenet" describe eenet >described
! grep -q '^preset:' described || fail "eenet has a preset"

# First change these first, then the parts, then what has no effect.
grep '^[a-z]' described | sed 1,2d >titles
cat >expected <<'END'
change these first
f1, the exploitation network
f2, exploration
f2 as a regression
f3, the decision maker
training schedule
arms
choosing an arm
reward range
delayed rewards
memory
not used by eenet: first set what they need
END
diff expected titles
sed '/^not used by/,$d' described | grep -q '^  prior_gain ' || fail "prior_gain does not act"
sed '1,/^not used by/d' described | grep -Eq '^  f2.rate +0.003 +needs exploration=network: learning rate' ||
    fail "no word of what f2.rate needs"
test "$(sed -n '/^change these first/,/^$/p' described | grep -c '^  [a-z]')" -le 15 || fail "too many are first"

cat >expected <<'END'
synthetic:inner|quadratic|cosine[,OPTION=VALUE...]
    generated rounds with a known expected reward: x.a, 10(x.a)^2 or cos(3x.a)
    dim    default 20   1 to 65536  features per arm
    arms   default 10   2 to 65536  arms per round
    noise  default 0.1  0 to 1000   standard deviation of the rewards' noise
    drift  default 0    0 to 1000   radians by which a rotates every 1000 rounds
synthetic:clicks[,OPTION=VALUE...]
    generated clicks (0 or 1) of users on items; regret is measured on the click probabilities
    rate       default 0.05  0.0001 to 0.9999  probability that a random user clicks on a random item
    sharpness  default 2.25  0 to 20           standard deviation of a click's logit over users and items
    arms       default 20    2 to 65536        arms per round
    items      default 100   2 to 65536        items in the catalogue
    dim        default 20    2 to 65536        features, half of the user and half of the item; with blocks, of the context
    drift      default 0     0 to 1000         radians by which the preferences rotate every 1000 rounds
    blocks     default off   on|off            every item is an arm: arm i is the context in block i
mnist:DIR[,OPTION=VALUE...]
    MNIST's IDX files, plain or .gz; an image is a round of ten arms, and its digit has the reward
    set        default train  train|test|all    which images
    normalize  default pixel  pixel|paper|unit  pixel: scaled to 0 to 1; paper: (pixel - 0.1307) / 0.3081; unit: images of length 1
fashion-mnist[:DIR][,OPTION=VALUE...]
    Fashion-MNIST, same format; default folder: Debian's dataset-fashion-mnist
    set        default train  train|test|all    which images
    normalize  default pixel  pixel|paper|unit  pixel: scaled to 0 to 1; paper: (pixel - 0.1307) / 0.3081; unit: images of length 1
yelp:DIR
    the EE-Net paper's Yelp files; a round has nine well rated items and one badly rated one, which has the reward
movielens:FILE|DIR[,OPTION=VALUE...]
    GroupLens ratings, any release; a round has nine well rated items and one badly rated one, which has the reward
    users     default 2000   1 to 1000000  how many users to keep: the ones with the most ratings
    items     default 10000  1 to 1000000  how many items to keep: the ones with the most ratings
    good      default 4      auto|NUMBER   ratings above it are good; auto: 3/4 of the file's scale
    bad       default 2      auto|NUMBER   ratings below it are bad; auto: 1/4 of the file's scale
    features  default 10     2 to 1000     features per user and per item: N-1 singular vectors and a constant
    want      default bad    good|bad      which ratings have the reward; a round has one of them and nine of the others
    user      default auto   auto|COLUMN   user column; auto: userId, user or user_id; without a header, the first
    item      default auto   auto|COLUMN   item column; auto: movieId, item, itemId, item_id or movie; without a header, the second
    rating    default auto   auto|COLUMN   rating column; auto: rating or score; without a header, the third
ratings:FILE[,OPTION=VALUE...]
    rows of user, item and rating; a round has nine well rated items and one badly rated one, which has the reward
    users     default 2000   1 to 1000000  how many users to keep: the ones with the most ratings
    items     default 10000  1 to 1000000  how many items to keep: the ones with the most ratings
    good      default auto   auto|NUMBER   ratings above it are good; auto: 3/4 of the file's scale
    bad       default auto   auto|NUMBER   ratings below it are bad; auto: 1/4 of the file's scale
    features  default 10     2 to 1000     features per user and per item: N-1 singular vectors and a constant
    want      default bad    good|bad      which ratings have the reward; a round has one of them and nine of the others
    user      default auto   auto|COLUMN   user column; auto: userId, user or user_id; without a header, the first
    item      default auto   auto|COLUMN   item column; auto: movieId, item, itemId, item_id or movie; without a header, the second
    rating    default auto   auto|COLUMN   rating column; auto: rating or score; without a header, the third
disin:FILE[,OPTION=VALUE...]
    labelled news articles; a round has nine real ones and one fake one, which has the reward
    label      default auto   auto|COLUMN                       label column (values 1 or fake, 0 or real); auto: named fake or label
    text       default text   COLUMN                            text column
    vectors    default none   none|PATH, at most 95 characters  word vectors (.vec or word2vec binary); none: TF-IDF with SVD
    dim        default 300    1 to 65536                        number of singular vectors, at most the number of articles or words
    min_df     default 2      1 to 1000000000                   smallest number of articles a word must occur in
    max_words  default 30000  1 to 10000000                     size of the vocabulary: the words in the most articles
table:FILE[,OPTION=VALUE...]
    CSV, TSV or libsvm, plain or .gz; a row is a round with an arm per class, and its own class has the reward
    label        default auto    auto|COLUMN          column with the classes; auto: named target, label or class, else the last
    categorical  default auto    auto|all|COLUMN+...  columns whose numbers are codes, not quantities
    numeric      default auto    auto|COLUMN+...      columns that must hold numbers
    ignore       default none    none|COLUMN+...      columns to leave out
    missing      default auto    auto|none|TEXT+...   values that count as missing; auto, in a numeric column: N/A, NA, None, null, -, #N/A, ? and nan
    header       default auto    auto|yes|no          whether the first row names the columns
    normalize    default unit    unit|standard|none   standard: numeric columns to mean 0 and deviation 1; unit: then rows to length 1
    constant     default on      on|off               a feature that is always 1
    order        default random  random|file          random: rows in a random order, new in each pass; file: the order of the file, for every seed
    decimal      default point   point|comma          decimal separator
rounds:DIR
    prepared rounds, written by 'eenet rounds' or another program; the same for every seed
END
"$eenet" datasets | diff expected -
