/* The open runs of a session file, and the turns that they hold (loopscan.formats._assembly.Held). */

#ifndef LOOPSCAN_CLAUDE_HELD_H
#define LOOPSCAN_CLAUDE_HELD_H

#include "claude_turn.h"

enum { HOLD = 16 };

/* The run of a line: its session, or a sub-agent by id; ODD for one that stands inline. */
static inline int run_of(const Entry *entry, Text *run) {
    *run = entry->session;
    if (!entry->agent.size || entry->inside)
        return !entry->aside;
    *run = entry->agent;
    if (run->size >= 6 && !memcmp(run->from, "agent-", 6))
        return FINE;
    given.spare.size = 0;
    put(&given.spare, "agent-", 6);
    put(&given.spare, run->from, run->size);
    *run = (Text){.from = given.spare.data, .size = given.spare.size};
    return !given.spare.failed;
}

/* Put a call among those of the present chain that wait. */
static inline bool wait_with(const Claude *self, PyObject *call) {
    PyObject *waiting = *field_at(*field_at(self->now, at.held), at.waiting);
    return PyDict_SetItem(waiting, *field_at(call, at.id), call) == 0;
}

/* The same of the one that is not yet: nearly always its result comes before anybody could look for it. */
static inline bool settle(Claude *self) {
    bool settled = !self->asked || wait_with(self, self->asked);
    Py_CLEAR(self->asked);
    return settled;
}

/* Make the chain of a line the present one: 1, 0 where there is none yet, -1 with an exception. */
static inline int find_chain(Claude *self, const Entry *entry) {
    Text run;
    if (!run_of(entry, &run))
        return 0;
    if (is_known(self->run, &run))
        return 1;
    if (!settle(self))
        return -1;
    PyObject *name = plain_of(&run), *chain = name ? PyDict_GetItemWithError(self->runs, name) : NULL;
    if (!chain || (PyObject *)Py_TYPE(chain) != self->chain) {
        Py_XDECREF(name);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_XSETREF(self->run, name);
    Py_XSETREF(self->now, Py_NewRef(chain));
    return 1;
}

/* Whether a call has its result. */
static inline bool is_answered(const Claude *self, PyObject *call) {
    return *field_at(call, at.raw) != Py_None || *field_at(call, at.result) != self->missing;
}

/* Whether every held turn is one of calls as they are made here; false where none is held, which is rare. */
static inline bool is_plain(const Claude *self, PyObject *turns) {
    if (!PyList_CheckExact(turns) || !PyList_GET_SIZE(turns))
        return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(turns); i++) {
        PyObject *turn = PyList_GET_ITEM(turns, i);
        PyObject *calls = (PyObject *)Py_TYPE(turn) == self->turn ? *field_at(turn, at.calls) : NULL;
        if (!calls || !PyList_CheckExact(calls))
            return false;
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(calls); k++)
            if ((PyObject *)Py_TYPE(PyList_GET_ITEM(calls, k)) != self->late)
                return false;
    }
    return true;
}

/* Give out the oldest held turn. */
static inline bool release_first(PyObject *turns, PyObject *waiting, PyObject *ready) {
    PyObject *turn = PyList_GET_ITEM(turns, 0), *calls = *field_at(turn, at.calls);
    for (Py_ssize_t i = 0; PyDict_GET_SIZE(waiting) && i < PyList_GET_SIZE(calls); i++) {
        PyObject *id = *field_at(PyList_GET_ITEM(calls, i), at.id);
        int there = id == Py_None ? 0 : PyDict_Contains(waiting, id);
        if (there < 0 || (there && PyDict_DelItem(waiting, id) < 0))
            return false;
    }
    return PyList_Append(ready, turn) == 0 && PyList_SetSlice(turns, 0, 1, NULL) == 0;
}

/* As Held.complete does: give out what is complete when another turn is about to be added. */
static inline bool release(const Claude *self, PyObject *held, PyObject *ready) {
    PyObject *turns = *field_at(held, at.turns), *waiting = *field_at(held, at.waiting);
    while (PyList_GET_SIZE(turns)) {
        PyObject *calls = *field_at(PyList_GET_ITEM(turns, 0), at.calls);
        for (Py_ssize_t i = 0; PyList_GET_SIZE(turns) <= HOLD && i < PyList_GET_SIZE(calls); i++) {
            PyObject *call = PyList_GET_ITEM(calls, i);
            if (*field_at(call, at.id) != Py_None && !is_answered(self, call))
                return true;
        }
        if (!release_first(turns, waiting, ready))
            return false;
        set_field(held, at.begun, Py_NewRef(Py_True));
    }
    return true;
}

#endif
