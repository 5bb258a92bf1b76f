/* What a value of a distribution lies below with a given probability, which is above 0 and below 1; else NaN. The F
 * distribution of 1 and n degrees of freedom needs none of its own: it is the square of Student's t of n. */
#ifndef EENET_QUANTILE_H
#define EENET_QUANTILE_H

double quantile_normal(double probability);

/* Student's t; freedom, above 0, need not be whole. */
double quantile_student(double probability, double freedom);

/* Of the beta distribution, a and b above 0. */
double quantile_beta(double probability, double a, double b);

#endif
