/* A model whose parameters are not all finite is refused when it is loaded, whatever its policy: with it no decision
 * could be made, or all of them would be the same. */
#include <math.h>

#include "every_policy.h"
/* after what has a parameter called policy */
#include "engine/bandit.h"

enum { ARMS = 4, DIM = 6, ROUNDS = 30 };

static ee_bandit *played(const policy_case *c)
{
    ee_bandit *bandit = bandit_make(c->name, DIM, 5, c->options);
    bandit_play(bandit, 1, ROUNDS, ARMS, false);
    return bandit;
}

/* Whether place i of the values is not finite, as a float or as half of a double. */
static bool is_broken(const parameters *learned, size_t i)
{
    const double *doubles = (const double *)(const void *)learned->values;
    return i < learned->floats ? !isfinite(learned->values[i]) : i + 1 < learned->count && !isfinite(doubles[i / 2]);
}

TEST(none_is_loaded)
{
    const uint32_t wrong = UINT32_C(0x7ff80001); /* not a number, also as the upper half of a double */
    policy_case c;
    size_t tried = 0;
    for (size_t k = 0; policy_case_at(k, &c); k++) {
        ee_bandit *bandit = played(&c);
        parameters *learned = &bandit->policy->parameters;
        size_t saved = learned->count - learned->unsaved;
        for (size_t i = 0; i < saved; i += 1 + saved / 300) {
            float before = learned->values[i];
            void *bytes = NULL;
            size_t size;
            ee_bandit *loaded = NULL;
            memcpy(&learned->values[i], &wrong, sizeof wrong);
            if (is_broken(learned, i) && !ee_bandit_save_bytes(bandit, &bytes, &size, NULL)) {
                tried++;
                if (ee_bandit_load_bytes(bytes, size, NULL, &loaded, NULL) == EE_OK &&
                    is_broken(&loaded->policy->parameters, i))
                    fail_msg("%s %s: a model is loaded whose value %zu is not finite", c.name, c.options, i);
            }
            ee_bandit_free(loaded);
            ee_bytes_free(bytes);
            learned->values[i] = before;
        }
        ee_bandit_free(bandit);
    }
    assert_true(tried > 100);
}
