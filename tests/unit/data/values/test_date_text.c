/* What is written as a date, and what only looks a little like one. */
#include "support.h"

#include <math.h>

#include "data/values/date_text.h"

TEST(dates)
{
    static const char *const dates[] = {"2020-01-31",
                                        "2020/1/31",
                                        "31.01.2020",
                                        "1/31/2020",
                                        "31/1/20",
                                        "2020-01-31T10:15:00Z",
                                        "2020-01-31 10:15:00.5",
                                        "31.1.2020 9:05"};
    static const char *const others[] = {
        "",           "2020",        "2020-13-01",  "2020-01-32",   "2020-01",   "1.2.3",
        "10.0.0.1",   "555-12-3456", "12-34-56",    "2020-01/31",   "1-2-2020x", "2020-01-31x",
        "99/99/99",   "0/1/2020",    "123-1-2020",  "1-2-3-4",      "a-b-c",     "-1-2-2020",
        "2020.1.31 ", "20200131",    "12345-01-01", "2020-01-31 am"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (!date_text_is(dates[i])) fail_msg("'%s' is a date", dates[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (date_text_is(others[i])) fail_msg("'%s' is no date", others[i]);
}

TEST(numbers)
{
    static const double dates[] = {20200131, 19000101, 21001231},
                        others[] = {20201301, 20200100, 20200131.5, 2020, 2e9, -20200131, NAN};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) assert_true(date_number_is(dates[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(date_number_is(others[i]));
}
