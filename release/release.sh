#!/bin/sh
# release.sh KIND [PART...]: builds every artefact of a release in build/release-files/, with SHA256SUMS. Run it by
# 'make release'. KIND is release, which needs a clean tree at the tag of the version in include/eenet.h and builds a fresh
# clone of it, or snapshot, which builds any tree where it is. PART selects (default: all).
set -eu
cd "$(dirname "$0")/.."
# Modes of files get into packages.
umask 022
fail() { echo "make release: $1" >&2; exit 1; }
kind=${1-}
case $kind in
release | snapshot) shift ;;
*) fail "unknown kind '$kind'; expected RELEASE=release or RELEASE=snapshot" ;;
esac

version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' include/eenet.h)
debs=
for package in eenet eenet-dbgsym libeenet0 libeenet0-dbgsym libeenet-dev python3-eenet python3-eenet-dbgsym; do
    for architecture in amd64 arm64; do debs="$debs build/deb/${package}_${version}_$architecture.deb"; done
done
wheel=build/wheels/eenet-$version-cp39-abi3-manylinux_2_28

# The parts: the target of make, and all files that a release has from it. Add a line for each new kind of artefact.
parts="
source      build/source/eenet-source-$version.tar.gz build/source/eenet-source-$version.tar.xz
deb        $debs
wheels      ${wheel}_x86_64.whl ${wheel}_aarch64.whl build/wheels/eenet-$version.tar.gz
image       build/image/eenet-$version-amd64.oci.tar build/image/eenet-$version-arm64.oci.tar
javascript  build/javascript/eenet-$version.tgz
wasm        build/wasm/eenet-wasm-$version.tgz
playground  build/eenet-playground-$version.tar.gz
site        build/eenet-site-$version.tar.gz
sbom        build/sbom/eenet-$version.spdx.json
"

names=$(echo "$parts" | awk 'NF { print $1 }')
for part in "$@"; do
    echo "$names" | grep -qx "$part" || fail "unknown part '$part'; expected some of: $(echo $names)"
done
changed=$(git status --porcelain)
if [ "$kind" = release ]; then
    [ -z "$changed" ] || fail "the tree has changes that are not committed; commit them, or try RELEASE=snapshot"
    git tag --points-at HEAD | grep -qx "v$version" ||
        fail "HEAD has no tag v$version, the version in include/eenet.h; tag it, or try RELEASE=snapshot"
    grep -q "^## $version, 20" CHANGELOG.md || fail "CHANGELOG.md has no line '## $version, DATE'"
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

output=$PWD/build/release-files
rm -rf "$output"
mkdir -p "$output"
if [ "$kind" = release ]; then
    # In a clone, nothing of an earlier build, such as other compiler flags, gets into a release.
    rm -rf build/release-work
    git clone -q --no-tags . build/release-work
    cd build/release-work
fi
echo "$parts" | while read -r target files; do
    [ -n "$target" ] || continue
    [ $# = 0 ] || case " $* " in *" $target "*) ;; *) continue ;; esac
    # Files of an earlier snapshot must not get into this one.
    # shellcheck disable=SC2086 # a list
    rm -f $files
    make "$target" ARCH='amd64 arm64' </dev/null || fail "make $target failed"
    missing=
    for file in $files; do
        if [ -f "$file" ]; then cp "$file" "$output/"; else missing="$missing $file"; fi
    done
    [ -z "$missing" ] || fail "make $target did not write$missing"
done
(cd "$output" && LC_ALL=C sha256sum -- * >SHA256SUMS)
cat "$output/SHA256SUMS"
