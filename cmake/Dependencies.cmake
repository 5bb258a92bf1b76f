# The libraries of others. Each is found by its header and its file, since their own CMake and pkg-config files differ
# from one distribution to the next.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# eenet_find(NAME HEADER LIBRARY PACKAGE): the target eenet_NAME, or an error that names the Debian package to install.
function(eenet_find name header library package)
    find_path(EENET_${name}_INCLUDE ${header})
    find_library(EENET_${name}_LIBRARY ${library})
    mark_as_advanced(EENET_${name}_INCLUDE EENET_${name}_LIBRARY)
    if(NOT EENET_${name}_INCLUDE OR NOT EENET_${name}_LIBRARY)
        message(FATAL_ERROR "${header} or lib${library} is missing: on Debian and Ubuntu it is in ${package}")
    endif()
    add_library(eenet_${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(eenet_${name} PROPERTIES
        IMPORTED_LOCATION ${EENET_${name}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${EENET_${name}_INCLUDE})
endfunction()

