# Embeds files in the program.

# eenet_hex(FILE OUT): sets OUT to the bytes of FILE as a C initialiser list. CMake runs again when FILE changes.
function(eenet_hex file out)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

# eenet_embed_page(FOLDER OUT): writes the source file OUT with all files of FOLDER as page_files[]
# (src/serve/page/page_files.h). The entity tag of a file is the beginning of its SHA-256.
function(eenet_embed_page folder out)
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
    set(arrays "")
    set(rows "")
    set(number 0)
    foreach(file IN LISTS files)
        cmake_path(GET file FILENAME name)
        eenet_hex(${file} bytes)
        file(SHA256 ${file} hash)
        string(SUBSTRING ${hash} 0 16 tag)
        string(APPEND arrays "static const unsigned char file_${number}[] = {${bytes}};\n")
        string(APPEND rows "    {\"${name}\", \"\\\"${tag}\\\"\", file_${number}, sizeof file_${number}},\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(CONFIGURE OUTPUT ${out} CONTENT
        "#include \"serve/page/page_files.h\"\n@arrays@const page_file page_files[] = {\n@rows@};\nconst size_t page_file_count = @number@;\n"
        @ONLY)
endfunction()

# eenet_embed_texts(OUT HEADER NAME FILE...): writes the source file OUT with each FILE as the string NAME; HEADER
# declares it.
function(eenet_embed_texts out header)
    set(arrays "")
    while(ARGN)
        list(POP_FRONT ARGN name file)
        eenet_hex(${file} bytes)
        string(APPEND arrays "const char ${name}[] = {${bytes}0};\n")
    endwhile()
    file(CONFIGURE OUTPUT ${out} CONTENT "#include \"@header@\"\n@arrays@" @ONLY)
endfunction()
