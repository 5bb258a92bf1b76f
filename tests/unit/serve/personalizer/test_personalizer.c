/* What Personalizer's API says, as this server understands it: paths, durations, configurations, policies, ids. */
#include <math.h>

#include "serve/personalizer/personalizer.h"
#include "serve/personalizer/personalizer_evaluations.h"
#include "serve/personalizer/personalizer_settings.h"
#include "support.h"

/* ---- paths ---- */

static void assert_path(const char *path, personalizer_generation generation, const char *rest, const char *bandit)
{
    personalizer_path read;
    personalizer_path_read(words(path), &read);
    assert_int_equal(read.generation, generation);
    if (!generation) return;
    assert_int_equal(read.path.length, strlen(rest));
    assert_memory_equal(read.path.bytes, rest, read.path.length);
    if (bandit)
        assert_true(json_is(read.bandit, bandit));
    else
        assert_null(read.bandit.bytes);
}

TEST(every_base_leads_to_the_same_path)
{
    assert_path("/personalizer/v1.0/rank", PERSONALIZER_1_0, "/personalizer/rank", NULL);
    assert_path("/personalizer/v1.1-preview.1/rank", PERSONALIZER_1_1, "/personalizer/rank", NULL);
    assert_path("/personalizer/v1.1-preview.3/events/a%2Fb/reward", PERSONALIZER_1_1,
                "/personalizer/events/a%2Fb/reward", NULL);
    assert_path("/personalizer/rank", PERSONALIZER_2022, "/personalizer/rank", NULL);
    assert_path("/personalizer", PERSONALIZER_2022, "/personalizer", NULL);
    assert_path("/v1/bandits/shop/personalizer/v1.0/rank", PERSONALIZER_1_0, "/personalizer/rank", "shop");
    assert_path("/v1/bandits/s%20p/personalizer/rank", PERSONALIZER_2022, "/personalizer/rank", "s%20p");
    assert_path("/v1/bandits/shop/decide", PERSONALIZER_NONE, "", NULL);
    assert_path("/v1/bandits/shop", PERSONALIZER_NONE, "", NULL);
    assert_path("/v1/bandits/", PERSONALIZER_NONE, "", NULL);
    assert_path("/v1/bandits/shop/personalizers", PERSONALIZER_NONE, "", NULL);
    assert_path("/personalizers/rank", PERSONALIZER_NONE, "", NULL);
    assert_path("", PERSONALIZER_NONE, "", NULL);
}

/* ---- durations ---- */

static void assert_duration(const char *given, double seconds, const char *written)
{
    double read;
    char out[ISO_DURATION_SIZE];
    assert_true(iso_duration_parse(words(given), &read));
    assert_true(read == seconds);
    iso_duration_format(read, out);
    assert_string_equal(out, written);
}

TEST(durations)
{
    static const char *const wrong[] = {"",     "P",    "PT",  "10M",   "P1M",    "P1Y",     "PT5",
                                        "P1DT", "PT1D", "PTM", "PT-1S", "PT1M1H", "PT1.2.3S"};
    double read;
    assert_duration("PT10M", 600, "PT10M");
    assert_duration("P7D", 604800, "P7D");
    assert_duration("P1W", 604800, "P7D");
    assert_duration("PT90M", 5400, "PT1H30M");
    assert_duration("P1DT12H0.5S", 129600.5, "P1DT12H0.500S");
    assert_duration("PT0S", 0, "PT0S");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (iso_duration_parse(words(wrong[i]), &read)) fail_msg("%s is a duration", wrong[i]);
}

/* ---- policies ---- */

static void assert_policy(const char *arguments, const char *policy, const char *options, const char *propensity)
{
    bandit_settings settings = bandit_settings_usual();
    ee_error error;
    ok(policy_contract_apply(&settings, words("name"), words(arguments), &error));
    assert_string_equal(settings.policy, policy);
    assert_string_equal(settings.options, options);
    assert_string_equal(settings.propensity, propensity);
    assert_string_equal(personalizer_kept_of(&settings).policy_arguments, arguments);
}

