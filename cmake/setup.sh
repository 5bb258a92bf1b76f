#!/bin/sh
# setup.sh GROUP...: installs what the groups need and the machine lacks, by Debian and Ubuntu package name. A group is a
# case below. If nothing is missing, it does nothing and needs no network. Without the right to install, it prints the
# missing packages and exits with status 2.
set -eu

native=$(dpkg --print-architecture 2>/dev/null || true)
case $native in
arm64) other=amd64 compiler=x86-64-linux-gnu ;;
*) other=arm64 compiler=aarch64-linux-gnu ;;
esac
wanted=
foreign=
for group in "$@"; do
    case $group in
    build) wanted="$wanted gcc libc6-dev cmake zlib1g-dev libzstd-dev libsqlite3-dev libgnutls28-dev libpq-dev" ;;
    demo) wanted="$wanted dataset-fashion-mnist" ;;
    test) wanted="$wanted g++ libcmocka-dev libjansson-dev pkg-config curl" ;;
    test-ci)
        wanted="$wanted valgrind zsh openmpi-bin libopenmpi-dev"
        # For tests of the fleet, which start their own servers.
        wanted="$wanted postgresql haproxy pgbouncer"
        # For tests of pages, which are skipped without it. Ubuntu has chromium only as a snap.
        if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then wanted="$wanted chromium"; fi
        # For tests/node. Some machines have Node.js and npm from elsewhere.
        command -v npm >/dev/null || wanted="$wanted nodejs npm"
        ;;
    # For tests/slurm, which starts its own daemons. Debian's do not start, because Slurm is not configured.
    test-night) wanted="$wanted munge slurm-client slurmctld slurmd" ;;
    # Cross compiler, libraries and emulator for the other architecture.
    test-other)
        foreign=$other
        wanted="$wanted gcc-$compiler g++-$compiler qemu-user cmake"
        for library in zlib1g libzstd libjansson libsqlite3 libgnutls28 libcmocka; do
            wanted="$wanted $library-dev:$foreign"
        done
        # libpq-dev exists for one architecture at a time; its headers serve both.
        wanted="$wanted libpq-dev libpq5:$foreign"
        ;;
    # To build portable wheels for both architectures.
    wheels)
        foreign=$other
        wanted="$wanted gcc-$compiler binutils git zlib1g-dev:$foreign libzstd-dev:$foreign libpython3-dev:$foreign"
        ;;
    test-wheels) wanted="$wanted mmdebstrap debian-archive-keyring qemu-user" ;;
    # Cross compiler for 32-bit x86. Other machines than x86-64 also emulate it.
    test-32)
        foreign=i386
        wanted="$wanted gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross cmake"
        wanted="$wanted libcmocka-dev:i386 libjansson-dev:i386"
        [ "$native" = amd64 ] || wanted="$wanted qemu-user"
        ;;
    test-musl) wanted="$wanted musl-tools gcc binutils cmake make dpkg-dev" ;;
    wasm) wanted="$wanted clang lld wasi-libc libclang-rt-dev-wasm32 cmake" ;;
    # To build the wheel, and to install it as the README shows.
    python) wanted="$wanted python3-dev python3-setuptools python3-wheel python3-pip python3-venv python3-numpy" ;;
    test-python)
        for module in numpy scipy pandas sklearn matplotlib nbclient ipykernel pytest pytest-xdist mypy pyflakes dbg; do
            wanted="$wanted python3-$module"
        done
        # Dependencies of Coba, MABWiser and the Open Bandit Pipeline, if these are present for the tests.
        packages=${EENET_DATA:-/nonexistent}/python-packages
        if [ -d "$packages/coba" ]; then wanted="$wanted python3-cloudpickle"; fi
        if [ -d "$packages/mabwiser" ]; then wanted="$wanted python3-joblib python3-seaborn"; fi
        if [ -d "$packages/obp" ]; then wanted="$wanted python3-torch python3-tqdm python3-yaml"; fi
        ;;
    # Some machines have npm from elsewhere.
    javascript) command -v npm >/dev/null || wanted="$wanted nodejs npm" ;;
    load) wanted="$wanted wrk curl" ;;
    lint) wanted="$wanted clang-format-14 cppcheck python3-mypy python3-numpy python3-pyflakes" ;;
    fuzz) wanted="$wanted clang libclang-rt-dev libjansson-dev" ;;
    # To build the web site. Graphviz draws diagrams, mandoc writes the manual pages.
    site) wanted="$wanted mkdocs mkdocs-material mandoc graphviz git python3-numpy" ;;
    # For the source archives and the list of linked packages.
    release) wanted="$wanted git xz-utils binutils python3-numpy" ;;
    # To compare the library for both architectures with those of earlier releases.
    abi) wanted="$wanted abigail-tools binutils gcc-$compiler libc6-dev-$other-cross" ;;
    # To build the Debian packages for both architectures.
    deb)
        foreign=$other
        wanted="$wanted build-essential debhelper dh-python cmake python3-setuptools python3-wheel gcc-$compiler g++-$compiler"
        for library in zlib1g libzstd libsqlite3 libgnutls28 libpython3; do
            wanted="$wanted $library-dev $library-dev:$foreign"
        done
        wanted="$wanted libpq-dev libpq5:$foreign"
        ;;
    test-deb) wanted="$wanted lintian mmdebstrap autopkgtest qemu-user uidmap" ;;
    image) wanted="$wanted mmdebstrap umoci" ;;
    test-image) wanted="$wanted podman runc curl" ;;
    *) echo "setup.sh: unknown group '$group'; expected a group of cmake/setup.sh, such as build" >&2; exit 1 ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "eenet: not a Debian or Ubuntu system; if the build fails, install the equivalents of these packages:$wanted" >&2
    exit 0
fi

# dpkg-query prints one line for each architecture of the package that is installed. NAME:ARCHITECTURE needs that
# architecture; NAME needs this machine's, or "all".
missing=
for package in $wanted; do
    case $package in
    *:*) accepted=${package#*:} ;;
    *) accepted="$native|all" ;;
    esac
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
        grep -Eqx "($accepted) installed" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# Ask for a password only at a terminal, and only if the user may use sudo.
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root='sudo -n'
elif [ -t 0 ] && [ -t 2 ] && command -v sudo >/dev/null && id -nG | grep -qwE 'sudo|admin'; then
    as_root=sudo
else
    # apt finds packages of another architecture only after that architecture is added.
    add=${foreign:+"sudo dpkg --add-architecture $foreign && sudo apt-get update && "}
    echo "eenet: missing packages; install them with: ${add}sudo apt-get install$missing" >&2
    exit 2
fi

echo "eenet: installing$missing" >&2
# Another program may be installing at the moment, such as automatic updates.
apt_get="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600"
# Ignore a failed update: a broken third-party source does not matter if the packages are in another one.
# shellcheck disable=SC2086 # lists of words
{
    [ -z "$foreign" ] || $as_root dpkg --add-architecture "$foreign"
    $apt_get update || true
    if ! $apt_get -y --no-install-recommends install $missing; then
        echo "eenet: could not install these packages:$missing" >&2
        exit 2
    fi
} >/dev/null
