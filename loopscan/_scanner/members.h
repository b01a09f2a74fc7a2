/* Objects of which some members say something; all others are passed over. */

#ifndef LOOPSCAN_MEMBERS_H
#define LOOPSCAN_MEMBERS_H

#include "scan.h"

/* What may stand under a key. WORD: text or null. FLAG: true, false or null. OFF: false or null. GONE: null. ANY: what is
   passed over, known only for its place. */
typedef enum { WORD, FLAG, OFF, GONE, ANY, OWN } Kind;

/* A key as it mostly stands there, with quotes and colon; those that are not known are passed over. */
typedef struct {
    const char *member;
    uint8_t size;
    uint8_t kind;
} Known;

#define KEY(word, kind) {"\"" word "\":", sizeof word - 1, kind}

typedef int (*Take)(Cursor *c, int at, void *into);

/* The key of the next member: its number, -1 where it is not known, -2 where it is odd. `guess`: the one that is likely. */
static inline int read_key(Cursor *c, const Known *known, int count, int *guess) {
    const Known *likely = &known[*guess];
    Py_ssize_t size = likely->size + 3;
    int at = *guess;
    Text key;
    skip_white(c);
    if (c->end - c->at >= size && bytes_equal(c->at, likely->member, size)) {
        c->at += size;
        skip_white(c);
    } else {
        if (!scan_key(c, &key) || key.escaped)
            return -2;
        for (int left = count; !is_text(&key, known[at].member + 1, known[at].size); at = at + 1 < count ? at + 1 : 0)
            if (!--left)
                return -1;
    }
    *guess = at + 1 < count ? at + 1 : 0;
    return at;
}

/* An object: what stands under its known keys goes to `take`. */
static inline int read_object(Cursor *c, const Known *known, int count, Take take, void *into, unsigned *seen) {
    Text text;
    int guess = 0;
    *seen = 0;
    if (!next_is(c, '{'))
        return ODD;
    skip_white(c);
    if (next_is(c, '}'))
        return FINE;
    for (int more = 1; more;) {
        int at = read_key(c, known, count, &guess);
        if (at < -1 || c->at >= c->end)
            return ODD;
        int kind = at < 0 ? ANY : known[at].kind;
        if (kind != ANY) {
            if (*seen >> at & 1)
                return ODD;
            *seen |= 1u << at;
        }
        if (kind == ANY || (*c->at == 'n' && kind != OWN)) {
            if (!skip_value(c, 1))
                return ODD;
        } else if (kind == WORD) {
            if (!next_is(c, '"') || !scan_text(c, &text))
                return ODD;
        } else if (kind == GONE || (kind == OFF && *c->at != 'f') || !take(c, at, into)) {
            return ODD;
        }
        if ((more = goes_on(c, '}')) < 0)
            return ODD;
    }
    return FINE;
}

/* A string that is not empty, without escapes. */
static inline int read_id(Cursor *c, Text *text) {
    return next_is(c, '"') && scan_text(c, text) && text->size && !text->escaped;
}

/* A count of tokens; -1 for null. */
static inline int read_count(Cursor *c, int64_t *count) {
    Place from = c->at;
    bool whole;
    *count = -1;
    if (from < c->end && *from == 'n')
        return scan_word(c, "null", 4);
    if (!scan_number(c, &whole) || !whole || *from == '-' || c->at - from > DIGITS)
        return ODD;
    *count = 0;
    for (Place at = from; at < c->at; at++)
        *count = 10 * *count + (*at - '0');
    return FINE;
}

#endif
