#!/bin/sh
# save.sh PROGRAM: --save of run and grid: the best policy's bandit as a file that decides, here and on a server.
. "$(dirname "$0")/cli.inc"

problem='-d synthetic:cosine,dim=4,arms=3'
for verb in run grid; do
    refuse 2 "--save: expected a file, got ''" "$verb" $problem -p uniform --save ''
    refuse 2 '--save is given twice' "$verb" $problem -p uniform --save model --save model
    refuse 2 '--save saves one bandit: expected one data set, got 2' "$verb" $problem -d synthetic:inner -p uniform --save model
    refuse 1 'file: could not lock none/model: No such file or directory' "$verb" $problem -p uniform --save none/model
done
# What cannot be written is said before the runs.
printf 'gr\366\337e,plan\n1,a\n2,b\n3,a\n' >latin.csv
ends_with 1 "$eenet" run -d table:latin.csv -p uniform -T 3 -s 0 --save model
[ ! -s stdout ] && [ ! -e model ] || fail "latin: $(cat stdout)"
has stderr 'is not UTF-8; save the table as UTF-8'
refuse 2 "unknown flag '--save'" paper --save model

# ---- run: the policy with the star ----
"$eenet" run $problem -p uniform,eenet -T 200 -s 5-6 --save model >table || fail "$(cat table)"
like table '^\* eenet '
tail -n 5 table >said
diff - said <<'END' || fail 'what run says'

Saved model: eenet (lowest regret), default options, after 200 rounds of seed 5.
To decide with it: eenet decide model
It reads lines such as
{"actions": [[4 numbers], ...]}
END
[ ! -e model.lock ] || fail 'the lock is still there'
# The same bytes whatever else is played, and from a folder that has the runs already.
for place in alone kept kept; do
    "$eenet" run $problem -p eenet -T 200 -s 5-6 -o "$place" --save "$place.model" >table || fail "$place: $(cat table)"
    like table "^Saved $place.model: eenet, default options, after 200 rounds of seed 5.$"
    cmp model "$place.model" || fail "$place: another model"
done
# With -q it says what was saved, and gives no hints.
"$eenet" run $problem -p uniform -T 10 -s 0 --save quiet.model -q >table || fail "$(cat table)"
tail -n 1 table | grep -q '^Saved quiet.model: uniform' || fail "not quiet: $(cat table)"
# With --json the lines stay alone.
"$eenet" run $problem -p uniform -T 10 -s 0 --save json.model --json >lines 2>said || fail "$(cat said)"
[ "$(wc -l <lines)" = 1 ] && grep -q '^Saved json.model: uniform' said || fail "$(cat lines said)"
# The decisions of the run are behind it: the next is number 201, and learns.
printf '%s\n' '{"actions": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}' '{"id": 201, "reward": 1}' '{"id": 200, "reward": 1}' |
    "$eenet" decide model -o taught >answers && fail 'decision 200 has its reward'
sed -n 1p answers | grep -Eqx '\{"id":201,"arm":[012],"action":"[012]","probability":[0-9.]+,"probabilities":\[[0-9.]+,[0-9.]+,[0-9.]+\]\}' &&
    [ "$(sed -n 2p answers)" = '{"id":201,"learned":true}' ] && sed -n 3p answers | grep -q 'decision 200 already has its reward' ||
    fail "$(cat answers)"

# ---- grid: with the settings that were chosen ----
"$eenet" grid $problem -p uniform,linucb --set linucb.alpha=0.1,5 -T 100 -s 0-1 --tune 7 --save grid.model >table || fail "$(cat table)"
chosen=$(sed -n 's/^ *linucb *2 *\(alpha=[0-9.]*\)$/\1/p' table)
[ -n "$chosen" ] && grep -Eq "^Saved grid.model: (linucb \\(lowest regret\\), $chosen|uniform .*, default options), after 100 rounds of seed 0\.$" table ||
    fail "$(cat table)"

# ---- a table: rows.json, and a row as a line is what the row was in the lab, to the byte ----
awk 'BEGIN {
    print "size,colour,kind"
    for (i = 0; i < 60; i++) {
        size = i * 7 % 20
        print (i % 13 ? size : "") "," (i % 2 ? "red" : "blue") "," (size > 9 ? (i % 2 ? "apple" : "plum") : "cherry")
    }
}' >fruit.csv
# played ROUNDS MODEL: the rows as they stand in the file.
played() {
    "$eenet" run -d table:fruit.csv,label=kind,order=file -p eenet -T "$1" -s 3 --save "$2" >table || fail "$(cat table)"
}
played 40 few.model
grep -qx 'few.model.rows.json describes how a row becomes arms.' table &&
    has_line table 'It reads lines such as'
# The example has all columns and can be pasted.
tail -n 1 table >example
grep -qx '{"context": {"size": [0-9.]*, "colour": "[a-z]*"}}' example || fail "$(cat example)"
"$eenet" decide few.model -o pasted.model <example >answers || fail "$(cat answers)"
printf '%s\n' '{"actions": [{"id": "plum"}], "context": {"size": 2}}' '{"actions": [{"id" "plum"' '12,red' '{"size": 2}' \
    '{"id": 41, "size": 2}' '{"id": 41, "value": 1}' | "$eenet" decide few.model -o pasted.model >answers && fail 'bad lines'
