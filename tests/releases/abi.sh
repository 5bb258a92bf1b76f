#!/bin/sh
# abi.sh record|check ROOT LIBRARY: the types and symbols of the shared library, which has debug information, as libabigail
# sees them, in tests/releases/VERSION/MACHINE.abi. check compares with every release that promises the same and has a record
# of this kind of machine. New functions pass.
set -eu
what=$1 root=$2 library=$3
version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' "$root/include/eenet.h")
promise() { case $1 in 0.*) echo "$1" | cut -d. -f1-2 ;; *) echo "$1" | cut -d. -f1 ;; esac; }
# Of the library, which may be cross-built.
case $(readelf -h "$library") in
*AArch64*) machine=aarch64 ;;
*X86-64*) machine=x86_64 ;;
*) machine=$(uname -m) ;;
esac
if [ "$what" = record ]; then
    file=$root/tests/releases/$version/$machine.abi
    abidw --exported-interfaces-only --headers-dir "$root/include" --drop-private-types --no-show-locs --no-corpus-path \
        --no-comp-dir-path --out-file "$file" "$library"
    # The record is the same whatever the folder of the source.
    exec sed -i "s|path='$(realpath "$root")/|path='|" "$file"
fi
count=0
for file in "$root"/tests/releases/[0-9]*/"$machine".abi; do
    [ -f "$file" ] || continue
    release=$(basename "$(dirname "$file")")
    [ "$(promise "$release")" = "$(promise "$version")" ] || continue
    count=$((count + 1))
    # Not with --headers-dir2: records name no places, so that abidiff would take all their types for private ones.
    abidiff --no-added-syms "$file" "$library" ||
        { echo "the ABI of release $release is broken: see docs/versioning.md" >&2; exit 1; }
    # A struct that had another size must be found.
    planted=$(mktemp)
    sed "s/\(name='ee_decision' size-in-bits='\)[0-9]*/\164/" "$file" >"$planted"
    if abidiff --no-added-syms "$planted" "$library" >/dev/null; then found=no; else found=yes; fi
    rm "$planted"
    [ $found = yes ] || { echo "abidiff does not find a change of release $release" >&2; exit 1; }
    echo "release $release: same ABI on $machine"
done
[ $count -gt 0 ] || {
    echo "nothing was compared: no release with the promises of $version has a record for $machine; see 'make record-release'" >&2
    exit 1
}
