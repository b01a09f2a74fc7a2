/* What the loops over native lines share. */

#ifndef LOOPSCAN_WORK_H
#define LOOPSCAN_WORK_H

#include "names.h"
#include "row.h"
#include "times.h"

enum { AHEAD = 16 };

/* A state by the hash of its run, which is not 0 where one is or was. */
typedef struct {
    uint64_t hash;
    PyObject *state;
} Slot;

/* `room`: a power of two, 0 = there is no table; `count`: slots in use. */
typedef struct {
    Slot *slots;
    Py_ssize_t room, count;
} Table;

/* Lines that were read, but not taken yet, of which `next` is the first. `states`: those of their runs, as far as they
   are known and not that of the line before. */
typedef struct {
    Row rows[AHEAD];
    Cursor lines[AHEAD];
    int64_t places[AHEAD];
    PyObject *states[AHEAD];
    bool usual[AHEAD];
    int next, count;
} Batch;

typedef struct {
    PyObject_HEAD
    Layout layout;
    Batch batch;
    Table table;
    bool back; /* the call of the line that was looked at last is known to have come before */
    PyObject *first; /* what quiet runs that begin are made like */
} Native;

/* Where a loop stands in a block of lines, which begins at `first`. */
typedef struct {
    Py_buffer bytes;
    Place first, from, here, end;
    long line;
    int64_t place;
} Block;

extern const char take_doc[], more_doc[];
PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *more(PyObject *self, PyObject *const *args, Py_ssize_t count);

int are_unlike(const Layout *layout, PyObject *source, int64_t place, const Marks *known, const Row *row,
               const Block *block);
int take_going(PyObject *run, const PyObject *source, const Row *row, int64_t place);

/* Bytes, from which on to which lines of them are to be read, number and place of the first of these, from which on
   there are lines of the log: six arguments. The bytes are to be released. False with an exception. */
static inline bool read_block(Block *block, PyObject *const *args) {
    if (PyObject_GetBuffer(args[0], &block->bytes, PyBUF_SIMPLE) < 0)
        return false;
    Py_ssize_t at = PyLong_AsSsize_t(args[1]), end = PyLong_AsSsize_t(args[2]);
    Py_ssize_t first = PyLong_AsSsize_t(args[5]);
    block->from = block->bytes.buf;
    block->line = PyLong_AsLong(args[3]);
    block->place = PyLong_AsLongLong(args[4]);
    if (!PyErr_Occurred() && (first < 0 || first > at || at > end || end > block->bytes.len))
        PyErr_SetString(PyExc_ValueError, "no bytes of the block");
    block->first = block->from + first;
    block->here = block->from + at;
    block->end = block->from + end;
    if (!PyErr_Occurred())
        return true;
    PyBuffer_Release(&block->bytes);
    return false;
}

/* The next line, its end of line included. */
static inline Cursor line_of(const Block *block) {
    Place end = memchr(block->here, '\n', (size_t)(block->end - block->here));
    return (Cursor){block->here, end ? end + 1 : block->end};
}

static inline void step(Block *block, Place next) {
    block->place += next - block->here;
    block->here = next;
    block->line++;
}

/* Whether a text that is given (or none) is that of a line (or none). -1 with an exception. */
static inline int same_text(PyObject *known, const Text *text, bool has) {
    Py_ssize_t size;
    if (known == Py_None)
        return !has;
    const char *data = PyUnicode_AsUTF8AndSize(known, &size);
    if (!data)
        return -1;
    return has && !text->escaped && is_text(text, data, size);
}

/* The moment of a line, 0 where it has none; `known`: whether it has. False with an exception. */
static inline bool moment_of(const Row *row, double *moment, bool *known) {
    *moment = 0.0;
    *known = row->has_ts;
    if (!row->has_ts || (!row->ts.escaped && time_of(&row->ts, moment)))
        return true;
    PyObject *text = object_of(&row->ts, &given.spare), *time = text ? PyObject_CallOneArg(given.seconds, text) : NULL;
    Py_XDECREF(text);
    *known = time && time != Py_None;
    if (*known)
        *moment = PyFloat_AsDouble(time);
    Py_XDECREF(time);
    return !PyErr_Occurred();
}

/* Whether the turn of a line is told in the usual way, and so are its names. */
static inline bool is_told(const Row *row) {
    return !row->error && row->worded && !row->run.escaped && !row->name.escaped && !row->model.escaped;
}

#endif
