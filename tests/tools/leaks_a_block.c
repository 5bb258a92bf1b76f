/* Loses ten bytes: that a leak is still found, whatever quick_leaks.c skips. */
#include <stdlib.h>

int main(void)
{
    void *volatile block = malloc(10);
    block = NULL;
    return block != NULL;
}
