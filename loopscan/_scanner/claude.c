/* The usual lines of Claude Code sessions, straight from the log: what loopscan.formats._claude_turns does in Python. */

#define WITHIN_LINES
#include "claude_send.h"

enum { RAW_HEAD = 9, RAW_TAIL = 11 };

/* As LateCall.answer does. */
static bool give(PyObject *call, Cursor content, bool error) {
    const char *from = (const char *)content.at;
    Py_ssize_t size = content.end - content.at, head = size < RAW_HEAD ? size : RAW_HEAD;
    Py_ssize_t tail = size < RAW_TAIL ? size : RAW_TAIL;
    PyObject *parts[] = {
        PyBytes_FromStringAndSize(from, size), PyBytes_FromStringAndSize(from, head),
        PyBytes_FromStringAndSize(from + size - tail, tail), PyLong_FromSsize_t(size),
    };
    if (!are_all(parts, 4)) {
        drop_all(parts, 4);
        return false;
    }
    set_field(call, at.raw, parts[0]);
    set_field(call, at.head, parts[1]);
    set_field(call, at.tail, parts[2]);
    set_field(call, at.size, parts[3]);
    set_field(call, at.error, Py_NewRef(error ? Py_True : Py_False));
    return true;
}

/* Join the result of a line to its call: as `send`. */
static int answer(Claude *self, const Entry *entry) {
    PyObject *waiting = *field_at(*field_at(self->now, at.held), at.waiting);
    if (entry->answers != 1 || entry->uses || entry->says || entry->thinks || !PyDict_CheckExact(waiting))
        return 0;
    if (self->asked && is_known(*field_at(self->asked, at.id), &entry->answer.asked)) {
        bool given = give(self->asked, entry->answer.content, entry->answer.error);
        Py_CLEAR(self->asked);
        return given ? 1 : -1;
    }
    if (!settle(self))
        return -1;
    PyObject *key = plain_of(&entry->answer.asked), *call = key ? PyDict_GetItemWithError(waiting, key) : NULL;
    bool done = !PyErr_Occurred();
    if (call) {
        Py_INCREF(call);
        done = PyDict_DelItem(waiting, key) == 0;
        if (done && (PyObject *)Py_TYPE(call) == self->late)
            done = give(call, entry->answer.content, entry->answer.error);
        Py_DECREF(call);
    }
    Py_XDECREF(key);
    return done ? 1 : -1;
}

/* Take a line: as `send`. */
static int take_entry(Claude *self, const Entry *entry, long number, PyObject *ready) {
    const unsigned needed = 1u << SESSION | 1u << MESSAGE;
    bool asks = is_text(&entry->type, "assistant", 9);
    if (!asks && !is_text(&entry->type, "user", 4))
        return has_word(&self->beside, &entry->type) || is_text(&entry->type, "progress", 8) ||
               (is_text(&entry->type, "system", 6) && !is_text(&entry->subtype, "compact_boundary", 16));
    if ((entry->line & needed) != needed)
        return 0;
    int found = find_chain(self, entry);
    if (found <= 0)
        return found;
    return asks ? send(self, entry, number, ready) : answer(self, entry);
}

/* Whether turns are of one run, and answer one prompt. */
static bool are_alike(PyObject *turns) {
    Py_ssize_t count = PyList_GET_SIZE(turns);
    PyObject *first = count ? PyList_GET_ITEM(turns, 0) : NULL;
    for (Py_ssize_t i = 1; i < count; i++) {
        PyObject *turn = PyList_GET_ITEM(turns, i);
        if (*field_at(turn, at.of) != *field_at(first, at.of) || *field_at(turn, at.asked) != *field_at(first, at.asked))
            return false;
    }
    return count > 1;
}

/* Pass over a line of white space; ODD where it is none. */
static int pass_blank(Cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r')))
        if (*c->at++ == '\n')
            return FINE;
    return c->at == c->end;
}

PyDoc_STRVAR(take_doc,
    "take(data, at, end, line) -> (turns, at, line, alike)\n\n"
    "Take the usual lines from byte `at` to byte `end` of some data, before which `line` lines are: the turns that are\n"
    "complete then, where the first line is that is not usual, and whether the turns are several of one run and prompt.");

static PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Py_buffer bytes;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "take");
        return NULL;
    }
    Py_ssize_t start = PyLong_AsSsize_t(args[1]), stop = PyLong_AsSsize_t(args[2]);
    long line = PyLong_AsLong(args[3]);
    if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &bytes, PyBUF_SIMPLE) < 0)
        return NULL;
    bool within = start >= 0 && start <= stop && stop <= bytes.len;
    if (!within)
        PyErr_SetString(PyExc_ValueError, "take");
    Claude *claude = (Claude *)self;
    PyObject *ready = within ? PyList_New(0) : NULL;
    int taken = ready ? 1 : -1;
    Entry entry;
    Place from = bytes.buf, here = from + start, end = from + stop, next;
    for (; taken > 0 && here < end; here = next, line++) {
        Cursor c = {here, end}, blank = c;
        if (read_entry(&c, &claude->input, &claude->like, &entry)) {
            taken = take_entry(claude, &entry, line + 1, ready);
            next = c.at;
        } else {
            taken = pass_blank(&blank);
            next = blank.at;
        }
        if (taken <= 0)
            break;
    }
    PyBuffer_Release(&bytes);
    if (taken < 0)
        Py_CLEAR(claude->asked);
    else if (settle(claude))
        return Py_BuildValue("NnlO", ready, here - from, line, are_alike(ready) ? Py_True : Py_False);
    Py_XDECREF(ready);
    return NULL;
}

static void release_all(PyObject *object) {
    Claude *self = (Claude *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject **owned[] = {&self->runs, &self->seen, &self->chain, &self->turn, &self->late, &self->usage, &self->decode,
                          &self->missing, &self->run, &self->now, &self->asked, &self->model};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        Py_CLEAR(*owned[i]);
    forget_names(&self->names);
    PyMem_Free(self->input.form.data);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named)) {
    PyObject *runs, *seen, *beside, *chain, *held, *turn, *call, *late, *usage, *decode, *missing;
    long most;
    if (!PyArg_ParseTuple(args, "O!OO(OOOOOOOO)l", &PyDict_Type, &runs, &seen, &beside, &chain, &held, &turn, &call,
                          &late, &usage, &decode, &missing, &most) ||
        !set_places(chain, held, turn, late, call, usage) || !set_seen(seen))
        return NULL;
    Claude *self = (Claude *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    PyObject *const taken[] = {runs, seen, chain, turn, late, usage, decode, missing};
    PyObject **owned[] = {&self->runs, &self->seen, &self->chain, &self->turn, &self->late, &self->usage, &self->decode,
                          &self->missing};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        *owned[i] = Py_NewRef(taken[i]);
    self->most = most;
    self->format = hash_of("claude-code", 11);
    if (!read_words(beside, &self->beside)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"take", (PyCFunction)(void (*)(void))take, METH_FASTCALL, take_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot parts[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, release_all},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec claude_spec = {
    .name = "loopscan._compiled.Claude",
    .basicsize = sizeof(Claude),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = parts,
};
