/* The settings of a bandit: from JSON and back, every mistake with its sentence, and the library's bandit of them. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "serve/settings/bandit_settings.h"

static ee_status read_json(bandit_settings *into, const char *json, bool changing, ee_error *error)
{
    return bandit_settings_read(into, json, strlen(json), changing ? SETTINGS_CHANGES : SETTINGS_NEW, error);
}

static bandit_settings good(const char *json)
{
    bandit_settings settings = bandit_settings_usual();
    ee_error error = {0};
    if (read_json(&settings, json, false, &error)) fail_msg("%s: %s", json, error.message);
    return settings;
}

static void assert_refused(const char *json, bool changing, const char *message)
{
    bandit_settings settings = bandit_settings_usual(), before = settings;
    ee_error error = {0};
    assert_int_equal(read_json(&settings, json, changing, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, message);
    assert_memory_equal(&settings, &before, sizeof settings);
}

TEST(names)
{
    char longest[BANDIT_NAME_SIZE];
    memset(longest, 'a', sizeof longest);
    assert_true(bandit_name_is_valid((json_text){"a", 1}));
    assert_true(bandit_name_is_valid((json_text){"7-Shop_2.b", 10}));
    assert_true(bandit_name_is_valid((json_text){longest, 64}));
    assert_false(bandit_name_is_valid((json_text){longest, 65}));
    assert_false(bandit_name_is_valid((json_text){"", 0}));
    assert_false(bandit_name_is_valid((json_text){".a", 2}));
    assert_false(bandit_name_is_valid((json_text){"-a", 2}));
    assert_false(bandit_name_is_valid((json_text){"a/b", 3}));
    assert_false(bandit_name_is_valid((json_text){"a\0b", 3}));
    assert_false(bandit_name_is_valid((json_text){"\xc3\xa4", 2}));
}

TEST(usual_values)
{
    bandit_settings settings = good("{}");
    assert_string_equal(settings.policy, "eenet");
    assert_string_equal(settings.propensity, "floor:0.05");
    assert_string_equal(settings.features, "");
    assert_int_equal(settings.joining.wait, 600000000);
    assert_true(settings.joining.default_reward == 0);
    assert_int_equal(settings.joining.aggregation, LOG_REWARD_FIRST);
    assert_int_equal(settings.mode, MODE_ONLINE);
    assert_true(settings.dim == 0 && settings.seed == 0);
}

TEST(every_member)
{
    bandit_settings settings =
        good("{\"name\": \"shop\", \"policy\":\"linu\\u0063b\",\"options\":\"alpha=0.5\",\"dim\":20,\"seed\":7,"
             "\"wait\":0.25,\"default_reward\":-1.5,\"aggregation\":\"mean\",\"propensity\":\"igw:50\","
             "\"mode\":\"apprentice\"}");
    assert_string_equal(settings.policy, "linucb");
    assert_string_equal(settings.options, "alpha=0.5");
    assert_string_equal(settings.propensity, "igw:50");
    assert_true(settings.dim == 20 && settings.seed == 7 && settings.joining.default_reward == -1.5);
    assert_int_equal(settings.joining.wait, 250000);
    assert_int_equal(settings.joining.aggregation, LOG_REWARD_MEAN);
    assert_int_equal(settings.mode, MODE_APPRENTICE);
    assert_string_equal(good("{\"features\":\"names=100\"}").features, "names=100");
}

TEST(waits_and_defaults)
{
    const struct {
        const char *json;
        int64_t wait;
    } cases[] = {{"{\"wait\":\"90s\"}", 90},
                 {"{\"wait\":\"10m\"}", 600},
                 {"{\"wait\":\"4h\"}", 14400},
                 {"{\"wait\":\"2d\"}", 172800},
                 {"{\"wait\":\"0.5h\"}", 1800}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(good(cases[i].json).joining.wait, cases[i].wait * 1000000);
    assert_true(isnan(good("{\"default_reward\":null}").joining.default_reward));
    assert_true(isnan(good("{\"default_reward\":\"none\"}").joining.default_reward));
}

/* A range that a user states is enforced; one that an older log has is not. */
TEST(rewards_outside_the_range)
{
    bandit_settings settings = good("{\"dim\":2}");
    assert_int_equal(settings.outside, OUTSIDE_ACCEPT);
    assert_true(bandit_settings_reward(&settings, 1e9) == 1e9);
    settings = good("{\"dim\":2,\"rewards\":[-1,2]}");
    assert_int_equal(settings.outside, OUTSIDE_REJECT);
    assert_true(bandit_settings_reward(&settings, 1e9) == 2 && bandit_settings_reward(&settings, -3) == -1);
    assert_int_equal(good("{\"rewards\":[0,1],\"outside\":\"clip\"}").outside, OUTSIDE_CLIP);
    assert_int_equal(good("{\"rewards\":[0,1],\"outside\":\"accept\"}").outside, OUTSIDE_ACCEPT);
    const char *changes = "{\"rewards\":[0,5]}", *older = "{\"dim\":2,\"rewards\":[0,1]}";
    ok(read_json(&settings, "{\"outside\":\"clip\"}", true, NULL));
    ok(read_json(&settings, changes, true, NULL));
    assert_int_equal(settings.outside, OUTSIDE_CLIP);
    settings = bandit_settings_usual();
    ok(bandit_settings_read(&settings, older, strlen(older), SETTINGS_STORED, NULL));
    assert_int_equal(settings.outside, OUTSIDE_ACCEPT);
    assert_refused("{\"rewards\":[1,5],\"default_reward\":0}", false,
                   "default_reward: 0 is outside \"rewards\", 1 to 5");
    assert_refused("{\"outside\":\"drop\"}", false, "outside must be one of accept, reject, clip");
}

