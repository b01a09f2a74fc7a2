/* A run that is not quiet while its turns are taken, and how a turn is noted in it. */

#ifndef LOOPSCAN_AWAKE_H
#define LOOPSCAN_AWAKE_H

#include "back.h"
#include "seen.h"
#include "work.h"

typedef struct {
    double time;
    bool known;
} Moment;

/* The run as it is, as far as its turns are taken. */
typedef struct {
    const Layout *layout;
    PyObject *look, *ring, *newest, *trails, *model, *source, *doubts, *shut, *last;
    long reach, number, end;
    double most, since, until;
    Seen times;
    int64_t rates[2];
    Py_ssize_t most_known; /* turns in `newest` before its run has to forget some */
    Bytes sent, output, usd, waits;
} Awake;

/* What Python says of a turn that may be none of the usual ones: whether it is. -1 with an exception. */
static inline int told_by(PyObject *answer) {
    int yes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return yes;
}

/* Make room for a tool that is new. */
static inline bool forget_tool(PyObject *trails) {
    PyObject *name, *last;
    Py_ssize_t place = 0;
    if (PyDict_GET_SIZE(trails) < given.tools || !PyDict_Next(trails, &place, &name, &last))
        return true;
    Py_INCREF(name);
    int failed = PyDict_DelItem(trails, name);
    Py_DECREF(name);
    return !failed;
}

static inline PyObject *late_of(const Awake *run, PyObject *ident, int64_t place, const Marks *marks) {
    PyObject *parts[] = {
        NULL, ident, PyLong_FromLong(run->number), run->source, PyLong_FromLongLong(place),
        PyLong_FromLong(marks->head), PyLong_FromLong(marks->tail), PyLong_FromLong(marks->size),
    };
    PyObject *late = NULL;
    if (parts[2] && parts[4])
        late = PyObject_Vectorcall(given.late, parts + 1, 7 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(parts[2]);
    for (int i = 4; i < 8; i++)
        Py_XDECREF(parts[i]);
    return late;
}

/* Note a usual turn. False with an exception. */
static inline bool note(Awake *run, const Tool *tool, PyObject *ident, const Row *row, const Marks *marks,
                        int64_t place, const Moment *moment, bool is_new) {
    if (is_new && !forget_tool(run->trails))
        return false;
    run->number++;
    PyObject *late = late_of(run, ident, place, marks);
    if (!late)
        return false;
    bool failed = PyDict_SetItem(run->newest, ident, late) < 0 || PyDict_SetItem(run->trails, tool->name, late) < 0 ||
                  PyList_SetItem(run->ring, run->number % run->reach, Py_NewRef(late)) < 0;
    Py_XSETREF(run->last, late);
    int64_t sent = row->sent, output = row->output, usd = sent * run->rates[0] + output * run->rates[1];
    double wait = see(&run->times, moment->known, moment->time, run->number);
    put(&run->sent, &sent, sizeof sent);
    put(&run->output, &output, sizeof output);
    put(&run->usd, &usd, sizeof usd);
    put(&run->waits, &wait, sizeof wait);
    if (run->sent.failed || run->output.failed || run->usd.failed || run->waits.failed)
        return PyErr_NoMemory() && false;
    return !failed;
}

/* Take note that the turn just noted came back with another result. -1 with an exception. */
static inline int came_back(const Awake *run, const Tool *tool, PyObject *before) {
    bool linked = link_back(run->last, before, run->number - run->reach);
    int shut = linked ? PySet_Contains(run->shut, tool->name) : 0;
    return shut ? shut : told_by(PyObject_CallMethod(run->doubts, "differs", "OO", tool->name, run->last));
}

#endif
