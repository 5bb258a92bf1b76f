/* Named features: rounds as JSON, no vectors to make. The bandit gives every name a place and scales the numbers.
 * Afterwards it can tell which weight belongs to which name, and why it chose an article.
 *
 * cc named_features.c -leenet */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1000, TOPICS = 4 };
static const char *const topics[TOPICS] = {"music", "politics", "sport", "cooking"};

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Makes a round: a visitor and four articles. Returns the article that the visitor wants to read. */
static size_t visit(ee_round *round)
{
    char json[128];
    ee_error error;
    int age = 18 + rand() % 60, mobile = rand() % 2;
    ee_round_clear(round);
    snprintf(json, sizeof json, "{\"user\": {\"age\": %d, \"device\": \"%s\"}}", age, mobile ? "mobile" : "desktop");
    if (ee_round_context(round, json, strlen(json), &error)) stop(&error);
    for (int i = 0; i < TOPICS; i++) {
        snprintf(json, sizeof json, "{\"article\": {\"topic\": \"%s\", \"words\": %d}}", topics[i],
                 100 + rand() % 3000);
        if (ee_round_action(round, json, strlen(json), &error)) stop(&error);
    }
    return age < 40 ? 0 : mobile ? 2 : 1;
}

/* The weight of a feature: the expected reward of an arm with this feature alone. */
static double weight_of(ee_bandit *bandit, uint32_t place, size_t dim)
{
    const size_t starts[2] = {0, 1};
    const float one = 1;
    ee_arms arm = ee_arms_sparse(starts, &place, &one, 1, dim);
    ee_score score;
    ee_error error;
    if (ee_bandit_score(bandit, &arm, &score, &error)) stop(&error);
    return score.exploitation;
}

static void print_weights(ee_bandit *bandit)
{
    size_t dim = ee_bandit_info(bandit).dim;
    for (uint32_t place = 0; place < dim; place++) {
        ee_feature feature;
        ee_error error;
        if (ee_bandit_feature(bandit, place, &feature, &error)) stop(&error);
        if (feature.name[0])
            printf("%8.3f  %-42s seen %llu times\n", weight_of(bandit, place, dim), feature.name,
                   (unsigned long long)feature.count);
    }
}

/* Why an article was chosen: what each of its features contributes to the expected reward. */
static void print_reasons(ee_bandit *bandit, const ee_arms *arms, size_t arm)
{
    size_t first = arms->starts[arm], count = arms->starts[arm + 1] - first;
    float *contributions = calloc(count, sizeof *contributions);
    ee_error error;
    if (!contributions || ee_bandit_explain(bandit, arms, arm, contributions, &error)) exit(1);
    printf("\nthe last visitor saw %s; contributions to its expected reward:\n", topics[arm]);
    for (size_t i = 0; i < count; i++) {
        ee_feature feature;
        if (ee_bandit_feature(bandit, arms->indices[first + i], &feature, &error)) stop(&error);
        if (contributions[i] > 0.05f || contributions[i] < -0.05f)
            printf("%+8.3f  %s\n", (double)contributions[i], feature.name);
    }
    free(contributions);
}

int main(void)
{
    ee_settings settings = {.policy = "linucb", .seed = 1, .features = "names=100 hashes=10"};
    ee_bandit *bandit;
    ee_round *round; /* one per thread */
    ee_error error;
    int right = 0;
    if (ee_bandit_create(&settings, &bandit, &error)) stop(&error);
    if (ee_round_create(NULL, &round, &error)) stop(&error);
    ee_arms arms = {0};
    ee_decision decision = {0};
    for (int i = 0; i < ROUNDS; i++) {
        size_t wanted = visit(round);
        if (ee_bandit_arms(bandit, round, &arms, &error)) stop(&error);
        if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error)) stop(&error);
        if (ee_bandit_learn(bandit, decision.id, decision.arm == wanted, &error)) stop(&error);
        right += decision.arm == wanted;
    }
    printf("%d of %d visitors saw what they wanted to read; chance is %d\n", right, ROUNDS, ROUNDS / TOPICS);
    print_weights(bandit);
    print_reasons(bandit, &arms, decision.arm);
    ee_round_free(round);
    ee_bandit_free(bandit);
    return 0;
}
