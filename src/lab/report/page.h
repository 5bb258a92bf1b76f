/* The head and foot of a page, and formatted numbers. Unknown numbers are a dash. */
#ifndef EENET_PAGE_H
#define EENET_PAGE_H

#include "data/values/text.h"

void page_begin(text *page, const char *title);
void page_end(text *page);

/* With this number of decimals, and a true minus sign. */
void page_number(text *page, double value, int decimals);
void page_signed(text *page, double value, int decimals); /* with a plus sign too */
void page_amount(text *page, double value);               /* time or memory, with three digits */
void page_share(text *page, double value);                /* in percent */
void page_p(text *page, double value);

/* The number of decimals with which numbers of at least this size can be compared. */
int page_decimals(double smallest);

/* Text that does not end in a zero. */
void page_piece(text *page, const char *bytes, size_t size);

/* Quoted as one word for a shell. */
void page_shell_word(text *page, const char *word);

/* "0-4,7", as in -s. Sorts seeds, which is (count). */
void page_seeds(text *page, uint64_t *seeds, size_t count);

#endif
