/* The caps of a policy, and the exits that fire under them (loopscan.fired). */

#ifndef LOOPSCAN_REACHED_H
#define LOOPSCAN_REACHED_H

#include "settle.h"

enum { CAPS = 4 };

/* Caps on turns, tokens, picodollars and seconds. `held`: which of them there are. */
typedef struct {
    bool held[CAPS];
    long long most[3];
    double seconds;
} Caps;

/* Where a cap is reached: the turn (0 = never), picodollars by its end, and tokens of the next turn. */
typedef struct {
    Py_ssize_t turn;
    long long usd;
    uint32_t sent, output;
} Reach;

bool read_caps(PyObject *const given[CAPS], Caps *caps);
bool look_for(const char *data, Py_ssize_t size, Py_ssize_t turns, const long long rates[2], const Caps *caps,
              Reach places[CAPS]);

#endif
