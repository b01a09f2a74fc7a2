/* What the turns of a quiet run come to, from their records (loopscan.quiet.TURN). */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include "seen.h"

enum { RECORD = 37, TIME_AT = 16, SENT_AT = 24, OUTPUT_AT = 28 };

static PyObject *time_or_none(bool known, double time) {
    return known ? PyFloat_FromDouble(time) : Py_NewRef(Py_None);
}

/* summed(turns) -> (input, output, longest, columns, started, ended, (gap, turn behind it)) */
PyObject *summed(PyObject *Py_UNUSED(self), PyObject *turns) {
    if (!PyByteArray_Check(turns)) {
        PyErr_SetString(PyExc_TypeError, "turns are bytes");
        return NULL;
    }
    const char *record = PyByteArray_AS_STRING(turns);
    Py_ssize_t count = PyByteArray_GET_SIZE(turns) / RECORD;
    PyObject *columns = PyBytes_FromStringAndSize(NULL, count * 16);
    if (!columns)
        return NULL;
    char *sent_at = PyBytes_AS_STRING(columns), *output_at = sent_at + 4 * count, *wait_at = output_at + 4 * count;
    long long sums[2] = {0, 0};
    Seen seen = {0};
    double longest = 0.0;
    for (Py_ssize_t i = 0; i < count; i++, record += RECORD) {
        uint32_t sent, output;
        double time;
        memcpy(&time, record + TIME_AT, 8);
        memcpy(&sent, record + SENT_AT, 4);
        memcpy(&output, record + OUTPUT_AT, 4);
        sums[0] += sent;
        sums[1] += output;
        double wait = see(&seen, time == time, time, (long)i + 1);
        longest = wait > longest ? wait : longest;
        memcpy(sent_at + 4 * i, &sent, 4);
        memcpy(output_at + 4 * i, &output, 4);
        memcpy(wait_at + 8 * i, &wait, 8);
    }
    if (longest == 0.0 && _PyBytes_Resize(&columns, count * 8) < 0)
        return NULL;
    return Py_BuildValue("LLdNNN(dl)", sums[0], sums[1], longest, columns,
                         time_or_none(seen.has_started, seen.started), time_or_none(seen.has_ended, seen.ended),
                         seen.gap, seen.gap_turn);
}
