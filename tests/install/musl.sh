#!/bin/sh
# musl.sh SOURCE WORK: builds the library and the program without the server with musl, as one static file, and runs
# them. Debian has no zlib and zstd for musl: they are built from Debian's sources, in WORK/libraries, once.
set -eu
source=$(realpath "$1") work=$2
mkdir -p "$work/libraries"
work=$(realpath "$work")
fail() { echo "musl.sh: $*" >&2; exit 1; }

# The sources come from this machine's own mirror of Debian.
if [ ! -e "$work/libraries/done" ]; then
    cd "$work/libraries"
    mkdir -p lists/partial
    apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) main' 'Created-By: Packages' 'Label: Debian' |
        sort -u >sources.list
    [ -s sources.list ] || fail 'needs Debian, for the sources of zlib and zstd'
    apt="apt-get -q -o Dir::State::lists=$PWD/lists -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=-"
    apt="$apt -o APT::Sandbox::User=root"
    { $apt update && $apt source zlib libzstd; } >download.log 2>&1 || { tail download.log; fail 'no sources'; }
    (cd zlib-*/ && CC=musl-gcc ./configure --static && make libz.a) >build.log 2>&1 || fail "zlib: see $PWD/build.log"
    make -C libzstd-*/lib CC=musl-gcc libzstd.a >>build.log 2>&1 || fail "zstd: see $PWD/build.log"
    touch done
fi
cd "$work"
zlib=$(echo "$work"/libraries/zlib-*/) zstd=$(echo "$work"/libraries/libzstd-*/lib)
cmake -S "$source" -B build -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS=-static \
    -DEENET_SERVER=OFF -DEENET_TESTS=OFF -DEENET_MPI=OFF -DEENET_WERROR=ON \
    -DEENET_zlib_INCLUDE="$zlib" -DEENET_zlib_LIBRARY="$zlib/libz.a" \
    -DEENET_zstd_INCLUDE="$zstd" -DEENET_zstd_LIBRARY="$zstd/libzstd.a" >configure.log || fail 'not configured'
cmake --build build -j "$(nproc)" >compile.log || fail "not built: see $PWD/compile.log"

# A program of musl alone: a static file that names no loader.
! readelf -l build/eenet | grep -q INTERP || fail 'the program is not static'
! strings build/eenet | grep -q 'GNU C Library' || fail 'the program contains glibc'

# The examples of the library, each with the output that its source promises.
for example in "$source"/examples/*.c; do
    musl-gcc -std=c11 -static -I"$source/include" "$example" build/libeenet.a -lm -o "example_$(basename "$example" .c)"
done
"$source/tests/tools/test_examples.sh" ./example_* || fail 'an example'

# The program runs policies, reports, compresses logs and evaluates them.
rm -rf out && mkdir out
build/eenet run -d synthetic:cosine -p eenet,linucb,neural-ts -T 300 -s 0-1 -o out/results >out/run.txt
build/eenet report out/results >out/report.txt
[ -s out/results/report.html ] || fail 'no report'
for kind in gz zst; do
    build/eenet run -d synthetic:cosine -p uniform -T 2000 -s 0 --log out/log.dsjson.$kind >>out/run.txt
    build/eenet evaluate out/log.dsjson.$kind -p uniform,linucb | sed 1d >out/evaluated.$kind
    grep -q '^  linucb  *dr  *[0-9.]* ' out/evaluated.$kind || fail "evaluate, of a log in .$kind"
done
[ "$(od -An -N 2 -tx1 out/log.dsjson.gz)$(od -An -N 4 -tx1 out/log.dsjson.zst)" = ' 1f 8b 28 b5 2f fd' ] || fail 'the logs are not compressed'
cmp out/evaluated.gz out/evaluated.zst || fail 'the evaluations of both logs differ'
cat out/run.txt
