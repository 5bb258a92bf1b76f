/* What the tests of live evaluation share: the bandit that is watched, on a log that the test writes. */
#ifndef EENET_LIVE_PLAY_H
#define EENET_LIVE_PLAY_H

#include "serve/joined_play.h"
#include "serve/live/live_bandit.h"

static live_bandit watched;

static inline live_bandit open_live(const char *in_force)
{
    ee_error error = {0};
    live_bandit made = {.in_force = bandit_settings_usual()};
    ok(bandit_settings_read(&made.in_force, in_force, strlen(in_force), SETTINGS_NEW, NULL));
    if (live_bandit_open(&made, play.store, 1, &error)) fail_msg("%s", error.message);
    return made;
}

static inline void take_all(live_bandit *of)
{
    ee_error error = {0};
    for (bool more = true; more;)
        if (live_bandit_turn(of, state_of(play.store, 1)->events, &more, &error)) fail_msg("%s", error.message);
}

/* Opens it, and takes the log without the state that is saved. */
static inline live_bandit watch(const char *in_force)
{
    live_bandit made = open_live(in_force);
    take_all(&made);
    return made;
}

static inline int finish(void **state)
{
    live_bandit_close(&watched);
    return end(state);
}

#endif
