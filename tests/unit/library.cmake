# The unit tests of the library alone, for the preset 32-bit. Those that also play the laboratory's problems are left
# out: they need the program. So is test_record, which needs zlib.

eenet_find(cmocka cmocka.h cmocka libcmocka-dev)
eenet_find(jansson jansson.h jansson libjansson-dev)
add_library(eenet_test_support STATIC unit/support.c unit/support_files.c unit/support_locale.c unit/support_main.c
    unit/support_network.c unit/support_tests.c ${PROJECT_SOURCE_DIR}/bench/problem.c)
target_include_directories(eenet_test_support PUBLIC unit ${PROJECT_SOURCE_DIR})
target_link_libraries(eenet_test_support PUBLIC eenet_core eenet_cmocka eenet_jansson)
target_compile_definitions(eenet_test_support PUBLIC
    EENET_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden" EENET_CORPUS_DIR="${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus"
    EENET_MODELS_DIR="${CMAKE_CURRENT_SOURCE_DIR}/models" $<$<BOOL:${CMAKE_CROSSCOMPILING_EMULATOR}>:EENET_EMULATED>)

# What differs between 32 and 64 bits and is quick.
set(short_tests archive bandit decimal features file id_tallies kernels limits memory named_bandit network ridge
    stored_models vw_hash)
list(TRANSFORM short_tests PREPEND test_)
add_custom_target(short_tests)
set(unit_tests)
foreach(folder IN ITEMS base math net policy features engine)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS unit/${folder}/test_*.c)
    list(APPEND unit_tests ${tests})
endforeach()
foreach(source IN LISTS unit_tests)
    file(STRINGS ${source} needs_laboratory LIMIT_COUNT 1 REGEX "#include \"(lab/|.*neural_play)")
    if(needs_laboratory)
        continue()
    endif()
    cmake_path(GET source STEM name)
    if(name STREQUAL test_record)
        continue()
    endif()
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE eenet_test_support)
    add_test(NAME ${name} COMMAND ${name})
    if(name MATCHES "^test_allocation")
        target_link_options(${name} PRIVATE -Wl,--wrap=calloc -Wl,--wrap=free)
    endif()
    if(name IN_LIST short_tests)
        set_tests_properties(${name} PROPERTIES LABELS short)
        add_dependencies(short_tests ${name})
    endif()
endforeach()
