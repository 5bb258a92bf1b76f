/* A network: a chain of layers from an arm (or features, or scores) to one number.
 *
 * The network itself is shapes and never changes. Its parameters are one flat array, theta, that the caller holds: a
 * copy of theta is a copy of what was learned. A pass keeps each layer's outputs in `activations` and the backward pass
 * its `deltas`, both of network->activation_count floats, the caller's too.
 *
 * With heads the arms share the layers before the last. The input is cut into as many blocks of the same size; the
 * layers see one block, that of the first entry that is not zero (of an input of zeros the first), and nothing of the
 * others. The last layer has an output for each block: the network's is that of the block that was seen, and the deltas
 * of the others are zero, but where a learner knows of them.
 *
 * With members each head has several outputs, one beside the other, and the network's is their mean.
 *
 * Before a convolution, an input may be a product: an outer product row by row and then others. It comes as the
 * product's factors, (rows) and (columns), and the others. */
#ifndef EENET_NETWORK_H
#define EENET_NETWORK_H

#include "base/options.h"
#include "base/random.h"
#include "initial_rows.h"
#include "layer.h"

typedef struct network_options {
    int64_t layers; /* fully connected ones, the last with one output */
    int64_t width;  /* outputs of each but the last */
    bool bias;
    option_choice init;           /* network_init */
    int64_t heads;                /* blocks of the input, each with its own row of the last layer */
    char image[OPTION_TEXT_SIZE]; /* "1x28x28": how a block is cut into channels, rows and columns */
    char front[OPTION_TEXT_SIZE]; /* "conv2d:16:5+relu+pool:2": what stands before the fully connected layers */
    int64_t members;              /* no option: outputs of each head; 0: one */
    size_t rows, columns;         /* no option: of a product, whose network has a convolution first and no heads */
    const column_room *room;      /* no option: where inputs are columns, see network_store_columns; else NULL */
} network_options;

enum { NETWORK_LAYERS = 32 };

typedef struct network {
    layer layers[NETWORK_LAYERS];
    size_t layer_count;
    size_t input;                /* dimension */
    size_t heads;                /* of the last layer, of which the input picks one */
    size_t members;              /* outputs of each head */
    size_t block;                /* input / heads: what the first layer sees */
    size_t rows, columns;        /* of an input that is a product; else 0 */
    const initial_rows *initial; /* of all places, where the input is columns; else NULL */
    size_t parameter_count;
    size_t activation_count;
    const kernel_table *kernels;
} network;

/* name is for messages: "f1". */
ee_status network_create(network *self, const char *name, const network_options *options, size_t input,
                         ee_error *error);

/* Where an input has many places and few are met: input is the columns that are stored, which are given to places one
 * after the other. network_initialize leaves their rows of the first layer as they are: initial_rows_draw fills one
 * when its place is known. A sparse input then has columns as its indices, in any order. In a forward pass, and in what
 * follows it, an index of `input` and above is a place without a column, input + place, whose row is the initial one.
 * The network has a fully connected layer before the last, and one head. init and stream: as network_initialize's. */
ee_status network_store_columns(network *self, const column_room *room, size_t places, network_init init,
                                random_stream stream, ee_error *error);

/* Whether a sparse input has a place without a column. */
bool network_has_strangers(const network *self, vector input);

/* The places of an input: as many as there could be columns. */
size_t network_places(const network *self);

void network_initialize(const network *self, network_init init, random_stream *stream, float *theta);

/* The block that the input lies in. */
size_t network_head(const network *self, vector input);

/* Whether two inputs are the same within their blocks: then one pass gives the outputs of both. */
bool network_sees_same(const network *self, vector a, vector b);

/* The outputs of the last layer, (heads, members), which lie in the activations. */
const float *network_outputs(const network *self, const float *theta, vector input, float *activations);

/* The same for an arm of a round whose arms pass in order: what the next ones need is fetched meanwhile. */
const float *network_outputs_of_arm(const network *self, const float *theta, const ee_arms *arms, size_t arm,
                                    float *activations);

