#!/bin/sh
# build.sh FOLDER [ARCHITECTURE...]: builds the Debian packages of this source (in a clone: of its tracked files) for
# amd64 and arm64, or only for the architectures given, and writes them to FOLDER. The same source gives the same bytes,
# whatever the folder. One of the architectures is cross-built; cmake/setup.sh deb installs what that needs.
set -eu
[ $# -gt 0 ] || { echo "usage: debian/build.sh FOLDER [ARCHITECTURE...]" >&2; exit 1; }
mkdir -p "$1"
output=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- amd64 arm64

sources() {
    if [ -e .git ]; then git ls-files -z; else find . -path ./build -prune -o ! -type d -print0; fi
}

rm -rf "$output"/*.deb "$output/work"
mkdir -p "$output/work"
sources >"$output/work/files"
native=$(dpkg --print-architecture)
date=$(dpkg-parsechangelog -S Date)
# Also where the caller set another one, such as 'make release'.
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
for architecture in "$@"; do
    # dpkg writes the packages to the parent of the source.
    source=$output/work/$architecture/eenet
    mkdir -p "$source"
    # Files would keep a time before that of debian/changelog, and so the packages depend on the time of the clone.
    tar -cf "$output/work/source.tar" --mtime="$date" --null -T "$output/work/files"
    tar -xf "$output/work/source.tar" -C "$source"
    # Debian's libpq-dev exists for one architecture at a time, so that dpkg would miss the other one in a cross build.
    checks=
    [ "$architecture" = "$native" ] || checks=--no-check-builddeps
    log=$output/work/$architecture.log
    # shellcheck disable=SC2086 # no word, or one
    (cd "$source" && umask 022 && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL LC_ALL=C TZ=UTC \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        dpkg-buildpackage --build=binary --no-sign --host-arch="$architecture" $checks) >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        echo "debian/build.sh: the build for $architecture failed; the end of $log is above" >&2
        exit 1
    }
    mv "$output/work/$architecture"/*.deb "$output/"
done
rm -rf "$output/work"
