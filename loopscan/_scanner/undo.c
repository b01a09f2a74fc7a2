/* Edits of files as loopscan.rules.undo takes note of them, where nothing comes of it. */

#include "turns.h"

/* The file of a path, which is the newest one now; NULL with an exception. */
static PyObject *file_of(PyObject *files, PyObject *path) {
    PyObject *file = PyDict_GetItemWithError(files, path);
    if (file) {
        Py_INCREF(file);
        if (PyDict_DelItem(files, path) < 0)
            Py_CLEAR(file);
    } else if (!PyErr_Occurred()) {
        file = PyObject_CallNoArgs(shared.File);
    }
    if (file && (PyDict_SetItem(files, path, file) < 0 || !at_most(files, shared.files)))
        Py_CLEAR(file);
    Py_XDECREF(file); /* the files hold it */
    return file;
}

/* The hashes of a place before and after an edit: 1, or 0 where it does not show both; -1 with an exception. */
static int states_of(const Now *now, PyObject *file, Py_hash_t *before, Py_hash_t *after) {
    PyObject *name, *value, *old = NULL, *new = NULL, *whole = NULL;
    Py_ssize_t place = 0;
    while (PyDict_Next(now->args, &place, &name, &value)) {
        long says = PyUnicode_CheckExact(value) ? says_of(name) : 0;
        if (says & OLD)
            old = value;
        else if (says & NEW)
            new = value;
        else if (says & WHOLE)
            whole = value;
    }
    if (!whole) {
        if (!old || !new)
            return 0;
        *before = PyObject_Hash(old);
        *after = PyObject_Hash(new);
        return 1;
    }
    *after = PyObject_Hash(whole);
    PyObject *hash = PyLong_FromSsize_t(*after), *last = get(file, in.file.whole);
    if (!hash)
        return -1;
    int known = last != Py_None;
    if (known)
        *before = PyLong_AsSsize_t(last);
    set_field(file, in.file.whole, hash);
    return known && *before == -1 && PyErr_Occurred() ? -1 : known;
}

/* Undo._tell. False with an exception. */
static bool tell(const Shown *s, PyObject *rule, PyObject *what, PyObject *turns) {
    if (PyList_CheckExact(turns) && PyList_GET_SIZE(turns) < shared.times - 1 && get(rule, in.undo.episode) == Py_None) {
        PyObject *turn = PyLong_FromLong(s->now->number);
        bool added = turn && PyList_Append(turns, turn) == 0;
        Py_XDECREF(turn);
        return added;
    }
    PyObject *told = tell_turn(s->tracker, s->now->number)
                         ? PyObject_CallMethod(rule, "_tell", "(OO)OlOO", s->now->path, what, turns, shared.times,
                                               s->action, s->watch)
                         : NULL;
    return done(told);
}

/* Cross from one state of a file to another. False with an exception. */
static bool cross(const Shown *s, PyObject *rule, PyObject *file, PyObject *states, PyObject *after) {
    PyObject *crossed = get(file, in.file.crossed), *entry = PyDict_GetItemWithError(crossed, states), *turns;
    int64_t state;
    int there = integer(after, &state) && !state; /* the hash of nothing, as no state is */
    if (PyErr_Occurred())
        return false;
    if (entry) {
        turns = Py_NewRef(PyTuple_GET_ITEM(entry, 0));
        there = same(PyTuple_GET_ITEM(entry, 1), after);
        if (there < 0 || PyDict_DelItem(crossed, states) < 0)
            Py_CLEAR(turns);
    } else {
        turns = PyList_New(0);
    }
    if (!turns || (!there && !tell(s, rule, states, turns))) {
        Py_XDECREF(turns);
        return false;
    }
    entry = PyTuple_Pack(2, turns, after);
    bool fine = entry && PyDict_SetItem(crossed, states, entry) == 0 && at_most(crossed, shared.files);
    Py_XDECREF(entry);
    Py_DECREF(turns);
    return fine;
}

/* loopscan.rules.undo: an edit that is not marked as one that takes back. False with an exception. */
bool undo(const Shown *s, PyObject *rule) {
    Py_hash_t before = 0, after = 0;
    if (s->now->failed)
        return true;
    PyObject *file = file_of(get(rule, in.undo.files), s->now->path);
    int shows = file ? states_of(s->now, file, &before, &after) : -1;
    if (shows <= 0)
        return shows == 0;
    if (before == after) {
        if (get(file, in.file.whole) != Py_None)
            return true;
        PyObject *what = PyUnicode_FromString("same");
        bool fine = what && tell(s, rule, what, get(file, in.file.same));
        Py_XDECREF(what);
        return fine;
    }
    PyObject *one = PyLong_FromSsize_t(before), *other = PyLong_FromSsize_t(after);
    PyObject *pair = one && other ? PyTuple_Pack(2, one, other) : NULL;
    PyObject *states = pair ? PyFrozenSet_New(pair) : NULL;
    bool fine = states && cross(s, rule, file, states, other);
    Py_XDECREF(states);
    Py_XDECREF(pair);
    Py_XDECREF(one);
    Py_XDECREF(other);
    return fine;
}