/* One layer of that, number index, which is not the first. */
void network_forward_layer(const network *self, size_t index, const float *theta, float *activations);

/* The same for many dense inputs, (count, input). activations is (count, activation_count). */
void network_outputs_of_many(const network *self, const float *theta, const float *inputs, size_t count,
                             float *activations);

/* Behind the indices of this arm, so many are worth fetching rows of the first layer for. 0 where the arms are dense or
 * the rows are in the cache already. */
size_t network_indices_behind(const network *self, const ee_arms *arms, size_t arm);

/* The outputs of the head that the input picks, (members), after a pass over it or one that network_sees_same. */
const float *network_members(const network *self, vector input, const float *activations);

/* Their mean. */
float network_forward(const network *self, const float *theta, vector input, float *activations);

/* The same after a pass over an input that network_sees_same. */
float network_output(const network *self, vector input, const float *activations);

/* After network_forward: deltas become output_gradient times the derivative of the output by each layer's output. */
void network_backward(const network *self, const float *theta, vector input, const float *activations,
                      float output_gradient, float *deltas);

/* The same where the deltas of the outputs are there already. */
void network_backward_deltas(const network *self, const float *theta, const float *activations, float *deltas);

/* The same from a layer below the last on, whose deltas are there already. */
void network_backward_from(const network *self, size_t index, const float *theta, const float *activations,
                           float *deltas);

/* One layer of that: the deltas below layer number index, which is not the first. */
void network_backward_layer(const network *self, size_t index, const float *theta, const float *activations,
                            float *deltas);

/* After any of these: gradient (input.count) = the derivative by each entry of the input, as they lie there. What lies
 * outside the block that was seen has 0. room is (network_gradient_room).
 * Not for a product. */
void network_input_gradient(const network *self, const float *theta, vector input, const float *activations,
                            const float *deltas, float *room, float *gradient);

size_t network_gradient_room(const network *self);

/* After network_backward: gradient += output_gradient times the derivative of the output by every parameter. */
void network_add_gradient(const network *self, vector input, const float *activations, const float *deltas,
                          float *gradient);

/* The same for one layer, number index, which is not the first. */
void network_add_layer_gradient(const network *self, size_t index, const float *activations, const float *deltas,
                                float *gradient);

/* A pass begins with this. It lays out an input that the first layer cannot read where it lies. */
void network_lay_out_input(const network *self, vector input, float *activations);

/* After that: the input as the first layer sees it, its indices counted from the beginning of its block. */
vector network_first_input(const network *self, vector input, const float *activations);

/* The input of layer number index, which is not the first. */
static inline vector network_hidden_input(const network *self, size_t index, const float *activations)
{
    const layer *below = &self->layers[index - 1];
    return vector_dense(activations + below->output, shape_size(below->out));
}

/* Makes a network without the last layer of the whole, which must have at least two. Of the layer before it only the
 * first `units` stay, if it is fully connected. A cut network has outputs, but none that an input picks. */
void network_cut(const network *whole, size_t units, network *cut);

/* The parameters of a cut network, taken from those of the whole. */
void network_cut_parameters(const network *whole, const network *cut, const float *theta, float *cut_theta);

/* The gradient of one layer is the outer product of its delta (out) and its input (in), and the delta once more for the
 * biases. The gradient of a convolution is computed in full, and given as a delta with the single input 1. */
typedef struct gradient_factor {
    size_t parameters; /* where the layer's begin */
    const float *delta;
    size_t out;
    vector input;
    size_t in;
    bool bias;
} gradient_factor;

/* After network_backward: the gradient as factors, layer by layer, without forming it. formed is room for
 * network_formed_count floats. factors is (NETWORK_LAYERS). Returns how many there are; all borrow from the arguments.
 */
size_t network_factors(const network *self, vector input, const float *activations, const float *deltas, float *formed,
                       gradient_factor *factors);
size_t network_formed_count(const network *self);

/* The shapes of what network_factors will give: parameters, out, in and bias are set, nothing else. */
size_t network_factor_shapes(const network *self, gradient_factor *factors);

#endif
