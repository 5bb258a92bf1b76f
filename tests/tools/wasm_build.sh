#!/bin/sh
# wasm_build.sh SOURCE FOLDER CMAKE: builds FOLDER/package and FOLDER/playground, as make wasm and make playground do.
# Exits with 77 (skipped) if the compiler for WebAssembly is not installed.
set -eu
source=$1 folder=$2 cmake=$3
if ! command -v clang >/dev/null || ! command -v wasm-ld >/dev/null || [ ! -d /usr/include/wasm32-wasi ]; then
    echo 'wasm_build: clang, lld or wasi-libc is missing: see cmake/setup.sh wasm' >&2
    exit 77
fi
"$cmake" -S "$source" -B "$folder/objects" -DCMAKE_TOOLCHAIN_FILE="$source/cmake/wasm.cmake" \
    -DCMAKE_BUILD_TYPE=MinSizeRel -DEENET_PROGRAM=OFF -DEENET_TESTS=OFF -DEENET_WERROR=ON \
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$folder/package" -DEENET_PLAYGROUND="$folder/playground" >/dev/null
"$cmake" --build "$folder/objects" -j 2 --target playground
