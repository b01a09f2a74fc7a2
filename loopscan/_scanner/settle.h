/* Where the fields of loopscan.settle.Settled, loopscan.part.Part and loopscan.fired.Fired stand. */

#ifndef LOOPSCAN_SETTLE_H
#define LOOPSCAN_SETTLE_H

#include "names.h"

typedef Py_ssize_t Where;

typedef struct {
    PyObject *type, *part_type, *fired_type, *none, *no_gap;
    struct {
        Where run, source, format, model, started, ended, gap, part, price, spill, exits, times_normal, children;
    } settled;
    struct { Where turns, input, output, usd, elapsed, codes, size, kept, rates; } part;
    struct { Where exit, turn, paid_sends, usd, saved_turns, saved_usd, false_stop, rule, closing_usd; } fired;
} SettleAt;

extern SettleAt settle_at;

enum { IN_PART = 9 };

static inline PyObject *field(PyObject *object, Where place) {
    return *field_at(object, place);
}

/* A new loopscan.part.Part of its fields in their order, which are taken over; NULL with an exception. */
PyObject *part_with(PyObject *fields[IN_PART]);

/* A new report of a part that is taken over (NULL = there is an exception), without what the caller knows of the run:
   name, source, format, model, times, gap and price. NULL with an exception. */
PyObject *report_with(PyObject *part, PyObject *spill);

/* Put a text into which values are filled; false where one of them is unusual, or with an exception. */
bool put_filled(Bytes *out, PyObject *pieces, PyObject *roles, PyObject *const *values);

#endif
