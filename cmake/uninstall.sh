#!/bin/sh
# uninstall.sh BUILD PREFIX: removes, under DESTDIR, the files that were last installed from BUILD under PREFIX, and the
# folders that only eenet uses.
set -eu
manifest=$1/install_manifest.txt prefix=${2%/}
if [ ! -f "$manifest" ]; then
    echo "eenet: nothing to uninstall: $manifest, the list that 'make install' writes, is missing" >&2
    exit 1
fi
# The last line does not end with a newline.
stranger=$(awk -v prefix="$prefix/" 'index($0, prefix) != 1 { print; exit }' "$manifest")
if [ -n "$stranger" ]; then
    echo "eenet: the last installation was not under $prefix but has $stranger; repeat with its prefix" >&2
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
