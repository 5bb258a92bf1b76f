#!/bin/sh
# check.sh PYTHON ROOT EENET PACKAGE: compares this build with every recorded release, tests/releases/VERSION: files of all
# releases are read, and requests of all are answered. The interfaces are those of releases that promise the same: with the
# same minor number before 1.0, with the same major number from then on. PACKAGE is the folder of the built Python package.
set -eu
python=$1 root=$2 program=$3 package=$4
"$python" -c 'import numpy' 2>/dev/null || { echo 'skipped: there is no numpy' >&2; exit 77; }
version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' "$root/include/eenet.h")
promise() { case $1 in 0.*) echo "$1" | cut -d. -f1-2 ;; *) echo "$1" | cut -d. -f1 ;; esac; }

status=0
count=0
for release in "$root"/tests/releases/[0-9]*/; do
    release=${release%/}
    count=$((count + 1))
    echo "release $(basename "$release"):"
    "$python" -B "$root/tests/releases/server.py" check "$program" "$release" || status=1
    if [ "$(promise "$(basename "$release")")" = "$(promise "$version")" ]; then
        "$python" -B "$root/tests/releases/interface.py" "$program" "$root" "$package" "$release/interface.txt" || status=1
    fi
done
[ $count -gt 0 ] || { echo 'no release is recorded'; exit 1; }
if [ $status != 0 ]; then
    echo "A change breaks users of a release; see docs/versioning.md. Before $version is released, 'make record-release' records it again."
fi
exit $status
