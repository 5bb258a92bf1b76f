/* The options of EE-Net, which are those of its parts, and its presets. */
#ifndef EENET_EENET_OPTIONS_H
#define EENET_EENET_OPTIONS_H

#include "parts/decision_maker.h"
#include "parts/drawing.h"
#include "parts/exploration.h"

typedef struct eenet_options {
    exploitation_options exploitation;
    exploration_options exploration;
    decision_options decision;
    drawing_options drawing;
} eenet_options;

extern const option_schema eenet_schema;
enum { EENET_PRESETS = 3 };
extern const policy_preset eenet_presets[EENET_PRESETS];

/* Refuses options that contradict each other. */
ee_status eenet_check(const eenet_options *o, ee_error *error);

#endif
