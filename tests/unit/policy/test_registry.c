/* The policies that there are, and what their tables of options say. */
#include "support.h"

#include "policy/policy.h"

enum { MOST_FIRST = 15 }; /* of those that act: what fits a screen */

/* A name that no option has would never be shown. Parts that share a title stand together, so that a list by parts has
 * each title once. */
TEST(options_that_people_change_first_and_parts_of_one_title)
{
    ee_policy each;
    for (size_t i = 0; ee_policy_describe(i, &each, NULL) == EE_OK; i++) {
        const policy_class *class;
        const char *preset, *parts[32];
        size_t named = 0, found = 0, acting = 0, count = 0;
        ok(policy_find(each.name, &class, &preset, NULL));
        const char *first = class->schema->first ? class->schema->first : "";
        for (; *first; first += strspn(first, " "), named++) first += strcspn(first, " ");
        ee_option reported;
        for (size_t k = 0; ee_option_describe(each.name, k, &reported, NULL) == EE_OK; k++) {
            found += reported.first ? 1 : 0;
            acting += reported.first && reported.acts;
            if (count && strcmp(parts[count - 1], reported.part) == 0) continue;
            for (size_t p = 0; p < count; p++) assert_string_not_equal(parts[p], reported.part);
            parts[count++] = reported.part;
        }
        assert_int_equal(found, named);
        assert_true(acting <= MOST_FIRST);
    }
}