TEST(policies)
{
    assert_policy("--cb_explore_adf --epsilon 0.3 -q ::", "eenet", "", "floor:0.3");
    assert_policy("--epsilon=0.25", "eenet", "", "floor:0.25");
    assert_policy("--cb_explore_adf --softmax --lambda 10", "eenet", "", "floor:0.05");
    assert_policy("--epsilon_decay --epsilon 7", "eenet", "", "floor:0.05");
    assert_policy("eenet:squarecb", "squarecb", "", "floor:0.05");
    assert_policy("eenet:eenet:fast  f1.width=50   f2.width=20", "eenet:fast", "f1.width=50 f2.width=20", "floor:0.05");
    assert_policy("eenet:eenet propensity=softmax:0.1 f1.width=50", "eenet", "f1.width=50", "softmax:0.1");
    assert_policy("eenet:lints", "lints", "", "own");
}

TEST(a_policy_without_its_prefix_is_refused)
{
    bandit_settings settings = bandit_settings_usual();
    ee_error error;
    assert_int_equal(policy_contract_apply(&settings, words("a"), words("linucb"), &error), EE_BAD_INPUT);
    assert_string_equal(error.message,
                        "arguments: expected eenet:POLICY OPTIONS or Vowpal Wabbit arguments (--...), got "
                        "linucb");
    assert_string_equal(settings.policy, "eenet");
}

TEST(a_policy_that_is_reset_is_the_usual_one)
{
    bandit_settings settings = bandit_settings_usual();
    ee_error error;
    text written = text_start(NULL);
    ok(policy_contract_apply(&settings, words("a"), words("eenet:lints"), &error));
    ok(policy_contract_reset(&settings, &error));
    assert_string_equal(settings.policy, "eenet");
    assert_string_equal(settings.propensity, "floor:0.05");
    policy_contract_write(&settings, &written);
    assert_string_equal(written.bytes, "{\"name\":\"eenet\",\"arguments\":\"eenet:eenet\"}");
    memory_free(written.bytes);
}

/* ---- configurations ---- */

TEST(what_a_configuration_does_not_say_stays)
{
    bandit_settings settings = bandit_settings_usual();
    settings.joining.default_reward = NAN;
    const char *code;
    ee_error error;
    text written = text_start(NULL);
    service_configuration_write(&settings, false, &written);
    ok(service_configuration_read(&settings, (json_text){written.bytes, written.length}, &code, &error));
    assert_true(isnan(settings.joining.default_reward)); /* which the configuration can only show as 0 */
    assert_int_equal(settings.retention_days, 0);
    assert_string_equal(settings.propensity, "floor:0.05");
    memory_free(written.bytes);
}

TEST(a_policy_that_explores_by_itself_cannot_be_told)
{
    bandit_settings settings = bandit_settings_usual();
    const char *code;
    ee_error error;
    const char *body = "{\"rewardWaitTime\":\"PT10M\",\"defaultReward\":0,\"rewardAggregation\":\"earliest\","
                       "\"explorationPercentage\":0.5,\"modelExportFrequency\":\"PT5M\",\"logRetentionDays\":-1}";
    ok(policy_contract_apply(&settings, words("a"), words("eenet:lints"), &error));
    assert_int_equal(service_configuration_read(&settings, words(body), &code, &error), EE_BAD_INPUT);
    assert_string_equal(code, "InvalidServiceConfiguration");
    assert_string_equal(error.message,
                        "explorationPercentage: cannot be set; the policy lints controls its own exploration");
}

/* ---- ids ---- */

TEST(ids)
{
    char digits[JOB_ID_SIZE], other[JOB_ID_SIZE], uuid[UUID_SIZE];
    evaluation_id_read("0123ABCD-4567-89ab-cdef-0123456789ab", digits);
    assert_string_equal(digits, "0123abcd456789abcdef0123456789ab");
    evaluation_id_write(digits, uuid);
    assert_string_equal(uuid, "0123abcd-4567-89ab-cdef-0123456789ab");
    evaluation_id_read("my evaluation", digits);
    evaluation_id_read("my evaluatiom", other);
    assert_int_equal(strlen(digits), JOB_ID_SIZE - 1);
    assert_string_not_equal(digits, other);
    evaluation_id_read("0123abcd456789abcdef0123456789ab0", other);
    assert_string_not_equal(other, "0123abcd456789abcdef0123456789ab");
}
