/* Reports of quiet runs on their way from one process to another (loopscan.parcel): bytes, and what many of them share. */

#include "settle.h"

enum { SHARED_MOST = 250, HAS_STARTED = 1, HAS_ENDED = 2, HAS_GAP = 4 };
enum { SOURCE, FORMAT, MODEL, PRICE, CODES, RATES, SHARES };

/* A report but for its name and its columns, which follow it. `shared`: numbers of what it has in common with others. */
typedef struct {
    double started, ended, gap, elapsed;
    int64_t gap_turn, turns, input, output, usd;
    uint32_t name_size, data_size;
    uint8_t shared[SHARES], has, unused;
} Head;

/* The number of something that is shared, put behind the others where it is new; -1 where there are too many, or with
   an exception. */
static int number_of(PyObject *shared, PyObject *thing) {
    Py_ssize_t count = PyList_GET_SIZE(shared);
    for (Py_ssize_t i = count; i--;)
        if (PyList_GET_ITEM(shared, i) == thing)
            return (int)i;
    return count == SHARED_MOST || PyList_Append(shared, thing) < 0 ? -1 : (int)count;
}

static bool put_shares(Head *head, PyObject *shared, PyObject *report, PyObject *part) {
    PyObject *things[SHARES] = {
        field(report, settle_at.settled.source), field(report, settle_at.settled.format),
        field(report, settle_at.settled.model), field(report, settle_at.settled.price),
        field(part, settle_at.part.codes), field(part, settle_at.part.rates),
    };
    for (int i = 0; i < SHARES; i++) {
        int number = number_of(shared, things[i]);
        if (number < 0)
            return false;
        head->shared[i] = (uint8_t)number;
    }
    return true;
}

static bool put_time(Head *head, PyObject *time, double *to, uint8_t flag) {
    if (time == Py_None)
        return true;
    head->has |= flag;
    *to = PyFloat_CheckExact(time) ? PyFloat_AS_DOUBLE(time) : 0.0;
    return PyFloat_CheckExact(time);
}

static bool put_gap(Head *head, PyObject *gap) {
    if (gap == settle_at.no_gap)
        return true;
    if (!PyTuple_CheckExact(gap) || PyTuple_GET_SIZE(gap) != 2 || !PyLong_CheckExact(PyTuple_GET_ITEM(gap, 1)))
        return false;
    head->gap_turn = PyLong_AsLongLong(PyTuple_GET_ITEM(gap, 1));
    return put_time(head, PyTuple_GET_ITEM(gap, 0), &head->gap, HAS_GAP) && head->has & HAS_GAP;
}

static bool put_numbers(Head *head, PyObject *part) {
    PyObject *elapsed = field(part, settle_at.part.elapsed);
    head->turns = PyLong_AsLongLong(field(part, settle_at.part.turns));
    head->input = PyLong_AsLongLong(field(part, settle_at.part.input));
    head->output = PyLong_AsLongLong(field(part, settle_at.part.output));
    head->usd = PyLong_AsLongLong(field(part, settle_at.part.usd));
    head->elapsed = PyFloat_CheckExact(elapsed) ? PyFloat_AS_DOUBLE(elapsed) : 0.0;
    return PyFloat_CheckExact(elapsed) && !PyErr_Occurred();
}

static bool is_plain(PyObject *report) {
    return Py_IS_TYPE(report, (PyTypeObject *)settle_at.type) &&
           Py_IS_TYPE(field(report, settle_at.settled.part), (PyTypeObject *)settle_at.part_type) &&
           PyList_CheckExact(field(report, settle_at.settled.exits)) &&
           !PyList_GET_SIZE(field(report, settle_at.settled.exits)) &&
           field(report, settle_at.settled.children) == Py_None &&
           field(report, settle_at.settled.times_normal) == Py_None;
}

/* Put a report; false where it is for Python to pack it, with an exception or without. */
static bool put_report(Bytes *out, PyObject *shared, PyObject *report) {
    Head head = {0};
    Py_ssize_t size;
    if (!is_plain(report))
        return false;
    PyObject *part = field(report, settle_at.settled.part), *run = field(report, settle_at.settled.run);
    const char *name = PyUnicode_CheckExact(run) ? PyUnicode_AsUTF8AndSize(run, &size) : NULL;
    if (!name || size > UINT32_MAX || !put_numbers(&head, part) || !put_shares(&head, shared, report, part) ||
        !put_time(&head, field(report, settle_at.settled.started), &head.started, HAS_STARTED) ||
        !put_time(&head, field(report, settle_at.settled.ended), &head.ended, HAS_ENDED) ||
        !put_gap(&head, field(report, settle_at.settled.gap)))
        return false;
    PyObject *kept = field(part, settle_at.part.kept), *spill = field(report, settle_at.settled.spill);
    PyObject *data = PyBytes_CheckExact(kept)
                         ? Py_NewRef(kept)
                         : PyObject_CallMethod(spill, "load", "OO", kept, field(part, settle_at.part.size));
    bool plain = data && PyBytes_CheckExact(data) && PyBytes_GET_SIZE(data) <= UINT32_MAX;
    if (plain) {
        head.name_size = (uint32_t)size;
        head.data_size = (uint32_t)PyBytes_GET_SIZE(data);
        put(out, &head, sizeof head);
        put(out, name, size);
        put(out, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data));
    }
    Py_XDECREF(data);
    return plain;
}

