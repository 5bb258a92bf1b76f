#!/bin/sh
# test_library_alone.sh SOURCE CMAKE CC CTEST: where there is no zlib, the library builds without the
# program, passes its tests and installs, and another project builds it as a part of itself.
set -eu
source=$1 cmake=$2 cc=$3 ctest=$4

# configure SOURCE FOLDER FLAG...: with CMake looking for headers and libraries nowhere but where the compiler does.
configure() {
    from=$1 to=$2
    shift 2
    "$cmake" -S "$from" -B "$to" -DCMAKE_C_COMPILER="$cc" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF "$@" >"$to.log" 2>&1
}
fail() { echo "$*"; cat ./*.log; exit 1; }

# They are hidden indeed, and the message names the package.
! configure "$source" program || fail 'the program was configured'
grep -q 'zlib1g-dev' program.log || fail 'the program was refused for another reason'

# Not optimised, which takes half the time. The examples are built, but their results are looked at elsewhere.
configure "$source" alone -DEENET_PROGRAM=OFF -DCMAKE_BUILD_TYPE=None || fail 'the library alone: not configured'
"$cmake" --build alone -j 2 >build.log 2>&1 || fail 'the library alone: not built'
[ ! -e alone/eenet ] || fail 'a program was built'
(cd alone && "$ctest" --output-on-failure -E '^examples$') >tests.log 2>&1 || fail 'the library alone: a test failed'
grep -q 'install \.* *Passed' tests.log || fail 'the library alone: it was not installed'

configure "$source/tests/install" part -DEENET_SOURCE="$source" -DCMAKE_BUILD_TYPE=None || fail 'as a part: not configured'
"$cmake" --build part -j 2 >part_build.log 2>&1 || fail 'as a part: not built'
[ ! -e part/eenet/eenet ] || fail 'as a part: a program was built'
part/with_eenet
part/with_eenet_static
! ldd part/with_eenet_static | grep libeenet || fail 'the static library was not linked'
