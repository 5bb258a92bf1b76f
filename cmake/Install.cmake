# What is installed. Everything finds its place from where it lies, so `cmake --install --prefix` may name any.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/eenet)

install(TARGETS eenet_shared eenet_static EXPORT eenetTargets)
install(FILES include/eenet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# As they lie in the source, so that links from one to the other hold.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(EENET_PROGRAM)
    install(TARGETS eenet)
    file(GLOB manual_pages CONFIGURE_DEPENDS man/*.1)
    install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES cli/completion/eenet.bash RENAME eenet
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES cli/completion/_eenet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
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
