# Toolchain of `make test-other`: on x86-64 it compiles for aarch64, on aarch64 for x86-64. It uses Debian's cross
# compiler and libraries (cmake/setup.sh test-other), and runs the tests with qemu-user.

if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CMAKE_SYSTEM_PROCESSOR x86_64)
    # The default CPU model has no AVX2, so the AVX2 kernels would not be tested.
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-x86_64 -cpu max)
else()
    set(CMAKE_SYSTEM_PROCESSOR aarch64)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
