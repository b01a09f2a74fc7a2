/* Lines are read some at a time, so that what their runs left in memory is on its way when it is needed. */

#ifndef LOOPSCAN_AHEAD_H
#define LOOPSCAN_AHEAD_H

#include "work.h"

/* Places of fields of loopscan.quiet.Quiet that are looked at for each line. */
typedef struct {
    Py_ssize_t turns, slots, trails;
} Fields;

static inline void fetch(const void *place) {
    __builtin_prefetch(place);
}

/* Ask for what a state holds in other places; `deep`: for what those point to. */
static inline void fetch_parts(PyObject *state, const Fields *fields, bool deep) {
    PyObject *turns = *field_at(state, fields->turns), *slots = *field_at(state, fields->slots);
    PyObject *trails = *field_at(state, fields->trails);
    if (!deep) {
        fetch(turns);
        fetch(slots);
        fetch(trails);
        return;
    }
    const char *end = PyByteArray_AS_STRING(turns) + PyByteArray_GET_SIZE(turns);
    fetch(end);
    fetch(end - 64);
    const char *keys = (const char *)((PyDictObject *)trails)->ma_keys;
    for (int i = 0; i < 4; i++)
        fetch(keys + 64 * i);
}

/* Ask for the states of the lines that were read. False with an exception. */
static inline bool fetch_states(Batch *batch, PyObject *known, const Fields *fields) {
    PyObject *states[AHEAD];
    int count = 0;
    for (int i = 0; i < batch->count; i++) {
        const Text *run = &batch->rows[i].run, *before = &batch->rows[i ? i - 1 : 0].run;
        if (!batch->usual[i] || run->escaped)
            continue;
        if (i && batch->usual[i - 1] && is_text(run, (const char *)before->from, before->size))
            continue;
        batch->runs[i] = PyUnicode_DecodeUTF8((const char *)run->from, run->size, "strict");
        PyObject *state = batch->runs[i] ? PyDict_GetItemWithError(known, batch->runs[i]) : NULL;
        if (state) {
            fetch(state);
            fetch((const char *)state + 64);
            fetch((const char *)state + 128);
            states[count++] = state;
        } else if (PyErr_Occurred()) {
            return false;
        }
    }
    for (int deep = 0; deep < 2 && count > 1; deep++)
        for (int i = 0; i < count; i++)
            fetch_parts(states[i], fields, deep);
    return true;
}

/* Read the next lines of a block. False with an exception. */
static inline bool fill(Native *native, Block block, PyObject *known, const Fields *fields) {
    Batch *batch = &native->batch;
    for (int i = 0; i < AHEAD; i++)
        Py_CLEAR(batch->runs[i]);
    batch->next = batch->count = 0;
    while (batch->count < AHEAD && block.here < block.end) {
        int i = batch->count++;
        batch->lines[i] = line_of(&block);
        batch->places[i] = block.place;
        batch->rows[i].plain = (uint32_t)given.plain;
        batch->usual[i] = read_row(&native->layout, batch->lines[i], &batch->rows[i]);
        step(&block, batch->lines[i].end);
    }
    return fetch_states(batch, known, fields);
}

/* The number in the batch of the line at which a block stands; -1 with an exception. */
static inline int line_in(Native *native, const Block *block, PyObject *known, const Fields *fields) {
    Batch *batch = &native->batch;
    while (batch->next < batch->count && batch->lines[batch->next].at != block->here)
        batch->next++;
    bool held = batch->next < batch->count && batch->places[batch->next] == block->place && block->place >= 0;
    return held || fill(native, *block, known, fields) ? batch->next : -1;
}

#endif
