/* States of quiet runs by the bytes of their names: found without an object, and all of some lines at once. */

#ifndef LOOPSCAN_STATES_H
#define LOOPSCAN_STATES_H

#include "work.h"

enum { PROBES = 32 }; /* places in a row of which one may be a state's */

/* Places of fields of loopscan.quiet.Quiet. */
typedef struct {
    Py_ssize_t run, source, highest, line, turns, slots, trails;
} Fields;

static inline uint64_t hash_of_run(const Text *run) {
    uint64_t hash = (uint64_t)run->size, part;
    Py_ssize_t at = 0;
    for (; at + 8 <= run->size; at += 8) {
        memcpy(&part, run->from + at, 8);
        hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (part = 0; at < run->size; at++)
        part = part << 8 | run->from[at];
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 32) | 1;
}

/* One of the places of a state; there is a table. */
static inline Slot *slot_at(const Table *table, uint64_t hash, int probe) {
    return &table->slots[(hash >> 1 & (uint64_t)(table->room - 1)) + (uint64_t)probe];
}

/* The state of a run, borrowed; NULL where it is not known here. One that was let go of has another source. */
static inline PyObject *known_state(const Table *table, const Text *run, uint64_t hash, PyObject *source,
                                    const Fields *fields) {
    for (int i = 0; table->room && i < PROBES; i++) {
        Slot *slot = slot_at(table, hash, i);
        if (!slot->hash)
            return NULL;
        if (slot->hash != hash || !slot->state)
            continue;
        if (*field_at(slot->state, fields->source) != source) {
            Py_CLEAR(slot->state);
            continue;
        }
        int same = same_text(*field_at(slot->state, fields->run), run, true);
        if (same < 0)
            PyErr_Clear();
        if (same > 0)
            return slot->state;
    }
    return NULL;
}

/* Put a state, of which a reference is taken over, into its place; it is dropped where there is none. */
static inline void put_state(Table *table, uint64_t hash, PyObject *state) {
    for (int i = 0; i < PROBES; i++) {
        Slot *slot = slot_at(table, hash, i);
        if (slot->state && slot->state != state)
            continue;
        table->count += !slot->hash;
        slot->hash = hash;
        Py_XSETREF(slot->state, state);
        return;
    }
    Py_DECREF(state);
}

/* Make a table twice as large; it stays as it is where there is no memory for that. */
static inline void widen(Table *table) {
    Table wide = {.room = table->room ? 2 * table->room : 1024};
    wide.slots = PyMem_Calloc((size_t)wide.room + PROBES, sizeof(Slot));
    if (!wide.slots)
        return;
    for (Py_ssize_t i = 0; table->room && i < table->room + PROBES; i++)
        if (table->slots[i].state)
            put_state(&wide, table->slots[i].hash, table->slots[i].state);
    PyMem_Free(table->slots);
    *table = wide;
}

/* Note the state of a run. */
static inline void keep_state(Table *table, const Text *run, PyObject *state) {
    if (2 * table->count >= table->room)
        widen(table);
    if (table->room)
        put_state(table, hash_of_run(run), Py_NewRef(state));
}

static inline void drop_states(Table *table) {
    for (Py_ssize_t i = 0; table->room && i < table->room + PROBES; i++)
        Py_XDECREF(table->slots[i].state);
    PyMem_Free(table->slots);
    *table = (Table){0};
}

#endif