TEST(writing_reads_back)
{
    const char *cases[] = {
        "{}",
        "{\"rewards\":[0,5],\"outside\":\"clip\"}",
        "{\"dim\":3,\"default_reward\":null,\"wait\":12.345678,\"mode\":\"logging\",\"aggregation\":\"max\"}",
        "{\"policy\":\"lints\",\"options\":\"nu=0.1, \\\"\\\\\",\"seed\":9007199254740992}",
        "{\"dim\":3,\"rewards\":[-1,2.5],\"confidence\":0.9,\"promote\":\"auto\",\"tests\":7,\"challengers\":["
        "{\"name\":\"a\",\"policy\":\"linucb\",\"number\":3},{\"name\":\"b\",\"policy\":\"lints\",\"number\":7}],"
        "\"personalizer\":{\"learningMode\": [\"Online\"], \"x\": {}}}",
        "{\"features\":\"names=100\",\"default_reward\":0.1,\"aggregation\":\"sum\",\"wait\":\"366d\"}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bandit_settings settings = good(cases[i]), again = bandit_settings_usual();
        text json = text_start(NULL);
        bandit_settings_write(&settings, &json);
        ok(read_json(&again, json.bytes, false, NULL));
        assert_memory_equal(&again, &settings, sizeof settings);
        memory_free(json.bytes);
    }
}

TEST(live_members)
{
    bandit_settings usual = good("{}");
    assert_true(usual.reward_low == 0 && usual.reward_high == 1 && usual.confidence == 0.95);
    assert_true(usual.promote == PROMOTE_OFFER && usual.challenger_count == 0 && !usual.personalizer[0]);
    bandit_settings settings =
        good("{\"rewards\":[-1,2.5],\"confidence\":0.9,\"promote\":\"auto\",\"personalizer\":{\"a\" : [1]},"
             "\"challengers\":[{\"name\":\"a\",\"policy\":\"linucb\",\"options\":\"alpha=2\"},"
             "{\"name\":\"b\",\"policy\":\"lints\"},{\"name\":\"c\",\"policy\":\"greedy\",\"propensity\":\"argmax\"}],"
             "\"propensity\":\"igw:9\",\"dim\":2}");
    assert_true(settings.reward_low == -1 && settings.reward_high == 2.5 && settings.confidence == 0.9);
    assert_int_equal(settings.promote, PROMOTE_AUTO);
    assert_string_equal(settings.personalizer, "{\"a\" : [1]}");
    assert_int_equal(settings.challenger_count, 3);
    assert_string_equal(settings.challengers[0].options, "alpha=2");
    assert_string_equal(settings.challengers[0].propensity, "igw:9"); /* as the bandit */
    assert_string_equal(settings.challengers[1].propensity, "own");
    assert_string_equal(settings.challengers[2].propensity, "argmax");
    assert_int_equal(settings.dim, 2);
    bandit_settings in_place = challenger_settings_in_place(&settings, &settings.challengers[0]);
    assert_string_equal(in_place.policy, "linucb");
    assert_string_equal(in_place.options, "alpha=2");
    assert_int_equal(in_place.dim, 2);
    ok(read_json(&settings, "{\"challengers\":[],\"personalizer\":null}", true, NULL));
    assert_true(settings.challenger_count == 0 && !settings.personalizer[0] && settings.reward_low == -1);
}

