#!/bin/sh
# source.sh: writes the source of HEAD as build/source/eenet-source-VERSION.tar.gz and .tar.xz, with the same bytes each
# time. The sdist of the Python package is eenet-VERSION.tar.gz.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define EE_VERSION "\(.*\)"$/\1/p' include/eenet.h)
name=eenet-source-$version
rm -rf build/source
mkdir -p build/source
# The user's configuration of git could change modes and line ends.
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="eenet-$version/" -o "build/source/$name.tar" HEAD
gzip -9 -n -k "build/source/$name.tar"
xz -T1 -6 "build/source/$name.tar"
