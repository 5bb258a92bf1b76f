/* Quantiles against formulas, and against the numbers of SciPy. */
#include "evaluate/estimators/quantile.h"

#include "support.h"

/* SciPy's norm.ppf, and that it is the inverse of erfc far into the tail. */
TEST(normal)
{
    assert_close(quantile_normal(0.975), 1.959963984540054, 1e-15);
    assert_close(quantile_normal(0.995), 2.5758293035489004, 1e-15);
    assert_close(quantile_normal(0.3), -0.5244005127080409, 1e-15);
    assert_close(quantile_normal(0.5), 0.0, 1e-15);
    assert_close(quantile_normal(1e-10), -6.361340902404056, 1e-14);
    assert_close(quantile_normal(1e-300), -37.0470962993612, 1e-14);
    assert_true(isnan(quantile_normal(0.0)) && isnan(quantile_normal(1.0)));
    assert_true(isnan(quantile_normal(NAN)));
}

/* Numbers of SciPy's t.ppf, which has eight digits right; for 1 and 2 degrees of freedom there are formulas, and for
 * many it is the normal one. */
TEST(student)
{
    assert_close(quantile_student(0.975, 1), tan(0.475 * acos(-1.0)), 1e-13);
    assert_close(quantile_student(0.975, 2), 0.95 * sqrt(2.0 / (1.0 - 0.95 * 0.95)), 1e-13);
    assert_close(quantile_student(0.975, 4), 2.7764451051977987, 1e-8);
    assert_close(quantile_student(0.975, 9), 2.262157162740991, 1e-8);
    assert_close(quantile_student(0.95, 29), 1.6991270265334972, 1e-8);
    assert_close(quantile_student(0.6, 4), 0.2707222947059493, 1e-8);
    assert_close(quantile_student(0.999, 1), 318.3088389855419, 1e-8);
    assert_close(quantile_student(0.999, 100), 3.17373948898441, 1e-8);
    assert_close(quantile_student(0.025, 9), -2.262157162740992, 1e-8);
    assert_close(quantile_student(0.5, 3), 0.0, 1e-15);
    assert_close(quantile_student(0.975, 1e12), quantile_normal(0.975), 1e-11);
    assert_close(quantile_student(0.975, 99999.999), quantile_student(0.975, 100000.001), 1e-11);
    assert_true(isnan(quantile_student(0.975, 0)) && isnan(quantile_student(1.0, 3)));
    assert_true(isnan(quantile_student(0.0, 3)));
}

/* With a or b of 1 there are formulas; the others are SciPy's beta.ppf. */
TEST(beta)
{
    assert_close(quantile_beta(0.3, 1, 1), 0.3, 1e-14);
    assert_close(quantile_beta(0.025, 1, 7.5), 1.0 - pow(0.975, 1.0 / 7.5), 1e-14);
    assert_close(quantile_beta(0.025, 0.2, 1), pow(0.025, 5.0), 1e-20);
    assert_close(quantile_beta(0.025, 10, 100), 0.04487571345803662, 1e-11);
    assert_close(quantile_beta(0.975, 300, 5000), 0.0629811540477537, 1e-11);
    assert_close(quantile_beta(0.5, 5e6, 2e6), 0.7142857346938734, 1e-11);
    assert_close(quantile_beta(0.1, 3, 4) + quantile_beta(0.9, 4, 3), 1.0, 1e-14);
    assert_true(isnan(quantile_beta(0.5, 0, 1)) && isnan(quantile_beta(1.5, 1, 1)));
}
