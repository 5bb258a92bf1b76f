# Toolchain of `make test-other`: compiles for the other one of x86-64 and aarch64 with Debian's cross compiler and the
# libraries of that architecture (cmake/setup.sh other), and runs tests by qemu-user.

if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CMAKE_SYSTEM_PROCESSOR x86_64)
    # The usual model has no AVX2, and the kernels for it would not be tested.
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-x86_64 -cpu max)
else()
    set(CMAKE_SYSTEM_PROCESSOR aarch64)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
