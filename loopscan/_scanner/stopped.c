/* The exits that fire on quiet runs: caps, nothing else (loopscan.settle). */

#include "reached.h"

enum { CLOSING_OUTPUT = 500 }; /* loopscan.money.CLOSING_OUTPUT */
static const long long most_rate = 1000000000;
static const char *const names[CAPS] = {"turn_cap", "token_cap", "cost_cap", "time_cap"};

/* What of a report matters here. `rate`: picodollars of an output token, `priced`: whether it has a price. */
typedef struct {
    PyObject *part;
    Py_ssize_t turns;
    long long usd, tokens, rates[2], rate;
    double elapsed;
    bool priced;
} Quiet;

/* False where it is for Python to look at, without an exception. */
static bool read_quiet(PyObject *report, Quiet *quiet) {
    PyTypeObject *type = (PyTypeObject *)settle_at.type;
    long long input, output;
    if (!PyObject_TypeCheck(report, type))
        return false;
    PyObject *part = field(report, settle_at.settled.part), *price = field(report, settle_at.settled.price);
    if (!part || !price || !Py_IS_TYPE(part, (PyTypeObject *)settle_at.part_type))
        return false;
    quiet->part = part;
    quiet->turns = PyLong_AsSsize_t(field(part, settle_at.part.turns));
    quiet->usd = PyLong_AsLongLong(field(part, settle_at.part.usd));
    input = PyLong_AsLongLong(field(part, settle_at.part.input));
    output = PyLong_AsLongLong(field(part, settle_at.part.output));
    quiet->elapsed = PyFloat_AsDouble(field(part, settle_at.part.elapsed));
    bool sane = PyArg_ParseTuple(field(part, settle_at.part.rates), "LL", &quiet->rates[0], &quiet->rates[1]) &&
                !PyErr_Occurred() && !__builtin_add_overflow(input, output, &quiet->tokens);
    quiet->priced = price != Py_None;
    if (sane && quiet->priced) {
        PyObject *rate = PyObject_GetAttrString(price, "output");
        sane = rate && PyLong_CheckExact(rate);
        quiet->rate = sane ? PyLong_AsLongLong(rate) : 0;
        sane = sane && quiet->rate >= 0 && quiet->rate <= most_rate && !PyErr_Occurred();
        Py_XDECREF(rate);
    }
    PyErr_Clear();
    return sane;
}

static bool is_spared(const Quiet *quiet, const Caps *caps) {
    const long long sums[3] = {quiet->turns, quiet->tokens, quiet->usd};
    for (int cap = 0; cap < 3; cap++)
        if (caps->held[cap] && sums[cap] >= caps->most[cap])
            return false;
    return !caps->held[3] || quiet->elapsed <= caps->seconds;
}

/* What a last summary would cost after a turn: see loopscan.money.closing_call. */
static PyObject *closing(const Quiet *quiet, const Reach *at) {
    long long usd = at->sent * quiet->rates[0] + at->output * quiet->rates[1], own = at->output * quiet->rate;
    if (!quiet->priced || at->turn == quiet->turns || (at->sent && !usd && quiet->rate))
        return Py_NewRef(Py_None);
    return PyLong_FromLongLong((usd > own ? usd - own : 0) + CLOSING_OUTPUT * quiet->rate);
}

/* An exit that fired; NULL with an exception. */
static PyObject *fired(const Quiet *quiet, int cap, const Reach *at) {
    PyTypeObject *type = (PyTypeObject *)settle_at.fired_type;
    PyObject *exit = type->tp_alloc(type, 0);
    if (!exit)
        return NULL;
    set_field(exit, settle_at.fired.exit, PyUnicode_InternFromString(names[cap]));
    set_field(exit, settle_at.fired.turn, PyLong_FromSsize_t(at->turn));
    set_field(exit, settle_at.fired.paid_sends, PyLong_FromSsize_t(at->turn));
    set_field(exit, settle_at.fired.usd, PyLong_FromLongLong(at->usd));
    set_field(exit, settle_at.fired.saved_turns, PyLong_FromSsize_t(quiet->turns - at->turn));
    set_field(exit, settle_at.fired.saved_usd, PyLong_FromLongLong(quiet->usd - at->usd));
    set_field(exit, settle_at.fired.false_stop, Py_NewRef(Py_False));
    set_field(exit, settle_at.fired.rule, Py_NewRef(Py_None));
    set_field(exit, settle_at.fired.closing_usd, closing(quiet, at));
    if (PyErr_Occurred())
        Py_CLEAR(exit);
    return exit;
}

/* The exits of a report, smallest turn first; None where it is for Python to find them. NULL with an exception. */
static PyObject *exits_of(PyObject *report, const Quiet *quiet, const Caps *caps) {
    Reach places[CAPS] = {{0}};
    PyObject *kept = field(quiet->part, settle_at.part.kept), *spill = field(report, settle_at.settled.spill);
    PyObject *data = PyBytes_CheckExact(kept)
                         ? Py_NewRef(kept)
                         : PyObject_CallMethod(spill, "load", "OO", kept, field(quiet->part, settle_at.part.size));
    PyObject *exits = data ? PyList_New(0) : NULL;
    if (exits && (!PyBytes_CheckExact(data) || !look_for(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), quiet->turns,
                                                         quiet->rates, caps, places)))
        Py_SETREF(exits, Py_NewRef(Py_None));
    for (int done = 0; exits && exits != Py_None && done < CAPS; done++) {
        int next = -1;
        for (int cap = 0; cap < CAPS; cap++)
            if (places[cap].turn && (next < 0 || places[cap].turn < places[next].turn))
                next = cap;
        if (next < 0)
            break;
        PyObject *exit = fired(quiet, next, &places[next]);
        if (!exit || PyList_Append(exits, exit) < 0)
            Py_CLEAR(exits);
        Py_XDECREF(exit);
        places[next].turn = 0;
    }
    Py_XDECREF(data);
    return exits;
}

/* stop(reports, turns, tokens, usd, seconds) -> the numbers of the reports for which Python is to find the exits */
PyObject *stop(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    Caps caps = {0};
    if (count != 5 || !PyList_CheckExact(args[0]) || !settle_at.type) {
        PyErr_SetString(PyExc_TypeError, "reports and caps");
        return NULL;
    }
    PyObject *others = read_caps(args + 1, &caps) ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; others && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *report = PyList_GET_ITEM(args[0], i), *exits = NULL;
        Quiet quiet;
        if (Py_IS_TYPE(report, (PyTypeObject *)settle_at.type) && read_quiet(report, &quiet))
            exits = is_spared(&quiet, &caps) ? Py_NewRef(settle_at.none) : exits_of(report, &quiet, &caps);
        if (exits && exits != Py_None) {
            set_field(report, settle_at.settled.exits, exits);
            continue;
        }
        PyObject *number = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(i);
        if (!number || PyList_Append(others, number) < 0)
            Py_CLEAR(others);
        Py_XDECREF(number);
        Py_XDECREF(exits);
    }
    return others;
}
