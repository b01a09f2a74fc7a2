/* Lines are read some at a time, so that what their runs left in memory is on its way when it is needed. */

#ifndef LOOPSCAN_AHEAD_H
#define LOOPSCAN_AHEAD_H

#include "states.h"

static inline void fetch(const void *place) {
    __builtin_prefetch(place);
}

/* Ask for what a state holds in other places. */
static inline void fetch_parts(PyObject *state, const Fields *fields) {
    const Py_ssize_t *places = &fields->run;
    for (size_t i = 0; i < sizeof *fields / sizeof *places; i++)
        fetch(*field_at(state, places[i]));
    fetch((const char *)*field_at(state, fields->run) + 64);
}

/* Ask for what those parts point to. */
static inline void fetch_ends(PyObject *state, const Fields *fields) {
    PyObject *turns = *field_at(state, fields->turns), *trails = *field_at(state, fields->trails);
    const char *end = PyByteArray_AS_STRING(turns) + PyByteArray_GET_SIZE(turns);
    fetch(end);
    fetch(end - 64);
    const char *keys = (const char *)((PyDictObject *)trails)->ma_keys;
    for (int i = 0; i < 4; i++)
        fetch(keys + 64 * i);
    char *slots; /* where the numbers of an array are is the first that it holds */
    memcpy(&slots, (const char *)*field_at(state, fields->slots) + sizeof(PyVarObject), sizeof slots);
    for (int i = 0; i < 4; i++)
        fetch(slots + 64 * i);
}

/* Ask for the states of the lines that were read. */
static inline void fetch_states(Batch *batch, const Table *table, PyObject *source, const Fields *fields) {
    uint64_t hashes[AHEAD] = {0};
    if (!table->room)
        return;
    for (int i = 0; i < batch->count; i++) {
        const Text *run = &batch->rows[i].run, *before = &batch->rows[i ? i - 1 : 0].run;
        if (!batch->usual[i] || run->escaped)
            continue;
        if (i && batch->usual[i - 1] && is_text(run, (const char *)before->from, before->size))
            continue;
        hashes[i] = hash_of_run(run);
        fetch(slot_at(table, hashes[i], 0));
    }
    for (int i = 0; i < batch->count; i++) {
        const Slot *slot = hashes[i] ? slot_at(table, hashes[i], 0) : NULL;
        for (int part = 0; slot && slot->state && part < 3; part++)
            fetch((const char *)slot->state + 64 * part);
    }
    for (int i = 0; i < batch->count; i++) {
        const Slot *slot = hashes[i] ? slot_at(table, hashes[i], 0) : NULL;
        if (slot && slot->state)
            fetch_parts(slot->state, fields);
    }
    for (int i = 0; i < batch->count; i++)
        if (hashes[i] && (batch->states[i] = known_state(table, &batch->rows[i].run, hashes[i], source, fields)))
            fetch_ends(Py_NewRef(batch->states[i]), fields);
}

/* Read the next lines of a block. */
static inline void fill(Native *native, Block block, PyObject *source, const Fields *fields) {
    Batch *batch = &native->batch;
    for (int i = 0; i < AHEAD; i++)
        Py_CLEAR(batch->states[i]);
    batch->next = batch->count = 0;
    while (batch->count < AHEAD && block.here < block.end) {
        int i = batch->count++;
        batch->lines[i] = line_of(&block);
        batch->places[i] = block.place;
        batch->rows[i].plain = (uint32_t)given.plain;
        batch->usual[i] = read_row(&native->layout, batch->lines[i], &batch->rows[i]);
        step(&block, batch->lines[i].end);
    }
    fetch_states(batch, &native->table, source, fields);
}

/* The number in the batch of the line at which a block stands. */
static inline int line_in(Native *native, const Block *block, PyObject *source, const Fields *fields) {
    Batch *batch = &native->batch;
    while (batch->next < batch->count && batch->lines[batch->next].at != block->here)
        batch->next++;
    if (batch->next >= batch->count || batch->places[batch->next] != block->place || block->place < 0)
        fill(native, *block, source, fields);
    return batch->next;
}

#endif