/* A test keeps its number while nothing about it changes, and no number is given twice. */
TEST(numbers_of_tests)
{
    bandit_settings first = good("{\"challengers\":[{\"name\":\"a\",\"policy\":\"linucb\",\"number\":40},"
                                 "{\"name\":\"b\",\"policy\":\"lints\"}],\"tests\":50}");
    bandit_settings_number(&first, &(bandit_settings){0}, true);
    assert_true(first.challengers[0].number == 1 && first.challengers[1].number == 2 && first.tests == 2);
    bandit_settings next = first;
    ok(read_json(&next,
                 "{\"challengers\":[{\"name\":\"b\",\"policy\":\"lints\"},"
                 "{\"name\":\"a\",\"policy\":\"linucb\",\"options\":\"alpha=2\"}]}",
                 true, NULL));
    bandit_settings_number(&next, &first, false);
    assert_true(next.challengers[0].number == 2 && next.challengers[1].number == 3 && next.tests == 3);
    bandit_settings again = next;
    assert_true(bandit_settings_decide_alike(&again, &next));
    again.mode = MODE_LOGGING;
    assert_false(bandit_settings_decide_alike(&again, &next));
    bandit_settings_number(&again, &next, true);
    assert_true(again.challengers[0].number == 4 && again.challengers[1].number == 5 && again.tests == 5);
}

TEST(mistakes_of_live_members)
{
    static const char range[] = "rewards must be [LOWEST, HIGHEST], for example [0, 1]";
    assert_refused("{\"rewards\":[1,1]}", false, range);
    assert_refused("{\"rewards\":[0]}", false, range);
    assert_refused("{\"rewards\":[0,1,2]}", false, range);
    assert_refused("{\"rewards\":1}", false, range);
    assert_refused("{\"rewards\":[0,\"1\"]}", true, range);
    assert_refused("{\"confidence\":1}", false, "confidence must be a number from 0.5 to 0.9999");
    assert_refused("{\"promote\":\"yes\"}", false, "promote must be one of offer, auto");
    assert_refused("{\"tests\":4}", true,
                   "tests cannot be changed; wait, default_reward, aggregation, mode, rewards, "
                   "outside, confidence, promote, challengers, metrics, guardrails, held and retention_days can. "
                   "Create another bandit");
    assert_refused("{\"challengers\":{}}", false, "challengers must be an array");
    assert_refused("{\"challengers\":[1]}", false, "challengers: each must be an object");
    assert_refused("{\"challengers\":[{\"name\":\"a\"}]}", false, "challengers: 'a' needs a \"policy\"");
    assert_refused("{\"challengers\":[{\"name\":\"uniform\",\"policy\":\"linucb\"}]}", true,
                   "challengers: duplicate name 'uniform'");
    assert_refused("{\"challengers\":[{\"name\":\"a\",\"policy\":\"linucb\"},{\"name\":\"a\",\"policy\":\"lints\"}]}",
                   false, "challengers: duplicate name 'a'");
    assert_refused(
        "{\"challengers\":[{\"name\":\"a b\",\"policy\":\"linucb\"}]}", false,
        "challengers: name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit");
    assert_refused("{\"challengers\":[{\"nam\":\"a\"}]}", false,
                   "challengers: unknown key 'nam'; expected name, policy, options or propensity");
    assert_refused("{\"personalizer\":[]}", false, "personalizer must be an object");
    assert_refused("{\"rewards\":[0,1}", false, "invalid JSON at byte 16: expected ',' or ']'");
}

