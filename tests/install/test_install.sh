#!/bin/sh
# test_install.sh BUILD FOLDER CMAKE CC VERSION: installs the build under the folder, looks whether the manual has every
# function, builds and runs programs of another project with what lies there, by pkg-config and by find_package, and
# uninstalls it.
set -eu
build=$1 folder=$2 cmake=$3 cc=$4 version=$5
here=$(dirname "$0")
root=$here/../..
fail() { echo "test_install.sh: $*"; exit 1; }

# The list of what the user installed last from this build is kept.
manifest=$build/install_manifest.txt
rm -rf "$folder"
mkdir -p "$folder"
[ ! -e "$manifest" ] || cp "$manifest" "$folder/manifest_before"
restore() { if [ -e "$folder/manifest_before" ]; then mv "$folder/manifest_before" "$manifest"; else rm -f "$manifest"; fi; }
trap restore EXIT

DESTDIR=$folder/stage "$cmake" --install "$build" --prefix /opt/eenet >"$folder/log"
installed=$folder/stage/opt/eenet
library=$(dirname "$(find "$installed" -name libeenet.so)")

# ---- what is there ----

for file in include/eenet.h share/doc/eenet/LICENSE share/doc/eenet/README.md share/doc/eenet/docs/policies.md \
    share/doc/eenet/examples/first_bandit.c; do
    [ -f "$installed/$file" ] || fail "not installed: $file"
done
if [ -e "$build/eenet" ]; then
    for file in share/man/man1/eenet.1 share/bash-completion/completions/eenet share/zsh/site-functions/_eenet \
        share/eenet/eenet.conf lib/systemd/system/eenet.service lib/systemd/system/eenet.socket; do
        [ -f "$installed/$file" ] || fail "not installed: $file"
    done
    "$installed/bin/eenet" --version | grep -q "^eenet $version," || fail 'the program does not run'
fi
strangers=$(find "$installed" -name '*.h' ! -name eenet.h)
[ -z "$strangers" ] || fail "installed, and not public: $strangers"

soname=$(readelf -d "$library/libeenet.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libeenet.so.0 ] || fail "the name of the library is $soname"

# While the major version is 0, the minor one says which versions CMake accepts.
major=${version%%.*} minor=${version#*.}
minor=${minor%%.*}
if [ "$major" = 0 ]; then
    series=0.$minor others="0.$((minor - 1)) 0.$((minor + 1))"
else
    series=$major others="$((major - 1)) $((major + 1))"
fi

# ---- the manual ----

manual=$installed/share/man
functions=$(grep -o 'ee_[a-z_]*(' "$installed/include/eenet.h" | sort -u | tr -d '(')
[ "$(echo "$functions" | wc -l)" -ge 30 ] || fail "few functions were found in the header: $functions"
for function in $functions; do
    [ -f "$manual/man3/$function.3" ] || fail "no page of section 3: $function"
    page=$manual/$(sed -n 's/^\.so //p' "$manual/man3/$function.3")
    [ -f "$page" ] || page=$manual/man3/$function.3
    grep -q "[ *]$function(" "$page" || fail "$page does not declare $function"
done
for page in "$manual"/man3/*.3; do
    name=$(basename "$page" .3)
    [ "$name" = eenet ] || echo "$functions" | grep -qx "$name" || fail "a page of no function: $name"
done
if command -v groff >/dev/null; then
    for page in "$root"/man/*.[13]; do
        warnings=$(groff -ww -man -Tascii -z "$page" 2>&1) || fail "groff: $page"
        [ -z "$warnings" ] || fail "groff: $page: $warnings"
    done
fi

# ---- by pkg-config ----

export PKG_CONFIG_PATH="$library/pkgconfig"
[ "$(pkg-config --modversion eenet)" = "$version" ] || fail 'pkg-config: wrong version'
# shellcheck disable=SC2046 # a list of flags
"$cc" -std=c11 "$here/consumer_c.c" -o "$folder/by_pkg_config" $(pkg-config --cflags --libs eenet)
LD_LIBRARY_PATH=$library "$folder/by_pkg_config"
# shellcheck disable=SC2046
"$cc" -std=c11 -static "$here/consumer_c.c" -o "$folder/static" $(pkg-config --static --cflags --libs eenet)
"$folder/static"

# The first program in docs/c-library.md is the example, and runs.
awk '/^```c$/ { inside = ++blocks == 1; next } /^```$/ { inside = 0 } inside' "$root/docs/c-library.md" >"$folder/first_bandit.c"
diff "$root/examples/first_bandit.c" "$folder/first_bandit.c"
# shellcheck disable=SC2046
"$cc" "$folder/first_bandit.c" -o "$folder/first_bandit" $(pkg-config --cflags --libs eenet)
LD_LIBRARY_PATH=$library "$folder/first_bandit" | grep -q '^9[0-9][0-9] of 1000 '

# So does the program that the manual prints.
awk '/^#include <stdio.h>$/ { inside = 1; print "#include <eenet.h>" } /^\.EE$/ { inside = 0 } inside' \
    "$installed/share/man/man3/eenet.3" | sed 's/\\e/\\/g; s/\\-/-/g' >"$folder/manual.c"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror -pedantic-errors "$folder/manual.c" -o "$folder/manual" \
    $(pkg-config --cflags --libs eenet)
LD_LIBRARY_PATH=$library "$folder/manual" | grep -q '^9[0-9] of 100 decisions were rewarded$' ||
    fail 'the program of the manual does not learn'

# A status that nobody looks at is a warning.
printf '#include <eenet.h>\nint main(void) { ee_bandit_learn(0, 1, 1, 0); }\n' >"$folder/careless.c"
"$cc" -c -I"$installed/include" "$folder/careless.c" -o "$folder/careless.o" 2>"$folder/warnings"
grep -q 'unused.result' "$folder/warnings" || fail 'no warning for an unused result'

# ---- by CMake ----

# find_version VERSION: configures the other project, which wants that version or one that is compatible.
find_version() {
    "$cmake" -S "$here" -B "$folder/by_cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$installed" \
        -DEXPECTED_VERSION="$1" >>"$folder/log" 2>&1
}
for other in $others; do
    ! find_version "$other" || fail "CMake takes $version for $other"
done
find_version "$series" || fail "CMake does not take $version for $series"
"$cmake" --build "$folder/by_cmake" >>"$folder/log"
"$folder/by_cmake/with_eenet"
"$folder/by_cmake/with_eenet_static"
readelf -d "$folder/by_cmake/with_eenet" | grep -q 'NEEDED.*libeenet' || fail 'CMake: the shared library was not linked'
! readelf -d "$folder/by_cmake/with_eenet_static" | grep -q 'NEEDED.*libeenet' || fail 'CMake: not linked statically'

# ---- and away ----

# What is not ours stays, and another prefix than the one that was installed last is refused.
touch "$installed/include/other.h"
! DESTDIR=$folder/stage "$root/cmake/uninstall.sh" "$build" /usr 2>"$folder/refused" || fail 'uninstalled from /usr'
grep -q '/opt/eenet' "$folder/refused" || fail 'the refusal does not say where it is installed'
[ -e "$installed/include/eenet.h" ] || fail 'refused, and yet uninstalled'
DESTDIR=$folder/stage "$root/cmake/uninstall.sh" "$build" /opt/eenet
left=$(find "$installed" -mindepth 1 ! -type d -o -path "$installed/*/eenet*")
[ "$left" = "$installed/include/other.h" ] || fail "left behind: $left"
