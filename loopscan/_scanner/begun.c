/* Where a stretch of usual turns begins: what the run is like, and for which turns. */

#include "stretch.h"

/* Whether a run may go on here: in a repetition that is open, or behind a turn that nothing follows on. */
static bool may_go_on(Stretch *s) {
    PyObject *open = get(s->tracker, in.tracker.open), *last = get(s->detector, in.detector.last);
    s->open = open == Py_None ? NULL : open;
    return s->open ? is_a(open, shared.Episode)
                   : last == Py_None || (is_a(last, shared.Action) && get(last, in.action.before) == Py_None);
}

/* Whether a field that may be None, or a number, says so; the number. -1 = it is something else. */
int real_or_none(PyObject *value, double *real) {
    *real = 0.0;
    if (value == Py_None)
        return 0;
    if (!PyFloat_CheckExact(value))
        return -1;
    *real = PyFloat_AS_DOUBLE(value);
    return 1;
}

/* How sends that say nothing of their usage are filled in. -1 with an exception. */
static int begin_bare(Stretch *s, PyObject *limit) {
    PyObject *way = PyObject_CallOneArg(shared.filled, s->ledger);
    long long n[9];
    int held;
    if (!way)
        return -1;
    if (!PyArg_ParseTuple(way, "OpLLLLLLLLL", &s->source, &held, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8)) {
        Py_DECREF(way);
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Clear();
        return PyErr_Occurred() ? -1 : 0;
    }
    s->sent = n[0], s->fixed = n[1], s->step = n[2], s->out_n = n[3], s->out_d = n[4];
    s->own_n = n[5], s->own_d = n[6], s->got_n = n[7], s->got_d = n[8];
    Py_DECREF(way); /* its source is one of a few constants */
    for (int i = 0; i < 9; i++)
        if (n[i] < (i > 2 && i % 2 == 0) || n[i] > (i > 2 ? 1000000 : PLENTY))
            return 0;
    int64_t most;
    if (held && limit && integer(limit, &most) && most <= s->most)
        s->most = most - 1;
    return 1;
}

/* The price of the run's sends, and how many tokens they may have. */
static int begin_terms(Stretch *s) {
    PyObject *terms = s->terms;
    s->cached = get(terms, in.terms.cached) == Py_True;
    return integer(get(terms, in.terms.most), &s->most) && counted(get(terms, in.terms.input), &s->rate_in) &&
           counted(get(terms, in.terms.output), &s->rate_out) && counted(get(terms, in.terms.read), &s->rate_read) &&
           counted(get(terms, in.terms.write), &s->rate_write) && counted(get(terms, in.terms.hour), &s->rate_hour) &&
           PyFloat_CheckExact(get(s->ledger, in.ledger.since)) && PyFloat_CheckExact(get(s->ledger, in.ledger.until));
}

static int begin_clock(Stretch *s) {
    PyObject *gap = get(s->run, in.run.gap);
    int started = real_or_none(get(s->run, in.run.started), &s->times.started);
    int ended = real_or_none(get(s->run, in.run.ended), &s->times.ended);
    if (started < 0 || ended < 0 || !PyTuple_CheckExact(gap) || PyTuple_GET_SIZE(gap) != 2 ||
        !PyFloat_CheckExact(PyTuple_GET_ITEM(gap, 0)))
        return 0;
    s->times.has_started = started, s->times.has_ended = ended;
    s->times.gap = PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(gap, 0));
    s->since = PyFloat_AS_DOUBLE(get(s->ledger, in.ledger.since));
    s->until = PyFloat_AS_DOUBLE(get(s->ledger, in.ledger.until));
    return 1;
}

/* Begin with a run: 1, or 0 where its next turn is none for here; -1 with an exception. */
int begin(Stretch *s, PyObject *run, PyObject *first) {
    PyObject *progress = get(run, in.run.progress), *limit = get(run, in.run.limit);
    s->run = run, s->ledger = get(run, in.run.ledger), s->keyer = get(progress, in.progress.keyer);
    s->tracker = get(progress, in.progress.tracker), s->watch = get(s->tracker, in.tracker.watch);
    s->detector = get(s->tracker, in.tracker.detector), s->model = get(run, in.run.model);
    s->terms = get(s->ledger, in.ledger.terms), s->plain = get(s->ledger, in.ledger.plain);
    s->tally = get(s->ledger, in.ledger.tally), s->session = get(run, in.run.session);
    s->parent = get(run, in.run.parent), s->labels = get(run, in.run.labels), s->source = shared.recorded;
    int64_t number, reach;
    int fits = s->watch == Py_None || !may_go_on(s) ? 0 : same(s->model, get(s->ledger, in.ledger.model));
    if (fits <= 0)
        return fits;
    if (!integer(get(run, in.run.turns), &number) || !integer(get(s->detector, in.detector.reach), &reach) ||
        reach < 1 || !PyList_CheckExact(get(s->detector, in.detector.ring)) ||
        PyList_GET_SIZE(get(s->detector, in.detector.ring)) != reach || !PyDict_CheckExact(s->labels) || !begin_terms(s) || !begin_clock(s))
        return 0;
    s->number = (long)number, s->reach = (long)reach;
    if (get(run, in.run.full) != Py_None)
        limit = NULL;
    s->bare = get(first, in.turn.usage) == Py_None;
    if (s->bare)
        return begin_bare(s, limit);
    int64_t most;
    if (limit && integer(limit, &most) && most <= s->most)
        s->most = most - 1;
    return 1;
}
