#include "support_network.h"

learner_options options_from(const char *text)
{
    static const option_group groups[] = {OPTION_GROUP_OWN(learner_option_table, NULL),
                                          OPTION_GROUP_OWN(arm_learner_option_table, NULL)};
    static const option_schema schema = OPTION_SCHEMA("test", groups, learner_options, NULL);
    learner_options options;
    ee_error error = {0};
    options_set_defaults(&schema, &options);
    if (options_parse(&schema, text, &options, &error)) fail_msg("%s", error.message);
    return options;
}

void make_learner(learner *self, memory *owner, const json_t *dims, bool bias, const char *text)
{
    char line[512];
    size_t layers = json_array_size(dims) - 1;
    snprintf(line, sizeof line, "layers=%zu bias=%s %s", layers, bias ? "on" : "off", text);
    learner_options options = options_from(line);
    ee_error error = {0};
    options.network.width = json_integer_value(json_array_get(dims, 1));
    size_t input = (size_t)json_integer_value(json_array_get(dims, 0));
    if (learner_create(self, owner, "test", &options, input, input, 1, SIZE_MAX, &error)) fail_msg("%s", error.message);
    /* Hidden layers of different widths, which no option makes, are cut out of the widest: each keeps its own. */
    network *net = &self->networks[0];
    size_t parameters = 0, activations = 0;
    for (size_t i = 0; i < layers; i++) {
        layer *l = &net->layers[i];
        l->in = (shape){1, 1, (size_t)json_integer_value(json_array_get(dims, i))};
        l->out = (shape){1, 1, (size_t)json_integer_value(json_array_get(dims, i + 1))};
        l->weight_count = l->in.width * l->out.width;
        l->parameter_count = l->weight_count + (bias ? l->out.width : 0);
        l->parameters = parameters;
        l->output = activations;
        parameters += l->parameter_count;
        activations += l->out.width;
    }
    assert_true(parameters <= net->parameter_count && activations <= net->activation_count);
    net->parameter_count = parameters;
    net->activation_count = activations;
    self->optimizer.count = self->parameter_count = parameters;
}

void theta_from_golden(const network *net, const json_t *layers, size_t first, float *theta)
{
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const layer *l = &net->layers[first + i];
        const json_t *stored = json_array_get(layers, i);
        size_t in = shape_size(l->in), out = l->out.width, count;
        float *weights = golden_floats(golden_member(stored, "weight"), &count);
        assert_int_equal(count, l->weight_count);
        for (size_t a = 0; a < out; a++)
            for (size_t b = 0; b < in; b++) theta[l->parameters + b * out + a] = weights[a * in + b];
        free(weights);
        if (!l->bias) continue;
        auto_free float *biases = golden_floats(golden_member(stored, "bias"), &count);
        assert_int_equal(count, out);
        memcpy(theta + l->parameters + l->weight_count, biases, out * sizeof *theta);
    }
}

void theta_to_golden(const network *net, const float *theta, float *out)
{
    for (size_t i = 0; i < net->layer_count; out += net->layers[i++].parameter_count) {
        const layer *l = &net->layers[i];
        const float *own = theta + l->parameters;
        size_t ins = shape_size(l->in), outs = l->out.width;
        memcpy(out, own, l->parameter_count * sizeof *out);
        if (l->kind != LAYER_DENSE) continue;
        for (size_t a = 0; a < outs; a++)
            for (size_t b = 0; b < ins; b++) out[a * ins + b] = own[b * outs + a];
    }
}

void learner_make(made_learner *self, const char *text, size_t input, uint64_t seed)
{
    learner_options options = options_from(text);
    ee_error error = {0};
    *self = (made_learner){0};
    if (learner_create(&self->l, &self->owner, "test", &options, input, input, seed, SIZE_MAX, &error))
        fail_msg("%s: %s", text, error.message);
    self->net = &self->l.networks[0];
    self->count = self->l.parameter_count;
    ok(memory_create(&self->owner, &self->theta, self->count, sizeof(float), NULL));
    ok(memory_create(&self->owner, &self->gradient, self->count, sizeof(float), NULL));
    learner_start(&self->l, self->theta);
}

void learner_release(made_learner *self)
{
    memory_release(&self->owner);
}

float learner_pass(made_learner *self, vector x)
{
    learner *l = &self->l;
    float output = network_forward(self->net, self->theta, x, l->activations);
    network_backward(self->net, self->theta, x, l->activations, 1, l->deltas);
    memset(self->gradient, 0, self->count * sizeof *self->gradient);
    network_add_gradient(self->net, x, l->activations, l->deltas, self->gradient);
    return output;
}

void learner_give(made_learner *self, vector x, float target)
{
    ok(learner_reserve(&self->l, 1, x, NULL));
    learner_append(&self->l, x, target);
}

bool learner_train(learner *self, float *theta)
{
    if (!learner_prepare(self, theta)) return false;
    learner_commit(self, theta);
    return true;
}
