#!/bin/sh
# uninstall.sh BUILD PREFIX: removes, under DESTDIR, what was last installed from the build, which must have been under
# the prefix. Folders of eenet's own go too; those that others use, as bin/, stay.
set -eu
manifest=$1/install_manifest.txt prefix=${2%/}
if [ ! -f "$manifest" ]; then
    echo "eenet: nothing was installed from $1: $manifest, where make install lists it, is missing" >&2
    exit 1
fi
# The last line has no end of its own.
stranger=$(awk -v prefix="$prefix/" 'index($0, prefix) != 1 { print; exit }' "$manifest")
if [ -n "$stranger" ]; then
    echo "eenet: what was last installed from $1 is not under $prefix: $stranger" >&2
    exit 1
fi
while read -r file || [ -n "$file" ]; do
    rm -f -- "${DESTDIR:-}$file"
    folder=${file%/*}
    while case ${folder#"$prefix"} in */eenet | */eenet/*) true ;; *) false ;; esac; do
        rmdir -- "${DESTDIR:-}$folder" 2>/dev/null || break # not empty yet, or gone
        folder=${folder%/*}
    done
done <"$manifest"
rm -f -- "$manifest"
