#!/bin/sh
# wheels.sh WHEELS WORK: installs the wheels and the sdist of folder WHEELS as users do, in Debian releases with other
# versions of glibc, Python and numpy. Each is a root of mmdebstrap in WORK/roots, which later calls reuse. Root only.
#
# A fresh virtual environment gets the wheel and, because PyPI may be out of reach, Debian's numpy: nothing else.
set -eu
wheels=$(realpath "$1") work=$2 source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$work/roots"
work=$(realpath "$work")
[ "$(id -u)" = 0 ] || { echo 'wheels.sh: needs root, to enter other systems' >&2; exit 2; }
fail() { echo "wheels.sh: $*" >&2; exit 1; }

# This machine's own mirror of Debian; none: mmdebstrap's default.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1)

# root NAME RELEASE ARCHITECTURE VARIANT PACKAGE,...
root() {
    [ -d "$work/roots/$1" ] && return
    rm -rf "$work/roots/.new"
    # shellcheck disable=SC2086 # no word or one
    mmdebstrap --quiet --mode=root --architectures="$3" --variant="$4" --include="$5" "$2" "$work/roots/.new" $mirror ||
        fail "no root of $2"
    mv "$work/roots/.new" "$work/roots/$1"
}

# The first Python example of the page and what it prints, as files.
python3 - "$source/python/README.md" "$work" <<'end'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S).groups()
open(sys.argv[2] + "/example.py", "w", encoding="utf-8").write(code)
open(sys.argv[2] + "/example.txt", "w", encoding="utf-8").write(printed)
end
# eenet.lab with both libraries that the wheel contains.
cat >"$work/laboratory.py" <<'end'
import gzip, sys, eenet, eenet.evaluate, eenet.lab
rows = "\n".join(f"{i % 7},{i % 3},{i % 2}" for i in range(200)).encode()
with gzip.open("/tmp/rows.csv.gz", "wb") as file:
    file.write(b"a,b,target\n" + rows + b"\n")
print(eenet.lab.open("table:/tmp/rows.csv.gz"))
print(eenet.__version__, sys.version.split()[0], eenet.kernels())
end

# try ROOT FILE PIP-FLAG...: installs FILE in a new environment in the root and runs the example.
try() {
    root=$work/roots/$1 file=$2
    shift 2
    rm -rf "$root/try" && mkdir "$root/try" && cp "$file" "$work"/example.py "$work"/laboratory.py "$root/try"
    chroot "$root" sh -eu -c '
        export LC_ALL=C.UTF-8
        cd /try
        python3 -m venv env
        site=$(echo env/lib/python3*/site-packages)
        ln -s /usr/lib/python3/dist-packages/numpy* "$site"
        if [ "$#" -gt 1 ]; then ln -s /usr/lib/python3/dist-packages/wheel* "$site"; fi
        file=$1
        shift
        env/bin/pip install --quiet --no-index --disable-pip-version-check "$@" "./$file"
        env/bin/python example.py
    ' sh "$(basename "$file")" "$@" >"$work/printed.txt" || fail "$root: not installed or not run"
    diff "$work/example.txt" "$work/printed.txt" || fail "$root: the example prints something else"
}
laboratory() { chroot "$work/roots/$1" env LC_ALL=C.UTF-8 /try/env/bin/python /try/laboratory.py >"$work/said.txt" 2>&1; }
report() { echo "$1: $(tail -n 1 "$work/said.txt")"; }

machine=$(uname -m) native=$(dpkg --print-architecture)
wheel=$(echo "$wheels"/eenet-*-"manylinux_2_28_$machine.whl")
for release in bullseye bookworm trixie; do
    root $release $release "$native" apt python3,python3-numpy,python3-pip,python3-venv
    try $release "$wheel"
    laboratory $release || { cat "$work/said.txt"; fail "$release: eenet.lab does not work"; }
    report $release
done

# The sdist, with a compiler and without CMake; then with zlib and zstd too.
tools=gcc,libc6-dev,python3-dev,python3-setuptools,python3-wheel
root compiler bookworm "$native" apt "$tools,python3-numpy,python3-pip,python3-venv"
root compression bookworm "$native" apt "$tools,zlib1g-dev,libzstd-dev,python3-numpy,python3-pip,python3-venv"
for name in compiler compression; do
    [ ! -e "$work/roots/$name/usr/bin/cmake" ] || fail "$name: has CMake"
    try $name "$(echo "$wheels"/eenet-*.tar.gz)" --no-build-isolation
done
! laboratory compiler || fail 'eenet.lab without zlib was expected to fail'
grep -q '^ImportError: .*zlib1g-dev' "$work/said.txt" || { cat "$work/said.txt"; fail 'expected the names of the packages'; }
laboratory compression || { cat "$work/said.txt"; fail 'sdist: eenet.lab does not work'; }
report sdist

# The other architecture's wheel with its python3, by qemu-user.
case $native in
arm64) foreign=amd64 other=x86_64 loader="qemu-x86_64 -cpu max" ;;
*) foreign=arm64 other=aarch64 loader=qemu-aarch64 ;;
esac
root other bookworm $foreign extract python3,python3-numpy
site=$work/roots/other/try
rm -rf "$site" && mkdir "$site"
python3 -m zipfile -e "$wheels"/eenet-*-"manylinux_2_28_$other.whl" "$site"
emulated() {
    libraries=$work/roots/other/usr/lib/$other-linux-gnu
    $loader -L "$work/roots/other" -E "LD_LIBRARY_PATH=$libraries/blas:$libraries/lapack:$libraries" \
        -E "PYTHONHOME=$work/roots/other/usr" -E "PYTHONPATH=$site:$work/roots/other/usr/lib/python3/dist-packages" \
        -E LC_ALL=C.UTF-8 -E PYTHONDONTWRITEBYTECODE=1 "$work/roots/other/usr/bin/python3" "$1"
}
emulated "$work/example.py" >"$work/printed.txt" || fail "$other: not run"
diff "$work/example.txt" "$work/printed.txt" || fail "$other: the example prints something else"
emulated "$work/laboratory.py" >"$work/said.txt" || fail "$other: eenet.lab does not work"
report "$other"
