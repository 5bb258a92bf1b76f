#!/bin/sh
# test_release_files.sh ROOT FOLDER [PART...]: builds the release of HEAD twice, in clones in two folders, and compares the
# bytes. First checks what 'make release' refuses, and that it releases the source of a tagged clone. The part 'source'
# alone is packed without the largest folders: compressing them takes most of the time.
set -eu
root=$1 folder=$2
shift 2
git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo 'skipped: not a clone' >&2; exit 77; }
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
rm -rf "$folder"
mkdir -p "$folder/another/place"
first=$folder/first second=$folder/another/place/second
fail() { echo "$1"; exit 1; }

# ---- what 'make release' refuses, and a release of the source ----

tagged=$folder/tagged
git clone -q --no-tags "$root" "$tagged"
commit() { git -C "$tagged" -c user.name=test -c user.email=test@example.org commit -q --allow-empty -a -m "$1"; }
git -C "$tagged" rm -rq bench cli docs examples man python src tests
commit 'less to pack'
[ "$*" != source ] || root=$tagged
git clone -q --no-tags "$root" "$first"
git clone -q --no-tags "$root" "$second"
refuse() { # refuse WHAT MESSAGE [KIND]
    if "$tagged/release/release.sh" "${3-release}" source 2>"$folder/said"; then fail "released $1"; fi
    grep -q "$2" "$folder/said" || { cat "$folder/said"; fail "does not say why it does not release $1"; }
}
refuse 'a kind that does not exist' "unknown kind 'relase'" relase
refuse 'no kind' "unknown kind ''" ''
version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' "$tagged/include/eenet.h")
refuse 'without a tag' "no tag v$version"
git -C "$tagged" tag "v$version"
echo more >>"$tagged/README.md"
refuse 'a tree with changes' 'not committed'
git -C "$tagged" checkout -q README.md
sed -i "s/^## $version.*/## $version, not released yet/" "$tagged/CHANGELOG.md"
commit 'not dated' && git -C "$tagged" tag -f "v$version" >/dev/null
refuse 'a version without a date' 'CHANGELOG.md has no line'
sed -i "s/^## $version.*/## $version, 2026-01-01/" "$tagged/CHANGELOG.md"
commit 'dated' && git -C "$tagged" tag -f "v$version" >/dev/null
echo 'rm "build/source/$name.tar.xz"' >>"$tagged/release/source.sh"
commit 'no xz' && git -C "$tagged" tag -f "v$version" >/dev/null
refuse 'less than all files' "make source did not write build/source/eenet-source-$version.tar.xz"
git -C "$tagged" reset -q --hard HEAD^
git -C "$tagged" tag -f "v$version" >/dev/null
if "$tagged/release/release.sh" release sauce 2>"$folder/said"; then fail 'released a part that does not exist'; fi
"$tagged/release/release.sh" release source >"$folder/said" 2>&1 || { cat "$folder/said"; fail 'does not release the source'; }
(cd "$tagged/build/release-files" && sha256sum --quiet -c SHA256SUMS)
tar -xzf "$tagged/build/release-files/eenet-source-$version.tar.gz" -C "$folder"
cmp "$folder/eenet-$version/CHANGELOG.md" "$tagged/CHANGELOG.md" || fail 'the source is not that of the tag'

# ---- two builds ----

for clone in "$first" "$second"; do
    # Another time zone, umask and language must not change a byte.
    if [ "$clone" = "$second" ]; then umask 077; export TZ=Asia/Tokyo LC_ALL=C.UTF-8; fi
    "$clone/release/release.sh" snapshot "$@" >"$clone.log" 2>&1 || { tail -n 30 "$clone.log"; fail "no release in $clone"; }
done
cat "$first/build/release-files/SHA256SUMS"
(cd "$first/build/release-files" && sha256sum --quiet -c SHA256SUMS)
diff -r "$first/build/release-files" "$second/build/release-files" || fail 'the two builds differ'
echo 'both builds have the same bytes'
