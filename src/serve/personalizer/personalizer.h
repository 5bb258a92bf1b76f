/* Azure Personalizer's API on the bandits of this server, so that its clients work unchanged. Three generations of it
 * are in use: paths below /personalizer/v1.0, below /personalizer/v1.1-preview.N, and below /personalizer with
 * ?api-version=2022-09-01-preview. The same paths below /v1/bandits/NAME are those of that bandit. */
#ifndef EENET_PERSONALIZER_H
#define EENET_PERSONALIZER_H

#include "serve/requests/decide_request.h"

typedef enum personalizer_generation {
    PERSONALIZER_NONE, /* another API */
    PERSONALIZER_1_0,
    PERSONALIZER_1_1,
    PERSONALIZER_2022
} personalizer_generation;

enum { PERSONALIZER_PATH_SIZE = 1024, PERSONALIZER_MOST = 50 /* actions, or slots */ };

/* The parts of a path: the generation, the bandit, not decoded (bytes NULL: none), and in path, which lies in room, the
 * rest:
 * "/personalizer/rank"; empty if it is too long. */
typedef struct personalizer_path {
    personalizer_generation generation;
    json_text bandit;
    json_text path;
    char room[PERSONALIZER_PATH_SIZE];
} personalizer_path;
void personalizer_path_read(json_text path, personalizer_path *out);

/* Reads the body of rank or multislot/rank, after its {; unknown members are skipped. */
ee_status rank_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, bool of_slots,
                            ee_error *error);

/* Adds its context in the form of Personalizer's log: {"FromUrl": [context features], "_multi": [{"_tag": id, "i":
 * {"constant": 1, "id": id}, "j": [features]}, ...]}. */
ee_status rank_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size, size_t *capacity,
                               ee_error *error);

/* {"value": 1}: -1 to 1. */
ee_status rank_reward_read(json_reader *reader, double *value, ee_error *error);

/* {"reward": [{"slotId": "top", "value": 1}, ...]}, calls take for each. */
typedef ee_status take_slot_reward(void *context, json_text slot, double value, ee_error *error);
ee_status rank_slot_rewards_read(json_reader *reader, kept_texts *texts, take_slot_reward *take, void *context,
                                 ee_error *error);

#endif
