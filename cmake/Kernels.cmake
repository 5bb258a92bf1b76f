# src/math/kernels.c is compiled once for each instruction set; KERNELS_NAME is the set's name. src/math/kernel_table.c
# picks one when the program runs, by the same rule of which sets there are.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(EENET_KERNELS baseline avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(EENET_KERNELS neon)
else()
    set(EENET_KERNELS baseline)
endif()

set(EENET_KERNEL_FLAGS_avx2 -mavx2 -mfma)
set(EENET_KERNEL_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)

# The kernels are loops that the compiler vectorizes, which takes -O3 and leave to reorder sums: in every build type, so
# that the tests run what is installed.
set(EENET_KERNEL_FLAGS -O3 -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math -ffp-contract=fast)

# Sets objects to the object files of all sets.
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
