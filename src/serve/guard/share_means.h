/* Shares over a window: an action group gets at least `low` and at most `high` of the probability, on average over the
 * decisions of the window, not in each. The bounds of the next decision follow from the mean of the window:
 *
 *     low_now = clip(low + 10 (low - mean), 0, 1), the same for high
 *
 * Decisions whose context favours the group fill the share, and the bound falls to 0 for the others. */
#ifndef EENET_SHARE_MEANS_H
#define EENET_SHARE_MEANS_H

#include "serve/settings/guard_settings.h"

enum { SHARE_SLICES = 64 }; /* of a window; the oldest leaves as a whole */

typedef struct share_slice {
    int64_t index; /* its time in slices since 1970 */
    double mass;   /* sum of the share's probability */
    double count;  /* decisions in which the share had an action */
} share_slice;

/* All of {0}: no decisions. */
typedef struct share_mean {
    share_slice slices[SHARE_SLICES];
    double mass, count; /* of all slices that are in the window at `index` */
    int64_t index;
} share_mean;

void share_count(share_mean *self, const guard_share *of, int64_t now, double mass);
void share_undo(share_mean *self, const guard_share *of, int64_t decided, double mass);

/* The mean of the window; NaN: no decision is in it, or there is no window. */
double share_now(const share_mean *self, const guard_share *of, int64_t now);

/* The bounds of the next decision. */
void share_bounds(share_mean *self, const guard_share *of, int64_t now, double *low, double *high);

/* Changes bounds that no probabilities can have: the lows of shares with an action (present) sum to 1 at most, and the
 * highs to 1 at least if no action is outside of shares (covers_all). The others become 0 to 1. All are (count). */
void shares_reconcile(const guard_share *of, size_t count, const bool *present, bool covers_all, double *low,
                      double *high);

#endif
