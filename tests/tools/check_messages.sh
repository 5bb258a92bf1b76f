#!/bin/sh
# check_messages.sh PYTHON ROOT: checks that tests/messages.txt lists every sentence that the sources of ROOT can print.
set -eu
"$1" "$2/tests/tools/messages.py" "$2" >messages.txt
if ! diff -u "$2/tests/messages.txt" messages.txt; then
    echo "tests/messages.txt is not up to date: run 'make messages', and read the difference as a user would" >&2
    exit 1
fi
# Check that messages.py finds a sentence in each kind of source file.
mkdir -p planted/cli planted/src/page planted/python/eenet planted/python/src
printf 'f("a file is " /* why */ "missing: %%s");\n' >planted/cli/a.c
printf "say(\`the model of \${name} is old\`);\n" >planted/src/page/a.js
printf '<p title="how often it is clicked">rate of clicks</p>\n' >planted/src/page/a.html
printf '{"description": "the name of a bandit"}\n' >planted/src/a.json
printf '"""Not this one, please."""\nraise ValueError(f"expected a number, got {x!r}")\n' >planted/python/eenet/a.py
"$1" "$2/tests/tools/messages.py" planted >found.txt
grep '^    ' found.txt >sentences.txt
diff - sentences.txt <<'LIST'
    a file is missing: %s
    expected a number, got {}
    the name of a bandit
    how often it is clicked
    rate of clicks
    the model of ${name} is old
LIST
