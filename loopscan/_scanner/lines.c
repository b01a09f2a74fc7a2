/* The lines of the reports of quiet runs, one after the other (loopscan.render.jsonl): each that is like one before. */

#include "settle.h"

enum { LINES_AT_ONCE = 1 << 16, MOST_EXITS = 7, OF_EXIT = 6, MOST_VALUES = 16 + (MOST_EXITS + 1) * OF_EXIT };

static bool same_name(PyObject *one, PyObject *other) {
    if (one == other || !PyUnicode_CheckExact(one) || !PyUnicode_CheckExact(other))
        return one == other;
    return PyUnicode_Compare(one, other) == 0;
}

/* Whether a report is of a kind. What records of one have in common: format, model, price, names of the exits, pieces
   and roles. */
static bool is_kind(PyObject *mould, PyObject *report, PyObject *exits) {
    PyObject *names = PyTuple_GET_ITEM(mould, 3);
    if (PyTuple_GET_ITEM(mould, 2) != field(report, settle_at.settled.price) ||
        PyTuple_GET_SIZE(names) != PyList_GET_SIZE(exits))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (!same_name(PyTuple_GET_ITEM(names, i), field(PyList_GET_ITEM(exits, i), settle_at.fired.exit)))
            return false;
    return same_name(PyTuple_GET_ITEM(mould, 0), field(report, settle_at.settled.format)) &&
           same_name(PyTuple_GET_ITEM(mould, 1), field(report, settle_at.settled.model));
}

static bool is_plain(PyObject *report) {
    if (!Py_IS_TYPE(report, (PyTypeObject *)settle_at.type) ||
        field(report, settle_at.settled.gap) != settle_at.no_gap ||
        field(report, settle_at.settled.children) != Py_None)
        return false;
    PyObject *part = field(report, settle_at.settled.part), *exits = field(report, settle_at.settled.exits);
    bool plain = Py_IS_TYPE(part, (PyTypeObject *)settle_at.part_type) && PyList_CheckExact(exits);
    for (Py_ssize_t i = 0; plain && i < PyList_GET_SIZE(exits); i++)
        plain = Py_IS_TYPE(PyList_GET_ITEM(exits, i), (PyTypeObject *)settle_at.fired_type);
    return plain && PyList_GET_SIZE(exits) <= MOST_EXITS;
}

/* The mould of a report; NULL where it is not known, or the report is none that can be told by one. */
static PyObject *mould_of(PyObject *moulds, PyObject *report) {
    if (!is_plain(report))
        return NULL;
    PyObject *exits = field(report, settle_at.settled.exits);
    for (Py_ssize_t i = PyList_GET_SIZE(moulds); i--;)
        if (is_kind(PyList_GET_ITEM(moulds, i), report, exits))
            return PyList_GET_ITEM(moulds, i);
    return NULL;
}

/* Put the figures of an exit behind others; those of its money only where that is known. */
static PyObject **put_exit(PyObject **to, PyObject *fired, bool priced) {
    *to++ = field(fired, settle_at.fired.turn);
    *to++ = field(fired, settle_at.fired.paid_sends);
    *to++ = priced ? field(fired, settle_at.fired.usd) : Py_None;
    *to++ = field(fired, settle_at.fired.saved_turns);
    *to++ = priced ? field(fired, settle_at.fired.saved_usd) : Py_None;
    *to++ = priced ? field(fired, settle_at.fired.closing_usd) : Py_None;
    return to;
}

/* The figures of a report, in the order of the record; how many. */
static Py_ssize_t figures_of(PyObject *report, PyObject **values, PyObject *zero, PyObject *notes) {
    PyObject *part = field(report, settle_at.settled.part), *exits = field(report, settle_at.settled.exits), **to = values;
    bool priced = field(report, settle_at.settled.price) != Py_None;
    PyObject *turns = field(part, settle_at.part.turns), *usd = priced ? field(part, settle_at.part.usd) : Py_None;
    *to++ = field(report, settle_at.settled.run);
    *to++ = field(report, settle_at.settled.source);
    *to++ = field(report, settle_at.settled.started);
    *to++ = field(report, settle_at.settled.ended);
    *to++ = turns;
    *to++ = turns;
    for (Py_ssize_t i = -1; PyList_GET_SIZE(exits) && i < PyList_GET_SIZE(exits); i++)
        to = put_exit(to, PyList_GET_ITEM(exits, i < 0 ? 0 : i), priced);
    *to++ = turns;
    *to++ = field(part, settle_at.part.input);
    *to++ = field(part, settle_at.part.output);
    *to++ = Py_None;
    *to++ = Py_None;
    *to++ = usd;
    *to++ = priced ? zero : turns;
    *to++ = field(report, settle_at.settled.times_normal);
    *to++ = usd;
    *to++ = notes;
    return to - values;
}

/* Put the line of a report; false where it is for Python to tell it, or with an exception. */
static bool put_line(Bytes *out, PyObject *report, PyObject *moulds, PyObject *zero, PyObject *notes) {
    PyObject *values[MOST_VALUES], *mould = mould_of(moulds, report);
    if (!mould)
        return false;
    Py_ssize_t before = out->size, count = figures_of(report, values, zero, notes);
    bool told = count == PyBytes_GET_SIZE(PyTuple_GET_ITEM(mould, 5)) &&
                put_filled(out, PyTuple_GET_ITEM(mould, 4), PyTuple_GET_ITEM(mould, 5), values);
    if (told)
        put_byte(out, '\n');
    else
        out->size = before;
    return told;
}

static bool are_moulds(PyObject *moulds) {
    if (!PyList_CheckExact(moulds))
        return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(moulds); i++) {
        PyObject *mould = PyList_GET_ITEM(moulds, i);
        if (!PyTuple_CheckExact(mould) || PyTuple_GET_SIZE(mould) != 6 || !PyTuple_CheckExact(PyTuple_GET_ITEM(mould, 3)) ||
            !PyTuple_CheckExact(PyTuple_GET_ITEM(mould, 4)) || !PyBytes_CheckExact(PyTuple_GET_ITEM(mould, 5)) ||
            PyTuple_GET_SIZE(PyTuple_GET_ITEM(mould, 4)) != PyBytes_GET_SIZE(PyTuple_GET_ITEM(mould, 5)) + 1)
            return false;
    }
    return true;
}

/* told(reports, at, moulds) -> (lines of reports from number `at` on, number of the first that is not among them) */
PyObject *told(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    Py_ssize_t at = count == 3 ? PyLong_AsSsize_t(args[1]) : -1;
    if (at < 0 || !PyList_CheckExact(args[0]) || !are_moulds(args[2])) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "reports, number and moulds");
        return NULL;
    }
    PyObject *zero = PyLong_FromLong(0), *notes = PyUnicode_FromString("[]");
    Bytes *out = &given.spare;
    out->size = 0;
    bool told = zero && notes && settle_at.type;
    while (told && at < PyList_GET_SIZE(args[0]) && out->size < LINES_AT_ONCE) {
        told = put_line(out, PyList_GET_ITEM(args[0], at), args[2], zero, notes);
        at += told;
    }
    Py_XDECREF(zero);
    Py_XDECREF(notes);
    if (out->failed && !PyErr_Occurred())
        PyErr_NoMemory();
    out->failed = false;
    if (PyErr_Occurred())
        return NULL;
    return Py_BuildValue("s#n", out->size ? (const char *)out->data : "", out->size, at);
}
