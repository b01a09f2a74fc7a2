/* Sorted arrays of 64-bit integers with a sign (loopscan.ids). */

#ifndef LOOPSCAN_IDS_H
#define LOOPSCAN_IDS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool holds_number(const int64_t *numbers, Py_ssize_t count, int64_t number) {
    Py_ssize_t from = 0;
    while (count > 0) {
        Py_ssize_t half = count / 2;
        if (numbers[from + half] < number) {
            from += half + 1;
            count -= half + 1;
        } else {
            if (numbers[from + half] == number)
                return true;
            count = half;
        }
    }
    return false;
}

/* Whether one of a list of arrays holds a number. -1 with an exception. */
static inline int any_holds(PyObject *arrays, int64_t number) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arrays); i++) {
        Py_buffer buffer;
        if (PyObject_GetBuffer(PyList_GET_ITEM(arrays, i), &buffer, PyBUF_SIMPLE) < 0)
            return -1;
        bool there = holds_number(buffer.buf, buffer.len / (Py_ssize_t)sizeof number, number);
        PyBuffer_Release(&buffer);
        if (there)
            return 1;
    }
    return 0;
}

#endif
