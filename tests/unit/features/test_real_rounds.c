/* The rounds of public dsjson logs, which tests find through EENET_DATA: all become arms that a bandit takes. */
#define _GNU_SOURCE /* getline */
#include "named_rounds.h"

#include "engine/arms.h"

/* The member "c" of a line; false where there is none or the line is no JSON. */
static bool find_context(const char *line, size_t size, json_room *room, json_text *span)
{
    json_token token;
    json_reader reader = json_start(line, size, room);
    bool found = false;
    if (json_next(&reader, &token, NULL) || token.kind != JSON_KIND_OBJECT) return false;
    for (;;) {
        if (json_next(&reader, &token, NULL)) return false;
        if (token.kind == JSON_KIND_OBJECT_END) return found;
        bool wanted = json_is(token.key, "c") && token.kind == JSON_KIND_OBJECT;
        if (json_skip(&reader, &token, wanted ? span : NULL, NULL)) return false;
        found = found || wanted;
    }
}

/* Plays the rounds of a file, and returns how many there were. */
static size_t play_file(features *self, ee_round *round, const char *path)
{
    FILE *file = fopen(path, "r");
    auto_free char *line = NULL;
    size_t capacity = 0, played = 0;
    RELEASED_BY(memory_release) memory owner = {0};
    json_room room = {.owner = &owner};
    if (!file) fail_msg("%s is not there", path);
    for (ssize_t size; (size = getline(&line, &capacity, file)) > 0;) {
        json_text context;
        ee_error error = {EE_OK, ""};
        ee_arms arms;
        if (!find_context(line, (size_t)size, &room, &context)) continue;
        ee_round_clear(round);
        if (ee_round_read(round, context.bytes, context.length, &error) || features_learn(self, round, &error) ||
            features_encode(self, round, &arms, &error) || arms_check(&arms, self->dim, &error))
            fail_msg("%s: %s", path, error.message);
        played++;
    }
    fclose(file);
    return played;
}

TEST(logs_become_arms)
{
    static const char *const options[] = {"", "names=50 hashes=20", "hashing=vw", "hashing=vw chain_hash=on"};
    static const struct {
        const char *path;
        size_t rounds;
    } files[] = {
        {"vowpal_wabbit/decisionservice.json", 3},
        {"vowpal_wabbit/dsjson_cb.json", 23},
        {"vowpal_wabbit/dsjson_cb_default_ns.json", 4},
        {"vowpal_wabbit/cb_features_w_zero_vals.dsjson", 2},
        {"vowpal_wabbit/no_shared_features.json", 1},
        {"vowpal_wabbit/igl.dsjson", 200},
        {"reinforcement_learning/average_reward_100_interactions.json", 100},
    };
    const char *data = getenv("EENET_DATA");
    if (!data) skip();
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        RELEASED_BY(memory_release) memory owner = {0};
        features self;
        auto_round *round = round_make();
        features_start(&self, &owner, options[o]);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char path[512];
            snprintf(path, sizeof path, "%s/dsjson/%s", data, files[i].path);
            assert_int_equal(play_file(&self, round, path), files[i].rounds);
        }
    }
}
