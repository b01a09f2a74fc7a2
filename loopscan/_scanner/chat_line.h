/* A line of chat messages: a run in its simplest shape (loopscan.formats._chat_line.played_of). */

#ifndef LOOPSCAN_CHAT_LINE_H
#define LOOPSCAN_CHAT_LINE_H

#include "chat.h"

/* Who takes the calls of a run with their answers, and its last words (NULL: there are none). ODD ends the reading. */
typedef struct Taker {
    const Words *speaking; /* roles of messages that hold calls, words or results */
    int (*call)(struct Taker *taker, const Message *reply, const Message *answer);
    int (*words)(struct Taker *taker, const Message *last);
} Taker;

/* Whether a message is the answer to the call of a reply. */
static inline bool is_answer(const Message *reply, const Message *answer) {
    const Text *id = &reply->id, *call_id = &answer->call_id;
    return IS(&answer->role, "tool") && answer->content.from && !reply->name.escaped && !id->escaped &&
           !call_id->escaped && id->size && id->size == call_id->size &&
           !memcmp(id->from, call_id->from, (size_t)id->size);
}

/* The messages of a run: what comes before the first reply, calls with their answers, perhaps last words. */
static inline int read_messages(Cursor *c, Taker *taker) {
    Message message = {0}, reply = message;
    bool begun = false, asked = false, over = false, called = false;
    if (!next_is(c, '['))
        return ODD;
    for (int more = 1; more;) {
        if (over || !read_message(c, &message) || (more = goes_on(c, ']')) < 0)
            return ODD;
        if (asked) {
            asked = false;
            called = true;
            if (!is_answer(&reply, &message) || !taker->call(taker, &reply, &message))
                return ODD;
        } else if (IS(&message.role, "assistant")) {
            begun = true;
            asked = message.calls;
            over = !asked;
            reply = message;
        } else if (begun || has_word(taker->speaking, &message.role)) {
            return ODD;
        }
    }
    return called && !asked && taker->words(taker, over ? &message : NULL);
}

/* What stands beside the messages of a line, of which only one member has that name. */
typedef struct {
    Place before, before_end, after, after_end;
} Beside;

static inline Cursor cursor_of(PyObject *line) {
    Place at = (Place)PyBytes_AS_STRING(line);
    return (Cursor){at, at + PyBytes_GET_SIZE(line)};
}

/* A line: an object of which `messages` is a member, or the bare list of them. */
static inline int read_line(Cursor c, Taker *taker, Beside *beside) {
    Text key;
    bool found = false;
    skip_white(&c);
    *beside = (Beside){.before = c.at};
    if (c.at < c.end && *c.at == '[') {
        found = read_messages(&c, taker);
    } else if (next_is(&c, '{')) {
        beside->before = beside->before_end = c.at;
        for (int more = 1; more;) {
            Place comma = c.at;
            if (!scan_key(&c, &key) || key.escaped)
                return ODD;
            bool is_it = IS(&key, "messages");
            if (is_it && !found)
                beside->before_end = comma;
            if (is_it ? found || !read_messages(&c, taker) : !skip_value(&c, 1))
                return ODD;
            found |= is_it;
            if ((more = goes_on(&c, '}')) < 0)
                return ODD;
            if (is_it)
                beside->after = c.at;
        }
        beside->after_end = c.at;
    }
    skip_white(&c);
    return found && c.at == c.end;
}

/* The object of what stands beside the messages; NULL with an exception. */
static inline PyObject *beside_of(const Beside *beside) {
    Py_ssize_t before = beside->before_end - beside->before, after = beside->after_end - beside->after;
    if (!beside->before_end || before + after == 0)
        return PyBytes_FromStringAndSize("{}", 2);
    PyObject *object = PyBytes_FromStringAndSize(NULL, 1 + before + after);
    if (!object)
        return NULL;
    char *to = PyBytes_AS_STRING(object);
    *to++ = '{';
    memcpy(to, beside->before, (size_t)before);
    memcpy(to + before, beside->after, (size_t)after);
    if (!after)
        to[before - 1] = '}'; /* where a comma stood */
    return object;
}

#endif
