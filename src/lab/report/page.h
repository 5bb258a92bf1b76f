/* The look of a page, and numbers as people read them. What is not known is a dash. */
#ifndef EENET_PAGE_H
#define EENET_PAGE_H

#include "data/values/text.h"

void page_begin(text *page, const char *title);
void page_end(text *page);

/* With this number of decimals, and a true minus sign. */
void page_number(text *page, double value, int decimals);
void page_signed(text *page, double value, int decimals); /* with a plus sign too */
void page_amount(text *page, double value);               /* of time or memory: three digits */
void page_share(text *page, double value);                /* in percent */
void page_p(text *page, double value);

/* Digits after the point to show, so that numbers of at least this size can be compared. */
int page_decimals(double smallest);

/* A piece of `name=value`, or of a command: not ended by a zero. */
void page_piece(text *page, const char *bytes, size_t size);

/* As a shell reads it as one word. */
void page_shell_word(text *page, const char *word);

/* "0-4,7", as -s takes them: sorts seeds, which is (count). */
void page_seeds(text *page, uint64_t *seeds, size_t count);

#endif
