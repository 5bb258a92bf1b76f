/* The policies that there are, and what their tables of options say. */
#include "support.h"

#include <string.h>

#include "policy/policy.h"

enum { MOST_FIRST = 15 }; /* of those that act: what fits a screen */

/* A name that no option has would never be shown. */
static void those_that_people_change_first_are_options(void **state)
{
    (void)state;
    ee_policy each;
    for (size_t i = 0; ee_policy_describe(i, &each, NULL) == EE_OK; i++) {
        const policy_class *class;
        const char *preset;
        size_t named = 0, found = 0, acting = 0;
        assert_int_equal(policy_find(each.name, &class, &preset, NULL), EE_OK);
        const char *first = class->schema->first ? class->schema->first : "";
        for (; *first; first += strspn(first, " "), named++) first += strcspn(first, " ");
        ee_option told;
        for (size_t k = 0; ee_option_describe(each.name, k, &told, NULL) == EE_OK; k++) {
            found += told.first ? 1 : 0;
            acting += told.first && told.acts;
        }
        assert_int_equal(found, named);
        assert_true(acting <= MOST_FIRST);
    }
}

/* Parts that share a title stand together, so that a list by parts has each title once. */
static void parts_stand_together(void **state)
{
    (void)state;
    ee_policy each;
    for (size_t i = 0; ee_policy_describe(i, &each, NULL) == EE_OK; i++) {
        const char *parts[32];
        size_t count = 0;
        ee_option told;
        for (size_t k = 0; ee_option_describe(each.name, k, &told, NULL) == EE_OK; k++) {
            if (count && strcmp(parts[count - 1], told.part) == 0) continue;
            for (size_t p = 0; p < count; p++) assert_string_not_equal(parts[p], told.part);
            parts[count++] = told.part;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_people_change_first_are_options),
        cmocka_unit_test(parts_stand_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
