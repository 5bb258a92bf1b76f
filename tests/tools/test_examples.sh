#!/bin/sh
# test_examples.sh PROGRAM...: runs each example and checks that it learned: the first number that it prints must be large
# enough. Examples in shell run the program that EENET_PROGRAM names.
set -eu

# least NUMBER LINE: fails unless the first number of LINE is at least NUMBER.
least() {
    [ "${2%% *}" -ge "$1" ] || { echo "expected at least $1: $2"; exit 1; }
}

for program; do
    case ${program##*/example_} in
    first_bandit) least 800 "$("$program")" ;;
    threads_on_a_snapshot) least 700 "$("$program")" ;;
    sparse_blocks) least 1000 "$("$program")" ;;
    named_features)
        least 800 "$("$program")"
        "$program" | grep -q 'user.age\*article.topic=music  *seen 1000 times'
        ;;
    top_three) least 1400 "$("$program")" ;;
    limited_shares) # chance moves a share of 20% by 0.6
        least 1950 "$("$program")"
        "$program" | grep -qE 'got (19|20|21)\.[0-9]% by chance'
        ;;
    new_articles) least 3000 "$("$program")" ;; # 2804 if blocks are reused
    late_rewards)
        "$program" model records | grep -q '^0 rewards learned in all'
        "$program" model records | grep -q '^200 rewards learned in all'
        last=$("$program" model records)
        least 400 "$last"
        least 150 "${last#*in all, }"
        # A file that is not a model must not be overwritten.
        echo 'not a model' >model
        if "$program" model records 2>message; then exit 1; fi
        grep -q 'not an eenet model' message
        grep -q 'not a model' model
        ;;
    */shell_bandit.sh)
        least 80 "$("$program" "$EENET_PROGRAM")"
        least 90 "$("$program" "$EENET_PROGRAM")" # the second run continues with what the first learned
        ;;
    *) echo "$program: unknown example"; exit 1 ;;
    esac
done
