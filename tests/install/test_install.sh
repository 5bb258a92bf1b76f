#!/bin/sh
# test_install.sh BUILD FOLDER CMAKE CC VERSION: installs the build under the folder, and builds and runs a program of
# another project with what lies there, once by pkg-config and once by find_package.
set -eu
build=$1 folder=$2 cmake=$3 cc=$4 version=$5
here=$(dirname "$0")

rm -rf "$folder"
mkdir -p "$folder"
DESTDIR=$folder/stage "$cmake" --install "$build" --prefix /opt/eenet >"$folder/log"
installed=$folder/stage/opt/eenet
library=$(dirname "$(find "$installed" -name libeenet.so)")

for file in bin/eenet include/eenet.h share/doc/eenet/LICENSE; do
    [ -f "$installed/$file" ] || { echo "not installed: $file"; exit 1; }
done
strangers=$(find "$installed" -name '*.h' ! -name eenet.h)
[ -z "$strangers" ] || { echo "installed, and not public: $strangers"; exit 1; }
soname=$(readelf -d "$library/libeenet.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "libeenet.so.${version%%.*}" ] || { echo "the name of the library is $soname"; exit 1; }

export PKG_CONFIG_PATH="$library/pkgconfig"
[ "$(pkg-config --modversion eenet)" = "$version" ] || { echo 'pkg-config: wrong version'; exit 1; }
# shellcheck disable=SC2046 # a list of flags
"$cc" -std=c11 "$here/consumer_c.c" -o "$folder/by_pkg_config" $(pkg-config --cflags --libs eenet)
LD_LIBRARY_PATH=$library "$folder/by_pkg_config"

# The program that the README prints is the example, and runs.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../../README.md" >"$folder/first_bandit.c"
diff "$here/../../examples/first_bandit.c" "$folder/first_bandit.c"
# shellcheck disable=SC2046
"$cc" "$folder/first_bandit.c" -o "$folder/first_bandit" $(pkg-config --cflags --libs eenet)
LD_LIBRARY_PATH=$library "$folder/first_bandit" | grep -q '^9[0-9][0-9] of 1000 '

"$cmake" -S "$here" -B "$folder/by_cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$installed" \
    -DEXPECTED_VERSION="$version" >>"$folder/log"
"$cmake" --build "$folder/by_cmake" >>"$folder/log"
"$folder/by_cmake/consumer"
