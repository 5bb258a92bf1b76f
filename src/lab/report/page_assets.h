/* The files of page_assets, part of every page. CMake generates the strings. */
#ifndef EENET_PAGE_ASSETS_H
#define EENET_PAGE_ASSETS_H

extern const char report_css[], report_js[];

#endif
