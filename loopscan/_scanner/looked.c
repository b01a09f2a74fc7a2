/* Whether a turn is a usual one, as far as it is told without its price. */

#include "stretch.h"

/* Whether the result of a call is there; what it is is not looked at. */
static bool is_answered(const Now *now) {
    if (now->late) {
        PyObject *raw = get(now->call, in.late.raw);
        if (raw != Py_None)
            return PyBytes_CheckExact(raw) && PyBytes_GET_SIZE(raw);
    }
    return get(now->call, in.call.result) != shared.missing;
}

/* Whether a turn says nothing of its run that is not known. -1 with an exception. */
static int says_no_more(const Stretch *s, const Now *now) {
    PyObject *turn = now->turn, *labels = get(turn, in.turn.labels), *window = get(turn, in.turn.window), *key;
    int64_t tokens;
    Py_ssize_t place = 0;
    if (window != Py_None && (s->bare || !integer(window, &tokens) || now->sent >= tokens))
        return 0;
    if (get(turn, in.turn.failed) != Py_False || get(turn, in.turn.compacted) != Py_False ||
        (s->session == Py_None && get(turn, in.turn.session) != Py_None) ||
        (s->parent == Py_None && get(turn, in.turn.parent) != Py_None))
        return 0;
    if (labels == Py_None)
        return 1;
    if (!PyDict_CheckExact(labels))
        return 0;
    while (PyDict_Next(labels, &place, &key, NULL)) {
        int known = PyDict_Contains(s->labels, key);
        if (known <= 0)
            return known;
    }
    return 1;
}

/* Whether a turn is one call of a send that may be usual; what it is. -1 with an exception. */
int look_at(const Stretch *s, Now *now) {
    PyObject *turn = now->turn;
    now->calls = get(turn, in.turn.calls), now->usage = get(turn, in.turn.usage);
    if (!PyList_CheckExact(now->calls) || PyList_GET_SIZE(now->calls) != 1 || (now->usage == Py_None) != s->bare)
        return 0;
    now->call = PyList_GET_ITEM(now->calls, 0);
    now->late = is_a(now->call, shared.LateCall);
    int model = same(get(turn, in.turn.model), s->model), timed = real_or_none(get(turn, in.turn.time), &now->time);
    if (model <= 0 || timed < 0 || !(now->late || is_a(now->call, shared.Call)))
        return model < 0 ? -1 : 0;
    now->timed = timed, now->name = get(now->call, in.call.name);
    if (!s->bare && (!is_a(now->usage, shared.Usage) || !counted(get(now->usage, in.usage.input), &now->sent) ||
                     !counted(get(now->usage, in.usage.output), &now->output) || now->sent > s->most ||
                     get(now->usage, in.usage.usd) != Py_None))
        return 0;
    if (!(s->since <= now->time && now->time < s->until) || !PyUnicode_CheckExact(now->name) || !is_answered(now))
        return 0;
    now->failed = get(now->call, in.call.error) == Py_True;
    return now->failed || get(now->call, in.call.error) == Py_False ? says_no_more(s, now) : 0;
}

/* The kind of a tool; -1 with an exception. */
long kind_of(PyObject *name) {
    PyObject *kind = PyDict_GetItemWithError(shared.kinds, name);
    if (kind)
        return PyLong_AsLong(kind);
    kind = PyErr_Occurred() ? NULL : PyObject_CallOneArg(shared.kind, name);
    long told = kind ? PyLong_AsLong(kind) : -1;
    Py_XDECREF(kind);
    return told;
}

/* Whether what a turn did was not done before in the window; -1 with an exception. */
int is_new(const Stretch *s, const Now *now) {
    PyObject *before = PyDict_GetItemWithError(get(s->detector, in.detector.newest), now->ident);
    if (!before)
        return PyErr_Occurred() ? -1 : 1;
    PyObject *turn = is_a(before, shared.Action) ? Py_NewRef(get(before, in.action.turn))
                                                 : PyObject_GetAttrString(before, "turn");
    long number = turn ? PyLong_AsLong(turn) : -1;
    Py_XDECREF(turn);
    return PyErr_Occurred() ? -1 : number <= now->number - s->reach;
}

