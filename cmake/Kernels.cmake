# src/math/kernels.c is compiled once for each instruction set; KERNELS_NAME is the name of the set.
# src/math/kernel_table.c picks one at run time, from the same list of sets.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(EENET_KERNELS baseline avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(EENET_KERNELS neon)
else()
    set(EENET_KERNELS baseline)
endif()

set(EENET_KERNEL_FLAGS_avx2 -mavx2 -mfma)
set(EENET_KERNEL_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)

# The compiler vectorizes the kernels only with -O3 and permission to reorder sums. Every build type uses these flags,
# so that the tests run the same kernels as an installed build.
set(EENET_KERNEL_FLAGS -O3 -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math -ffp-contract=fast)

# eenet_add_kernels(OBJECTS): sets OBJECTS to the object files of all instruction sets.
function(eenet_add_kernels objects)
    foreach(set IN LISTS EENET_KERNELS)
        add_library(eenet_kernels_${set} OBJECT ${PROJECT_SOURCE_DIR}/src/math/kernels.c)
        target_compile_definitions(eenet_kernels_${set} PRIVATE KERNELS_NAME=${set})
        target_compile_options(eenet_kernels_${set} PRIVATE ${EENET_KERNEL_FLAGS} ${EENET_KERNEL_FLAGS_${set}})
        target_link_libraries(eenet_kernels_${set} PRIVATE eenet_flags)
        list(APPEND files $<TARGET_OBJECTS:eenet_kernels_${set}>)
    endforeach()
    set(${objects} ${files} PARENT_SCOPE)
endfunction()
