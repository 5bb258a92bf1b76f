# Toolchain of `make wasm`: Debian's clang, lld and wasi-libc (cmake/setup.sh wasm) compile for WebAssembly.

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
# Every browser since 2023 has these vectors. Without -nostdlibinc clang would also search /usr/include, where the
# headers of this machine are; it warns that linking ignores the flag.
set(CMAKE_C_FLAGS_INIT
    "-msimd128 -nostdlibinc -isystem /usr/include/wasm32-wasi -Wno-unused-command-line-argument")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
