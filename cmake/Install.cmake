# Installation. All installed files are relocatable, so `cmake --install --prefix` accepts any prefix.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/eenet)

install(TARGETS eenet_shared eenet_static EXPORT eenetTargets)
install(FILES include/eenet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Same layout as in the source, so that links between documents work.
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
# examples/shop uses it.
install(DIRECTORY clients/javascript DESTINATION ${CMAKE_INSTALL_DOCDIR}/clients)

# A page of section 3 lists its functions on the line after NAME. The other functions link to the first one's page.
file(GLOB library_pages CONFIGURE_DEPENDS man/*.3)
foreach(page IN LISTS library_pages)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    cmake_path(GET page STEM page_name)
    file(STRINGS ${page} names REGEX " \\\\- " LIMIT_COUNT 1)
    string(REGEX MATCHALL "ee_[a-z_]+" names "${names}")
    list(REMOVE_ITEM names ${page_name})
    foreach(name IN LISTS names)
        file(CONFIGURE OUTPUT man/${name}.3 CONTENT ".so man3/${page_name}.3\n")
        list(APPEND library_pages ${PROJECT_BINARY_DIR}/man/${name}.3)
    endforeach()
endforeach()
install(FILES ${library_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

if(EENET_PROGRAM)
    install(TARGETS eenet)
    file(GLOB manual_pages CONFIGURE_DEPENDS man/*.1)
    install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES cli/completion/eenet.bash RENAME eenet
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES cli/completion/_eenet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    if(EENET_SERVER)
        install(FILES share/systemd/eenet.service share/systemd/eenet.socket DESTINATION lib/systemd/system)
        install(FILES share/eenet.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/eenet)
    endif()
endif()

install(EXPORT eenetTargets NAMESPACE eenet:: DESTINATION ${package_folder})
configure_package_config_file(cmake/eenetConfig.cmake.in eenetConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(eenetConfigVersion.cmake COMPATIBILITY ${EENET_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/eenetConfig.cmake ${PROJECT_BINARY_DIR}/eenetConfigVersion.cmake
    DESTINATION ${package_folder})

file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/eenet.pc.in eenet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/eenet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
