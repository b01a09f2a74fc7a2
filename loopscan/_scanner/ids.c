/* What loopscan.ids does with its sorted arrays. */

#include "ids.h"

const char any_holds_doc[] = "any_holds(arrays, number) -> whether one of the sorted arrays holds a number.";
const char merged_doc[] = "merged(one, other) -> the numbers of two sorted arrays in their order, as bytes.";

PyObject *any_holds_of(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *arrays, *sought;
    int beyond;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &arrays, &sought))
        return NULL;
    long long number = PyLong_AsLongLongAndOverflow(sought, &beyond);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    int there = beyond ? 0 : any_holds(arrays, number);
    return there < 0 ? NULL : PyBool_FromLong(there);
}

PyObject *merged(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer one, other;
    if (!PyArg_ParseTuple(args, "y*y*", &one, &other))
        return NULL;
    PyObject *both = PyBytes_FromStringAndSize(NULL, one.len / 8 * 8 + other.len / 8 * 8);
    if (both) {
        const int64_t *a = one.buf, *b = other.buf, *last_a = a + one.len / 8, *last_b = b + other.len / 8;
        int64_t *to = (int64_t *)PyBytes_AS_STRING(both);
        while (a < last_a && b < last_b)
            *to++ = *b < *a ? *b++ : *a++;
        memcpy(to, a, (size_t)(last_a - a) * sizeof *a);
        memcpy(to + (last_a - a), b, (size_t)(last_b - b) * sizeof *b);
    }
    PyBuffer_Release(&one);
    PyBuffer_Release(&other);
    return both;
}
