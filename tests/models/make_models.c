/* make_models FOLDER: stores a model of every case, the record of its next decision and, in expected.txt, what each
 * expects of that round. Run it once for a version of the format, into tests/models/VERSION, and after its release
 * never again: test_stored_models loads all of them. */
#include <stdlib.h>

#include "play_models.h"

static ee_status write_record(ee_bandit *bandit, const model_case *c, const char *path, ee_error *error)
{
    float values[MODEL_ARMS * MODEL_DIM];
    ee_arms arms;
    ee_round *round = NULL;
    ee_snapshot *snapshot = NULL;
    ee_scratch *scratch = NULL;
    ee_decision decision;
    const void *record;
    size_t size;
    ee_status status = ee_round_create(NULL, &round, error);
    if (!status) status = model_arms(bandit, c, MODEL_ROUNDS, round, values, &arms, error);
    if (!status) status = ee_snapshot_create(bandit, &snapshot, error);
    if (!status) status = ee_scratch_create(snapshot, 1, &scratch, error);
    if (!status) status = ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, NULL, error);
    if (!status) status = ee_scratch_record(scratch, 0, &record, &size, error);
    FILE *file = status ? NULL : fopen(path, "wb");
    if (!status && (!file || fwrite(record, 1, size, file) != size || fclose(file) != 0)) {
        snprintf(error->message, sizeof error->message, "cannot write the record of %s", c->name);
        status = EE_FILE_ERROR;
    }
    ee_scratch_free(scratch);
    ee_snapshot_free(snapshot);
    ee_round_free(round);
    return status;
}

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
        snprintf(path, sizeof path, "%s/%s.record", argv[1], c->name);
        if (!status) status = write_record(bandit, c, path, &error);
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
