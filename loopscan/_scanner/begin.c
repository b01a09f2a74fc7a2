/* Quiet runs begin: one of a model and a time for which one began before is made like that one. */

#include "quiet.h"

static PyObject *copied(PyObject *object) {
    static PyObject *name;
    if (!name && !(name = PyUnicode_InternFromString("__copy__")))
        return NULL;
    return PyObject_CallMethodNoArgs(object, name);
}

/* A state to make others like, of a run that began just now: no turn is taken of it. NULL with an exception. */
static PyObject *first_of(PyObject *state) {
    PyObject *first = copied(state), *slots = first ? copied(*field_at(first, quiet_at.slots)) : NULL;
    if (slots)
        set_field(first, quiet_at.slots, slots);
    else
        Py_CLEAR(first);
    return first;
}

/* The state of a run that begins at a line; NULL where it is to be made by Python, or with an exception. */
static PyObject *begin_like(const Work *work, PyObject *run, const Row *row, double moment, long line) {
    PyObject *first = work->full == Py_None ? NULL : work->native->first;
    bool here = first && *field_at(first, quiet_at.source) == work->source;
    int same = here ? same_text(*field_at(first, quiet_at.model), &row->model, row->has_model) : 0;
    if (same <= 0 || moment < number_in(first, quiet_at.since) || moment >= number_in(first, quiet_at.until))
        return NULL;
    PyObject *state = copied(first), *slots = state ? copied(*field_at(first, quiet_at.slots)) : NULL;
    PyObject *turns = PyByteArray_FromStringAndSize(NULL, 0), *trails = PyDict_New(), *number = PyLong_FromLong(line);
    if (slots && turns && trails && number) {
        set_field(state, quiet_at.run, Py_NewRef(run));
        set_field(state, quiet_at.slots, Py_NewRef(slots));
        set_field(state, quiet_at.turns, Py_NewRef(turns));
        set_field(state, quiet_at.trails, Py_NewRef(trails));
        set_field(state, quiet_at.first, Py_NewRef(number));
    } else {
        Py_CLEAR(state);
    }
    Py_XDECREF(slots);
    Py_XDECREF(turns);
    Py_XDECREF(trails);
    Py_XDECREF(number);
    return state;
}

/* The state of a run that begins; as `state_of`. */
static PyObject *begun(const Work *work, PyObject *run, const Row *row, double moment, bool timed, long line) {
    PyObject *state = begin_like(work, run, row, moment, line);
    if (state && (PyDict_SetItem(work->states, run, state) < 0 || PyDict_SetItem(work->fresh, run, state) < 0))
        Py_CLEAR(state);
    if (state || PyErr_Occurred())
        return state;
    const char *model = row->has_model ? (const char *)row->model.from : NULL;
    PyObject *time = timed ? PyFloat_FromDouble(moment) : Py_NewRef(Py_None);
    if (time)
        state = PyObject_CallFunction(work->begin, "Os#Nl", run, model, row->model.size, time, line);
    if (state == Py_None)
        Py_CLEAR(state);
    if (state) {
        Py_XSETREF(work->native->first, first_of(state));
        if (!work->native->first)
            Py_CLEAR(state);
    }
    return state;
}

/* A new reference to the state of the run of a line, which may begin with it: NULL where there is none, or with an
   exception. */
PyObject *state_of(const Work *work, const Row *row, double moment, bool timed, long line) {
    PyObject *run = PyUnicode_DecodeUTF8((const char *)row->run.from, row->run.size, "strict");
    if (!run)
        return NULL;
    PyObject *state = PyDict_GetItemWithError(work->states, run);
    if (state) {
        Py_DECREF(run);
        return Py_NewRef(state);
    }
    int known = PyErr_Occurred() ? -1 : PyDict_Contains(work->known, run);
    if (!known && !(known = work->full == Py_None ? 0 : PyDict_Contains(work->full, run)))
        state = begun(work, run, row, moment, timed, line);
    Py_DECREF(run);
    return state;
}
