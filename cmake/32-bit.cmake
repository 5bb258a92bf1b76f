# Toolchain of `make test-32`: Debian's cross compiler for 32-bit x86 (cmake/setup.sh test-32). x86-64 runs the tests
# itself, other machines with qemu-user.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
# The x87 unit computes with more bits than the type of a variable has, and results would depend on what is stored.
set(CMAKE_C_FLAGS_INIT "-msse2 -mfpmath=sse")
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386)
endif()
