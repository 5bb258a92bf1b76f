#!/bin/sh
# run_other.sh FILES ROOT: runs the cross-built packages, unpacked in FILES/PACKAGE/ARCHITECTURE.deb, with qemu-user. ROOT is
# the source.
set -eu
files=$1 root=$2
fail() { echo "run_other.sh: $*"; exit 1; }
case $(dpkg --print-architecture) in
amd64) other=arm64 machine=aarch64 ;;
*) other=amd64 machine=x86_64 ;;
esac
emulator=qemu-$machine triplet=$machine-linux-gnu
cd "$files"
library=$PWD/libeenet0/$other.deb/usr/lib/$triplet

# A program of others, with the shared library.
"$triplet-gcc" "$root/tests/install/consumer_c.c" -I"libeenet-dev/$other.deb/usr/include" -L"$library" -l:libeenet.so.0 -o consumer
"$emulator" -E LD_LIBRARY_PATH="$library" consumer || fail 'the library does not decide'

# The program computes what it computes here.
for architecture in "$other" "$(dpkg --print-architecture)"; do
    program=eenet/$architecture.deb/usr/bin/eenet
    if [ "$architecture" = "$other" ]; then set -- "$emulator" "$program"; else set -- "$program"; fi
    "$@" run -d synthetic:cosine -p linucb -T 200 -s 0-1 2>/dev/null | sed 's/ *[0-9.]*$//' >"$architecture.txt"
    [ -s "$architecture.txt" ] || fail "$program does not run"
done
diff "$other.txt" "$(dpkg --print-architecture).txt" || fail 'the programs differ'

# Python's extensions, in the interpreter of that architecture; numpy, which the rest of the package needs, is not there.
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
apt-get -qq -o APT::Sandbox::User=root download "python$version-minimal:$other"
dpkg-deb -x "python$version-minimal_"*"_$other.deb" interpreter
"$emulator" -E LD_BIND_NOW=1 "interpreter/usr/bin/python$version" -S - "python3-eenet/$other.deb/usr/lib/python3/dist-packages/eenet" <<'END'
import importlib.util
import sys

for name in ("_core", "_lab"):
    spec = importlib.util.spec_from_file_location(name, f"{sys.argv[1]}/{name}.abi3.so")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
END
