/* Arguments that stand as JSON in a string: a sum that is the same for those whose canonical text is the same. */

#ifndef LOOPSCAN_CHAT_ARGS_H
#define LOOPSCAN_CHAT_ARGS_H

#include "names.h"

/* What is known of arguments. `paths`, `asked`: whether a member of theirs is one of those words. */
typedef struct {
    uint64_t sum;
    bool paths, asked;
} Args;

static inline uint64_t mixed(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9E3779B97F4A7C15u;
    return a ^ a >> 32;
}

static inline uint64_t word_at(Place at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t sum_of(Place at, Py_ssize_t size, uint64_t kind) {
    uint64_t sum = mixed(kind, (uint64_t)size), last = 0;
    if (size < 8) {
        for (Py_ssize_t i = 0; i < size; i++)
            last = last << 8 | at[i];
        return mixed(sum, last);
    }
    Place end = at + size - 8;
    for (; at < end; at += 8)
        sum = mixed(sum, word_at(at));
    return mixed(sum, word_at(end));
}

/* The sum of a string: of the spelling that the canonical text has. ODD without memory. */
static inline int sum_text(const Text *text, uint64_t *sum) {
    Place at = text->from;
    Py_ssize_t size = text->size;
    if (text->foreign) {
        given.canon.size = 0;
        given.canon.failed = false;
        put_quoted(&given.canon, text);
        if (given.canon.failed)
            return ODD;
        at = given.canon.data + 1;
        size = given.canon.size - 2;
    }
    *sum = sum_of(at, size, '"');
    return FINE;
}

static int sum_value(Cursor *c, int depth, Args *args);

/* An object behind its brace; ODD where two of its members have the same name, or nearly so. */
static inline int sum_object(Cursor *c, int depth, Args *args) {
    uint64_t names[MEMBERS], sum = '{';
    int count = 0;
    Text key;
    skip_white(c);
    if (next_is(c, '}')) {
        args->sum = sum;
        return FINE;
    }
    for (int more = 1; more; count++) {
        if (count == MEMBERS || !scan_key(c, &key) || key.escaped)
            return ODD;
        uint64_t name = names[count] = sum_of(key.from, key.size, ':');
        for (int i = 0; i < count; i++)
            if (names[i] == name)
                return ODD;
        if (!depth) {
            args->paths |= has_word(&given.paths, &key);
            args->asked |= has_word(&given.asked, &key);
        }
        if (!sum_value(c, depth + 1, args) || (more = goes_on(c, '}')) < 0)
            return ODD;
        sum += mixed(name, args->sum);
    }
    args->sum = sum;
    return FINE;
}

static inline int sum_array(Cursor *c, int depth, Args *args) {
    uint64_t sum = '[';
    skip_white(c);
    if (!next_is(c, ']')) {
        for (int more = 1; more;) {
            skip_white(c);
            if (!sum_value(c, depth + 1, args) || (more = goes_on(c, ']')) < 0)
                return ODD;
            sum = mixed(sum, args->sum);
        }
    }
    args->sum = sum;
    return FINE;
}

/* Any value that is no object at the top; its sum is that of `args` then. */
static int sum_value(Cursor *c, int depth, Args *args) {
    Text text;
    Place from = c->at;
    if (from >= c->end || depth > DEEPEST / 4)
        return ODD;
    switch (*from) {
    case '"':
        c->at++;
        return scan_text(c, &text) && sum_text(&text, &args->sum);
    case '{':
        c->at++;
        return sum_object(c, depth, args);
    case '[':
        c->at++;
        return sum_array(c, depth, args);
    case 't': case 'f': case 'n':
        if (!skip_value(c, depth))
            return ODD;
        break;
    default:
        if (!scan_spelling(c))
            return ODD;
    }
    args->sum = sum_of(from, c->at - from, 0);
    return FINE;
}

/* Arguments in a string; ODD where they are no object. */
static inline int read_args(const Text *text, Args *args) {
    Cursor c = {text->from, text->from + text->size};
    if (!text->size || *c.at != '{')
        return ODD;
    if (text->escaped) {
        given.spare.size = 0;
        given.spare.failed = false;
        put_text(&given.spare, c.at, c.end);
        if (given.spare.failed)
            return ODD;
        c = (Cursor){given.spare.data, given.spare.data + given.spare.size};
    }
    *args = (Args){0};
    if (!sum_value(&c, 0, args))
        return ODD;
    skip_white(&c);
    return c.at == c.end;
}

#endif
