#!/bin/sh
# node_test.sh FOLDER FILE: runs a Node.js test in FOLDER, where npm_packages.sh installed the packages. Exits with 77
# (skipped) if it could not install them.
set -eu
cd "$1"
[ -d node_modules ] || exit 77
exec node --preserve-symlinks --preserve-symlinks-main --test --test-reporter=spec "$2"
