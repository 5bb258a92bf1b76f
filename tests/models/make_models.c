/* make_models FOLDER: stores a model of every case and, in expected.txt, what each expects of a round. Run it once for
 * a version of the format, into tests/models/VERSION, and never again: test_stored_models loads all of them. */
#include <stdlib.h>

#include "play_models.h"

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/expected.txt", argv[1]);
    FILE *list = fopen(path, "w");
    if (!list) return 1;
    for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++) {
        const model_case *c = &model_cases[i];
        ee_settings settings = {.policy = c->policy,
                                .dim = c->features ? 0 : MODEL_DIM,
                                .seed = 7 + i,
                                .options = c->options,
                                .features = c->features};
        ee_bandit *bandit = NULL;
        ee_error error = {0};
        float expected[MODEL_ARMS];
        ee_status status = ee_bandit_create(&settings, &bandit, &error);
        if (!status) status = model_play(bandit, c, 0, MODEL_ROUNDS, &error);
        snprintf(path, sizeof path, "%s/%s.model", argv[1], c->name);
        if (!status) status = ee_bandit_save(bandit, path, &error);
        if (!status) status = model_expect(bandit, c, expected, &error);
        if (status) {
            fprintf(stderr, "%s: %s\n", c->name, error.message);
            return 1;
        }
        fprintf(list, "%s", c->name);
        for (size_t j = 0; j < MODEL_ARMS; j++) fprintf(list, " %.9g", (double)expected[j]);
        fprintf(list, "\n");
        ee_bandit_free(bandit);
    }
    return fclose(list) != 0;
}
