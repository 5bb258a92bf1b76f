#!/bin/sh
# check_debian.sh ROOT BUILD CMAKE NM VERSION: checks, without Debian's tools, that debian/ fits the build:
# - debian/changelog has this version;
# - every installed file is in exactly one package or in debian/not-installed, and each line there names a file;
# - debian/libeenet0.symbols lists what the library exports.
set -eu
root=$1 build=$2 cmake=$3 nm=$4 version=$5
fail() { echo "check_debian.sh: $*"; exit 1; }

packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$root/debian/changelog")
[ "$packaged" = "$version" ] || fail "debian/changelog has $packaged, include/eenet.h has $version"

# The prefix of packages. The list of what the user installed last from this build is kept.
manifest=$build/install_manifest.txt
[ ! -e "$manifest" ] || cp "$manifest" manifest_before
restore() { if [ -e manifest_before ]; then mv manifest_before "$manifest"; else rm -f "$manifest"; fi; }
trap restore EXIT
DESTDIR=$PWD/stage "$cmake" --install "$build" --prefix /usr >log || fail "not installed: $(cat log)"

# Lines are FILE [FOLDER]; FILE may have *, and names a folder with all it contains. Build folders may use lib/ in place of
# lib/TRIPLET/.
(cd stage && find . ! -type d | sed 's,^\./,,; s,^usr/lib/\(libeenet\|cmake\|pkgconfig\),usr/lib/TRIPLET/\1,') | sort >installed
sed 's/#.*//; s/[[:space:]]*$//' "$root"/debian/*.install "$root/debian/not-installed" |
    awk '$1 ~ /^usr\// { print $1 }' >patterns
[ -s patterns ] || fail 'no patterns'
awk -v patterns=patterns '
    BEGIN {
        while ((getline line < patterns) > 0) {
            names[++count] = line
            gsub(/[.+]/, "\\\\&", line)
            gsub(/\*/, "[^/]*", line)
            regex[count] = "^" line "(/|$)"
        }
    }
    {
        times = 0
        for (i = 1; i <= count; i++) if ($0 ~ regex[i]) { times++; used[i] = 1 }
        if (times != 1) { print "in " times " packages: " $0; bad = 1 }
    }
    END {
        for (i = 1; i <= count; i++) if (!used[i]) { print "names no installed file: " names[i]; bad = 1 }
        exit bad
    }' installed || fail 'debian/*.install and debian/not-installed do not fit what is installed'
awk '$1 !~ /^usr\// && NF { print $1 }' "$root"/debian/*.install | while read -r file; do
    [ -e "$root/$file" ] || fail "no such file: $file"
done

soname=$(basename "$(find stage -name 'libeenet.so.[0-9]*' -type l)")
grep -qx "$soname libeenet${soname#libeenet.so.} #MINVER#" "$root/debian/libeenet0.symbols" ||
    fail "debian/libeenet0.symbols is not for $soname"
"$nm" -D --defined-only "$(find stage -name 'libeenet.so.[0-9]*' -type f)" | awk '{ print $NF }' | sed 's/@.*//' | sort >exported
sed -n 's/^ \(.*\)@Base .*/\1/p' "$root/debian/libeenet0.symbols" | sort >listed
diff listed exported || fail 'debian/libeenet0.symbols does not list what the library exports (<: only listed, >: only exported)'
