/* The usual turns of a run: what loopscan.stretch does in Python, in the same order. */

#include "stretch.h"

/* The turn as the detector sees it. NULL with an exception. */
static PyObject *action_of(const Now *now) {
    PyObject *number = PyLong_FromLong(now->number), *idents = PyTuple_Pack(1, now->ident), *action = NULL;
    if (number && idents) {
        PyObject *const fields[] = {
            now->ident, idents, now->calls, get(now->turn, in.turn.text), shared.missing,
            get(now->call, in.call.error), now->args, number,
        };
        action = PyObject_Vectorcall(shared.Action, fields, 8, NULL);
    }
    Py_XDECREF(number);
    Py_XDECREF(idents);
    return action;
}

/* Forget the turn whose place in the window is taken: what is held for long is slow to release. False with an
   exception. */
static bool forget(PyObject *newest, PyObject *old) {
    if (!is_a(old, shared.Action))
        return true;
    PyObject *ident = get(old, in.action.ident), *last = ident == Py_None ? NULL : PyDict_GetItemWithError(newest, ident);
    if (last != old)
        return !PyErr_Occurred();
    return PyDict_DelItem(newest, ident) == 0;
}

/* Put a turn into the window. False with an exception. */
static bool note(const Stretch *s, const Now *now, PyObject *action) {
    PyObject *ring = get(s->detector, in.detector.ring), *trails = get(s->watch, in.watch.trails);
    PyObject *runs = get(s->detector, in.detector.runs);
    if (PyDict_GET_SIZE(runs) && !(runs = PyDict_New()))
        return false;
    if (runs != get(s->detector, in.detector.runs))
        set_field(s->detector, in.detector.runs, runs);
    PyObject *newest = get(s->detector, in.detector.newest);
    if (!forget(newest, PyList_GET_ITEM(ring, now->number % s->reach)) ||
        PyList_SetItem(ring, now->number % s->reach, Py_NewRef(action)) < 0 ||
        PyDict_SetItem(newest, now->ident, action) < 0)
        return false;
    if (now->alike)
        return tell_turn(s->tracker, now->number) &&
               done(PyObject_CallMethod(s->watch, "_alike", "OOOO", now->name, now->last, now->call, action));
    return PyDict_SetItem(trails, now->name, action) == 0 && (now->last || at_most(trails, given.tools));
}

/* Note an output that cannot be true. False with an exception. */
static bool doubt(const Stretch *s, const Now *now) {
    PyObject *written = get(now->turn, in.turn.written);
    int64_t size;
    if (s->bare || written == Py_None || (integer(written, &size) && now->output * shared.ratio >= size))
        return true;
    PyObject *done = PyObject_CallMethod(s->ledger, "doubt", "OOO", written, get(now->usage, in.usage.output),
                                         get(s->terms, in.terms.price));
    Py_XDECREF(done);
    return done != NULL;
}

static bool start(Stretch *s) {
    if (s->begun)
        return true;
    s->begun = true;
    int same_source = same(get(s->plain, in.plain.source), s->source);
    if (same_source)
        return same_source > 0;
    PyObject *done = PyObject_CallMethod(s->ledger, "begin", "O", s->source);
    Py_XDECREF(done);
    return done != NULL;
}

/* Write down what a turn cost. False with an exception. */
static bool add(Stretch *s, const Now *now) {
    int at = s->count++;
    s->number = now->number;
    s->elapsed[at] = see(&s->times, now->timed, now->time, now->number);
    s->input[at] = s->last_sent = now->sent, s->output[at] = now->output, s->usd[at] = now->usd;
    Py_XSETREF(s->done, Py_NewRef(now->turn));
    return doubt(s, now) && (s->count < ROOM || flush(s));
}

/* Take a turn that is new. False with an exception. */
static bool take_new(Stretch *s, const Now *now) {
    PyObject *action = start(s) ? action_of(now) : NULL;
    if (!action)
        return false;
    Py_XSETREF(s->action, action);
    s->seen = now->number;
    if (!note(s, now, action) || !add(s, now))
        return false;
    bool shown = now->says & PATH || now->what & given.shell || now->failed;
    return (!shown || show(s->tracker, now, action)) && judge(s, now, action);
}

