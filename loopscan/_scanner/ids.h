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

enum { LEAST_ROOM = 8, MOST_ROOM = 16, MARK_BITS = 20 };

void free_recent(PyObject *self); /* by which the type is known */

/* Numbers in a table of their own: as Python objects in a set they take several times the room and time. `room`: bits of
   the number of a slot; `none`: whether 0 is among them, which stands for an empty slot. */
typedef struct {
    PyObject_HEAD
    int64_t *slots;
    Py_ssize_t count;
    int room;
    bool none;
} Recent;

static inline Py_ssize_t slots_of(const Recent *recent) {
    return (Py_ssize_t)1 << recent->room;
}

static inline int64_t *first_slot(const Recent *recent, int64_t number) {
    return &recent->slots[(uint64_t)number * 0x9E3779B97F4A7C15u >> (64 - recent->room)];
}

/* The slot of a number: that which holds it, or the one to put it. */
static inline int64_t *slot_of(const Recent *recent, int64_t number) {
    Py_ssize_t slot = first_slot(recent, number) - recent->slots;
    while (recent->slots[slot] && recent->slots[slot] != number)
        slot = (slot + 1) & (slots_of(recent) - 1);
    return &recent->slots[slot];
}

/* The bit of a number in its mark. */
static inline uint8_t bit_of(int64_t number) {
    return (uint8_t)(1 << ((uint64_t)number >> MARK_BITS & 7));
}

/* The mark of a number among so many that are a power of two. */
static inline uint8_t *mark_of(PyObject *marks, int64_t number) {
    return (uint8_t *)PyByteArray_AS_STRING(marks) + (number & (PyByteArray_GET_SIZE(marks) - 1));
}

static inline bool is_recent(const Recent *recent, int64_t number) {
    return number ? *slot_of(recent, number) != 0 : recent->none;
}

/* Add a number that is not in it; there is room for it in the end. False with an exception. */
static inline bool add_recent(Recent *recent, int64_t number) {
    if (2 * recent->count >= slots_of(recent) && recent->room < MOST_ROOM) {
        Recent wide = {.room = recent->room + 1, .slots = PyMem_Calloc((size_t)2 << recent->room, sizeof number)};
        if (!wide.slots)
            return PyErr_NoMemory() != NULL;
        for (Py_ssize_t i = 0; i < slots_of(recent); i++)
            if (recent->slots[i])
                *slot_of(&wide, recent->slots[i]) = recent->slots[i];
        PyMem_Free(recent->slots);
        recent->slots = wide.slots;
        recent->room = wide.room;
    }
    if (number)
        *slot_of(recent, number) = number;
    else
        recent->none = true;
    recent->count++;
    return true;
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
