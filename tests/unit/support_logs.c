#include "support_logs.h"

static size_t draw(random_stream *stream, const double *p, size_t count)
{
    double left = random_unit(stream);
    size_t arm = 0;
    while (arm + 1 < count && left >= p[arm]) left -= p[arm++];
    return arm;
}

void make_log(const made_log *how, made_round *watch, void *context)
{
    dataset *data;
    environment *world;
    environment_round round;
    log_writer *log;
    ee_error error;
    random_stream stream = random_named(how->seed, "behaviour");
    if (dataset_open(how->dataset, NULL, &data, &error) || environment_create(data, how->seed, &world, &error) ||
        log_create(how->path, dataset_dim(data), &log, &error))
        fail_msg("%s", error.message);
    size_t count = dataset_arms(data);
    auto_free double *p = malloc(count * sizeof *p), *logged = malloc(count * sizeof *logged);
    for (size_t i = 0; i < count; i++) {
        p[i] = how->floor / (double)count + (i == 0 ? 1.0 - how->floor : 0.0);
        logged[i] = p[i] * how->scale;
    }
    for (size_t t = 0; t < how->rounds; t++) {
        char id[32];
        ok(environment_next(world, &round, &error));
        size_t arm = draw(&stream, p, count), length = (size_t)snprintf(id, sizeof id, "event-%zu", t);
        log_event event = {.line = t + 1,
                           .id = {id, length},
                           .time = 1.7e9 + (double)t,
                           .count = count,
                           .action = arm,
                           .probability = logged[arm],
                           .probabilities = how->taken_only ? NULL : logged,
                           .reward = round.rewards[arm],
                           .copies = 1.0,
                           .arms = round.arms};
        if (watch) watch(context, &round, &event);
        if (log_write(log, &event, &error)) fail_msg("%s", error.message);
    }
    if (log_end(log, true, &error)) fail_msg("%s", error.message);
    environment_free(world);
    dataset_free(data);
}
