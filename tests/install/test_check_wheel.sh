#!/bin/sh
# test_check_wheel.sh SOURCE CC: what check_wheel.py must accept and refuse, on small wheels. Skipped (77) on other
# processors than those of wheels, and without glibc.
set -eu
source=$1 cc=$2
case $(uname -m) in x86_64 | aarch64) ;; *) echo 'no wheels for this processor'; exit 77 ;; esac
echo '#include <features.h>' | $cc -E -dM - | grep -q __GLIBC__ || { echo 'needs glibc'; exit 77; }
command -v python3 >/dev/null && command -v readelf >/dev/null || { echo 'needs python3 and readelf'; exit 77; }
cat >extension.c <<'end'
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
static void *work(void *number) { *(double *)number = exp(*(double *)number); return NULL; }
double extension(double x) {
    pthread_t thread;
    struct stat about;
    if (stat("/", &about) || pthread_create(&thread, NULL, work, &x) || pthread_join(thread, NULL)) return 0;
    return x;
}
end
echo 'double other(void); double more(void) { return other(); }' >more.c
echo 'double other(void) { return 1; }' >other.c
$cc -shared -fPIC -o libother.so.1 -Wl,-soname,libother.so.1 other.c

# wheel NAME NOTICE EXTENSION: packs a wheel.
wheel() { python3 - "$@" <<'end'
import sys, zipfile
name, notice, extension = sys.argv[1:]
with zipfile.ZipFile(name, "w") as archive:
    archive.write(extension, "eenet/_core.abi3.so")
    if notice == "with":
        archive.writestr("eenet/libzstd.copyright", "")
        archive.writestr("eenet/zlib1g.copyright", "")
end
}
fail() { echo "$*"; cat said; exit 1; }
accepted() { "$source/tests/install/check_wheel.py" "$1" >said 2>&1 || fail 'expected to be accepted'; }
refused() { ! "$source/tests/install/check_wheel.py" "$1" >said 2>&1 || fail "expected: $2"; grep -q "$2" said || fail "expected: $2"; }

machine=$(uname -m)
good=eenet-1-cp39-abi3-manylinux_2_28_$machine.whl
portable="-fno-builtin $source/python/src/portable/glibc_2_28.c -Wl,--no-as-needed -l:libpthread.so.0"
# shellcheck disable=SC2086 # words
$cc -O2 -std=c11 -fPIC -fvisibility=hidden -shared -o portable.so $portable extension.c -lm
wheel "$good" with portable.so
accepted "$good"
wheel "$good" without portable.so
refused "$good" 'no libzstd.copyright'
wheel "eenet-1-cp39-abi3-linux_$machine.whl" with portable.so
refused "eenet-1-cp39-abi3-linux_$machine.whl" 'expected a name'
case $machine in x86_64) other=aarch64 ;; *) other=x86_64 ;; esac
wheel "eenet-1-cp39-abi3-manylinux_2_28_$other.whl" with portable.so
refused "eenet-1-cp39-abi3-manylinux_2_28_$other.whl" "built for $machine, expected $other"

# Any promise can be too much: these functions are as old as the architecture, so a wheel of glibc 2.1 needs more.
wheel "eenet-1-cp39-abi3-manylinux_2_1_$machine.whl" with portable.so
refused "eenet-1-cp39-abi3-manylinux_2_1_$machine.whl" 'needs exp@GLIBC_2'

# Without the old versions it depends on the glibc of this machine.
$cc -O2 -std=c11 -fPIC -shared -o extension.so extension.c -lm
if readelf -W --dyn-syms extension.so | grep -q 'UND exp@GLIBC_2.29'; then
    wheel "$good" with extension.so
    refused "$good" 'needs exp@GLIBC_2.29'
fi
$cc -fPIC -shared -o more.so more.c -L. -l:libother.so.1 -Wl,-rpath,/opt/lib
wheel "$good" with more.so
refused "$good" 'needs libother.so.1'
refused "$good" 'has a search path'
