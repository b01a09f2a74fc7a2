/* The turns of runs in an episode that goes on: noted, as long as they are those of its block (loopscan.going). */

#include "work.h"

enum { RECORD = 24 };

/* Where the fields of loopscan.going.Going stand. */
static struct {
    Py_ssize_t source, model, most, since, until, block, highest, room, turns;
} at;

bool setup_going(PyObject *going) {
    const struct {
        const char *name;
        Py_ssize_t *place;
    } fields[] = {
        {"source", &at.source}, {"model", &at.model}, {"most", &at.most}, {"since", &at.since}, {"until", &at.until},
        {"block", &at.block}, {"highest", &at.highest}, {"room", &at.room}, {"turns", &at.turns},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(going, fields[i].name)) < 0)
            return false;
    return true;
}

static double real_in(PyObject *run, Py_ssize_t place) {
    return PyFloat_AsDouble(*field_at(run, place));
}

/* Whether a call is that of a turn of the block, and so is its result. -1 with an exception. */
static int is_that(PyObject *turn, const Row *row) {
    PyObject *known, *result;
    const Tool *tool;
    int64_t ident;
    if (!PyArg_ParseTuple(turn, "OU", &known, &result) || !(tool = tool_of(&row->name)))
        return -1;
    if (PyUnicode_GET_LENGTH(result) != row->result.chars)
        return 0;
    if (!ident_of(tool, row->args, &ident))
        return -1;
    if (ident != PyLong_AsLongLong(known))
        return PyErr_Occurred() ? -1 : 0;
    if (!row->result.escaped)
        return same_text(result, &row->result, true);
    PyObject *text = object_of(&row->result, &given.spare);
    int same = text ? PyObject_RichCompareBool(text, result, Py_EQ) : -1;
    Py_XDECREF(text);
    return same;
}

static bool note(PyObject *run, const Row *row, int64_t place, double time) {
    PyObject *turns = *field_at(run, at.turns), *highest = PyLong_FromLongLong(row->number);
    Py_ssize_t size = PyByteArray_GET_SIZE(turns);
    if (!highest || PyByteArray_Resize(turns, size + RECORD) < 0) {
        Py_XDECREF(highest);
        return false;
    }
    char *to = PyByteArray_AS_STRING(turns) + size;
    memcpy(to, &place, 8);
    memcpy(to + 8, &time, 8);
    memcpy(to + 16, &row->sent, 4);
    memcpy(to + 20, &row->output, 4);
    set_field(run, at.highest, highest);
    return true;
}

/* Note the turn of a line: 1, or 0 where it is for Python to tell what it is; -1 with an exception. */
int take_going(PyObject *run, const PyObject *source, const Row *row, int64_t place) {
    PyObject *block = *field_at(run, at.block), *turns = *field_at(run, at.turns);
    double moment;
    bool timed;
    int same = is_told(row) && *field_at(run, at.source) == source;
    if (same)
        same = same_text(*field_at(run, at.model), &row->model, row->has_model);
    if (same <= 0)
        return same;
    if (!PyList_Check(block) || !PyList_GET_SIZE(block) || !PyByteArray_Check(turns))
        return 0;
    Py_ssize_t number = PyByteArray_GET_SIZE(turns) / RECORD;
    if ((double)row->number <= real_in(run, at.highest) || row->sent > real_in(run, at.most) ||
        number >= real_in(run, at.room))
        return PyErr_Occurred() ? -1 : 0;
    if (!moment_of(row, &moment, &timed))
        return -1;
    if (moment < real_in(run, at.since) || moment >= real_in(run, at.until) || names_of(row->args).odd)
        return PyErr_Occurred() ? -1 : 0;
    same = is_that(PyList_GET_ITEM(block, number % PyList_GET_SIZE(block)), row);
    return same > 0 && !note(run, row, place, timed ? moment : Py_NAN) ? -1 : same;
}
