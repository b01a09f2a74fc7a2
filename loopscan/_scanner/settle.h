/* Where the fields of loopscan.settle.Settled, loopscan.part.Part and loopscan.fired.Fired stand. */

#ifndef LOOPSCAN_SETTLE_H
#define LOOPSCAN_SETTLE_H

#include "names.h"
#include "seen.h"

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

static inline PyObject *field(PyObject *object, Where place) {
    return *field_at(object, place);
}

/* What quiet runs have in common with others; bytes of a turn in the columns of its run. */
enum { OF_SOURCE, OF_FORMAT, OF_MODEL, OF_PRICE, OF_CODES, OF_RATES, SHARES, COLUMNS = 16 };

/* What a quiet run came to, its columns of `size` bytes; seconds since its first turn at most. */
typedef struct {
    int64_t turns, sent, output, usd, size;
    double longest;
    Seen times;
} Sums;

/* Add up a quiet run: its columns, for which there is room of COLUMNS bytes a turn, its sums, and what it shares,
   borrowed. 1; 0 where the sums are absurd; -1 with an exception. */
int sums_of(PyObject *state, char *columns, Sums *sums, PyObject *shared[SHARES]);

/* The report of a run; its name and what is kept of its columns are taken over (NULL = there is an exception). NULL with
   an exception. */
PyObject *report_with(const Sums *sums, PyObject *const shared[SHARES], PyObject *run, PyObject *kept, PyObject *spill);

/* Put a text into which values are filled; false where one of them is unusual, or with an exception. */
bool put_filled(Bytes *out, PyObject *pieces, PyObject *roles, PyObject *const *values);

#endif
