#!/bin/sh
# test_release_files.sh ROOT FOLDER [PART...]: builds the release of HEAD twice, in clones in two folders, and compares the
# bytes. Also checks that a release is refused without its tag, and from a tree with changes.
set -eu
root=$1 folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder/another/place"
first=$folder/first second=$folder/another/place/second
git clone -q "$root" "$first"
git clone -q "$root" "$second"
fail() { echo "$1"; exit 1; }

version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' "$first/include/eenet.h")
if "$first/release/release.sh" release source 2>"$folder/said"; then fail 'released without a tag'; fi
grep -q "no tag v$version" "$folder/said" || fail 'does not name the tag'
git -C "$first" tag "v$version"
echo more >>"$first/README.md"
if "$first/release/release.sh" release source 2>"$folder/said"; then fail 'released a tree with changes'; fi
grep -q 'not committed' "$folder/said" || fail 'does not say that there are changes'
git -C "$first" checkout -q README.md

for clone in "$first" "$second"; do
    # Another time zone, umask and language must not change a byte.
    if [ "$clone" = "$second" ]; then umask 077; export TZ=Asia/Tokyo LC_ALL=C.UTF-8; fi
    "$clone/release/release.sh" snapshot "$@" >"$clone.log" 2>&1 || { tail -n 30 "$clone.log"; fail "no release in $clone"; }
done
cat "$first/build/release-files/SHA256SUMS"
(cd "$first/build/release-files" && sha256sum --quiet -c SHA256SUMS)
diff -r "$first/build/release-files" "$second/build/release-files" || fail 'the two builds differ'
echo 'both builds have the same bytes'
