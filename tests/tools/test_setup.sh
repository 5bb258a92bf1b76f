#!/bin/sh
# test_setup.sh SETUP: the set-up of packages, on a machine of pretended commands: what is installed is the file
# `packages`, who asks is the variable USER_ID, what apt-get was told is the file `told`.
set -eu
setup=$1
mkdir commands
pretend() { # NAME SCRIPT
    printf '#!/bin/sh\n%s\n' "$2" >"commands/$1"
    chmod +x "commands/$1"
}
pretend dpkg-query 'for last; do :; done; grep -qx "$last" packages && echo installed'
pretend apt-get 'echo "$*" >>told'
pretend id 'case $1 in -u) echo "$USER_ID";; *) echo users;; esac'
pretend sudo '[ "$SUDO_WORKS" = yes ] || exit 1; shift; "$@"'

run() { # USER_ID SUDO_WORKS GROUP...
    rm -f told
    user=$1 works=$2
    shift 2
    status=0
    USER_ID=$user SUDO_WORKS=$works PATH=$PWD/commands:$PATH "$setup" "$@" >said 2>&1 </dev/null || status=$?
}
fail() { echo "$*"; cat said; exit 1; }

# Everything missing, and no way to install it: one line that names it, status 2, nothing done.
: >packages
run 1000 no build
[ $status = 2 ] || fail "status $status, expected 2"
[ "$(wc -l <said)" = 1 ] || fail 'expected one line'
grep -q 'gcc.*cmake' said || fail 'expected the names of the packages'
[ ! -e told ] || fail 'called apt-get'

# As root, and by sudo: installs what is missing and nothing else.
echo cmake >packages
for who in '0 no' '1000 yes'; do
    # shellcheck disable=SC2086 # two words
    run $who build
    [ $status = 0 ] || fail "status $status, expected 0"
    grep -q '^.*update' told || fail 'no update'
    grep -q 'install.* gcc' told || fail 'no install'
    ! grep -q 'install.* cmake' told || fail 'installed what was there'
done

# The figures of a report need gnuplot.
echo dataset-fashion-mnist >packages
run 0 no demo
grep -q 'install gnuplot-nox$' told || fail 'does not install gnuplot'

# PyTorch comes with the Open Bandit Pipeline alone, which imports it.
EENET_DATA='' run 0 no test-python
grep -q 'install.* python3-numpy' told || fail 'does not install numpy'
! grep -q 'install.* python3-torch' told || fail 'installs PyTorch that nothing uses'
mkdir -p data/python-packages/obp
EENET_DATA=data run 0 no test-python
grep -q 'install.* python3-torch' told || fail 'does not install PyTorch'

# Nothing missing: nothing done, nothing said.
printf '%s\n' clang-format-14 cppcheck python3-mypy python3-numpy python3-pyflakes >packages
run 1000 no lint
[ $status = 0 ] && [ ! -s said ] && [ ! -e told ] || fail 'did something though nothing was missing'

# A group that does not exist is a mistake of the caller.
run 0 no nonsense
[ $status != 0 ] && [ ! -e told ] || fail 'accepts an unknown group'
