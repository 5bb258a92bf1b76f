#!/bin/sh
# test_sbom.sh PYTHON ROOT BUILD: checks the list of linked packages of the build, and that a second one has the same bytes,
# also if packages of another architecture are installed.
set -eu
python=$1 root=$2 build=$3
command -v dpkg-query >/dev/null || { echo 'skipped: not a Debian system' >&2; exit 77; }
dpkg-query -W python3-numpy >/dev/null 2>&1 || { echo 'skipped: there is no python3-numpy' >&2; exit 77; }
"$python" -B "$root/release/sbom.py" "$root" "$build" >sbom.json
"$python" -B "$root/tests/tools/check_sbom.py" sbom.json
for name in zlib1g libsqlite3-0 libgnutls30 libpq5 zlib1g-dev libzstd-dev; do
    grep -Eq "\"name\": \"$name(t64)?\"" sbom.json || { echo "$name is missing"; exit 1; }
done
grep -q '"pkg:npm/eenet@' sbom.json || { echo 'the JavaScript client is missing'; exit 1; }
if dpkg-query -W mkdocs-material >/dev/null 2>&1; then
    for name in 'eenet (web site)' mkdocs-material lunr; do
        grep -q "\"name\": \"$name\"" sbom.json || { echo "$name is missing"; exit 1; }
    done
fi
grep -q '"STATIC_LINK"' sbom.json || { echo 'the wheels contain nothing'; exit 1; }
TZ=Asia/Tokyo "$python" -B "$root/release/sbom.py" "$root" "$build" | cmp - sbom.json

# dpkg as on a machine for cross builds: it knows each linked package a second time, for another architecture. Its version
# shows if that one gets into the list.
native=$(dpkg --print-architecture)
case $native in arm64) other=amd64 ;; *) other=arm64 ;; esac
rm -rf dpkg && mkdir -p dpkg/updates dpkg/triggers
printf '%s\n' "$native" "$other" >dpkg/arch
ln -s /var/lib/dpkg/info dpkg/info
cp /var/lib/dpkg/status dpkg/status
for name in zlib1g-dev libzstd-dev libsqlite3-0; do
    printf 'Package: %s\nStatus: install ok installed\nMaintainer: Test <test@example.org>\nArchitecture: %s\n' "$name" "$other"
    printf 'Multi-Arch: same\nVersion: 99\nDescription: test\n\n'
done >>dpkg/status
DPKG_ADMINDIR=$PWD/dpkg dpkg-query -W -f '${Architecture}\n' zlib1g-dev | grep -qx "$other" || { echo 'dpkg does not know them'; exit 1; }
DPKG_ADMINDIR=$PWD/dpkg "$python" -B "$root/release/sbom.py" "$root" "$build" | cmp - sbom.json
