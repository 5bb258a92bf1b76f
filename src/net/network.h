/* A network: a chain of layers from an arm (or features, or scores) to one number.
 *
 * A network is only shapes and never changes. Its parameters are one flat array, theta, of the caller: copying theta
 * copies what was learned. A forward pass writes the outputs of each layer to `activations`, a backward pass writes
 * `deltas`. Both have network->activation_count floats and belong to the caller.
 *
 * With heads, the arms share the layers before the last. The input is divided into as many blocks of equal size. The
 * layers see only the block of the first non-zero entry (the first block for an input of zeros). The last layer has an
 * output for each block; the output of the network is the one of the block that was seen. The deltas of the others are
 * zero, unless a learner sets them.
 *
 * With members, each head has several outputs side by side, and the output of the network is their mean.
 *
 * Before a convolution, an input may be a product: an outer product row by row, followed by other values. It is given
 * as the factors of the product, (rows) and (columns), and the other values. */
#ifndef EENET_NETWORK_H
#define EENET_NETWORK_H

#include "base/options.h"
#include "base/random.h"
#include "initial_rows.h"
#include "layer.h"

typedef struct network_options {
    int64_t layers; /* fully connected layers; the last has one output */
    int64_t width;  /* outputs of each layer but the last */
    bool bias;
    option_choice init;           /* network_init */
    int64_t heads;                /* blocks of the input, each with its row of the last layer */
    char image[OPTION_TEXT_SIZE]; /* "1x28x28": channels, rows and columns of a block */
    char front[OPTION_TEXT_SIZE]; /* "conv2d:16:5+relu+pool:2": layers before the fully connected ones */
    int64_t members;              /* not an option: outputs of each head; 0: one */
    size_t rows, columns; /* not an option: of a product; the network then starts with a convolution and has no heads */
    const column_room *room; /* not an option: if inputs are columns, see network_store_columns; otherwise NULL */
} network_options;

enum { NETWORK_LAYERS = 32 };

typedef struct network {
    layer layers[NETWORK_LAYERS];
    size_t layer_count;
    size_t input;                /* dimension */
    size_t heads;                /* of the last layer; the input selects one */
    size_t members;              /* outputs of each head */
    size_t block;                /* input / heads: what the first layer sees */
    size_t rows, columns;        /* of an input that is a product; otherwise 0 */
    const initial_rows *initial; /* of all places, if the input is columns; otherwise NULL */
    size_t parameter_count;
    size_t activation_count;
    const kernel_table *kernels;
} network;

/* name is for messages: "f1". */
ee_status network_create(network *self, const char *name, const network_options *options, size_t input,
                         ee_error *error);

/* For an input with many places of which few occur: input is then the number of stored columns, which are given to
 * places one after the other. network_initialize does not write their rows of the first layer: initial_rows_draw fills
 * a row when its place is known. The indices of a sparse input are columns, in any order. In forward passes, and after
 * them, an index from `input` on is a place without a column, input + place, with its initial row. The network must
 * have a fully connected first layer that is not the last, and one head. init and stream are those of
 * network_initialize. */
ee_status network_store_columns(network *self, const column_room *room, size_t places, network_init init,
                                random_stream stream, ee_error *error);

/* Whether a sparse input has a place without a column. */
bool network_has_missing_columns(const network *self, vector input);

/* The places of an input: the possible columns. */
size_t network_places(const network *self);

void network_initialize(const network *self, network_init init, random_stream *stream, float *theta);

/* The block of the input. */
size_t network_head(const network *self, vector input);

/* Whether two inputs are equal within their blocks: then one pass gives the outputs of both. */
bool network_sees_same(const network *self, vector a, vector b);

/* The outputs of the last layer, (heads, members), in the activations. */
const float *network_outputs(const network *self, const float *theta, vector input, float *activations);

/* The same for an arm of a round whose arms are processed in order: prefetches what the next ones need. */
const float *network_outputs_of_arm(const network *self, const float *theta, const ee_arms *arms, size_t arm,
                                    float *activations);

