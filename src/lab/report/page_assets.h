/* The files of page_assets, which every page has in it. CMake makes the texts. */
#ifndef EENET_PAGE_ASSETS_H
#define EENET_PAGE_ASSETS_H

extern const char report_css[], report_js[];

#endif
