/* Turns and calls of Claude Code sessions as Python has them, made of what was read of a line. */

#ifndef LOOPSCAN_CLAUDE_TURN_H
#define LOOPSCAN_CLAUDE_TURN_H

#include "names.h"
#include "claude.h"
#include "value.h"

/* What a session's lines are put together with: see loopscan.formats._claude_blocks. */
typedef struct {
    PyObject_HEAD
    PyObject *runs, *seen, *chain, *turn, *late, *usage, *decode, *missing;
    PyObject *run, *now; /* the run of the line before, and its chain */
    PyObject *asked;     /* a call of it that no other one waits with, and that is not among those that wait yet */
    PyObject *model;
    Py_hash_t format;    /* by which ids of this format are told from others */
    long most;           /* hashes that are kept in a table (loopscan.ids) */
    Names names;
    Arguments input;
    Like like;
    Words beside;        /* kinds of lines that say nothing of turns */
} Claude;

/* Where fields of Python's objects stand. */
static struct {
    Py_ssize_t run, session, parent, prompt, compacted, messages, held; /* of a chain */
    Py_ssize_t begun, turns, waiting;                                   /* of what it holds */
    Py_ssize_t calls, text, spent, model, written, of, asked;           /* of a turn */
    Py_ssize_t tokens[5];                                               /* of usage */
    Py_ssize_t id, result, error, raw, head, tail, size;                /* of a call */
    Py_ssize_t recent, packed, marks;                                   /* of loopscan.ids.Ids */
} at;

static inline bool set_places(PyObject *chain, PyObject *held, PyObject *turn, PyObject *late, PyObject *call,
                              PyObject *usage) {
    const struct {
        PyObject *type;
        const char *name;
        Py_ssize_t *place;
    } fields[] = {
        {chain, "run", &at.run}, {chain, "session", &at.session}, {chain, "parent", &at.parent},
        {chain, "prompt", &at.prompt}, {chain, "compacted", &at.compacted}, {chain, "messages", &at.messages},
        {chain, "held", &at.held}, {held, "begun", &at.begun}, {held, "turns", &at.turns},
        {held, "waiting", &at.waiting}, {turn, "calls", &at.calls}, {turn, "text", &at.text},
        {turn, "usage", &at.spent}, {turn, "model", &at.model}, {turn, "written", &at.written}, {turn, "run", &at.of},
        {turn, "prompt", &at.asked}, {call, "id", &at.id},
        {call, "result", &at.result}, {call, "error", &at.error}, {late, "raw", &at.raw}, {late, "head", &at.head},
        {late, "tail", &at.tail}, {late, "size", &at.size},
        {usage, "input", &at.tokens[0]}, {usage, "output", &at.tokens[1]}, {usage, "cache_read", &at.tokens[2]},
        {usage, "cache_write", &at.tokens[3]}, {usage, "cache_write_1h", &at.tokens[4]},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(fields[i].type, fields[i].name)) < 0)
            return false;
    return true;
}

static inline bool set_seen(PyObject *seen) {
    PyObject *type = (PyObject *)Py_TYPE(seen);
    if (seen == Py_None)
        return true;
    at.recent = field_place(type, "_recent");
    at.packed = at.recent < 0 ? -1 : field_place(type, "_packed");
    at.marks = at.packed < 0 ? -1 : field_place(type, "_marks");
    return at.marks >= 0;
}

/* Whether a known string is that of a line. */
static inline bool is_known(PyObject *known, const Text *text) {
    Py_ssize_t size;
    const char *data = known && PyUnicode_IS_COMPACT_ASCII(known) ? PyUnicode_AsUTF8AndSize(known, &size) : NULL;
    return data && is_text(text, data, size);
}

/* A count of tokens; None where it is not recorded. */
static inline PyObject *count_of(int64_t count) {
    return count < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(count);
}

static inline void drop_all(PyObject **objects, int count) {
    for (int i = 0; i < count; i++)
        Py_XDECREF(objects[i]);
}

