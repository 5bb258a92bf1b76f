# The targets eenet::eenet (shared) and eenet::eenet_static: the same for the installed package and for projects that
# use add_subdirectory.

# The number in the soname: raise it with each change that breaks programs built with an earlier version of the library,
# and rename Debian's package libeenet0 with it.
set(EENET_SOVERSION 0)
# Compatibility of the CMake package: before 1.0, versions with the same minor number are compatible; from 1.0 on, versions
# with the same major number.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(EENET_COMPATIBILITY SameMinorVersion)
else()
    set(EENET_COMPATIBILITY SameMajorVersion)
endif()

# Settings of both libraries; users link eenet::NAME.
function(eenet_describe_library target name)
    add_library(eenet::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME eenet EXPORT_NAME ${name} LINKER_LANGUAGE C)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE Threads::Threads m)
endfunction()

# eenet_add_shared(TARGET OBJECT...)
function(eenet_add_shared target)
    add_library(${target} SHARED ${ARGN})
    eenet_describe_library(${target} eenet)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${EENET_SOVERSION})
    if(NOT EENET_SANITIZE)
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()

# eenet_add_static(TARGET ARCHIVE): links the objects of the target ARCHIVE into one object and makes hidden symbols
# local. Otherwise a name such as network_forward could clash with the program that links the library.
function(eenet_add_static target archive)
    set(whole ${PROJECT_BINARY_DIR}/${target}.o)
    add_custom_command(OUTPUT ${whole}
        COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${whole} -Wl,--whole-archive $<TARGET_FILE:${archive}>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
        DEPENDS ${archive} VERBATIM COMMENT "Joining the objects of the static library")
    set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${target} STATIC ${whole})
    eenet_describe_library(${target} eenet_static)
endfunction()
