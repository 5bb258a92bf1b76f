/* What loaders tell of their files is kept, in order and copied. */
#include "data/kind/survey.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

TEST(everything_is_kept_in_order)
{
    survey *seen;
    enum { MANY = 100 };
    char text[32];
    ok(survey_create(&seen, NULL));
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name %zu", i); /* the same room each time: what is kept is a copy */
        survey_column column = {text, (survey_kind)(i % SURVEY_KINDS), i, 2 * i, 1, -(double)i, (double)i};
        ok(survey_add_column(seen, &column, NULL));
        ok(survey_add_class(seen, text, i, NULL));
        ok(survey_add_number(seen, text, (double)i / 2, NULL));
        ok(survey_remark(seen, NULL, "%s is odd", text));
    }
    assert_int_equal(seen->column_count, MANY);
    assert_int_equal(seen->class_count, MANY);
    assert_int_equal(seen->number_count, MANY);
    assert_int_equal(seen->remark_count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name %zu", i);
        assert_string_equal(seen->columns[i].name, text);
        assert_int_equal(seen->columns[i].kind, i % SURVEY_KINDS);
        assert_int_equal(seen->columns[i].distinct, 2 * i);
        assert_string_equal(seen->classes[i].name, text);
        assert_int_equal(seen->classes[i].count, i);
        assert_string_equal(seen->numbers[i].name, text);
        assert_true(seen->numbers[i].value == (double)i / 2);
        strcat(text, " is odd");
        assert_string_equal(seen->remarks[i], text);
    }
    survey_free(seen);
    survey_free(NULL);
}

TEST(a_remark_may_be_long)
{
    survey *seen;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ok(survey_create(&seen, NULL));
    ok(survey_remark(seen, NULL, "%s", text));
    assert_string_equal(seen->remarks[0], text);
    survey_free(seen);
}

TEST(a_remark_is_one_line)
{
    survey *seen;
    ok(survey_create(&seen, NULL));
    ok(survey_remark(seen, NULL, "column '%s'", "a\nb\x1b[1m\x7f"));
    assert_string_equal(seen->remarks[0], "column 'a b [1m '");
    survey_free(seen);
}

TEST(kinds_have_names)
{
    for (int i = 0; i < SURVEY_KINDS; i++) assert_true(strlen(survey_kind_name((survey_kind)i)) > 3);
}