/* Take a turn with which a repetition goes on: 1, or 0 where it does not; -1 with an exception. */
static int take_again(Stretch *s, Now *now) {
    PyObject *action = action_of(now), *number = PyLong_FromLong(now->number);
    int taken = action && number ? plays_on(s, now, action) : -1;
    if (taken > 0)
        taken = pay(s, now);
    if (taken > 0) {
        set_to(s->open, in.episode.last, number);
        taken = start(s) && add(s, now) ? 1 : -1;
    }
    Py_XDECREF(action);
    Py_XDECREF(number);
    return taken;
}

/* Take a turn: 1, or 0 where it is not usual; -1 with an exception. */
static int take_turn(Stretch *s, PyObject *turn) {
    Now now = {.turn = turn, .number = s->number + 1};
    int taken = look_at(s, &now);
    if (taken > 0 && !(read_args(s->keyer, &now) && tell_ident(&now) && (now.what = kind_of(now.name)) >= 0))
        taken = -1;
    if (taken > 0 && s->open) {
        taken = take_again(s, &now);
    } else if (taken > 0) {
        taken = is_new(s, &now);
        if (taken > 0)
            taken = is_another(s, &now);
        if (taken > 0)
            taken = pay(s, &now);
        if (taken > 0 && !take_new(s, &now))
            taken = -1;
    }
    Py_XDECREF(now.args);
    Py_XDECREF(now.ident);
    return taken;
}

static bool set_time(PyObject *run, Where place, bool has, double time) {
    PyObject *value = has ? PyFloat_FromDouble(time) : Py_NewRef(Py_None);
    if (value)
        set_field(run, place, value);
    return value != NULL;
}

/* Bring the run up to its newest turn. False with an exception. */
static bool finish(Stretch *s) {
    PyObject *run = s->run, *newest = get(s->detector, in.detector.newest), *done = NULL;
    long last = s->number;
    if (!flush(s) || !set_number(run, in.run.turns, last) || !set_number(s->tracker, in.tracker.turn, last) ||
        (s->seen && (!set_number(s->detector, in.detector.turn, s->seen) || !set_number(s->watch, in.watch.turn, s->seen))) ||
        !set_time(run, in.run.started, s->times.has_started, s->times.started) || !set_time(run, in.run.ended, s->times.has_ended, s->times.ended))
        return false;
    if (s->times.gap_turn) {
        PyObject *gap = Py_BuildValue("dl", s->times.gap, s->times.gap_turn);
        if (!gap)
            return false;
        set_field(run, in.run.gap, gap);
    }
    set_to(run, in.run.state, Py_None);
    set_to(run, in.run.last, shared.usual);
    if (s->action)
        set_to(s->detector, in.detector.last, s->action);
    done = PyObject_CallMethod(s->ledger, "remember", "OL", s->done, (long long)s->last_sent);
    if (done && PyDict_GET_SIZE(newest) > shared.stale * s->reach)
        Py_SETREF(done, PyObject_CallMethod(s->detector, "forget", NULL));
    Py_XDECREF(done);
    return done != NULL;
}

/* take_usual(run, turns, at): the number of the first turn from `at` on that is not usual, or is after a full part. */
PyObject *take_usual(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    Stretch s = {0};
    Py_ssize_t at = count == 3 && PyList_CheckExact(args[1]) ? PyLong_AsSsize_t(args[2]) : -1;
    if (at < 0 || at >= PyList_GET_SIZE(args[1]) || !is_a(args[0], shared.Run)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "take_usual");
        return NULL;
    }
    PyObject *turns = args[1], *first = PyList_GET_ITEM(turns, at);
    int taken = is_a(first, shared.Turn) ? begin(&s, args[0], first) : 0;
    bool full = false;
    while (taken > 0 && !full && at < PyList_GET_SIZE(turns)) {
        PyObject *turn = PyList_GET_ITEM(turns, at);
        taken = is_a(turn, shared.Turn) ? take_turn(&s, turn) : 0;
        at += taken > 0;
        full = s.number % given.part == 0;
    }
    if (taken >= 0 && s.done && !finish(&s))
        taken = -1;
    Py_XDECREF(s.done);
    Py_XDECREF(s.action);
    return taken < 0 ? NULL : PyLong_FromSsize_t(at);
}
