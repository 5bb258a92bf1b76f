#!/bin/sh
# node_test.sh FOLDER FILE: runs a test of Node's where npm_packages.sh has put the packages; 77 where it could not.
set -eu
cd "$1"
[ -d node_modules ] || exit 77
exec node --preserve-symlinks --preserve-symlinks-main --test --test-reporter=spec "$2"