static inline bool are_all(PyObject **objects, int count) {
    for (int i = 0; i < count; i++)
        if (!objects[i])
            return false;
    return true;
}

/* What Message.spent makes of the usage. */
static inline PyObject *usage_of(const Claude *self, const Entry *entry) {
    const int64_t *tokens = entry->tokens;
    if (!entry->spent || (tokens[FRESH] < 0 && tokens[OUTPUT] < 0))
        return Py_NewRef(Py_None);
    int64_t sum = 0;
    for (int i = FRESH; i <= READ; i++)
        sum += tokens[i] > 0 ? tokens[i] : 0;
    PyObject *fields[] = {
        count_of(sum), count_of(tokens[OUTPUT]), count_of(tokens[READ]), count_of(tokens[WRITE]),
        count_of(entry->split ? entry->long_write : -1), Py_NewRef(Py_None),
    };
    PyObject *usage = are_all(fields, 6) ? PyObject_Vectorcall(self->usage, fields, 6, NULL) : NULL;
    drop_all(fields, 6);
    return usage;
}

/* The call of a line, which waits for its result; NULL with an exception, or without one where it is unusual. */
static inline PyObject *call_of(Claude *self, const Block *use) {
    Py_hash_t form = hash_of(use->input->form.data, use->input->form.size);
    PyObject *name = name_of(&self->names, &use->name);
    Py_hash_t hash = name ? PyObject_Hash(name) : -1;
    PyObject *fields[] = {
        name, arguments_of(use->input, &self->names, &given.spare), Py_NewRef(self->missing), Py_NewRef(Py_False),
        plain_of(&use->id), Py_NewRef(self->decode), PyLong_FromLongLong(hash_of_two(hash, form)),
    };
    PyObject *call = are_all(fields, 7) ? PyObject_Vectorcall(self->late, fields, 7, NULL) : NULL;
    drop_all(fields, 7);
    return call;
}

static inline PyObject *model_of(Claude *self, const Entry *entry) {
    if (!(entry->message >> MODEL & 1))
        return Py_NewRef(Py_None);
    if (!is_known(self->model, &entry->model)) {
        PyObject *model = plain_of(&entry->model);
        if (!model)
            return NULL;
        Py_XSETREF(self->model, model);
    }
    return Py_NewRef(self->model);
}

/* Characters that the model wrote. */
static inline Py_ssize_t written_in(const Entry *entry) {
    Py_ssize_t asked = entry->uses ? entry->input->form.size + entry->use.name.chars : 0;
    return asked + (entry->says ? entry->say.text.chars : 0) + entry->thought.chars;
}

/* The turn of a line with its call, if it makes one; NULL with an exception. */
static inline PyObject *turn_of(Claude *self, const Entry *entry, PyObject *call, double time, long number) {
    PyObject *chain = self->now, *calls = PyList_New(call ? 1 : 0);
    if (!calls)
        return NULL;
    if (call)
        PyList_SET_ITEM(calls, 0, Py_NewRef(call));
    PyObject *fields[] = {
        Py_NewRef(*field_at(chain, at.run)), calls,
        entry->says ? object_of(&entry->say.text, &given.spare) : PyUnicode_New(0, 0), Py_NewRef(Py_False),
        Py_NewRef(self->missing), usage_of(self, entry), model_of(self, entry),
        entry->stamp.from ? PyFloat_FromDouble(time) : Py_NewRef(Py_None), PyLong_FromLong(number),
        Py_NewRef(*field_at(chain, at.prompt)), Py_NewRef(*field_at(chain, at.session)),
        Py_NewRef(*field_at(chain, at.parent)), Py_NewRef(Py_None), Py_NewRef(Py_None),
        PyLong_FromSsize_t(written_in(entry)), Py_NewRef(*field_at(chain, at.compacted)),
    };
    PyObject *turn = are_all(fields, 16) ? PyObject_Vectorcall(self->turn, fields, 16, NULL) : NULL;
    drop_all(fields, 16);
    return turn;
}

#endif
