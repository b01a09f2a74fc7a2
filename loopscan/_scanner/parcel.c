/* Quiet runs on their way from one process to another (loopscan.parcel): bytes, and what many of them share. */

#include "quiet.h"
#include "settle.h"

enum { SHARED_MOST = 250 };

/* A run but for its name, which follows it, and its columns. `shared`: numbers of what it has in common with others. */
typedef struct {
    Sums sums;
    uint32_t name_size;
    uint8_t shared[SHARES];
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

/* A bytes object that is being made, so that what is much need not be copied. */
typedef struct {
    PyObject *bytes;
    Py_ssize_t size;
} Making;

/* The place of so many bytes more; NULL with an exception. */
static char *more_of(Making *making, Py_ssize_t more) {
    Py_ssize_t size = making->size + more;
    if (!making->bytes || (size > PyBytes_GET_SIZE(making->bytes) && _PyBytes_Resize(&making->bytes, 2 * size) < 0))
        return NULL;
    return PyBytes_AS_STRING(making->bytes) + making->size;
}

/* Put a run; false where it is for Python to pack it, or with an exception. */
static bool put_run(Making *heads, Making *columns, PyObject *shared, PyObject *state) {
    if (!is_quiet(state))
        return false;
    Head head = {0};
    PyObject *things[SHARES], *run = *field_at(state, quiet_at.run);
    Py_ssize_t size, most = PyByteArray_GET_SIZE(*field_at(state, quiet_at.turns)) / RECORD * COLUMNS;
    const char *name = PyUnicode_CheckExact(run) ? PyUnicode_AsUTF8AndSize(run, &size) : NULL;
    if (!name || size > UINT32_MAX)
        return false;
    char *column = more_of(columns, most), *at = column ? more_of(heads, (Py_ssize_t)sizeof head + size) : NULL;
    if (!at || sums_of(state, column, &head.sums, things) <= 0)
        return false;
    head.name_size = (uint32_t)size;
    for (int i = 0, number; i < SHARES; head.shared[i++] = (uint8_t)number)
        if ((number = number_of(shared, things[i])) < 0)
            return false;
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, name, (size_t)size);
    heads->size += (Py_ssize_t)sizeof head + size;
    columns->size += head.sums.size;
    return true;
}

/* parcel(runs) -> (bytes, columns, what they share, the numbers of the runs that are not among them) */
PyObject *parcel(PyObject *Py_UNUSED(self), PyObject *runs) {
    Making heads = {PyBytes_FromStringAndSize(NULL, 0), 0}, columns = {PyBytes_FromStringAndSize(NULL, 0), 0};
    PyObject *shared = PyList_New(0), *others = PyList_New(0), *found = NULL;
    bool fine = shared && others && PyList_Check(runs) && settle_at.type;
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(runs); i++) {
        if (put_run(&heads, &columns, shared, PyList_GET_ITEM(runs, i)))
            continue;
        PyObject *number = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError)
                               ? NULL
                               : (PyErr_Clear(), PyLong_FromSsize_t(i));
        fine = number && PyList_Append(others, number) == 0;
        Py_XDECREF(number);
    }
    if (!fine && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "runs");
    if (fine && heads.bytes && columns.bytes && _PyBytes_Resize(&heads.bytes, heads.size) == 0 &&
        _PyBytes_Resize(&columns.bytes, columns.size) == 0)
        found = PyTuple_Pack(4, heads.bytes, columns.bytes, shared, others);
    Py_XDECREF(shared);
    Py_XDECREF(others);
    Py_XDECREF(heads.bytes);
    Py_XDECREF(columns.bytes);
    return found;
}

/* What is kept of some columns: they themselves, or where they stand in the spill. NULL with an exception. */
static PyObject *kept_of(const char *columns, int64_t at, int64_t size, int64_t place) {
    return place < 0 ? PyBytes_FromStringAndSize(columns + at, (Py_ssize_t)size) : PyLong_FromLongLong(place + at);
}

static bool is_sound(const Head *head, Py_ssize_t left, int64_t columns, PyObject *shared) {
    bool sound = left >= (Py_ssize_t)head->name_size && head->sums.size >= 0 && head->sums.size <= columns;
    for (int i = 0; i < SHARES; i++)
        sound = sound && head->shared[i] < PyList_GET_SIZE(shared);
    return sound;
}

