/* When the turns of a run were, one after the other. */

#ifndef LOOPSCAN_SEEN_H
#define LOOPSCAN_SEEN_H

#include <stdbool.h>

/* The first and the last time that is known, the longest pause in seconds and the turn behind it. */
typedef struct {
    bool has_started, has_ended;
    double started, ended, gap;
    long gap_turn;
} Seen;

/* Take the time of a turn, if it has one: its seconds since the first. */
static inline double see(Seen *seen, bool timed, double time, long turn) {
    if (!timed)
        return 0.0;
    if (!seen->has_started) {
        seen->has_started = true;
        seen->started = time;
    } else if (seen->has_ended && time - seen->ended > seen->gap) {
        seen->gap = time - seen->ended;
        seen->gap_turn = turn;
    }
    if (!seen->has_ended || seen->ended == 0.0 || time > seen->ended) {
        seen->has_ended = true;
        seen->ended = time;
    }
    return time - seen->started;
}

#endif
