/* The calls of a run of chat messages as Python has them (loopscan.model.LateCall), with results left as JSON. */

#ifndef LOOPSCAN_CHAT_PLAY_H
#define LOOPSCAN_CHAT_PLAY_H

#include "chat_line.h"

enum { HEAD_JSON = 9, TAIL_JSON = 11 };

/* What calls are made with: loopscan.model.LateCall, MISSING, and what makes a value of JSON. */
typedef struct {
    PyObject *late, *missing, *decode;
} Makings;

/* What was made of a run. */
typedef struct {
    Taker taker;
    const Makings *makings;
    PyObject *calls, *texts, *written;
} Played;

/* Add an object, of which a reference is taken over, to a list; false with an exception. */
static inline bool add(PyObject *list, PyObject *object) {
    bool added = object && PyList_Append(list, object) == 0;
    Py_XDECREF(object);
    return added;
}

/* A string with its quotes, or one of its ends. */
static inline PyObject *json_of(const Text *text, Py_ssize_t most, bool from_end) {
    const char *from = (const char *)text->from - 1;
    Py_ssize_t size = text->size + 2, part = size < most ? size : most;
    return PyBytes_FromStringAndSize(from_end ? from + size - part : from, part);
}

/* A call with its answer; NULL with an exception. */
static inline PyObject *late_call(const Makings *makings, const Message *reply, const Text *result) {
    const Tool *tool = tool_of(&reply->name);
    Py_ssize_t size = result->size + 2;
    PyObject *parts[] = {
        tool ? Py_NewRef(tool->name) : NULL,
        object_of(&reply->args, &given.spare),
        Py_NewRef(makings->missing),
        Py_NewRef(Py_False),
        PyUnicode_DecodeUTF8((const char *)reply->id.from, reply->id.size, "strict"),
        Py_NewRef(makings->decode),
        Py_NewRef(Py_None),
        json_of(result, size, false),
        json_of(result, HEAD_JSON, false),
        json_of(result, TAIL_JSON, true),
        PyLong_FromSsize_t(size),
        PyLong_FromSsize_t(result->chars),
    };
    const size_t count = sizeof parts / sizeof *parts;
    bool made = true;
    for (size_t i = 0; i < count; i++)
        made &= parts[i] != NULL;
    PyObject *call = made ? PyObject_Vectorcall(makings->late, parts, count, NULL) : NULL;
    for (size_t i = 0; i < count; i++)
        Py_XDECREF(parts[i]);
    return call;
}

/* Add the words of a turn, and how many characters it wrote with its call. */
static inline bool add_words(Played *played, const Text *words, Py_ssize_t more) {
    return add(played->texts, object_of(words, &given.spare)) &&
           add(played->written, PyLong_FromSsize_t(words->chars + more));
}

static inline int play_call(Taker *taker, const Message *reply, const Message *answer) {
    Played *played = (Played *)taker;
    return add(played->calls, late_call(played->makings, reply, &answer->content)) &&
           add_words(played, &reply->content, reply->name.chars + reply->args.chars);
}

static inline int play_words(Taker *taker, const Message *last) {
    return !last || add_words((Played *)taker, &last->content, 0);
}

/* What loopscan.formats._chat_line.played_of tells of a line, None where it is not of that shape. */
static inline PyObject *play_line(Played *played, const Words *speaking, Cursor line) {
    Beside beside;
    PyObject *other = NULL;
    played->taker = (Taker){speaking, play_call, play_words};
    played->calls = PyList_New(0);
    played->texts = PyList_New(0);
    played->written = PyList_New(0);
    bool read = played->calls && played->texts && played->written && read_line(line, &played->taker, &beside);
    if (read)
        other = beside_of(&beside);
    if (other)
        return Py_BuildValue("NNNN", other, played->calls, played->texts, played->written);
    Py_XDECREF(played->calls);
    Py_XDECREF(played->texts);
    Py_XDECREF(played->written);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

#endif
