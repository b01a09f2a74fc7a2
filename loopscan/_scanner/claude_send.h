/* The lines of model messages: what becomes a turn, and which of them are copies. */

#ifndef LOOPSCAN_CLAUDE_SEND_H
#define LOOPSCAN_CLAUDE_SEND_H

#include "claude_more.h"
#include "ids.h"
#include "times.h"

/* What tells whether a message was met before; NULL where Python does. */
static inline Recent *recent_of(const Claude *self) {
    PyObject *recent = self->seen == Py_None ? NULL : *field_at(self->seen, at.recent);
    return recent && Py_TYPE(recent)->tp_dealloc == free_recent ? (Recent *)recent : NULL;
}

/* The hash by which a message is known. What is looked at to tell whether it was met before is far away: it is fetched. */
static inline Py_hash_t known_by(const Claude *self, PyObject *key) {
    Py_hash_t hash = hash_of_two(self->format, PyObject_Hash(key));
    Recent *recent = recent_of(self);
    if (recent) {
        PyObject *marks = *field_at(self->seen, at.marks);
        __builtin_prefetch(first_slot(recent, hash));
        if (PyByteArray_GET_SIZE(marks))
            __builtin_prefetch(mark_of(marks, hash));
    }
    return hash;
}

/* Whether a message was met before, in this log or another; it is afterwards. -1 with an exception. */
static inline int is_copy(const Claude *self, Py_hash_t hash) {
    if (self->seen == Py_None)
        return 0;
    Recent *recent = recent_of(self);
    PyObject *packed = *field_at(self->seen, at.packed), *marks = *field_at(self->seen, at.marks);
    if (!recent || recent->count + 1 >= self->most) {
        PyObject *answer = PyObject_CallMethod(self->seen, "met", "n", hash);
        int met = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        return met;
    }
    int met = is_recent(recent, hash);
    if (!met && PyList_GET_SIZE(packed) && *mark_of(marks, hash) & bit_of(hash))
        met = any_holds(packed, hash);
    return met || add_recent(recent, hash) ? met : -1;
}

/* Take note of a message; the oldest ones are forgotten. */
static inline bool note(PyObject *messages, PyObject *key) {
    PyObject *first, *turn;
    Py_ssize_t place = 0;
    if (PyDict_SetItem(messages, key, Py_None) < 0)
        return false;
    if (PyDict_GET_SIZE(messages) <= 2 * HOLD || !PyDict_Next(messages, &place, &first, &turn))
        return true;
    Py_INCREF(first);
    bool forgotten = PyDict_DelItem(messages, first) == 0;
    Py_DECREF(first);
    return forgotten;
}

/* Hold a turn of a message that is new; what is complete then is given out. */
static inline bool hold(Claude *self, PyObject *key, PyObject *turn, PyObject *call, PyObject *ready) {
    PyObject *held = *field_at(self->now, at.held);
    set_field(self->now, at.compacted, Py_NewRef(Py_False));
    if (!note(*field_at(self->now, at.messages), key) || !release(self, held, ready) ||
        PyList_Append(*field_at(held, at.turns), turn) < 0)
        return false;
    if (!call || PyDict_GET_SIZE(*field_at(held, at.waiting)))
        return !call || wait_with(self, call);
    self->asked = Py_NewRef(call);
    return true;
}

/* Take the first line of a message: 1, 0 where it is unusual, -1 with an exception. */
static inline int begin(Claude *self, const Entry *entry, PyObject *key, long number, PyObject *ready) {
    PyObject *held = *field_at(self->now, at.held);
    double time = 0.0;
    if ((entry->stamp.from && !time_of(&entry->stamp, &time)) || !is_plain(self, *field_at(held, at.turns)))
        return 0;
    Py_hash_t hash = known_by(self, key);
    PyObject *call = entry->uses ? call_of(self, &entry->use) : NULL;
    PyObject *turn = entry->uses && !call ? NULL : turn_of(self, entry, call, time, number);
    int taken = turn ? 1 : PyErr_Occurred() ? -1 : 0;
    if (taken > 0) {
        int copy = is_copy(self, hash);
        taken = copy < 0 ? -1 : !copy;
    }
    if (taken > 0 && !hold(self, key, turn, call, ready))
        taken = -1;
    Py_XDECREF(call);
    Py_XDECREF(turn);
    return taken;
}

/* Take a line of a model message: as `begin`. */
static inline int send(Claude *self, const Entry *entry, long number, PyObject *ready) {
    PyObject *messages = *field_at(self->now, at.messages);
    if (!(entry->message >> ID & 1) || !(entry->message >> CONTENT & 1) || entry->uses > 1 || entry->says > 1 ||
        entry->thinks > 1 || entry->answers || is_text(&entry->model, "<synthetic>", 11) ||
        !PyDict_CheckExact(messages) || !PyDict_CheckExact(*field_at(*field_at(self->now, at.held), at.waiting)))
        return 0;
    if (!settle(self))
        return -1;
    PyObject *key = plain_of(&entry->id);
    int taken = key ? PyDict_Contains(messages, key) : -1;
    if (taken >= 0)
        taken = taken ? go_on(self, entry, key) : begin(self, entry, key, number, ready);
    Py_XDECREF(key);
    return taken;
}

#endif