/* parcel(reports) -> (bytes, what they share, the numbers of the reports that are not among them) */
PyObject *parcel(PyObject *Py_UNUSED(self), PyObject *reports) {
    Bytes out = {0};
    PyObject *shared = PyList_New(0), *others = PyList_New(0), *found = NULL;
    bool fine = shared && others && PyList_Check(reports) && settle_at.type;
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(reports); i++) {
        if (put_report(&out, shared, PyList_GET_ITEM(reports, i)))
            continue;
        PyObject *number = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError) &&
                                   !PyErr_ExceptionMatches(PyExc_OverflowError)
                               ? NULL
                               : (PyErr_Clear(), PyLong_FromSsize_t(i));
        fine = number && PyList_Append(others, number) == 0;
        Py_XDECREF(number);
    }
    if (out.failed)
        PyErr_NoMemory();
    if (fine && !out.failed)
        found = Py_BuildValue("y#OO", out.size ? (char *)out.data : "", out.size, shared, others);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "reports");
    Py_XDECREF(shared);
    Py_XDECREF(others);
    PyMem_Free(out.data);
    return found;
}

static PyObject *time_of_head(const Head *head, double time, uint8_t flag) {
    return head->has & flag ? PyFloat_FromDouble(time) : Py_NewRef(Py_None);
}

static PyObject *new_part(const Head *head, PyObject *shared, const char *data) {
    PyObject *fields[IN_PART] = {
        PyLong_FromLongLong(head->turns), PyLong_FromLongLong(head->input), PyLong_FromLongLong(head->output),
        PyLong_FromLongLong(head->usd), PyFloat_FromDouble(head->elapsed),
        Py_NewRef(PyList_GET_ITEM(shared, head->shared[CODES])), PyLong_FromLong((long)head->data_size),
        PyBytes_FromStringAndSize(data, (Py_ssize_t)head->data_size),
        Py_NewRef(PyList_GET_ITEM(shared, head->shared[RATES])),
    };
    return part_with(fields);
}

static PyObject *gap_of(const Head *head) {
    return head->has & HAS_GAP ? Py_BuildValue("(dL)", head->gap, (long long)head->gap_turn)
                               : Py_NewRef(settle_at.no_gap);
}

static PyObject *new_report(const Head *head, PyObject *shared, PyObject *spill, const char *name) {
    PyObject *report = report_with(new_part(head, shared, name + head->name_size), spill);
    if (!report)
        return NULL;
    set_field(report, settle_at.settled.run, PyUnicode_DecodeUTF8(name, (Py_ssize_t)head->name_size, "strict"));
    set_field(report, settle_at.settled.source, Py_NewRef(PyList_GET_ITEM(shared, head->shared[SOURCE])));
    set_field(report, settle_at.settled.format, Py_NewRef(PyList_GET_ITEM(shared, head->shared[FORMAT])));
    set_field(report, settle_at.settled.model, Py_NewRef(PyList_GET_ITEM(shared, head->shared[MODEL])));
    set_field(report, settle_at.settled.price, Py_NewRef(PyList_GET_ITEM(shared, head->shared[PRICE])));
    set_field(report, settle_at.settled.started, time_of_head(head, head->started, HAS_STARTED));
    set_field(report, settle_at.settled.ended, time_of_head(head, head->ended, HAS_ENDED));
    set_field(report, settle_at.settled.gap, gap_of(head));
    if (PyErr_Occurred())
        Py_CLEAR(report);
    return report;
}

static bool is_sound(const Head *head, Py_ssize_t left, PyObject *shared) {
    bool sound = left >= 0 && (uint64_t)head->name_size + head->data_size <= (uint64_t)left;
    for (int i = 0; i < SHARES; i++)
        sound = sound && head->shared[i] < PyList_GET_SIZE(shared);
    return sound;
}

/* unparcel(bytes, shared, spill) -> the reports */
PyObject *unparcel(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    if (count != 3 || !PyBytes_CheckExact(args[0]) || !PyList_CheckExact(args[1]) || !settle_at.type) {
        PyErr_SetString(PyExc_TypeError, "bytes, shared and spill");
        return NULL;
    }
    const char *at = PyBytes_AS_STRING(args[0]), *end = at + PyBytes_GET_SIZE(args[0]);
    PyObject *reports = PyList_New(0);
    bool fine = reports != NULL;
    while (fine && at < end) {
        Head head;
        if (end - at < (Py_ssize_t)sizeof head || (memcpy(&head, at, sizeof head),
                                                   !is_sound(&head, end - at - (Py_ssize_t)sizeof head, args[1]))) {
            PyErr_SetString(PyExc_ValueError, "no reports");
            break;
        }
        PyObject *report = new_report(&head, args[1], args[2], at + sizeof head);
        fine = report && PyList_Append(reports, report) == 0;
        Py_XDECREF(report);
        at += sizeof head + head.name_size + head.data_size;
    }
    if (PyErr_Occurred())
        Py_CLEAR(reports);
    return reports;
}
