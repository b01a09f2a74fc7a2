/* Where the fields of loopscan.quiet.Quiet stand. */

#ifndef LOOPSCAN_QUIET_H
#define LOOPSCAN_QUIET_H

#include "work.h"

enum { RECORD = 37 }; /* bytes of a turn: loopscan.quiet.TURN */

typedef struct {
    PyObject *type;
    Py_ssize_t run, name, source, terms, model, most, since, until, reach, first, log, line, told, highest, turns, slots, trails,
        format;
} QuietAt;

extern QuietAt quiet_at;

static inline bool is_quiet(PyObject *state) {
    return Py_IS_TYPE(state, (PyTypeObject *)quiet_at.type) && PyByteArray_Check(*field_at(state, quiet_at.turns));
}

static inline double number_in(PyObject *object, Py_ssize_t place) {
    PyObject *value = *field_at(object, place);
    return PyFloat_Check(value) ? PyFloat_AS_DOUBLE(value) : PyLong_AsDouble(value);
}

/* What one call of `take` is about. */
typedef struct {
    PyObject *states, *fresh, *source, *log, *prices, *begin, *begun, *going, *known, *full;
    Native *native;
} Work;

int is_unlike(const Work *work, PyObject *turns, long last, const Row *row, const Block *block);
PyObject *state_of(const Work *work, const Row *row, double moment, bool timed, long line);

#endif
