# Third-party libraries. We look for the header and the library file, because CMake and pkg-config files differ between
# distributions.

set(THREADS_PREFER_PTHREAD_FLAG ON)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL wasm32)
    add_library(Threads::Threads INTERFACE IMPORTED) # a module has one thread: see src/base/threads.h
else()
    find_package(Threads REQUIRED)
endif()

# eenet_find(NAME HEADER LIBRARY PACKAGE): defines the target eenet_NAME, or fails and names the Debian package to
# install.
function(eenet_find name header library package)
    find_path(EENET_${name}_INCLUDE ${header})
    find_library(EENET_${name}_LIBRARY NAMES ${library} lib${library}.so.5) # without -dev: libpq of another architecture
    mark_as_advanced(EENET_${name}_INCLUDE EENET_${name}_LIBRARY)
    if(NOT EENET_${name}_INCLUDE OR NOT EENET_${name}_LIBRARY)
        message(FATAL_ERROR "${header} or lib${library} is missing: on Debian and Ubuntu it is in ${package}")
    endif()
    add_library(eenet_${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(eenet_${name} PROPERTIES
        IMPORTED_LOCATION ${EENET_${name}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${EENET_${name}_INCLUDE})
endfunction()


# Sets MPI_C_FOUND and defines MPI::MPI_C according to EENET_MPI (AUTO, ON or OFF).
macro(eenet_find_mpi)
    if(EENET_MPI STREQUAL AUTO)
        find_package(MPI QUIET COMPONENTS C)
    elseif(EENET_MPI)
        find_package(MPI COMPONENTS C)
        if(NOT MPI_C_FOUND)
            message(FATAL_ERROR "EENET_MPI: MPI is missing: on Debian and Ubuntu it is in libopenmpi-dev")
        endif()
    else()
        set(MPI_C_FOUND FALSE)
    endif()
endmacro()
