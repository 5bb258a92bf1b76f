/* One round of named features: from JSON to arms. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "bench_report.h"
#include "features/features.h"

enum { DIFFERENT_ROUNDS = 64, JSON_SIZE = 1024, TIMES = 2000 };
static const double SECONDS = 0.5;

/* A rank request as a page sends it: seven features of the visitor, five actions of five. */
static void write_round(size_t number, char *json)
{
    static const char *const tastes[] = {"salty", "sweet", "fresh"}, *const plans[] = {"free", "premium"};
    random_stream stream = random_named(number, "request");
    int used = snprintf(json, JSON_SIZE,
                        "{\"FromUrl\":[{\"timeOfDay\":\"afternoon\",\"device\":\"mobile\",\"temperature\":%.1f,"
                        "\"user\":{\"age\":%d,\"plan\":\"%s\",\"visits\":%d}}],\"_multi\":[",
                        30 * random_unit(&stream), 18 + (int)random_below(&stream, 60), plans[random_below(&stream, 2)],
                        (int)random_below(&stream, 90));
    for (int action = 0; action < 5; action++)
        used += snprintf(json + used, JSON_SIZE - (size_t)used,
                         "%s{\"i\":{\"constant\":1,\"id\":\"dish%d\"},\"j\":[{\"taste\":\"%s\",\"spice\":%d,"
                         "\"price\":%.1f}]}",
                         action ? "," : "", action, tastes[random_below(&stream, 3)], (int)random_below(&stream, 4),
                         9 * random_unit(&stream) + 1);
    snprintf(json + used, JSON_SIZE - (size_t)used, "]}");
}

typedef struct feature_bench {
    memory memory;
    features features;
    ee_round *rounds[DIFFERENT_ROUNDS];
    char json[DIFFERENT_ROUNDS][JSON_SIZE];
} feature_bench;

static ee_status parse(feature_bench *self, size_t i, ee_error *error)
{
    ee_round_clear(self->rounds[i]);
    return ee_round_read(self->rounds[i], self->json[i], strlen(self->json[i]), error);
}

static ee_status learn(feature_bench *self, size_t i, ee_error *error)
{
    return features_learn(&self->features, self->rounds[i], error);
}

static ee_status encode(feature_bench *self, size_t i, ee_error *error)
{
    ee_arms arms;
    return features_encode(&self->features, self->rounds[i], &arms, error);
}

static ee_status create(feature_bench **out, ee_error *error)
{
    feature_bench *self;
    features_options options;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    *out = self;
    status = features_read_options(&options, "", error);
    if (!status) status = features_create(&self->features, &self->memory, &options, error);
    for (size_t i = 0; i < DIFFERENT_ROUNDS && !status; i++) {
        write_round(i, self->json[i]);
        status = ee_round_create(NULL, &self->rounds[i], error);
        if (!status) status = parse(self, i, error);
        if (!status) status = learn(self, i, error);
    }
    return status;
}

static void destroy(feature_bench *self)
{
    if (!self) return;
    for (size_t i = 0; i < DIFFERENT_ROUNDS; i++) ee_round_free(self->rounds[i]);
    memory_release(&self->memory);
}

static ee_status measure(bench_report *to, const char *name, feature_bench *self,
                         ee_status (*step)(feature_bench *, size_t, ee_error *), ee_error *error)
{
    measurement taken = {0};
    if (!bench_report_wants(to, name)) return EE_OK;
    while (measure_more(&taken, SECONDS)) {
        stretch start = measure_start();
        for (size_t i = 0; i < TIMES; i++) {
            ee_status status = step(self, i % DIFFERENT_ROUNDS, error);
            if (status) return status;
        }
        measure_add(&taken, start, TIMES);
    }
    bench_report_row(to, name, &taken, NULL);
    return EE_OK;
}

ee_status bench_features(bench_report *to, ee_error *error)
{
    bench_report_begin(to, "calls", "named features, 5 actions in 500 bytes of JSON");
    feature_bench *self = NULL;
    ee_status status = create(&self, error);
    if (!status) status = measure(to, "parse", self, parse, error);
    if (!status) status = measure(to, "learn names and numbers", self, learn, error);
    if (!status) status = measure(to, "encode", self, encode, error);
    destroy(self);
    return status;
}
