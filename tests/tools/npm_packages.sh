#!/bin/sh
# npm_packages.sh SOURCE FOLDER: installs the packages of SOURCE/package-lock.json in FOLDER, unless they are installed
# already, and links the modules of SOURCE there. Without npm or a registry it exits with 77 (skipped), in CI with 1.
set -eu
source=$1
folder=$2
skip() {
    echo "npm_packages: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

mkdir -p "$folder"
cd "$folder"
ln -sf "$source"/*.mjs .
if cmp -s "$source/package-lock.json" installed.json; then exit 0; fi
command -v npm >/dev/null || skip 'there is no npm'
cp "$source/package.json" "$source/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || skip 'npm could not install the packages'
cp package-lock.json installed.json
