/* The routes of Personalizer's API, after the base was cut: see personalizer_path.c. */
#include "service_inside.h"

const route personalizer_routes[] = {
    {HTTP_POST, "/personalizer/rank", KEY_APP, "body-bytes", api_decide, "Personalizer: rank actions", false},
    {HTTP_POST, "/personalizer/events/{eventId}/reward", KEY_APP, "body-bytes", api_reward,
     "Personalizer: reward an event", false},
    {HTTP_POST, "/personalizer/events/{eventId}/activate", KEY_APP, "body-bytes", api_activate,
     "Personalizer: activate a deferred event", false},
    {HTTP_POST, "/personalizer/multislot/rank", KEY_APP, "body-bytes", api_rank_slots,
     "Personalizer: rank actions for several slots", false},
    {HTTP_POST, "/personalizer/multislot/events/{eventId}/reward", KEY_APP, "body-bytes", api_reward_slots,
     "Personalizer: reward slots of an event", false},
    {HTTP_POST, "/personalizer/multislot/events/{eventId}/activate", KEY_APP, "body-bytes", api_activate,
     "Personalizer: activate a deferred event of several slots", false},
};
const size_t personalizer_route_count = sizeof personalizer_routes / sizeof *personalizer_routes;
_Static_assert(sizeof personalizer_routes / sizeof *personalizer_routes <= MOST_ROUTES / 2,
               "room for the counts of each route");
