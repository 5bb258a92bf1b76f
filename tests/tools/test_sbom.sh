#!/bin/sh
# test_sbom.sh PYTHON ROOT BUILD: checks the list of linked packages of the build, and that a second one has the same bytes.
set -eu
python=$1 root=$2 build=$3
command -v dpkg-query >/dev/null || { echo 'skipped: not a Debian system' >&2; exit 77; }
dpkg-query -W python3-numpy >/dev/null 2>&1 || { echo 'skipped: there is no python3-numpy' >&2; exit 77; }
"$python" -B "$root/release/sbom.py" "$root" "$build" >sbom.json
"$python" -B "$root/tests/tools/check_sbom.py" sbom.json
for name in zlib1g libsqlite3-0 libgnutls30 libpq5 zlib1g-dev libzstd-dev; do
    grep -Eq "\"name\": \"$name(t64)?\"" sbom.json || { echo "$name is missing"; exit 1; }
done
grep -q '"STATIC_LINK"' sbom.json || { echo 'the wheels contain nothing'; exit 1; }
TZ=Asia/Tokyo "$python" -B "$root/release/sbom.py" "$root" "$build" | cmp - sbom.json
