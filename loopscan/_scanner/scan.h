/* JSON in place: where the values of a line begin and end, and whether all of it is what it should be.

   Everything here is strict. What is damaged, or unusual in a way that only a few logs are (numbers with exponents,
   lone surrogates, deep nesting), is ODD, and left to the decoders of loopscan.decode, which know what to make of it. */

#ifndef LOOPSCAN_SCAN_H
#define LOOPSCAN_SCAN_H

#include "quoted.h"

/* Who takes lines where they lie, and does not know where each ends, defines WITHIN_LINES: no value spans two of them. */
#ifdef WITHIN_LINES
enum { BETWEEN = ' ' };
#else
enum { BETWEEN = '\n' };
#endif

static inline void skip_white(Cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == BETWEEN || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static inline bool next_is(Cursor *c, uint8_t wanted) {
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

/* A number without an exponent. `whole`: whether it is an integer. */
static inline int scan_number(Cursor *c, bool *whole) {
    Place at = c->at, end = c->end;
    if (at < end && *at == '-')
        at++;
    Place digits = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    if (at == digits || (*digits == '0' && at - digits > 1) || at - digits > 300)
        return ODD;
    *whole = true;
    if (at < end && *at == '.') {
        Place decimals = ++at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        if (at == decimals || at - decimals > 300)
            return ODD;
        *whole = false;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        return ODD;
    c->at = at;
    return FINE;
}

static inline int scan_word(Cursor *c, const char *word, Py_ssize_t size) {
    if (c->end - c->at < size || memcmp(c->at, word, (size_t)size))
        return ODD;
    c->at += size;
    return FINE;
}

/* The key of a member and its colon, where an object goes on. */
static inline int scan_key(Cursor *c, Text *key) {
    skip_white(c);
    if (!next_is(c, '"') || !scan_text(c, key))
        return ODD;
    skip_white(c);
    if (!next_is(c, ':'))
        return ODD;
    skip_white(c);
    return FINE;
}

/* Behind a value: whether the container goes on (1), ends (0), or neither (-1). */
static inline int goes_on(Cursor *c, uint8_t close) {
    skip_white(c);
    if (next_is(c, ','))
        return 1;
    return next_is(c, close) ? 0 : -1;
}

/* Any value, passed over. */
static inline int skip_value(Cursor *c, int depth) {
    Text text;
    bool whole;
    if (c->at >= c->end || depth > DEEPEST)
        return ODD;
    switch (*c->at) {
    case '"':
        c->at++;
        return scan_text(c, &text);
    case 't':
        return scan_word(c, "true", 4);
    case 'f':
        return scan_word(c, "false", 5);
    case 'n':
        return scan_word(c, "null", 4);
    case '{':
    case '[': {
        uint8_t close = *c->at == '{' ? '}' : ']';
        c->at++;
        skip_white(c);
        if (next_is(c, close))
            return FINE;
        for (int more = 1; more;) {
            if (close == '}') {
                if (!scan_key(c, &text))
                    return ODD;
            } else {
                skip_white(c);
            }
            if (!skip_value(c, depth + 1) || (more = goes_on(c, close)) < 0)
                return ODD;
        }
        return FINE;
    }
    default:
        return scan_number(c, &whole);
    }
}

/* Whether a line is white space only. */
static inline bool is_blank(Cursor c) {
    while (c.at < c.end && (*c.at == ' ' || (*c.at >= '\t' && *c.at <= '\r')))
        c.at++;
    return c.at == c.end;
}

static inline bool is_text(const Text *text, const char *other, Py_ssize_t size) {
    return text->size == size && bytes_equal(text->from, other, size);
}

#endif