/* unparcel(bytes, columns, shared, spill, place) -> the reports; the columns stand in the spill, or (-1) do not */
PyObject *unparcel(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer heads, columns;
    PyObject *shared, *spill, *reports = NULL;
    long long place;
    int64_t begin = 0;
    if (!PyArg_ParseTuple(args, "y*y*O!OL", &heads, &columns, &PyList_Type, &shared, &spill, &place))
        return NULL;
    const char *at = heads.buf, *end = at + heads.len;
    Py_ssize_t left = columns.len;
    bool fine = settle_at.type && (reports = PyList_New(0));
    while (fine && at < end) {
        Head head;
        if (end - at < (Py_ssize_t)sizeof head || (memcpy(&head, at, sizeof head),
                                                   !is_sound(&head, end - at - (Py_ssize_t)sizeof head, left, shared))) {
            PyErr_SetString(PyExc_ValueError, "no runs");
            break;
        }
        PyObject *things[SHARES], *report;
        for (int i = 0; i < SHARES; i++)
            things[i] = PyList_GET_ITEM(shared, head.shared[i]);
        at += sizeof head;
        report = report_with(&head.sums, things, PyUnicode_DecodeUTF8(at, (Py_ssize_t)head.name_size, "strict"),
                             kept_of(columns.buf, begin, head.sums.size, place), spill);
        fine = report && PyList_Append(reports, report) == 0;
        Py_XDECREF(report);
        at += head.name_size;
        begin += head.sums.size;
        left -= (Py_ssize_t)head.sums.size;
    }
    if (PyErr_Occurred())
        Py_CLEAR(reports);
    PyBuffer_Release(&heads);
    PyBuffer_Release(&columns);
    return reports;
}

enum { HASH, PLACE, FIRST, LAST, KNOWN };

/* What is known of where a quiet run stands. False with an exception. */
static bool stand_of(PyObject *state, int64_t salt, int64_t told, int64_t waits, int64_t *known) {
    PyObject *line = *field_at(state, quiet_at.told);
    known[HASH] = PyObject_Hash(*field_at(state, quiet_at.run)) ^ salt;
    known[FIRST] = PyLong_AsLongLong(*field_at(state, quiet_at.first));
    known[LAST] = PyLong_AsLongLong(*field_at(state, quiet_at.line));
    known[PLACE] = line == Py_None ? waits + known[FIRST] : told + PyLong_AsLongLong(line);
    return !PyErr_Occurred();
}

/* stands(runs, format, salt, told, waits) -> (hashes, places, first lines, last lines, the numbers of the others)

   Of the quiet runs of a format, 0 of the others: see loopscan.excerpt. */
PyObject *stands(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *runs, *format, *others = PyList_New(0), *columns[KNOWN] = {0};
    long long salt, told, waits;
    bool fine = others && PyArg_ParseTuple(args, "O!ULLL", &PyList_Type, &runs, &format, &salt, &told, &waits);
    Py_ssize_t count = fine ? PyList_GET_SIZE(runs) : 0;
    for (int i = 0; i < KNOWN; i++)
        fine = fine && (columns[i] = PyBytes_FromStringAndSize(NULL, 8 * count));
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        PyObject *run = PyList_GET_ITEM(runs, i), *number = NULL;
        int64_t known[KNOWN] = {0};
        if (is_quiet(run) && PyUnicode_Compare(*field_at(run, quiet_at.format), format) == 0)
            fine = stand_of(run, salt, told, waits, known);
        else
            fine = (number = PyLong_FromSsize_t(i)) && PyList_Append(others, number) == 0;
        Py_XDECREF(number);
        for (int column = 0; column < KNOWN; column++)
            memcpy(PyBytes_AS_STRING(columns[column]) + 8 * i, &known[column], 8);
    }
    PyObject *found = fine ? PyTuple_Pack(KNOWN + 1, columns[HASH], columns[PLACE], columns[FIRST], columns[LAST], others) : NULL;
    Py_XDECREF(others);
    for (int i = 0; i < KNOWN; i++)
        Py_XDECREF(columns[i]);
    return found;
}
