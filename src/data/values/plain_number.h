/* Numbers for people: 1486 and 0.00002 instead of the 1.49e+03 and 2e-05 of printf's %.3g. */
#ifndef EENET_PLAIN_NUMBER_H
#define EENET_PLAIN_NUMBER_H

typedef struct plain_number {
    char text[40];
} plain_number;

/* With this many significant digits (1 to 15), but never fewer than the number has before the point, and without
 * trailing zeros. Numbers from 1e15 on and below 1e-9 have an exponent. */
plain_number plain_number_of(double value, int digits);

#endif
