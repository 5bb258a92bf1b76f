/* The files of the page, as they are in src/serve/page. CMake makes the table. */
#ifndef EENET_PAGE_FILES_H
#define EENET_PAGE_FILES_H

#include <stddef.h>

typedef struct page_file {
    const char *name; /* "index.html" */
    const char *tag;  /* for ETag, with its quotes; it changes with the file */
    const unsigned char *bytes;
    size_t size;
} page_file;

extern const page_file page_files[];
extern const size_t page_file_count;

#endif
