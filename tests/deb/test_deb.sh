#!/bin/sh
# test_deb.sh PACKAGES FOLDER: tests the packages that debian/build.sh wrote to the folder PACKAGES, and works in FOLDER.
# - Another build in another folder gives the same bytes.
# - lintian reports no errors or warnings.
# - Packages for both architectures can be installed together, and programs built with the cross-built ones run.
# - In a fresh root: an older version is upgraded, removed and purged.
# - In a fresh root: autopkgtest runs debian/tests, which decide in C, in Python and over HTTP.
set -eu
mkdir -p "$1" "$2"
packages=$(cd "$1" && pwd) folder=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
native=$(dpkg --print-architecture)
fail() { echo "test_deb.sh: $*"; exit 1; }
architectures=$(cd "$packages" && ls eenet_*.deb | sed 's/.*_\(.*\)\.deb/\1/')
rm -rf "${folder:?}"/*

echo '== The same bytes from another folder'
another=$folder/another/longer/folder
# shellcheck disable=SC2086 # a list of architectures
"$root/debian/build.sh" "$another" $architectures
[ "$(cd "$packages" && ls -- *.deb)" = "$(cd "$another" && ls -- *.deb)" ] || fail 'another build has other packages'
for package in "$packages"/*.deb; do
    cmp "$package" "$another/${package##*/}" || fail 'another build gives other bytes'
done

echo '== lintian'
lintian --allow-root --fail-on error,warning "$packages"/*.deb

for package in "$packages"/*.deb; do
    name=${package##*/}
    case $name in *-dbgsym_*) continue ;; esac
    mkdir -p "$folder/files/${name%%_*}"
    dpkg-deb -x "$package" "$folder/files/${name%%_*}/${name##*_}"
done

if [ "$(echo "$architectures" | wc -l)" = 2 ]; then
    echo '== Both architectures together'
    for package in libeenet0 libeenet-dev; do
        (cd "$folder/files/$package/$native.deb" && find . -type f) | while read -r file; do
            other=$(echo "$folder/files/$package"/*.deb/"$file" | tr ' ' '\n' | grep -v "/$native.deb/")
            [ ! -e "$other" ] || cmp "$folder/files/$package/$native.deb/$file" "$other" || exit 1
        done || fail "$package cannot be installed for both architectures"
    done
    "$root/tests/deb/run_other.sh" "$folder/files" "$root"
fi

echo '== Upgrade and purge'
older=$folder/older newer=$folder/newer
mkdir -p "$older" "$newer"
cp "$root/share/eenet.conf" "$newer/"
for package in eenet libeenet0 libeenet-dev python3-eenet; do
    cp "$packages/${package}_"*"_$native.deb" "$newer/"
    dpkg-deb -R "$newer/${package}_"*.deb "$folder/unpacked"
    # Below every released version. Other default settings and another file make it an older package.
    sed -i 's/^Version: .*/Version: 0.0.1~/; s/(= [^)]*)/(= 0.0.1~)/' "$folder/unpacked/DEBIAN/control"
    if [ $package = eenet ]; then
        sed -i '1s/^/# An older version.\n/' "$folder/unpacked/etc/eenet/eenet.conf"
        touch "$folder/unpacked/usr/share/doc/eenet/only-in-the-older"
    fi
    dpkg-deb --root-owner-group -Znone -b "$folder/unpacked" "$older/" >/dev/null
    rm -rf "$folder/unpacked"
done
# in_root COMMAND: makes a root of the installed Debian release, and runs the command in sh with its folder as $1. A root that
# is lost in a crash does no harm, so dpkg need not sync.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
in_root() {
    mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --include=curl --format=null \
        --customize-hook="$1" "$release" -
}
in_root "mkdir \"\$1/packages\" && cp -r '$older' '$newer' '$root/tests/deb/upgrade.sh' '$root/tests/tools/wait.sh' \"\$1/packages\" &&
    chroot \"\$1\" /packages/upgrade.sh /packages/older /packages/newer"

echo '== autopkgtest'
# Tests get the tracked files, and the packages instead of a build.
source=$folder/source
mkdir -p "$source"
(cd "$root" && git ls-files -z | tar -c --null -T -) | tar -x -C "$source"
in_root "autopkgtest --no-built-binaries --output-dir='$folder/autopkgtest' '$newer'/*.deb '$source/' -- chroot \"\$1\""
