/* The canonical text of a value: what orjson makes of it with sorted keys. */

#ifndef LOOPSCAN_CANON_H
#define LOOPSCAN_CANON_H

#include "text.h"

enum { MEMBERS = 64 };

/* A member of an object that is being written: its key, and where it stands in what is written. */
typedef struct {
    Text key;
    Py_ssize_t from, size;
} Member;

/* A member of arguments as it stands in the line. `worded`: it is text, and this is it. */
typedef struct {
    Text key, text;
    Cursor value;
    bool worded;
} Argument;

/* Arguments that were read: those of an object one by one, and the canonical text of all. */
typedef struct {
    Argument each[MEMBERS];
    int count; /* -1: they are no object */
    Cursor whole;
    Bytes form;
} Arguments;

static inline int order_of(const Text *a, const Text *b) {
    int order = memcmp(a->from, b->from, (size_t)(a->size < b->size ? a->size : b->size));
    return order ? order : a->size < b->size ? -1 : a->size > b->size;
}

/* The letter of the short escape of a character, 0 where it has none. */
static inline int letter_of(uint32_t point) {
    switch (point) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

/* A string with its quotes. */
static inline void put_quoted(Bytes *out, const Text *text) {
    put_byte(out, '"');
    Place at = text->from, end = at + text->size;
    if (!text->foreign) {
        put(out, at, text->size);
        at = end;
    }
    while (at < end) {
        Place slash = memchr(at, '\\', (size_t)(end - at));
        put(out, at, (slash ? slash : end) - at);
        if (!slash)
            break;
        uint8_t utf8[4];
        uint32_t point = escaped_point(slash);
        int letter = letter_of(point);
        if (letter) {
            put_byte(out, '\\');
            put_byte(out, (uint8_t)letter);
        } else if (point < 0x20) {
            char hex[8];
            put(out, hex, snprintf(hex, sizeof hex, "\\u%04x", (unsigned)point));
        } else {
            put(out, utf8, utf8_of(point, utf8));
        }
        at = slash + escape_size(slash, end);
    }
    put_byte(out, '"');
}

/* A number that has one spelling only: a short integer, or a short decimal without zeros to spare. */
static inline int scan_spelling(Cursor *c) {
    Place from = c->at;
    bool whole;
    if (!scan_number(c, &whole))
        return ODD;
    Place digits = from + (*from == '-'), end = c->at;
    if (end - digits > DIGITS || (whole && *from == '-' && *digits == '0'))
        return ODD;
    if (!whole) {
        Place point = memchr(digits, '.', (size_t)(end - digits));
        if (end[-1] == '0' && end - point > 2)
            return ODD;
        if (*digits == '0' && end - point > 4 && !memcmp(point + 1, "000", 3))
            return ODD;
    }
    return FINE;
}

static inline int put_number(Bytes *out, Cursor *c) {
    Place from = c->at;
    if (!scan_spelling(c))
        return ODD;
    put(out, from, c->at - from);
    return FINE;
}

/* Put members in the order of their keys; ODD where two have the same. */
static inline int sort_members(Bytes *out, Member *members, int count) {
    bool sorted = true;
    for (int i = 1; i < count; i++) {
        Member member = members[i];
        int at = i;
        for (int order; at && (order = order_of(&members[at - 1].key, &member.key)) >= 0; at--) {
            if (!order)
                return ODD;
            members[at] = members[at - 1];
            sorted = false;
        }
        members[at] = member;
    }
    if (sorted)
        return FINE;
    Py_ssize_t from = out->size;
    for (int i = 0; i < count; i++)
        from = members[i].from < from ? members[i].from : from;
    Py_ssize_t end = out->size;
    for (int i = 0; i < count; i++) {
        if (i)
            put_byte(out, ',');
        if (!make_room(out, members[i].size))
            return ODD;
        put(out, out->data + members[i].from, members[i].size);
    }
    if (out->failed)
        return ODD;
    memmove(out->data + from, out->data + end, (size_t)(out->size - end));
    out->size = from + (out->size - end);
    return FINE;
}

static int put_canonical(Bytes *out, Cursor *c, int depth);

/* The value of a member, which is noted. */
static inline int put_argument(Bytes *out, Cursor *c, const Text *key, Argument *argument) {
    argument->key = *key;
    argument->value = *c;
    argument->worded = next_is(c, '"');
    if (!argument->worded)
        return put_canonical(out, c, 1);
    if (!scan_text(c, &argument->text))
        return ODD;
    put_quoted(out, &argument->text);
    return FINE;
}

/* An object behind its brace. `arguments`: where its members are noted, if anywhere. */
static inline int put_object(Bytes *out, Cursor *c, int depth, Arguments *arguments) {
    Member members[MEMBERS];
    int count = 0;
    put_byte(out, '{');
    skip_white(c);
    if (!next_is(c, '}')) {
        for (int more = 1; more; count++) {
            if (count == MEMBERS)
                return ODD;
            if (count)
                put_byte(out, ',');
            Member *member = &members[count];
            if (!scan_key(c, &member->key) || member->key.escaped)
                return ODD;
            member->from = out->size;
            put_quoted(out, &member->key);
            put_byte(out, ':');
            int fine = arguments ? put_argument(out, c, &member->key, &arguments->each[count])
                                 : put_canonical(out, c, depth + 1);
            if (!fine || (more = goes_on(c, '}')) < 0)
                return ODD;
            member->size = out->size - member->from;
        }
        if (!sort_members(out, members, count))
            return ODD;
    }
    if (arguments)
        arguments->count = count;
    put_byte(out, '}');
    return FINE;
}

static inline int put_array(Bytes *out, Cursor *c, int depth) {
    put_byte(out, '[');
    skip_white(c);
    if (!next_is(c, ']')) {
        for (int more = 1; more;) {
            skip_white(c);
            if (!put_canonical(out, c, depth + 1) || (more = goes_on(c, ']')) < 0)
                return ODD;
            if (more)
                put_byte(out, ',');
        }
    }
    put_byte(out, ']');
    return FINE;
}

/* A value in its canonical form; ODD also where there was no memory for it. */
static int put_canonical(Bytes *out, Cursor *c, int depth) {
    Text text;
    Place from = c->at;
    if (from >= c->end || depth > DEEPEST / 4)
        return ODD;
    switch (*from) {
    case '"':
        c->at++;
        if (!scan_text(c, &text))
            return ODD;
        put_quoted(out, &text);
        break;
    case '{':
        c->at++;
        return put_object(out, c, depth, NULL) && !out->failed;
    case '[':
        c->at++;
        return put_array(out, c, depth) && !out->failed;
    case 't': case 'f': case 'n':
        if (!skip_value(c, depth))
            return ODD;
        put(out, from, c->at - from);
        break;
    default:
        return put_number(out, c) && !out->failed;
    }
    return !out->failed;
}

/* Arguments of any kind. */
static inline int read_arguments(Cursor *c, Arguments *arguments) {
    Bytes *form = &arguments->form;
    form->size = 0;
    form->failed = false;
    arguments->count = -1;
    arguments->whole = *c;
    return next_is(c, '{') ? put_object(form, c, 0, arguments) && !form->failed : put_canonical(form, c, 0);
}

#endif