TEST(mistakes)
{
    static const char waits[] =
        "wait must be seconds, or a string such as \"10m\", \"4h\" or \"2d\"; above 0, at most 366d";
    assert_refused("{\"wiat\":1}", false, "settings: unknown setting 'wiat'; did you mean 'wait'?");
    assert_refused("{\"xxxxxxxxxx\":1}", false, "settings: unknown setting 'xxxxxxxxxx'");
    assert_refused("[]", false, "settings must be a JSON object");
    assert_refused("{\"wait\":0}", false, waits);
    assert_refused("{\"wait\":\"367d\"}", false, waits);
    assert_refused("{\"wait\":\"m\"}", false, waits);
    assert_refused("{\"wait\":\"10w\"}", false, waits);
    assert_refused("{\"wait\":[1]}", false, waits);
    assert_refused("{\"default_reward\":1e10}", false,
                   "default_reward must be a number from -1e9 to 1e9, or null for none");
    assert_refused("{\"aggregation\":\"median\"}", false, "aggregation must be one of first, last, sum, mean, max");
    assert_refused("{\"mode\":\"off\"}", false, "mode must be one of online, apprentice, logging");
    assert_refused("{\"dim\":0}", false, "dim must be an integer from 1 to 2^53");
    assert_refused("{\"seed\":1.5}", false, "seed must be an integer from 0 to 2^53");
    assert_refused("{\"policy\":7}", false, "policy must be a string");
    assert_refused("{\"features\":true}", false, "features must be a string; \"\" means named features");
    assert_refused("{\"propensity\":0.1}", false, "propensity must be a string such as \"floor:0.1\"");
    assert_refused("{\"policy\":\"a\\u0000b\"}", false, "policy contains a zero byte");
    assert_refused("{\"propensity\":\"1234567890123456789012345678901234567890123456789012345678901234\"}", false,
                   "propensity has 64 bytes; the maximum is 63");
    assert_refused("{\"dim\":3,\"features\":\"\"}", false,
                   "settings: give dim (vectors) or features (named features), not both");
    assert_refused("{\"wait\":1} 2", false, "invalid JSON at byte 12: unexpected text after the value");
}

static void assert_difference(const char *there, const char *asked, bool may_change, const char *expected)
{
    char difference[256];
    bool got;
    bandit_settings first = good(there), second = good(asked);
    assert_true(bandit_settings_difference(&first, &second, difference, sizeof difference, &got));
    assert_string_equal(difference, expected);
    assert_int_equal(got, may_change);
    assert_false(bandit_settings_difference(&first, &first, difference, sizeof difference, &got));
}

TEST(differences)
{
    assert_difference("{}", "{\"wait\":1800}", true, "wait 600, not 1800");
    assert_difference("{\"policy\":\"linucb\",\"wait\":1}", "{}", false, "policy \"linucb\", not \"eenet\"");
    assert_difference("{\"dim\":3}", "{}", false, "dim 3, which this request does not have");
    assert_difference("{}", "{\"retention_days\":30}", true, "no retention_days, not 30");
    assert_difference("{}", "{\"rewards\":[0,1]}", true, "outside \"accept\", not \"reject\"");
}

TEST(changes)
{
    bandit_settings settings = good("{\"dim\":3,\"wait\":60}");
    ok(read_json(&settings, "{\"wait\":5,\"default_reward\":null,\"aggregation\":\"sum\",\"mode\":\"logging\"}", true,
                 NULL));
    assert_int_equal(settings.joining.wait, 5000000);
    assert_int_equal(settings.mode, MODE_LOGGING);
    assert_int_equal(settings.dim, 3);
    assert_refused("{\"wait\":5,\"seed\":2}", true,
                   "seed cannot be changed; wait, default_reward, aggregation, mode, rewards, "
                   "outside, confidence, promote, challengers, metrics, guardrails, held and retention_days can. "
                   "Create another bandit");
}

