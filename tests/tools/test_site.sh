#!/bin/sh
# test_site.sh PYTHON ROOT PACKAGE SITE PLAYGROUND: builds the web site of ROOT in the folder SITE and checks its links.
# PACKAGE is the folder of the built Python package, PLAYGROUND what make playground builds, if it could be built. First, the check must find planted errors. Exits with 77 (skipped) without the
# tools that cmake/setup.sh installs for the group site.
set -eu
python=$1 root=$2 package=$3 site=$4 playground=$5
check=$root/tests/tools/check_site.py
skip() { echo "skipped: $1" >&2; exit 77; }
for tool in mandoc dot; do command -v $tool >/dev/null || skip "there is no $tool"; done
"$python" -c 'import mkdocs, numpy' 2>/dev/null || skip 'there is no MkDocs'
[ -d /usr/share/mkdocs/themes/material ] || skip "there is no MkDocs theme 'material'"
ls "$package"/eenet/_core*.so >/dev/null 2>&1 || skip 'the Python package is not built (EENET_PYTHON)'

planted=$site-planted
rm -rf "$planted"
mkdir -p "$planted"
cat >"$planted/a.html" <<'END'
<script src="https://cdn.example.org/a.js"></script><link rel="stylesheet" href="a.css"><h1 id="here">A</h1>
<a href="b.html">no file</a> <a href="#there">no heading</a> <a href="#here">right</a> <a href="https://example.org/">right</a>
END
echo '@font-face { src: url(https://fonts.example.org/a.woff2) }' >"$planted/a.css"
if python3 "$check" "$planted" >"$planted/found"; then echo 'the check accepts wrong links'; exit 1; fi
for problem in 'loads https://cdn' 'loads https://fonts' 'no file b.html' 'no heading #there'; do
    grep -q "$problem" "$planted/found" || { echo "the check does not find: $problem"; exit 1; }
done
[ "$(wc -l <"$planted/found")" = 4 ] || { cat "$planted/found"; exit 1; }

[ -d "$playground" ] || playground=
"$python" -B "$root/site/build.py" "$root" "$package" "$site" ${playground:+"$playground"}
"$python" -B "$check" "$site"