/* Whether it is told if the result is like the last one of its tool (`alike`: it may be); -1 with an exception. */
int is_another(const Stretch *s, Now *now) {
    now->last = PyDict_GetItemWithError(get(s->watch, in.watch.trails), now->name);
    if (!now->last)
        return PyErr_Occurred() ? -1 : 1;
    int64_t turn;
    now->alike = is_a(now->last, shared.Trail);
    if (now->alike)
        return 1;
    if (!is_a(now->last, shared.Action) || !integer(get(now->last, in.action.turn), &turn))
        return 0;
    if (now->number - turn > given.gap)
        return 1;
    PyObject *calls = get(now->last, in.action.calls);
    if (!PyList_CheckExact(calls) || !PyList_GET_SIZE(calls))
        return 0;
    PyObject *earlier = PyList_GET_ITEM(calls, 0);
    if (now->what || (PyDict_CheckExact(now->args) && !(now->says & ASKED))) {
        int other = unlike(earlier, now->call);
        if (other)
            return other;
    }
    PyObject *told = PyObject_CallFunctionObjArgs(shared.alike, earlier, now->call, NULL);
    int alike = told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(told);
    now->alike = alike;
    return alike < 0 ? -1 : 1;
}

/* The key of an action (Keyer.outcome): results that are told by the same bytes have one. NULL with an exception. */
static PyObject *outcome_of(const Stretch *s, const Now *now, PyObject *action) {
    PyObject *raw = now->late ? get(now->call, in.late.raw) : Py_None;
    if (!PyBytes_CheckExact(raw))
        return PyObject_CallMethodOneArg(s->keyer, shared.outcome, action);
    Py_hash_t hash = hash_of_two(PyObject_Hash(now->ident), hash_of(PyBytes_AS_STRING(raw), PyBytes_GET_SIZE(raw)));
    Outcome *known = &shared.outcomes[(size_t)hash % OUTCOMES];
    if (known->key && known->hash == hash && known->keyer == s->keyer)
        return Py_NewRef(known->key);
    PyObject *key = PyObject_CallMethodOneArg(s->keyer, shared.outcome, action);
    if (key) {
        known->hash = hash;
        Py_XSETREF(known->key, Py_NewRef(key));
        Py_XSETREF(known->keyer, Py_NewRef(s->keyer));
    }
    return key;
}

/* Tracker._goes_on: whether the repetition that is open goes on with a turn; -1 with an exception. */
int plays_on(const Stretch *s, const Now *now, PyObject *action) {
    PyObject *open = s->open, *idents = get(open, in.episode.idents), *keys = get(open, in.episode.keys);
    int64_t first, period;
    if (!integer(get(open, in.episode.first), &first) || !integer(get(open, in.episode.period), &period) || period < 1 ||
        first > now->number)
        return 0;
    Py_ssize_t at = (Py_ssize_t)((now->number - first) % period);
    if (!PyList_CheckExact(idents) || !PyList_CheckExact(keys) || at >= PyList_GET_SIZE(idents) || at >= PyList_GET_SIZE(keys))
        return 0;
    int equal = same(PyList_GET_ITEM(idents, at), now->ident);
    if (equal <= 0)
        return equal;
    PyObject *key = outcome_of(s, now, action);
    equal = key ? same(key, PyList_GET_ITEM(keys, at)) : -1;
    Py_XDECREF(key);
    return equal;
}

/* Tracker._judge, where there is something to be judged. False with an exception. */
bool judge(const Stretch *s, const Now *now, PyObject *action) {
    PyObject *waited = get(s->tracker, in.tracker.waited);
    int due = PyObject_IsTrue(get(s->tracker, in.tracker.unleft));
    if (!due)
        due = PyDict_GET_SIZE(waited) ? PyDict_Contains(waited, now->ident) : 0;
    if (due <= 0)
        return due == 0;
    return tell_turn(s->tracker, now->number) && done(PyObject_CallMethod(s->tracker, "_judge", "O", action));
}
