#!/bin/sh
# abi.sh record|check ROOT LIBRARY: the types and symbols of the shared library, which has debug information, as libabigail
# sees them, in tests/releases/VERSION/MACHINE.abi. check compares with every release that promises the same and has a record
# of this kind of machine. New functions pass.
set -eu
what=$1 root=$2 library=$3
version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' "$root/include/eenet.h")
promise() { case $1 in 0.*) echo "$1" | cut -d. -f1-2 ;; *) echo "$1" | cut -d. -f1 ;; esac; }
machine=$(uname -m)
if [ "$what" = record ]; then
    exec abidw --exported-interfaces-only --headers-dir "$root/include" --drop-private-types --no-show-locs --no-corpus-path \
        --no-comp-dir-path --out-file "$root/tests/releases/$version/$machine.abi" "$library"
fi
count=0
for file in "$root"/tests/releases/[0-9]*/"$machine".abi; do
    [ -f "$file" ] || continue
    release=$(basename "$(dirname "$file")")
    [ "$(promise "$release")" = "$(promise "$version")" ] || continue
    count=$((count + 1))
    abidiff --no-added-syms --headers-dir2 "$root/include" --drop-private-types "$file" "$library" ||
        { echo "the ABI of release $release is broken: see docs/versioning.md" >&2; exit 1; }
    echo "release $release: same ABI"
done
[ $count -gt 0 ] || echo "no release is recorded for $machine"
