/* A message of a chat as it stands in a log, where it is of a plain shape (loopscan.formats._chat_line). */

#ifndef LOOPSCAN_CHAT_H
#define LOOPSCAN_CHAT_H

#include "names.h"

/* A message. `content`, `call_id`: `from` is NULL where there is none. `calls`: how many it asks for, one at most;
   `name`, `args` and `id` are those of it. */
typedef struct {
    Text role, content, call_id, name, args, id;
    int calls;
} Message;

#define IS(key, word) is_text(key, word, sizeof(word) - 1)

enum { ROLE = 1, CONTENT = 2, CALLS = 4, CALL_ID = 8, OTHER = 16 };

/* A string, or nothing where null stands for it. */
static inline int read_said(Cursor *c, Text *text) {
    if (next_is(c, '"'))
        return scan_text(c, text);
    return scan_word(c, "null", 4);
}

static inline int read_full(Cursor *c, Text *text) {
    return next_is(c, '"') && scan_text(c, text);
}

/* The name and the arguments of a call. */
static inline int read_function(Cursor *c, Message *message) {
    Text key;
    bool named = false, given_args = false;
    if (!next_is(c, '{'))
        return ODD;
    for (int more = 1; more;) {
        if (!scan_key(c, &key))
            return ODD;
        bool *seen = IS(&key, "name") ? &named : IS(&key, "arguments") ? &given_args : NULL;
        if (!seen || *seen || !read_full(c, seen == &named ? &message->name : &message->args))
            return ODD;
        *seen = true;
        if ((more = goes_on(c, '}')) < 0)
            return ODD;
    }
    return named && given_args;
}

static inline int read_call(Cursor *c, Message *message) {
    Text key;
    bool ident = false, function = false, type = false, index = false;
    if (!next_is(c, '{'))
        return ODD;
    for (int more = 1; more;) {
        if (!scan_key(c, &key))
            return ODD;
        bool *seen = IS(&key, "id")         ? &ident
                     : IS(&key, "type")     ? &type
                     : IS(&key, "function") ? &function
                     : IS(&key, "index")    ? &index
                                            : NULL;
        if (!seen || *seen)
            return ODD;
        *seen = true;
        int read = seen == &ident      ? read_full(c, &message->id)
                   : seen == &function ? read_function(c, message)
                                       : skip_value(c, 4);
        if (!read || (more = goes_on(c, '}')) < 0)
            return ODD;
    }
    return ident && function;
}

/* The calls of a message, one at most. */
static inline int read_calls(Cursor *c, Message *message) {
    if (!next_is(c, '['))
        return scan_word(c, "null", 4);
    skip_white(c);
    if (next_is(c, ']'))
        return FINE;
    message->calls = 1;
    return read_call(c, message) && goes_on(c, ']') == 0;
}

/* A member of a message by its key: what it is is added to `seen`. */
static inline int read_part(Cursor *c, const Text *key, Message *message, unsigned *seen) {
    unsigned part = 0;
    int read = ODD;
    switch (key->size) {
    case 4:
        if (IS(key, "role")) {
            part = ROLE;
            read = read_full(c, &message->role);
        } else if (IS(key, "name")) {
            part = OTHER;
            read = skip_value(c, 3);
        }
        break;
    case 5:
        part = OTHER << 1;
        read = IS(key, "audio") && scan_word(c, "null", 4);
        break;
    case 7:
        part = IS(key, "content") ? CONTENT : OTHER << 2;
        read = part == CONTENT ? read_said(c, &message->content) : IS(key, "refusal") && scan_word(c, "null", 4);
        break;
    case 10:
        part = CALLS;
        read = IS(key, "tool_calls") && read_calls(c, message);
        break;
    case 11:
        part = OTHER << 3;
        read = IS(key, "annotations") && skip_value(c, 3);
        break;
    case 12:
        part = CALL_ID;
        read = IS(key, "tool_call_id") && read_said(c, &message->call_id);
        break;
    case 13:
        part = OTHER << 4;
        read = IS(key, "function_call") && scan_word(c, "null", 4);
        break;
    }
    if (!read || *seen & part)
        return ODD;
    *seen |= part;
    return FINE;
}

/* A message; ODD also for one with a member of another name, or two of one name. */
static inline int read_message(Cursor *c, Message *message) {
    unsigned seen = 0;
    Text key;
    message->content = message->call_id = (Text){0}; /* the others are there where they are asked for */
    message->calls = 0;
    skip_white(c);
    if (!next_is(c, '{'))
        return ODD;
    for (int more = 1; more;) {
        if (!scan_key(c, &key) || !read_part(c, &key, message, &seen) || (more = goes_on(c, '}')) < 0)
            return ODD;
    }
    return seen & ROLE && !message->role.escaped;
}

#endif
