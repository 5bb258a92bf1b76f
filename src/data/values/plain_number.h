/* Numbers as people read them: 1486 and 0.00002, where printf's %.3g gives 1.49e+03 and 2e-05. */
#ifndef EENET_PLAIN_NUMBER_H
#define EENET_PLAIN_NUMBER_H

typedef struct plain_number {
    char text[40];
} plain_number;

/* In so many digits, 1 to 15, without zeros at the end; more before the point where the number has more. Only from 1e15
 * on and below 1e-9, where nobody counts zeros, it has an exponent. */
plain_number plain_number_of(double value, int digits);

#endif