diff - answers <<END || fail 'mistakes with the model of a table'
{"error":"line 1: the actions are the model's classes: leave out \\"actions\\"; to rule some out, use \\"exclude\\""}
{"error":"line 2: invalid JSON at byte 20: expected ':'"}
{"error":"line 3: expected a JSON object: a round, such as $(sed 's/"/\\"/g' example), or a reward, {\\"id\\": 1, \\"reward\\": 0.5}"}
{"error":"line 4: unknown key \\"size\\"; expected \\"context\\", which holds the columns"}
{"error":"line 5: unknown key \\"size\\"; expected \\"context\\", which holds the columns"}
{"error":"line 6: unknown key \\"value\\"; did you mean \\"reward\\"?"}
END
played 60 more.model
mkfifo asked answered
"$eenet" decide few.model <asked >answered 2>stderr &
pid=$!
exec 3>asked 4<answered
sed '1,41d' fruit.csv | while IFS=, read -r size colour kind; do
    # A number may be a text, a missing one is null or left out, the label may be there.
    case $size in '') size='' ;; 1*) size="\"size\": \"$size\", " ;; *) size="\"size\": $size, " ;; esac
    echo "{\"context\": {$size\"colour\": \"$colour\", \"kind\": null}}" >&3
    IFS= read -r got <&4
    id=$(echo "$got" | sed 's/.*"id":\([0-9]*\),.*/\1/')
    case $got in *"\"action\":\"$kind\""*) value=1 ;; *) value=0 ;; esac
    echo "{\"id\": $id, \"reward\": $value}" >&3
    IFS= read -r got <&4
    [ "$got" = "{\"id\":$id,\"learned\":true}" ] || fail "$got"
done || fail 'a row'
exec 3>&- 4<&-
wait "$pid" || fail "$(cat stderr)"
pid=
cmp few.model more.model || fail 'a row as a line is another than in the lab'
cat >expected <<'END'
{"error":"line 1: unknown column 'sise'; did you mean 'size'?"}
{"id":61,"arm":2,"action":"plum","probability":1,"probabilities":[0,0,1]}
{"error":"line 3: expected an object of columns and values, such as {\"age\": 38}"}
{"error":"line 4: the actions are the model's classes: leave out \"actions\"; to rule some out, use \"exclude\""}
{"error":"line 5: exclude[0]: no action has the id \"plumb\""}
{"id":62,"arm":2,"action":"plum","probability":1,"probabilities":[0,0,1]}
{"id":63,"arm":1,"action":"cherry","probability":1,"probabilities":[0,1,0]}
{"id":64,"arm":1,"action":"cherry","probability":1,"probabilities":[0,1,0]}
{"id":65,"arm":1,"action":"cherry","probability":1,"probabilities":[0,1,0]}
{"error":"line 10: column 'size': expected a number, got 'large'"}
END
"$eenet" decide few.model -o other.model >answers 2>stderr <<'END' && fail 'there were bad lines'
{"context": {"sise": 2}}
{"context": {"colour": "green", "size": 19}, "exclude": ["apple", "cherry"]}
{"context": [1, 2]}
{"context": {"size": 2}, "actions": []}
{"context": {"size": 2}, "exclude": ["plumb"]}
{"context": {"size": 2, "colour": "red"}, "exclude": ["apple", "cherry"]}
{"context": {"size": null, "colour": "grene"}, "exclude": ["apple", "plum"]}
{"context": {"size": "N/A", "colour": "rad"}, "exclude": ["apple", "plum"]}
{"context": {"size": "-", "colour": "?"}, "exclude": ["apple", "plum"]}
{"context": {"size": "large"}}
END
diff expected answers || fail 'rows'
# A category that no row had is said once for each column.
echo "eenet decide: line 2: column 'colour': 'green' is not in the training table, so it is ignored (reported once per column)" |
    diff - stderr || fail 'a category that no row had'
# One with a name like it: which was meant.
echo '{"context": {"colour": "rde"}}' | "$eenet" decide few.model -o other.model 2>stderr >answers || fail "$(cat stderr)"
has stderr "'rde' is not in the training table, so it is ignored; did you mean 'red'?"
cmp few.model.rows.json other.model.rows.json || fail 'another file has no rows.json'
# The rows of another model are refused; a model that is of no table leaves none behind.
cp few.model.rows.json model.rows.json
refuse 1 "model.rows.json belongs to another model: it describes 5 features for each of 3 classes, but this model has 4 in all" decide model
"$eenet" run $problem -p uniform -T 10 -s 0 --save few.model >table || fail "$(cat table)"
[ ! -e few.model.rows.json ] || fail 'rows.json of the model before is still there'
rm model.rows.json

# ---- an end by Ctrl-C saves nothing ----
start run $problem -p uniform -T 1000000000000 -s 0 --save late.model >table 2>stderr
await_handler "$pid"
interrupt
[ ! -e late.model ] && ! grep -q Saved table || fail "saved: $(cat table stderr)"

# ---- a server takes the file, and decides as it does ----
start_server "$eenet" serve --port 0 --folder data
post '' '{"name": "shop", "policy": "eenet", "dim": 4}'
place=$url/v1/bandits/shop
curl -sS -f -X PUT -H 'Content-Type: application/octet-stream' --data-binary @model "$place/model" >answer ||
    fail "PUT: $(cat answer)"
event=$(sed 's/[^0-9]//g' answer)
# Its versions from then on are of the model that was given: the download is the file.
installed() { curl -sS -f "$place" >answer && [ "$(sed 's/.*"version":\([0-9]*\).*/\1/' answer)" -ge "$event" ]; }
await "the version of the model" installed
curl -sS -f "$place/model" >given || fail 'no model to download'
cmp model given || fail 'the server has another model'
round='{"actions": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}'
post /shop/decide "$round"
echo "$round" | "$eenet" decide model -o taught >answers
[ "$(sed 's/.*"probabilities":\(\[[^]]*\]\).*/\1/' answer)" = "$(sed 's/.*"probabilities":\(\[[^]]*\]\).*/\1/' answers)" ] ||
    fail "the server: $(cat answer), decide: $(cat answers)"
