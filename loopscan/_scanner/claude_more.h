/* Further lines of a model message: what they add to its turn, the newest one that is held. */

#ifndef LOOPSCAN_CLAUDE_MORE_H
#define LOOPSCAN_CLAUDE_MORE_H

#include "claude_held.h"

/* Whether a message is the newest of its run, and has its turn among those that are held. -1 with an exception. */
static inline int is_newest(PyObject *messages, PyObject *key) {
    if (PyDict_GetItemWithError(messages, key) != Py_None)
        return PyErr_Occurred() ? -1 : 0;
    PyObject *keys = PyObject_CallMethod(messages, "__reversed__", NULL), *newest = keys ? PyIter_Next(keys) : NULL;
    int same = newest ? PyObject_RichCompareBool(newest, key, Py_EQ) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(newest);
    Py_XDECREF(keys);
    return same;
}

/* Keep the larger figure of each count. */
static inline bool merge(PyObject *spent, PyObject *usage) {
    for (int i = 0; i < 5; i++) {
        PyObject *mine = *field_at(spent, at.tokens[i]), *new = *field_at(usage, at.tokens[i]);
        int larger = new == Py_None ? 0 : mine == Py_None ? 1 : PyObject_RichCompareBool(new, mine, Py_GT);
        if (larger < 0)
            return false;
        if (larger)
            set_field(spent, at.tokens[i], Py_NewRef(new));
    }
    return true;
}

/* Add usage and model: 1, 0 where another model took the message over, -1 with an exception. Nothing is changed then. */
static inline int add_usage(Claude *self, PyObject *turn, const Entry *entry) {
    PyObject *spent = *field_at(turn, at.spent), *usage = usage_of(self, entry), *model = model_of(self, entry);
    int same = usage && model ? PyObject_RichCompareBool(*field_at(turn, at.model), model, Py_EQ) : -1;
    int taken = same < 0 ? -1 : 1;
    if (taken > 0 && spent == Py_None) {
        if (*field_at(turn, at.model) == Py_None)
            set_field(turn, at.model, Py_NewRef(model));
        set_field(turn, at.spent, Py_NewRef(usage));
    } else if (taken > 0 && usage != Py_None) {
        taken = !same || (PyObject *)Py_TYPE(spent) != self->usage ? 0 : merge(spent, usage) ? 1 : -1;
    }
    Py_XDECREF(usage);
    Py_XDECREF(model);
    return taken;
}

/* Add words to a turn, unless it has them; `*added` is how many characters that were. */
static inline bool say(PyObject *turn, const Text *words, Py_ssize_t *added) {
    PyObject *before = *field_at(turn, at.text), *text = object_of(words, &given.spare), *both = NULL;
    int has = text ? PyUnicode_Contains(before, text) : -1;
    if (has == 0) {
        both = PyUnicode_GET_LENGTH(before) ? PyUnicode_FromFormat("%U\n%U", before, text) : Py_NewRef(text);
        *added += PyUnicode_GET_LENGTH(text);
        if (both)
            set_field(turn, at.text, both);
    }
    Py_XDECREF(text);
    return has > 0 || both;
}

/* Add a call, which waits for its result, unless the turn has it. */
static inline bool ask(Claude *self, PyObject *turn, PyObject *call, const Entry *entry, Py_ssize_t *added) {
    PyObject *calls = *field_at(turn, at.calls), *id = *field_at(call, at.id);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) {
        int same = PyObject_RichCompareBool(*field_at(PyList_GET_ITEM(calls, i), at.id), id, Py_EQ);
        if (same)
            return same > 0;
    }
    *added += entry->input->form.size + entry->use.name.chars;
    return PyList_Append(calls, call) == 0 && wait_with(self, call);
}

/* Take a further line of a message: 1, 0 where it is unusual, -1 with an exception. */
static inline int go_on(Claude *self, const Entry *entry, PyObject *key) {
    PyObject *messages = *field_at(self->now, at.messages), *turns = *field_at(*field_at(self->now, at.held), at.turns);
    if (!is_plain(self, turns))
        return 0;
    PyObject *turn = PyList_GET_ITEM(turns, PyList_GET_SIZE(turns) - 1);
    if (!PyUnicode_CheckExact(*field_at(turn, at.text)) || !PyLong_CheckExact(*field_at(turn, at.written)))
        return 0;
    int taken = is_newest(messages, key);
    PyObject *call = taken > 0 && entry->uses ? call_of(self, &entry->use) : NULL;
    if (taken > 0 && entry->uses && !call)
        taken = PyErr_Occurred() ? -1 : 0;
    if (taken > 0)
        taken = add_usage(self, turn, entry);
    Py_ssize_t added = entry->thought.chars;
    if (taken > 0 && entry->says && !say(turn, &entry->say.text, &added))
        taken = -1;
    if (taken > 0 && call && !ask(self, turn, call, entry, &added))
        taken = -1;
    if (taken > 0 && added) {
        PyObject *written = PyLong_FromSsize_t(PyLong_AsSsize_t(*field_at(turn, at.written)) + added);
        if (written)
            set_field(turn, at.written, written);
        taken = written ? 1 : -1;
    }
    Py_XDECREF(call);
    return taken;
}

#endif
