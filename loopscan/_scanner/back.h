/* Usual turns that come back: how they stand in the window. */

#ifndef LOOPSCAN_BACK_H
#define LOOPSCAN_BACK_H

#include "names.h"

/* Where the fields of loopscan.late.Late stand. */
typedef struct {
    Py_ssize_t turn, source, place, head, tail, size, before;
} LateAt;

extern LateAt late_at;

/* The window at a turn. */
typedef struct {
    PyObject *ring;
    long reach, turn;
} Window;

static inline bool is_late(PyObject *seen) {
    return Py_IS_TYPE(seen, (PyTypeObject *)given.late);
}

static inline long whole_in(PyObject *object, Py_ssize_t place) {
    return PyLong_AsLong(*field_at(object, place));
}

bool setup_back(PyObject *late);
bool is_steady_text(const Text *text);
bool has_another(const Window *window, PyObject *before, bool shut, const Text *result, const Marks *marks);
bool link_back(PyObject *late, PyObject *before, long least);

#endif
