#!/bin/sh
# wheels_again.sh WHEELS WORK: builds the wheels and the sdist once more, from a copy of the source in elsewhere and
# with another umask, and compares the bytes with those in WHEELS.
set -eu
wheels=$(realpath "$1") work=$2 source=$(realpath "$(dirname "$0")/../..")
umask 077
rm -rf "$work/elsewhere"
mkdir -p "$work/elsewhere"
copy=$(realpath "$work/elsewhere")
cd "$source"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy" --no-same-permissions
cd "$copy"
make wheels >"$copy.log" 2>&1 || { tail "$copy.log"; exit 1; }
for file in "$wheels"/*; do
    cmp "$file" "build/wheels/$(basename "$file")"
done
rm -rf "$copy"
echo 'built again: the same bytes'