/* One layer of that: number index, not the first. */
void network_forward_layer(const network *self, size_t index, const float *theta, float *activations);

/* The same for many dense inputs, (count, input). activations is (count, activation_count). */
void network_outputs_of_many(const network *self, const float *theta, const float *inputs, size_t count,
                             float *activations);

/* The number of indices after those of this arm whose rows of the first layer are worth prefetching. 0 if the arms are
 * dense or the rows fit in the cache. */
size_t network_indices_behind(const network *self, const ee_arms *arms, size_t arm);

/* The outputs of the head of the input, (members), after a pass over it or over one that network_sees_same. */
const float *network_members(const network *self, vector input, const float *activations);

/* Their mean. */
float network_forward(const network *self, const float *theta, vector input, float *activations);

/* The same after a pass over an input that network_sees_same. */
float network_output(const network *self, vector input, const float *activations);

/* After network_forward: deltas = output_gradient times the derivative of the output with respect to the output of each
 * layer. */
void network_backward(const network *self, const float *theta, vector input, const float *activations,
                      float output_gradient, float *deltas);

/* The same if the deltas of the outputs are set already. */
void network_backward_deltas(const network *self, const float *theta, const float *activations, float *deltas);

/* The same from a layer below the last on, whose deltas are set already. */
void network_backward_from(const network *self, size_t index, const float *theta, const float *activations,
                           float *deltas);

/* One layer of that: the deltas below layer number index, not the first. */
void network_backward_layer(const network *self, size_t index, const float *theta, const float *activations,
                            float *deltas);

/* After any of these: gradient (input.count) = the derivative with respect to each entry of the input; 0 outside the
 * block that was seen. room is (network_gradient_room). Not for a product. */
void network_input_gradient(const network *self, const float *theta, vector input, const float *activations,
                            const float *deltas, float *room, float *gradient);

size_t network_gradient_room(const network *self);

/* After network_backward: gradient += output_gradient times the derivative of the output with respect to every
 * parameter. */
void network_add_gradient(const network *self, vector input, const float *activations, const float *deltas,
                          float *gradient);

/* The same for one layer: number index, not the first. */
void network_add_layer_gradient(const network *self, size_t index, const float *activations, const float *deltas,
                                float *gradient);

/* The start of a pass: copies an input that the first layer cannot read in place. */
void network_lay_out_input(const network *self, vector input, float *activations);

/* After that: the input of the first layer, with indices relative to its block. */
vector network_first_input(const network *self, vector input, const float *activations);

/* The input of layer number index, not the first. */
static inline vector network_hidden_input(const network *self, size_t index, const float *activations)
{
    const layer *below = &self->layers[index - 1];
    return vector_dense(activations + below->output, shape_size(below->out));
}

/* Copies a network of at least two layers without the last one. If the layer before it is fully connected, only its
 * first `units` outputs stay. A cut network has outputs, but no heads. */
void network_cut(const network *whole, size_t units, network *cut);

/* Copies the parameters of a cut network from those of the whole. */
void network_cut_parameters(const network *whole, const network *cut, const float *theta, float *cut_theta);

/* The gradient of one layer: the outer product of its delta (out) and its input (in), and the delta for the biases. The
 * gradient of a convolution is computed in full and given as a delta with the single input 1. */
typedef struct gradient_factor {
    size_t parameters; /* offset of those of the layer */
    const float *delta;
    size_t out;
    vector input;
    size_t in;
    bool bias;
} gradient_factor;

/* After network_backward: the gradient as factors, layer by layer, without forming it. formed has network_formed_count
 * floats, factors is (NETWORK_LAYERS). Returns the number of factors; they borrow from the arguments. */
size_t network_factors(const network *self, vector input, const float *activations, const float *deltas, float *formed,
                       gradient_factor *factors);
size_t network_formed_count(const network *self);

/* The shapes of the factors: sets only parameters, out, in and bias. */
size_t network_factor_shapes(const network *self, gradient_factor *factors);

#endif