/* ---- the library's bandit ---- */

static void assert_options(const char *json, const char *part)
{
    bandit_settings settings = good(json);
    ee_bandit *bandit = NULL;
    ee_error error = {0};
    if (bandit_settings_create(&settings, &bandit, &error)) fail_msg("%s: %s", json, error.message);
    if (!strstr(ee_bandit_info(bandit).options, part)) fail_msg("%s: %s", json, ee_bandit_info(bandit).options);
    ee_bandit_free(bandit);
}

static void assert_not_created(const char *json, const char *message)
{
    bandit_settings settings = good(json);
    ee_bandit *bandit = NULL;
    ee_error error = {0};
    assert_int_equal(bandit_settings_create(&settings, &bandit, &error), EE_BAD_OPTION);
    assert_null(bandit);
    assert_string_equal(error.message, message);
}

TEST(creating)
{
    assert_options("{\"dim\":3}", "propensity=floor propensity_epsilon=0.05");
    assert_options("{\"policy\":\"linucb\"}", "propensity=floor propensity_epsilon=0.05");
    assert_options("{\"policy\":\"linucb\",\"dim\":3,\"propensity\":\"softmax:0.2\"}", "propensity_temperature=0.2");
    assert_options("{\"policy\":\"linucb\",\"dim\":3,\"propensity\":\"igw:7\"}", "propensity_gamma=7");
    assert_options("{\"policy\":\"linucb\",\"dim\":3,\"propensity\":\"argmax\"}", "propensity=argmax");
    assert_options("{\"policy\":\"lints\",\"dim\":3}", "probability_draws=100");
    assert_options("{\"policy\":\"lints\",\"dim\":3,\"options\":\"probability_draws=7\"}", "probability_draws=7");
    assert_options("{\"policy\":\"uniform\",\"dim\":3}", "");
    bandit_settings settings = good("{\"features\":\"names=50\"}");
    ee_bandit *bandit = NULL;
    ok(bandit_settings_create(&settings, &bandit, NULL));
    assert_non_null(strstr(ee_bandit_info(bandit).features, "names=50"));
    ee_bandit_free(bandit);
}

TEST(what_the_library_refuses)
{
    assert_not_created("{\"policy\":\"enet\",\"dim\":3}", "policy: unknown policy 'enet'; did you mean 'eenet'?");
    assert_not_created("{\"policy\":\"linucb\",\"dim\":3,\"options\":\"alpha=-1\"}",
                       "options: linucb.alpha must be 0 to 1000000, got -1");
    assert_not_created("{\"policy\":\"linucb\",\"dim\":3,\"propensity\":\"floor:2\"}",
                       "options: linucb.propensity_epsilon must be 0 to 1, got 2");
    static const char rule[] =
        "propensity must be floor:EPSILON, softmax:TEMPERATURE, igw:GAMMA, own, argmax or first, "
        "got ";
    char message[252];
    const char *rules[] = {"flor:1", "own:1", "floor:", "floor:0.1 alpha=3"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char json[128];
        snprintf(json, sizeof json, "{\"policy\":\"linucb\",\"dim\":3,\"propensity\":\"%s\"}", rules[i]);
        snprintf(message, sizeof message, "%s'%s'", rule, rules[i]);
        assert_not_created(json, message);
    }
    assert_not_created("{\"policy\":\"lints\",\"dim\":3,\"propensity\":\"floor:0.1\"}",
                       "propensity: lints takes only \"own\"");
    assert_not_created("{\"policy\":\"lints\",\"dim\":3,\"options\":\"nu=1,probability_draws=00\"}",
                       "options: probability_draws must be above 0: the server logs the probability of every decision");
    assert_not_created("{\"dim\":3,\"options\":\"propensity_epsilon=0.3\"}",
                       "options: propensity_epsilon is not allowed here; use the bandit's setting \"propensity\", for "
                       "example \"floor:0.05\"");
    assert_not_created("{\"dim\":3,\"options\":\"f1.width=10 wait=3\"}",
                       "options: wait is not allowed here; it is a setting of the bandit, next to \"options\"");
}
