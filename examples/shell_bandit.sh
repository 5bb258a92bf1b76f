#!/bin/sh
# shell_bandit.sh [EENET]: a bandit in a shell script. It learns which greeting visitors of the morning and of the
# evening answer. `eenet decide` runs beside the script, which asks it in lines of JSON; the model is a file that the
# next run goes on with.
set -eu
eenet=${1:-eenet}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkfifo "$folder/asked" "$folder/answered"
"$eenet" decide greeting.model -p eenet --features names=100 <"$folder/asked" >"$folder/answered" &
exec 3>"$folder/asked" 4<"$folder/answered"

# ask LINE: the answer is in $answer.
ask() {
    printf '%s\n' "$1" >&3
    IFS= read -r answer <&4
}
# member NAME: the number or the plain text that $answer has under this name.
member() { printf '%s\n' "$answer" | sed "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/"; }

actions='[{"id": "hello", "features": {"words": "hello"}}, {"id": "good evening", "features": {"words": "evening"}}]'
rewards=0
for visitor in $(seq 100); do
    if [ $((visitor % 3)) = 0 ]; then hour=evening wanted='good evening'; else hour=morning wanted=hello; fi
    ask "{\"context\": {\"hour\": \"$hour\"}, \"actions\": $actions}"
    id=$(member id)
    if [ "$(member action)" = "$wanted" ]; then reward=1; else reward=0; fi
    ask "{\"id\": $id, \"reward\": $reward}"
    rewards=$((rewards + reward))
done
exec 3>&- # the end of its input: it saves the model
wait
echo "$rewards of 100 greetings were answered"
