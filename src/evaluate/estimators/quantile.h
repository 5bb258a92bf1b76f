/* Quantiles for a probability above 0 and below 1; otherwise NaN. The F distribution with 1 and n degrees of freedom is
 * the square of Student's t with n. */
#ifndef EENET_QUANTILE_H
#define EENET_QUANTILE_H

double quantile_normal(double probability);

/* Student's t; freedom, above 0, need not be whole. */
double quantile_student(double probability, double freedom);

/* Of the beta distribution, a and b above 0. */
double quantile_beta(double probability, double a, double b);

#endif
