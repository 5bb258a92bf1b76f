#!/bin/sh
# test_setup.sh SETUP: tests setup.sh with fake commands. The file `packages` lists what is installed (NAME ARCHITECTURE
# in each line, or NAME for this machine's architecture), USER_ID is the user, and the file `told` records the calls of
# apt-get and dpkg.
set -eu
setup=$1
mkdir commands
pretend() { # NAME SCRIPT
    printf '#!/bin/sh\n%s\n' "$2" >"commands/$1"
    chmod +x "commands/$1"
}
pretend dpkg 'case $1 in --print-architecture) echo "${MACHINE:-arm64}";; *) echo "dpkg $*" >>told;; esac'
# Prints the format once for each installed architecture of the package.
pretend dpkg-query 'format=$3 last=$4 found=1
while read -r name architecture; do
    architecture=${architecture:-arm64}
    case $last in "$name" | "$name:$architecture") ;; *) continue ;; esac
    printf "$(printf %s "$format" | sed "s/[$]{Architecture}/$architecture/; s/[$]{db:Status-Status}/installed/")"
    found=0
done <packages
exit $found'
pretend apt-get 'echo "$*" >>told'
pretend id 'case $1 in -u) echo "$USER_ID";; *) echo users;; esac'
pretend sudo '[ "$SUDO_WORKS" = yes ] || exit 1; shift; "$@"'

fail() { echo "$*"; cat said; exit 1; }
run() { # STATUS USER_ID SUDO_WORKS GROUP...
    rm -f told
    expected=$1 user=$2 works=$3 status=0
    shift 3
    USER_ID=$user SUDO_WORKS=$works PATH=$PWD/commands:$PATH "$setup" "$@" >said 2>&1 </dev/null || status=$?
    [ $status = "$expected" ] || fail "$*: status $status, expected $expected"
}

# Packages are missing and cannot be installed: one line names them, and the status is 2.
: >packages
run 2 1000 no build
[ "$(wc -l <said)" = 1 ] || fail 'expected one line'
grep -q 'gcc.*cmake' said || fail 'expected the names of the packages'
[ ! -e told ] || fail 'called apt-get'

# As root and with sudo: installs only what is missing.
echo cmake >packages
for who in '0 no' '1000 yes'; do
    # shellcheck disable=SC2086 # two words
    run 0 $who build
    grep -q '^.*update' told || fail 'no update'
    grep -q 'install.* gcc' told || fail 'no install'
    ! grep -q 'install.* cmake' told || fail 'installed what was there'
done

# Packages of both architectures: nothing is missing. Packages of only the other architecture: all are missing.
libraries='libc6-dev zlib1g-dev libzstd-dev libsqlite3-dev libgnutls28-dev libpq-dev'
printf '%s\n' gcc cmake >programs
for library in $libraries; do printf '%s\n%s amd64\n' "$library" "$library"; done | cat programs - >packages
run 0 1000 no build
[ ! -s said ] || fail 'packages of two architectures count as missing'
for library in $libraries; do printf '%s amd64\n' "$library"; done | cat programs - >packages
run 0 0 no build
grep -q "install $libraries\$" told || fail 'packages of another architecture count as installed'

# The other architecture is added before its packages are installed, and only if they are needed.
! grep -q add-architecture told || fail 'adds an architecture that nothing needs'
: >packages
run 0 0 no test-other
[ "$(head -n 1 told)" = 'dpkg --add-architecture amd64' ] || fail 'does not add the other architecture first'
grep -q 'install gcc-x86-64-linux-gnu .* qemu-user .* libcmocka-dev:amd64 libpq-dev libpq5:amd64$' told || fail 'not the packages of amd64'

# If nothing is missing, it does nothing and prints nothing.
printf '%s\n' clang-format-14 cppcheck 'python3-mypy all' python3-numpy 'python3-pyflakes all' >packages
run 0 1000 no lint
[ ! -s said ] && [ ! -e told ] || fail 'did something though nothing was missing'

# An unknown group is an error.
run 1 0 no nonsense
[ ! -e told ] || fail 'accepts an unknown group'
